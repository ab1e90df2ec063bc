"""``python -m experiments NAME``: run an experiment, or draw its records again."""

from __future__ import annotations

import sys

from experiments.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "experiments"))
