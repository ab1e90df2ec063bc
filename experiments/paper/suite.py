"""Suites: what shall be run, read from a small TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from experiments.folds import TASKS
from tagsift import registry
from tagsift.errors import DataError

#: Suites that come with the repository, from the shortest to the whole of section IV.
SUITES = ("smoke", "quick", "paper")


@dataclass(frozen=True)
class MethodPlan:
    """How one method takes part."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    #: Where settings come from: each fit's own sentences, development sentences
    #: (`penalties.toml`), or the defaults.
    tuning: str = ""
    decoders: tuple[str, ...] = ()  # to score besides, from the same fit


@dataclass(frozen=True)
class Robustness:
    """Seeded random subsets of the files, for some methods, reported apart."""

    seeds: tuple[int, ...]  # one subset each
    methods: tuple[str, ...]
    cl: tuple[int, ...]
    p: tuple[float, ...]
    folds: tuple[int, ...]  # of each subset


@dataclass(frozen=True)
class Suite:
    """What shall be run."""

    name: str
    tasks: Mapping[str, int]  # sentences of each
    n_folds: int
    run_folds: tuple[int, ...]  # of these
    seed: int
    cl: tuple[int, ...]  # candidate lists: all combinations of cl and p
    p: tuple[float, ...]
    r: tuple[float, ...]  # flip sampling, at p = flip_p
    flip_p: float
    methods: Mapping[str, MethodPlan]  # in the order of tables
    watch: bool = False  # whether the watched words of Figure 5 are followed
    robustness: Robustness | None = None

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
        return _Reader(tomllib.loads(path.read_text("utf-8")), path).suite()
    except ValueError as error:  # of the text or of the table
        raise DataError(f"not valid TOML: {error}.", path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the suite ({reason}).", path) from error


#: What an entry may be: the test of a value, and what is expected in words.
_Kind: TypeAlias = tuple[Callable[[Any], bool], str]
#: The kinds of all entries of a table, and what holds where there is none.
_Kinds: TypeAlias = Mapping[str, tuple[_Kind, Any]]


def _number(low: int) -> _Kind:
    return lambda x: type(x) is int and x >= low, f"a whole number of at least {low}"


def _list(each: Callable[[Any], bool], expected: str) -> _Kind:
    return lambda x: type(x) is list and all(map(each, x)), expected


def _is_share(x: Any) -> bool:
    return type(x) in (int, float) and 0 <= x <= 1


_YES_OR_NO: _Kind = (lambda x: type(x) is bool, "true or false")
_TABLE: _Kind = (lambda x: type(x) is dict, "a table")
_SHARE: _Kind = (_is_share, "a number between 0 and 1")
_SHARES = _list(_is_share, "a list of numbers between 0 and 1")
_NAMES = _list(lambda x: type(x) is str, "a list of names")
_COUNTS = _list(lambda x: type(x) is int and x > 0, "a list of whole numbers above 0")
_TUNINGS = ("", "each fit", "development")
_TUNING: _Kind = (_TUNINGS.__contains__, "each fit or development")


class _Reader:
    """Checks the entries of a file; each complaint names the file and the entry."""

    def __init__(self, raw: dict[str, Any], path: Path) -> None:
        self.raw, self.path = raw, path
        n_folds = raw.get("folds", 5)
        self.every = list(range(n_folds)) if type(n_folds) is int else []
        expected = f"folds between 0 and {len(self.every) - 1}"
        self.folds = _list(lambda x: x in self.every, expected)

    def suite(self) -> Suite:
        kinds: _Kinds = {
            "folds": (_number(2), 5),
            "run_folds": (self.folds, self.every),
            "seed": (_number(0), 0),
            "cl": (_COUNTS, None),
            "p": (_SHARES, None),
            "r": (_SHARES, []),
            "flip_p": (_SHARE, 0.5),
            "watch": (_YES_OR_NO, False),
            "tasks": (_TABLE, {}),
            "methods": (_TABLE, {}),
            "robustness": (_TABLE, {}),
        }
        top = self.entries(self.raw, kinds)
        sizes = dict.fromkeys(TASKS, (_number(2), 2))
        self.entries(top["tasks"], sizes, "tasks")
        for what in ("task", "method"):
            if not top[f"{what}s"]:
                raise self.refused(f"{what}s", f"at least one {what}", {})
        plans = top["methods"].items()
        top["methods"] = {name: self.plan(name, raw) for name, raw in plans}
        top["robustness"] = self.robustness() if "robustness" in self.raw else None
        return Suite(self.path.stem, n_folds=top.pop("folds"), **top)

    def plan(self, name: str, raw: Mapping[str, Any]) -> MethodPlan:
        if name not in registry.names():
            raise self.refused(f"methods.{name}", "a method of `tagsift methods`", name)
        kinds: _Kinds = {
            "params": (_TABLE, {}),
            "tuning": (_TUNING, ""),
            "decoders": (_NAMES, []),
        }
        return MethodPlan(name, **self.entries(raw, kinds, f"methods.{name}"))

    def robustness(self) -> Robustness:
        known = self.raw["methods"].__contains__
        kinds: _Kinds = {
            "seeds": (_COUNTS, None),
            "methods": (_list(known, "methods of the suite"), []),
            "cl": (_COUNTS, self.raw["cl"]),
            "p": (_SHARES, self.raw["p"]),
            "folds": (self.folds, self.every),
        }
        return Robustness(**self.entries(self.raw["robustness"], kinds, "robustness"))

    def entries(
        self, raw: Mapping[str, Any], kinds: _Kinds, name: str = ""
    ) -> dict[str, Any]:
        """Every entry of a table, as found or as it is by default; lists as tuples."""
        for entry in raw:
            if entry not in kinds:
                known = f"one of {', '.join(sorted(kinds))}"
                raise self.refused(name or "the suite", known, entry)
        found = {}
        for entry, (kind, other) in kinds.items():
            value = raw.get(entry, other)
            if not kind[0](value):
                raise self.refused(f"{name}.{entry}".lstrip("."), kind[1], value)
            if kind in (_SHARE, _SHARES):
                value = [float(x) for x in value] if kind is _SHARES else float(value)
            found[entry] = tuple(value) if isinstance(value, list) else value
        return found

    def refused(self, entry: str, expected: str, found: Any) -> DataError:
        return DataError(f"{entry}: expected {expected}, found {found!r}.", self.path)
