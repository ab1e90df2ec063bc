"""The command line: one file a verb, no maths.

Verbs use the public names of the package, which are imported on first use, so that
``tagsift --help`` needs neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import Annotated

import typer

from tagsift._version import __version__
from tagsift.cli._options import grouped
from tagsift.cli._output import complain
from tagsift.errors import TagsiftError, TagsiftWarning

__all__ = ["app", "main"]

app = typer.Typer(
    name="tagsift",
    help="Sequence taggers learnt from labels that nobody is sure of.",
    epilog="Example: tagsift demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _flowing(text: str) -> str:
    """The paragraphs of a docstring, each on one line: the terminal breaks them."""
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


# Every file here whose name does not begin with an underscore is a verb.
_verbs = [
    import_module(f"{__name__}.{found.name}")
    for found in iter_modules(__path__)
    if not found.name.startswith("_")
]
for _verb in sorted(_verbs, key=lambda verb: verb.PLACE):
    app.command(
        _verb.__name__.rpartition(".")[2],
        help=_flowing(_verb.run.__doc__),
        epilog=f"Example: {_verb.EXAMPLE}",
        no_args_is_help=getattr(_verb, "NEEDS_ARGUMENTS", True),
    )(grouped(_verb.run, getattr(_verb, "RENEWS", ())))


#: What a shell says of a program that writes to a closed pipe.
_PIPE_CLOSED = 141


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        typer.echo(f"tagsift {__version__}")
        typer.echo(f"python {sys.version.split()[0]}")
        for package in ("numpy", "scipy", "scikit-learn", "torch"):
            try:
                typer.echo(f"{package} {version(package)}")
            except PackageNotFoundError:
                typer.echo(f"{package} (not installed)")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the versions and stop.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Sequence taggers learnt from labels that nobody is sure of."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    That is 0; 1 for a result short of what was asked; 2 for bad input, with one
    sentence on standard error; 130 after Ctrl-C; 141 where the reader of standard
    output has gone, as of other programs.
    """
    _make_writable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", TagsiftWarning)
            warnings.showwarning = _show_warning
            status = app(arguments, prog_name="tagsift", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of standard output has gone (``| head``)
        _silence()
        return _PIPE_CLOSED
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except SystemExit as leaving:  # typer's own way out when the reader has gone
        return leaving.code if leaving.code in (0, 2) else _PIPE_CLOSED
    except Exception as error:  # the last line of defence: a sentence, no traceback
        if "TAGSIFT_TRACEBACK" in os.environ:
            raise
        if sentence := _sentence(error):
            complain(sentence)
        _drop_unwritten()
        return 2
    if status == 130:
        complain("stopped by Ctrl-C; no output file was touched.")
    return status if isinstance(status, int) else 0


def _make_writable() -> None:
    r"""See to it that no text and no closed stream stops a message.

    What the encoding of a terminal lacks is written as ``\xe9``; a stream that the
    shell has closed (``>&-``) is one that nobody reads, or that is empty (``<&-``).
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _sentence(error: Exception) -> str:
    """One sentence about what went wrong; nothing where the help was shown instead."""
    if isinstance(error, TagsiftError):
        return str(error)
    if hasattr(error, "format_message"):  # a misused option or argument
        message = error.format_message()
        return f"{message} (see --help)" if message else ""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "not enough memory for this; use fewer sentences or a cheaper method."
    return (
        f"a fault in tagsift itself ({type(error).__name__}: {error}); please report "
        "it with the traceback that TAGSIFT_TRACEBACK=1 shows."
    )


def _show_warning(message: Warning | str, *where: object, **more: object) -> None:
    """Print a warning as one sentence, without the line of code that gave it."""
    complain(str(message), kind="warning")


def _drop_unwritten() -> None:
    """Give up what standard output cannot take, so that Python does not try again."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence()


def _silence() -> None:
    """Send the rest of standard output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
