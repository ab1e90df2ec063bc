"""Run the command line as ``python -m tagsift``."""

import sys

from tagsift.cli import main

if __name__ == "__main__":
    sys.exit(main())
