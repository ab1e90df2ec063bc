"""``python -m benchmarks NAME``: a benchmark, ``tables``, or the short version.

Without a name, as ``make bench`` does it: the budgets on one fold and growth to 5,000
tokens, a few minutes. ``tables`` puts the committed records into docs/benchmarks.md.
"""

from __future__ import annotations

import sys

from benchmarks.tables import fill_page
from experiments.command import main

#: Records of short runs stay apart from those of the documentation.
SHORT = (
    ["budgets", "--only", "task=base-np+none", "--repeat", "1"],
    ["growth", "--max-tokens", "5000", "--minutes", "3"],
)

if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked == ["tables"]:
        fill_page()
    elif asked:
        sys.exit(main(asked, "benchmarks"))
    else:
        for run in SHORT:
            print("python -m benchmarks", *run, flush=True)
            if main([*run, "--out", "runs/benchmarks"], "benchmarks") == 2:
                sys.exit(2)
