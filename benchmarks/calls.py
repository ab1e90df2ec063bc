"""How far it is from the command line to the mathematics, in functions.

Counted are the different functions of the package that ``tagsift clean`` enters before
the model's ``fit`` begins, and how many of them stand on one another at most. Every
function, method and property that is defined by ``def`` counts once, whoever calls it;
bodies of modules and classes, lambdas and comprehensions do not, nor do functions of
other packages. Everything is imported before.

    python -m benchmarks.calls votes.tsv --votes 2:6
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import tagsift
from tagsift.cli import main

__all__ = ["Calls", "calls_of_clean"]

_PACKAGE = str(Path(tagsift.__file__).parent)
#: Function in whose beginning a model begins, and where it stands.
_FIT = "TaggerFromVotes.fit"


@dataclass
class Calls:
    """What was entered before the model began."""

    functions: dict[CodeType, str] = field(default_factory=dict)  # in order
    deepest: list[str] = field(default_factory=list)  # the longest chain of calls
    began: bool = False  # whether a model has begun

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call."""
        code = frame.f_code
        if self.began or event != "call" or not _counts(code):
            return
        if code.co_qualname == _FIT:
            self.began = True
            return
        self.functions.setdefault(code, _name(code))
        chain = []
        caller: FrameType | None = frame
        while caller is not None:
            if _counts(caller.f_code):
                chain.append(_name(caller.f_code))
            caller = caller.f_back
        if len(chain) > len(self.deepest):
            self.deepest = chain[::-1]


def _counts(code: CodeType) -> bool:
    return code.co_filename.startswith(_PACKAGE) and not code.co_name.startswith("<")


def _name(code: CodeType) -> str:
    file = Path(code.co_filename).relative_to(Path(_PACKAGE).parent)
    return f"{file.with_suffix('')}:{code.co_qualname}"


def calls_of_clean(votes: Path, *options: str) -> Calls:
    """Run ``tagsift clean`` on a file, and count until the model begins."""
    for name in tagsift.__all__:
        getattr(tagsift, name)
    for name in tagsift._PARTS:
        getattr(tagsift, name)
    calls = Calls()
    with TemporaryDirectory() as folder:
        out = Path(folder) / "cleaned.tsv"
        sys.setprofile(calls.watch)
        try:
            status = main(["clean", str(votes), *options, "-o", str(out), "--quiet"])
        finally:
            sys.setprofile(None)
    if status or not calls.began:
        raise SystemExit(f"tagsift clean ended with status {status} before a fit.")
    return calls


def _run(arguments: Sequence[str]) -> None:
    path, *options = arguments
    calls = calls_of_clean(Path(path), *options)
    print(*calls.functions.values(), sep="\n")
    print(f"\n{len(calls.functions)} functions before the model begins")
    print(f"{len(calls.deepest)} calls deep:", *calls.deepest, sep="\n  ")


if __name__ == "__main__":
    _run(sys.argv[1:])
