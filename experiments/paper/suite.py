"""Suites: what shall be run, read from a small TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from experiments.folds import TASKS
from tagsift import registry
from tagsift.errors import DataError

#: Suites that come with the repository, from the shortest to the whole of section IV.
SUITES = ("smoke", "quick", "paper")
#: What an entry may be: the test of a value, and what is expected in words.
_Kind: TypeAlias = tuple[Callable[[Any], bool], str]


def _number(low: int) -> _Kind:
    return lambda x: type(x) is int and x >= low, f"a whole number of at least {low}"


def _list(each: Callable[[Any], bool], expected: str) -> _Kind:
    return lambda x: type(x) in (list, tuple) and all(map(each, x)), expected


def _is_share(x: Any) -> bool:
    return type(x) in (int, float) and 0 <= x <= 1


_YES_OR_NO: _Kind = (lambda x: type(x) is bool, "true or false")
_TABLE: _Kind = (lambda x: type(x) is dict, "a table")
_SHARE: _Kind = (_is_share, "a number between 0 and 1")
_SHARES = _list(_is_share, "a list of numbers between 0 and 1")
_NAMES = _list(lambda x: type(x) is str, "a list of names")
_COUNTS = _list(lambda x: type(x) is int and x > 0, "a list of whole numbers above 0")
_FOLDS = _list(lambda x: type(x) is int, "a list of folds")
_TUNINGS = ("", "each fit", "development")
_TUNING: _Kind = (_TUNINGS.__contains__, "each fit or development")


def _entry(kind: _Kind, default: Any = None) -> Any:
    """Declare an entry: what it may be, and what holds where there is none."""
    about = {"test": kind[0], "expected": kind[1], "default": default}
    return field(default_factory=lambda: default, metadata=about)


@dataclass(frozen=True)
class MethodPlan:
    """How one method takes part."""

    name: str
    params: Mapping[str, Any] = _entry(_TABLE, {})
    #: Where settings come from: each fit's own sentences, development sentences
    #: (`penalties.toml`), or the defaults.
    tuning: str = _entry(_TUNING, "")
    decoders: tuple[str, ...] = _entry(_NAMES, ())  # to score besides, of the same fit


@dataclass(frozen=True)
class Robustness:
    """Seeded random subsets of the files, for some methods, reported apart."""

    seeds: tuple[int, ...] = _entry(_COUNTS)  # one subset each
    methods: tuple[str, ...] = _entry(_NAMES, ())
    cl: tuple[int, ...] = _entry(_COUNTS, ())
    p: tuple[float, ...] = _entry(_SHARES, ())
    folds: tuple[int, ...] = _entry(_FOLDS, ())  # of each subset


@dataclass(frozen=True)
class Suite:
    """What shall be run."""

    name: str
    tasks: Mapping[str, int] = _entry(_TABLE, {})  # sentences of each
    folds: int = _entry(_number(2), 5)
    run_folds: tuple[int, ...] = _entry(_FOLDS, ())  # of these; all by default
    seed: int = _entry(_number(0), 0)
    cl: tuple[int, ...] = _entry(_COUNTS)  # lists: all combinations of cl and p
    p: tuple[float, ...] = _entry(_SHARES)
    r: tuple[float, ...] = _entry(_SHARES, ())  # flip sampling, at p = flip_p
    flip_p: float = _entry(_SHARE, 0.5)
    watch: bool = _entry(_YES_OR_NO, False)  # whether Figure 5 is made
    methods: Mapping[str, Any] = _entry(_TABLE, {})  # plans, in the order of tables
    robustness: Any = _entry(_TABLE, {})  # empty where there is none

    def plan(self, method: str) -> MethodPlan:
        """How a method takes part; with its defaults where the suite has it not."""
        return self.methods.get(method) or MethodPlan(method)


def read_suite(name: str) -> Suite:
    """Read a suite of the repository by its name, or a TOML file by its path."""
    path = Path(name)
    if name in SUITES:
        path = Path(__file__).parent / "suites" / f"{name}.toml"
    if path.suffix != ".toml":
        raise DataError(
            f"expected one of the suites {', '.join(SUITES)} or a .toml file, found "
            f"{name!r}."
        )
    try:
        return _suite(tomllib.loads(path.read_text("utf-8")), path)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"not valid TOML: {error}.", path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the suite ({reason}).", path) from error


def _suite(raw: Mapping[str, Any], path: Path) -> Suite:
    """Check every table; each complaint names the file and the entry."""

    def refused(entry: str, expected: str, found: Any) -> DataError:
        return DataError(f"{entry}: expected {expected}, found {found!r}.", path)

    def read(kind: Any, raw: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        entries = {x.name: x.metadata for x in fields(kind) if x.metadata}
        for entry in raw.keys() - entries.keys():
            known = f"one of {', '.join(sorted(entries))}"
            raise refused(name or "the suite", known, entry)
        found = {}
        for entry, about in entries.items():
            value = raw.get(entry, about["default"])
            if not about["test"](value):
                place = f"{name}.{entry}".lstrip(".")
                raise refused(place, about["expected"], value)
            found[entry] = tuple(value) if type(value) is list else value
        return found

    suite = Suite(path.stem, **read(Suite, raw))
    every, chosen = tuple(range(suite.folds)), suite.run_folds or (0,)
    for task, size in suite.tasks.items():
        if task not in TASKS:
            raise refused("tasks", f"one of {', '.join(sorted(TASKS))}", task)
        if not _number(2)[0](size):
            raise refused(f"tasks.{task}", _number(2)[1], size)
    for what, found in (("task", suite.tasks), ("method", suite.methods)):
        if not found:
            raise refused(f"{what}s", f"at least one {what}", {})
    methods = {}
    for name, entries in suite.methods.items():
        if name not in registry.names():
            raise refused(f"methods.{name}", "a method of `tagsift methods`", name)
        methods[name] = MethodPlan(name, **read(MethodPlan, entries, f"methods.{name}"))
    some = None
    if suite.robustness:
        some = Robustness(**read(Robustness, suite.robustness, "robustness"))
        chosen += some.folds
        if not methods.keys() >= set(some.methods):
            raise refused("robustness.methods", "methods of the suite", some.methods)
    if not set(every) >= set(chosen):
        raise refused("folds", f"folds between 0 and {every[-1]}", chosen)
    return replace(
        suite, methods=methods, robustness=some, run_folds=suite.run_folds or every
    )
