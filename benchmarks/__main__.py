"""The short version that ``make bench`` runs: one fold, one repeat, a few minutes."""

from __future__ import annotations

import subprocess
import sys

#: Records of short runs stay apart from those of the documentation.
_RECORDS = ["--records", "runs/benchmarks"]
RUNS = (
    ["benchmarks.budgets", "--tasks", "base-np", "--repeat", "1", *_RECORDS],
    ["benchmarks.growth", "--max-tokens", "5000", "--minutes", "3", *_RECORDS],
)


def main() -> int:
    for run in RUNS:
        print("python -m", *run, flush=True)
        done = subprocess.run([sys.executable, "-m", *run], check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
