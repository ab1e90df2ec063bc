"""How far it is from the command line to the mathematics, in steps.

A step is a function or method of the package that is entered from another of its files:
where whoever follows ``tagsift clean`` has to open a file. Counted are the different
ones before the model's ``fit`` begins, and how many of them stand on one another at
most. What a file keeps to itself is no step, nor is an attribute (a property), a
special method (``__init__``, ``__iter__``), or a private function that is handed over.
All functions that are entered, of whatever kind, are counted beside them. Everything is
imported before.

    python -m benchmarks.calls votes.tsv --votes 2:6
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import tagsift
from tagsift.cli import main

__all__ = ["Calls", "calls_of_clean"]

_PACKAGE = str(Path(tagsift.__file__).parent)
#: The method with which a model begins.
_FIT = "TaggerFromVotes.fit"


@dataclass
class Calls:
    """What was entered before the model began."""

    steps: dict[CodeType, str] = field(default_factory=dict)  # in order
    functions: set[CodeType] = field(default_factory=set)  # of every kind
    deepest: list[str] = field(default_factory=list)  # the longest chain of steps
    began: bool = False  # whether a model has begun

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call."""
        code = frame.f_code
        if self.began or event != "call" or not _is_ours(code):
            return
        if code.co_qualname == _FIT:
            self.began = True
            return
        self.functions.add(code)
        chain = list(_steps(frame))
        if chain and chain[0] is code:
            self.steps.setdefault(code, _name(code))
        if len(chain) > len(self.deepest):
            self.deepest = [_name(one) for one in reversed(chain)]


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_PACKAGE) and not code.co_name.startswith("<")


def _steps(frame: FrameType) -> list[CodeType]:
    """The steps that lead to a call, the last one first."""
    chain: list[CodeType] = []
    stack: list[CodeType] = []
    caller: FrameType | None = frame
    while caller is not None:
        if _is_ours(caller.f_code):
            stack.append(caller.f_code)
        caller = caller.f_back
    for code, before in zip(stack, [*stack[1:], None], strict=True):
        inside = before is not None and before.co_filename == code.co_filename
        if not inside and not code.co_name.startswith("_") and not _is_property(code):
            chain.append(code)
    return chain


def _is_property(code: CodeType) -> bool:
    """Whether a function is read like an attribute."""
    module = inspect.getmodule(code)
    owner, _, name = code.co_qualname.rpartition(".")
    kind = getattr(module, owner, None) if owner else None
    return (
        isinstance(vars(kind).get(name), property | cached_property) if kind else False
    )


def _name(code: CodeType) -> str:
    file = Path(code.co_filename).relative_to(Path(_PACKAGE).parent)
    return f"{file}: {code.co_qualname}"


def calls_of_clean(votes: Path, *options: str) -> Calls:
    """Run ``tagsift clean`` on a file, and count until the model begins."""
    for name in (*tagsift.__all__, *tagsift._PARTS):
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
    print(*calls.steps.values(), sep="\n")
    print(f"\n{len(calls.steps)} steps before the model begins, of ", end="")
    print(f"{len(calls.functions)} functions of every kind")
    print(f"{len(calls.deepest)} steps deep:", *calls.deepest, sep="\n  ")


if __name__ == "__main__":
    _run(sys.argv[1:])
