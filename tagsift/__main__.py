"""Run the command line, as ``tagsift`` or as ``python -m tagsift``."""

import signal
import sys
from _thread import interrupt_main
from threading import Timer, get_ident
from typing import Any

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status.

    Importing it takes a moment; Ctrl-C may come in that moment too.
    """
    sys.unraisablehook = _keep_interrupt
    try:
        from tagsift.cli import main as run
    except KeyboardInterrupt:
        print("tagsift: error: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    return run()


def _keep_interrupt(lost: Any) -> None:
    """Interrupt again where Ctrl-C came in code whose exceptions Python ignores.

    Such are the callbacks of weak references, which imports use.
    """
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
    elif sys.platform == "win32":
        Timer(0.01, interrupt_main).start()
    else:  # a real signal, which ends waiting too
        Timer(0.01, signal.pthread_kill, (get_ident(), signal.SIGINT)).start()


if __name__ == "__main__":
    sys.exit(main())
