"""``make fuzz``: seeded damage to everything that comes from outside.

A case fails on a traceback, a signal, status 0 with NaN in the output, more than 2 GiB
or more than 20 s. The same seed gives the same cases.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported

from tests.fuzz.kinds import KINDS  # noqa: E402
from tests.fuzz.pool import kind_of, run_case, run_cases  # noqa: E402


def main() -> int:
    """Run the cases and return 0 where none failed, else 1."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kind", choices=sorted(KINDS), help="only cases of this kind")
    parser.add_argument("--case", type=int, help="this case only, in this process")
    given = parser.parse_args()
    if given.case is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(given.kind or kind_of(given.seed, given.case))
            run_case(given.seed, given.case, Path(folder), given.kind)
        return 0
    started, failed = time.monotonic(), 0
    seen: Counter[str] = Counter()
    numbers = range(given.first, given.first + given.count)
    for number, finding in zip(
        numbers, run_cases(given.seed, numbers, given.kind), strict=True
    ):
        seen[given.kind or kind_of(given.seed, number)] += 1
        if finding is not None:
            failed += 1
            only = f" --kind {given.kind}" if given.kind else ""
            print(
                f"case {number} ({finding.kind}) failed; again: python -m tests.fuzz "
                f"--seed {given.seed} --case {number}{only}\n{finding.how}",
                flush=True,
            )
        if sum(seen.values()) % 1000 == 0:
            print(f"{sum(seen.values())} cases", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - started) / 60
    kinds = ", ".join(f"{n} {name}" for name, n in sorted(seen.items()))
    print(
        f"seed {given.seed}: {given.count} cases ({kinds}), {failed} failed, "
        f"{minutes:.1f} min"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
