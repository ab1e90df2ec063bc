"""Suites: what shall be run, read from a small TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.folds import TASKS
from tagsift import registry
from tagsift.errors import DataError

__all__ = ["SUITES", "MethodPlan", "Robustness", "Suite", "read_suite"]

#: Suites that come with the package, from the shortest to the whole of section IV.
SUITES = ("smoke", "quick", "paper")
_TUNING = ("each fit", "first fold")


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
    flips : bool
        Whether it takes part in the flip sampling of Figure 9.
    """

    name: str
    folds: Mapping[str, tuple[int, ...]]
    params: Mapping[str, Any] = field(default_factory=dict)
    tuning: str = ""
    decoders: tuple[str, ...] = ()
    flips: bool = True


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
    """Read a suite of the package by its name, or a TOML file by its path.

    Parameters
    ----------
    name : str
        ``"smoke"``, ``"quick"``, ``"paper"``, or a path that ends in ``.toml``.
    """
    if name in SUITES:
        source = Path(__file__).parent / "suites" / f"{name}.toml"
        return _Reader(f"suite {name!r}").suite(name, source.read_text("utf-8"))
    path = Path(name)
    if path.suffix != ".toml":
        raise DataError(
            f"expected one of the suites {', '.join(SUITES)} or a .toml file, found "
            f"{name!r}."
        )
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the suite ({reason}).", path) from error
    except UnicodeDecodeError as error:
        raise DataError("expected UTF-8 text, found other bytes.", path) from error
    return _Reader(str(path)).suite(path.stem, text)


class _Reader:
    """Turns TOML into a suite; every complaint names the file and the entry."""

    def __init__(self, where: str) -> None:
        self.where = where

    def suite(self, name: str, text: str) -> Suite:
        try:
            raw = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DataError(f"not valid TOML: {error}.", self.where) from error
        self.known(
            raw,
            "",
            {"folds", "run_folds", "seed", "cl", "p", "r", "flip_p", "watch"}
            | {"tasks", "methods", "robustness"},
        )
        n_folds = self.whole(raw, "folds", 5, least=2)
        tasks = self.tasks(raw)
        methods = self.methods(raw, tasks, n_folds)
        cl, p = self.sizes(raw, "cl"), self.shares(raw, "p")
        return Suite(
            name=name,
            tasks=tasks,
            n_folds=n_folds,
            seed=self.whole(raw, "seed", 0, least=0),
            cl=cl,
            p=p,
            r=self.shares(raw, "r", ()),
            flip_p=self.shares({"flip_p": [raw.get("flip_p", 0.5)]}, "flip_p")[0],
            methods=methods,
            watch=self.kind(raw, "watch", bool, False),
            robustness=self.robustness(raw, methods, cl, p, n_folds),
        )

    def fail(self, entry: str, expected: str, found: Any) -> DataError:
        return DataError(f"{entry}: expected {expected}, found {found!r}.", self.where)

    def known(self, table: Mapping[str, Any], entry: str, names: set[str]) -> None:
        for name in table:
            if name not in names:
                raise self.fail(
                    entry or "the suite", f"one of {', '.join(sorted(names))}", name
                )

    def kind(self, table: Mapping[str, Any], name: str, kind: type, other: Any) -> Any:
        value = table.get(name, other)
        if type(value) is not kind:
            words = {
                bool: "true or false",
                dict: "a table",
                list: "a list",
                str: "text",
            }
            raise self.fail(name, words.get(kind, kind.__name__), value)
        return value

    def whole(
        self, table: Mapping[str, Any], name: str, other: int, *, least: int
    ) -> int:
        value = table.get(name, other)
        if type(value) is not int or value < least:
            raise self.fail(name, f"a whole number of at least {least}", value)
        return value

    def sizes(
        self, table: Mapping[str, Any], name: str, other: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        values = table.get(name, other)
        if values is None or not all(type(x) is int and x > 0 for x in values):
            raise self.fail(name, "a list of whole numbers above 0", values)
        return tuple(values)

    def shares(
        self,
        table: Mapping[str, Any],
        name: str,
        other: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:
        values = table.get(name, other)
        if values is None or not all(
            type(x) in (int, float) and 0 <= x <= 1 for x in values
        ):
            raise self.fail(name, "a list of numbers between 0 and 1", values)
        return tuple(float(x) for x in values)

    def tasks(self, raw: Mapping[str, Any]) -> dict[str, int]:
        table = self.kind(raw, "tasks", dict, {})
        self.known(table, "tasks", set(TASKS))
        if not table:
            raise self.fail("tasks", "at least one task", table)
        return {name: self.whole(table, name, 0, least=2) for name in table}

    def methods(
        self, raw: Mapping[str, Any], tasks: Mapping[str, int], n_folds: int
    ) -> dict[str, MethodPlan]:
        table = self.kind(raw, "methods", dict, {})
        if not table:
            raise self.fail("methods", "at least one method", table)
        every = list(range(n_folds))
        run_folds = list(
            self.fold_list("run_folds", raw.get("run_folds", every), n_folds)
        )
        plans = {}
        for name in table:
            plan = self.kind(table, name, dict, {})
            entry = f"methods.{name}"
            self.known(
                plan,
                entry,
                {"folds", "params", "tuning", "decoders", "flips", "when_available"},
            )
            available = name in registry.names()
            if not available and self.kind(plan, "when_available", bool, False):
                continue
            if not available:
                raise self.fail(entry, "a method of `tagsift methods`", name)
            tuning = self.kind(plan, "tuning", str, "")
            if tuning not in ("", *_TUNING):
                raise self.fail(f"{entry}.tuning", " or ".join(_TUNING), tuning)
            plans[name] = MethodPlan(
                name,
                self.folds(plan, entry, tasks, run_folds, n_folds),
                self.kind(plan, "params", dict, {}),
                tuning,
                tuple(self.kind(plan, "decoders", list, [])),
                self.kind(plan, "flips", bool, True),
            )
        return plans

    def folds(
        self,
        plan: Mapping[str, Any],
        entry: str,
        tasks: Mapping[str, int],
        run_folds: list[int],
        n_folds: int,
    ) -> dict[str, tuple[int, ...]]:
        """A list for all tasks, or a table with a list for each."""
        given = plan.get("folds", run_folds)
        by_task = given if isinstance(given, dict) else dict.fromkeys(tasks, given)
        self.known(by_task, f"{entry}.folds", set(TASKS))
        result = {}
        for task in tasks:
            values = by_task.get(task, run_folds)
            result[task] = self.fold_list(f"{entry}.folds", values, n_folds)
        return result

    def fold_list(self, entry: str, values: Any, n_folds: int) -> tuple[int, ...]:
        if not isinstance(values, list) or not set(values) <= set(range(n_folds)):
            raise self.fail(entry, f"folds between 0 and {n_folds - 1}", values)
        return tuple(values)

    def robustness(
        self,
        raw: Mapping[str, Any],
        methods: Mapping[str, MethodPlan],
        cl: tuple[int, ...],
        p: tuple[float, ...],
        n_folds: int,
    ) -> Robustness | None:
        if "robustness" not in raw:
            return None
        table = self.kind(raw, "robustness", dict, {})
        self.known(table, "robustness", {"seeds", "methods", "cl", "p", "folds"})
        chosen = tuple(table.get("methods", ()))
        for name in chosen:
            if name not in methods:
                raise self.fail("robustness.methods", "methods of the suite", name)
        folds = table.get("folds", list(range(n_folds)))
        return Robustness(
            seeds=self.sizes(table, "seeds"),
            methods=chosen,
            cl=self.sizes(table, "cl", cl),
            p=self.shares(table, "p", p),
            folds=self.fold_list("robustness.folds", folds, n_folds),
        )
