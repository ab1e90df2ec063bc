"""Run the command line, as ``tagsift`` or as ``python -m tagsift``."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status.

    Importing it takes a moment; Ctrl-C may come in that moment too.
    """
    try:
        from tagsift.cli import main as run
    except KeyboardInterrupt:
        print("tagsift: error: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
