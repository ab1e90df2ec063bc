"""Suites: what shall be run, read from a small TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.folds import TASKS
from tagsift import registry
from tagsift.errors import DataError

#: Suites that come with the repository, from the shortest to the whole of section IV.
SUITES = ("smoke", "quick", "paper")


@dataclass(frozen=True)
class MethodPlan:
    """How one method takes part.

    Parameters
    ----------
    name : str
        Its table name.
    folds : mapping of str to tuple of int
        For every task the folds it is run on.
    params : dict
        Settings of the estimator.
    tuning : {"", "each fit", "first fold"}
        Whether settings are tuned in every fit, once on the first training fold of
        every setting and used for its other folds, or left as they are.
    decoders : tuple of str
        Decoders to score besides the one in force, from the same fit.
    """

    name: str
    folds: Mapping[str, tuple[int, ...]]
    params: Mapping[str, Any] = field(default_factory=dict)
    tuning: str = ""
    decoders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Robustness:
    """Seeded random subsets of the files, for some methods, reported apart.

    Parameters
    ----------
    seeds : tuple of int
        One subset each.
    methods : tuple of str
        Who takes part.
    cl, p : tuples
        Settings.
    folds : tuple of int
        Folds of each subset.
    """

    seeds: tuple[int, ...]
    methods: tuple[str, ...]
    cl: tuple[int, ...]
    p: tuple[float, ...]
    folds: tuple[int, ...]


@dataclass(frozen=True)
class Suite:
    """What shall be run.

    Parameters
    ----------
    name : str
        ``smoke``, ``quick``, ``paper`` or a name of one's own.
    tasks : mapping of str to int
        Sentences of every task.
    n_folds, seed : int
        Of the cross validation.
    cl, p : tuples
        Settings of the first sampling scheme, all combinations.
    r, flip_p
        Flip probabilities of the second one, and the share of exact sentences there.
    methods : mapping of str to MethodPlan
        Who takes part, in the order of tables.
    watch : bool
        Whether the watched words of Figure 5 are followed.
    robustness : Robustness or None
        Random subsets.
    """

    name: str
    tasks: Mapping[str, int]
    n_folds: int
    seed: int
    cl: tuple[int, ...]
    p: tuple[float, ...]
    r: tuple[float, ...]
    flip_p: float
    methods: Mapping[str, MethodPlan]
    watch: bool = False
    robustness: Robustness | None = None


def read_suite(name: str) -> Suite:
    """Read a suite of the repository by its name, or a TOML file by its path.

    Parameters
    ----------
    name : str
        ``"smoke"``, ``"quick"``, ``"paper"``, or a path that ends in ``.toml``.
    """
    path = Path(name)
    if name in SUITES:
        path = Path(__file__).parent / "suites" / f"{name}.toml"
    if path.suffix != ".toml":
        raise DataError(
            f"expected one of the suites {', '.join(SUITES)} or a .toml file, found "
            f"{name!r}."
        )
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"not valid TOML: {error}.", path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the suite ({reason}).", path) from error
    except UnicodeDecodeError as error:
        raise DataError("expected UTF-8 text, found other bytes.", path) from error
    return _suite(_Entries(raw, path, "the suite"), path.stem)


#: What an entry may be: a word → the test of a value, and what is expected.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "yes or no": (lambda x: type(x) is bool, "true or false"),
    "table": (lambda x: type(x) is dict, "a table"),
    "list": (lambda x: type(x) is list, "a list"),
    "text": (lambda x: type(x) is str, "text"),
    "seed": (lambda x: type(x) is int and x >= 0, "a whole number of at least 0"),
    "size": (lambda x: type(x) is int and x >= 2, "a whole number of at least 2"),
    "counts": (
        lambda x: type(x) is list and all(type(y) is int and y > 0 for y in x),
        "a list of whole numbers above 0",
    ),
    "shares": (
        lambda x: (
            type(x) is list and all(type(y) in (int, float) and 0 <= y <= 1 for y in x)
        ),
        "a list of numbers between 0 and 1",
    ),
    "tuning": (lambda x: x in ("", "each fit", "first fold"), "each fit or first fold"),
}


class _Entries:
    """A table of a suite; every complaint names the file and the entry."""

    def __init__(self, raw: Mapping[str, Any], path: Path, name: str) -> None:
        self.raw, self.path, self.name = raw, path, name
        self.prefix = "" if name == "the suite" else f"{name}."

    def fail(self, entry: str, expected: str, found: Any) -> DataError:
        return DataError(f"{entry}: expected {expected}, found {found!r}.", self.path)

    def known(self, *names: str) -> None:
        for name in self.raw:
            if name not in names:
                raise self.fail(self.name, f"one of {', '.join(sorted(names))}", name)

    def get(self, name: str, kind: str, other: Any = None) -> Any:
        """Return an entry, checked; lists as tuples."""
        value = self.raw.get(name, other)
        test, expected = _KINDS[kind]
        if not test(value):
            raise self.fail(f"{self.prefix}{name}", expected, value)
        return tuple(value) if isinstance(value, list) else value

    def table(self, name: str) -> _Entries:
        return _Entries(self.get(name, "table", {}), self.path, f"{self.prefix}{name}")

    def folds(self, name: str, other: list[int], n_folds: int) -> tuple[int, ...]:
        values = self.raw.get(name, other)
        if not isinstance(values, list) or not set(values) <= set(range(n_folds)):
            expected = f"folds between 0 and {n_folds - 1}"
            raise self.fail(f"{self.prefix}{name}", expected, values)
        return tuple(values)


def _suite(top: _Entries, name: str) -> Suite:
    top.known(
        *("folds", "run_folds", "seed", "cl", "p", "r", "flip_p", "watch"),
        *("tasks", "methods", "robustness"),
    )
    n_folds = top.get("folds", "size", 5)
    listed = top.table("tasks")
    listed.known(*TASKS)
    tasks = {task: listed.get(task, "size") for task in listed.raw}
    methods = _methods(top, tasks, n_folds)
    for part, what in ((tasks, "task"), (methods, "method")):
        if not part:
            raise top.fail(f"{what}s", f"at least one {what}", part)
    cl, p = top.get("cl", "counts"), _floats(top.get("p", "shares"))
    flip = _Entries({"flip_p": [top.raw.get("flip_p", 0.5)]}, top.path, top.name)
    return Suite(
        name=name,
        tasks=tasks,
        n_folds=n_folds,
        seed=top.get("seed", "seed", 0),
        cl=cl,
        p=p,
        r=_floats(top.get("r", "shares", [])),
        flip_p=_floats(flip.get("flip_p", "shares"))[0],
        methods=methods,
        watch=top.get("watch", "yes or no", False),
        robustness=_robustness(top, methods, n_folds),
    )


def _floats(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _methods(
    top: _Entries, tasks: Mapping[str, int], n_folds: int
) -> dict[str, MethodPlan]:
    every = list(top.folds("run_folds", list(range(n_folds)), n_folds))
    listed = top.table("methods")
    plans = {}
    for name in listed.raw:
        plan = listed.table(name)
        plan.known("folds", "params", "tuning", "decoders")
        if name not in registry.names():
            raise top.fail(f"methods.{name}", "a method of `tagsift methods`", name)
        folds = plan.raw.get(
            "folds", every
        )  # a list, or a table with one for each task
        by_task = _Entries(
            folds if isinstance(folds, dict) else dict.fromkeys(tasks, folds),
            top.path,
            f"methods.{name}.folds",
        )
        by_task.known(*TASKS)
        plans[name] = MethodPlan(
            name,
            {task: by_task.folds(task, every, n_folds) for task in tasks},
            plan.get("params", "table", {}),
            plan.get("tuning", "tuning", ""),
            plan.get("decoders", "list", []),
        )
    return plans


def _robustness(
    top: _Entries, methods: Mapping[str, MethodPlan], n_folds: int
) -> Robustness | None:
    if "robustness" not in top.raw:
        return None
    entries = top.table("robustness")
    entries.known("seeds", "methods", "cl", "p", "folds")
    chosen = entries.get("methods", "list", [])
    for name in chosen:
        if name not in methods:
            raise top.fail("robustness.methods", "methods of the suite", name)
    return Robustness(
        seeds=entries.get("seeds", "counts"),
        methods=chosen,
        cl=entries.get("cl", "counts", top.raw.get("cl")),
        p=_floats(entries.get("p", "shares", top.raw.get("p"))),
        folds=entries.folds("folds", list(range(n_folds)), n_folds),
    )
