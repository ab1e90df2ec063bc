"""The cells of a suite, in an order that makes part of a run useful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tagsift import registry
from tagsift.errors import InputError
from tagsift.experiments.protocol import Split
from tagsift.experiments.suite import MethodPlan, Suite
from tagsift.experiments.watched import WATCHED

__all__ = ["Cell", "cells", "choose", "config_of"]

#: From the cheapest fit to the dearest; cheap methods are run first.
_BY_COST = (
    "majority", "crf", "wknn", "pl-svm", "partial-crf", "sgppsl", "chain-gp", "naive",
    "sure", "pl-aggd", "clpl", "cllp", "pl-ecoc", "paloc",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One fit: what is learnt, from which candidates, by which method.

    Parameters
    ----------
    task, method : str
        Their names.
    cl : int or None
        Length of the candidate lists; None for flip sampling and for gold labels.
    p : float or None
        Share of exact sentences; None for gold labels.
    r : float or None
        Flip probability.
    fold, seed : int
        Fold that is tagged, and seed of everything random.
    subset : str
        ``"head"``, or ``"random-1"``.
    watch : str
        A watched word of Figure 5, or nothing.
    """

    task: str
    method: str
    cl: int | None
    p: float | None
    r: float | None
    fold: int
    seed: int = 0
    subset: str = "head"
    watch: str = ""

    @property
    def setting(self) -> str:
        """The sampling in a few letters: ``cl3-p0.1``, ``r0.05-p0.5`` or ``gold``."""
        if self.p is None:
            return "gold"
        scheme = f"cl{self.cl}" if self.r is None else f"r{self.r:g}"
        return f"{scheme}-p{self.p:g}"

    @property
    def key(self) -> str:
        """A name for the cell that is distinct in a suite and fit for a file."""
        parts = [self.setting, f"f{self.fold}", f"s{self.seed}"]
        parts += [
            part for part in (self.subset, self.watch) if part not in ("head", "")
        ]
        return f"{self.task}/{self.method}/{'-'.join(parts)}"

    def split(self, suite: Suite) -> Split:
        """Which sentences the cell learns from and tags."""
        return Split(
            self.task,
            suite.tasks[self.task],
            suite.n_folds,
            self.fold,
            self.seed,
            self.subset,
        )


def cells(suite: Suite) -> list[Cell]:
    """List the cells of a suite: the first folds and the cheap methods in front.

    Parameters
    ----------
    suite : Suite
        What shall be run.
    """
    found = [
        *_watched(suite),
        *(cell for plan in suite.methods.values() for cell in _cells_of(suite, plan)),
        *_robustness(suite),
    ]
    place = {name: number for number, name in enumerate(_BY_COST)}
    tasks = {name: number for number, name in enumerate(suite.tasks)}
    return sorted(
        dict.fromkeys(found),
        key=lambda cell: (
            cell.subset,
            cell.fold,
            place.get(cell.method, len(place)),
            tasks[cell.task],
        ),
    )


def _cells_of(suite: Suite, plan: MethodPlan) -> Iterator[Cell]:
    """Cells of one method on the head of the files."""
    exact = registry.estimator(plan.name).method.exact_only
    for task in suite.tasks:
        for fold in plan.folds[task]:
            if exact:
                yield Cell(task, plan.name, None, None, None, fold, suite.seed)
                continue
            for cl in suite.cl:
                for p in suite.p:
                    yield Cell(task, plan.name, cl, p, None, fold, suite.seed)
            for r in suite.r if plan.flips else ():
                yield Cell(task, plan.name, None, suite.flip_p, r, fold, suite.seed)


def _robustness(suite: Suite) -> Iterator[Cell]:
    """Cells on random subsets."""
    plan = suite.robustness
    if plan is None:
        return
    for number in plan.seeds:
        for method in plan.methods:
            exact = registry.estimator(method).method.exact_only
            for task in suite.tasks:
                for fold in plan.folds:
                    subset = f"random-{number}"
                    if exact:
                        yield Cell(
                            task, method, None, None, None, fold, suite.seed, subset
                        )
                        continue
                    for cl in plan.cl:
                        for p in plan.p:
                            yield Cell(
                                task, method, cl, p, None, fold, suite.seed, subset
                            )


def _watched(suite: Suite) -> Iterator[Cell]:
    """Cells of Figure 5; their fold is found when they are run, so it is the first."""
    if not suite.watch:
        return
    for word, watched in WATCHED.items():
        if watched.task in suite.tasks:
            yield Cell(
                watched.task,
                "sgppsl",
                len(watched.candidates),
                watched.p,
                None,
                0,
                suite.seed,
                watch=word,
            )


def config_of(cell: Cell, suite: Suite, corpus: str) -> dict[str, Any]:
    """Return everything that decides the scores of a cell, as plain values.

    Parameters
    ----------
    cell : Cell
        The cell.
    suite : Suite
        Where it stands.
    corpus : str
        What the sentences are from: ``"conll"`` or ``"bundled"``.
    """
    plan = suite.methods.get(cell.method)
    return {
        **asdict(cell),
        "corpus": corpus,
        "n_sentences": suite.tasks[cell.task],
        "n_folds": suite.n_folds,
        "params": {} if plan is None else dict(plan.params),
        "tuning": "" if plan is None else plan.tuning,
        "decoders": [] if plan is None else list(plan.decoders),
    }


def choose(found: list[Cell], conditions: Mapping[str, str]) -> list[Cell]:
    """Keep the cells that meet all conditions.

    Parameters
    ----------
    found : list of Cell
        Cells.
    conditions : mapping of str to str
        Field → values joined by ``+``, such as ``{"task": "ner", "cl": "2+3"}``.
    """
    fields = list(Cell.__dataclass_fields__)
    wanted: dict[str, set[str]] = {}
    for name, values in conditions.items():
        if name not in fields:
            raise InputError(
                f"cells are chosen by {', '.join(fields)}; found {name!r}."
            )
        wanted[name] = set(values.split("+"))
    return [
        cell
        for cell in found
        if all(_text(getattr(cell, name)) in wanted[name] for name in wanted)
    ]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
