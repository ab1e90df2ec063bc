"""The cells of a suite, in an order that makes part of a run useful."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from experiments.folds import Split
from experiments.paper.printed import WATCHED
from experiments.paper.results import FIGURE_OF, GOLD
from experiments.paper.suite import Suite
from tagsift import registry
from tagsift.errors import InputError

#: From the cheapest fit to the dearest; cheap methods are run first.
_BY_COST = (
    "corpus", "word-counts", "crf", "wknn", "pl-svm", "partial-crf", "sgppsl",
    "chain-gp", "naive", "sure", "pl-aggd", "clpl", "cllp", "pl-ecoc", "paloc",
)  # fmt: skip


@dataclass(frozen=True)
class GridCell:
    """One fit: what is learnt, from which candidates, by which method."""

    task: str
    method: str  # "corpus" is no fit but the size of the data set
    cl: int | None = None  # length of candidate lists; None for flips and gold labels
    p: float | None = None  # share of exact sentences; None for gold labels
    r: float | None = None  # flip probability
    fold: int = 0
    seed: int = 0
    subset: str = "head"  # or "random-1"
    watch: str = ""  # a watched word of Figure 5
    tuning: bool = False  # only the settings are wanted that other folds are run with

    @property
    def key(self) -> str:
        """A name that is distinct in a suite and fit for a file: …/cl3-p0.1-f0-s0."""
        if self.method == "corpus":
            return f"{self.task}/corpus/{self.subset}"
        drawn = f"cl{self.cl}" if self.r is None else f"r{self.r:g}"
        sampling = "gold" if self.p is None else f"{drawn}-p{self.p:g}"
        subset = "" if self.subset == "head" else self.subset
        place = (sampling, f"f{self.fold}", f"s{self.seed}", subset, self.watch)
        words = "-".join(filter(None, ("tuning" * self.tuning, *place)))
        return f"{self.task}/{self.method}/{words}"

    @property
    def is_fit(self) -> bool:
        """Whether the cell has a place in a table or figure of methods."""
        return self.method != "corpus" and not self.tuning

    def split(self, suite: Suite) -> Split:
        """Which sentences the cell learns from and tags."""
        size = suite.tasks[self.task]
        return Split(self.task, size, suite.n_folds, self.fold, self.seed, self.subset)


def cells(suite: Suite) -> list[GridCell]:
    """List the cells of a suite: the first folds and the cheap methods in front."""
    found = [
        *(GridCell(task, "corpus") for task in suite.tasks),
        *_watched(suite),
        *_fits(suite),
    ]
    place = {name: number for number, name in enumerate(_BY_COST)}
    tasks = list(suite.tasks)

    def order(cell: GridCell) -> tuple[str, int, int, int]:
        cost = place.get(cell.method, len(place))
        return cell.subset, cell.fold, cost, tasks.index(cell.task)

    seeded = (replace(cell, seed=suite.seed) for cell in dict.fromkeys(found))
    return sorted(seeded, key=order)


def _fits(suite: Suite) -> Iterator[GridCell]:
    """Cells on the head of the files, and on random subsets."""
    drawn = (suite.cl, suite.p, suite.r)
    plans = [("head", x.name, x.folds, *drawn) for x in suite.methods.values()]
    if (some := suite.robustness) is not None:
        every = dict.fromkeys(suite.tasks, some.folds)
        about = [(f"random-{seed}", x) for seed in some.seeds for x in some.methods]
        plans += [(*one, every, some.cl, some.p, ()) for one in about]
    for subset, method, folds, sizes, shares, flips in plans:
        exact = registry.estimator(method).method.exact_only
        for base in [
            GridCell(task, method, fold=fold, subset=subset)
            for task in suite.tasks
            for fold in folds[task]
        ]:
            if exact:
                yield base  # gold labels: once
                continue
            yield from (replace(base, cl=cl, p=p) for cl in sizes for p in shares)
            yield from (replace(base, p=suite.flip_p, r=r) for r in flips)


def _watched(suite: Suite) -> Iterator[GridCell]:
    """Cells of Figure 5; their fold is found when they are run, so it is the first."""
    for word, watched in WATCHED.items() if suite.watch else ():
        if watched.task in suite.tasks:
            size = len(watched.candidates)
            yield GridCell(watched.task, "sgppsl", size, watched.p, watch=word)


def config_of(cell: GridCell, suite: Suite, corpus: str) -> dict[str, Any]:
    """Return everything that decides the scores of a cell; corpus: conll or bundled."""
    about = {"corpus": corpus, "n_sentences": suite.tasks[cell.task]}
    if cell.method == "corpus":
        return {"task": cell.task, "subset": cell.subset, **about}
    plan = suite.plan(cell.method)
    return {
        **asdict(cell),
        **about,
        "n_folds": suite.n_folds,
        "params": dict(plan.params),
        "tuning": plan.tuning,
        "decoders": [] if cell.tuning else list(plan.decoders),
    }


# What can be asked for, and the cells that each table or figure needs ------------


def _on_head(cell: GridCell) -> bool:
    return cell.is_fit and cell.subset == "head" and not cell.watch


def _in_figure_9(cell: GridCell) -> bool:
    lists = cell.cl in (2, 3) and cell.p == 0.5
    return _on_head(cell) and (cell.r is not None or lists or cell.method == GOLD)


def _in_figure(task: str) -> Callable[[GridCell], bool]:
    return lambda cell: _on_head(cell) and cell.task == task and cell.r is None


_NEEDS: dict[str, Callable[[GridCell], bool]] = {
    "table-1": lambda cell: cell.method == "corpus",
    "table-2": lambda cell: (
        _on_head(cell) and cell.method == "sgppsl" and cell.cl is not None
    ),
    "table-3": lambda cell: _on_head(cell) and cell.method == "sgppsl" and cell.cl == 3,
    "figure-5": lambda cell: bool(cell.watch),
    **{f"figure-{number}": _in_figure(task) for task, number in FIGURE_OF.items()},
    "figure-9": _in_figure_9,
    "all": lambda cell: True,
}

#: Everything that can be asked for, in the order of the paper.
TARGETS: tuple[str, ...] = tuple(_NEEDS)


def needed(target: str) -> Callable[[GridCell], bool]:
    """Return a test that tells which cells a table or figure of `TARGETS` needs."""
    if target not in _NEEDS:
        raise InputError(f"expected one of {', '.join(TARGETS)}, found {target!r}.")
    return _NEEDS[target]
