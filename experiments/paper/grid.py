"""The cells of a suite, in an order that makes part of a run useful."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from experiments.paper.results import GOLD, WATCHED, read_toml
from experiments.paper.suite import MethodPlan, Suite
from tagsift import registry
from tagsift.errors import InputError

#: From the cheapest fit to the dearest; cheap methods are run first.
_BY_COST = (
    "corpus", "word-counts", "pl-ecoc", "wknn", "paloc", "crf", "pl-svm", "chain-gp",
    "naive", "sure", "pl-aggd", "partial-crf", "clpl", "cllp", "sgppsl",
)  # fmt: skip
#: Method → task → λ for cl 2, 3 and 4, as `python -m experiments penalties` found it.
_PENALTIES = read_toml("penalties")


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

    @property
    def key(self) -> str:
        """A name that is distinct in a suite and fit for a file: …/cl3-p0.1-f0-s0."""
        if self.method == "corpus":
            return f"{self.task}/corpus/{self.subset}"
        drawn = f"cl{self.cl}" if self.r is None else f"r{self.r:g}"
        sampling = "gold" if self.p is None else f"{drawn}-p{self.p:g}"
        subset = "" if self.subset == "head" else self.subset
        place = (sampling, f"f{self.fold}", f"s{self.seed}", subset, self.watch)
        return f"{self.task}/{self.method}/{'-'.join(filter(None, place))}"

    @property
    def is_fit(self) -> bool:
        """Whether the cell has a place in a table or figure of methods."""
        return self.method != "corpus"

    @property
    def on_head(self) -> bool:
        """Whether the cell is one of the methods' fits to the head of a file."""
        return self.is_fit and self.subset == "head" and not self.watch

    @property
    def rank(self) -> int:
        """How soon it is run: cl 3 with p 0.1, Table III and Figure 9, the rest."""
        if self.subset != "head":
            return 3
        if self.p is None or self.watch or (self.cl, self.p) == (3, 0.1):
            return 0
        return 1 if self.cl in (None, 3) or (self.cl, self.p) == (2, 0.5) else 2


def cells(suite: Suite) -> list[GridCell]:
    """List the cells of a suite, the most telling and the cheap ones in front."""
    data = [GridCell(task, "corpus") for task in suite.tasks]
    found = dict.fromkeys([*data, *_watched(suite), *_fits(suite)])
    tasks = list(suite.tasks)

    def order(cell: GridCell) -> tuple[int, str, int, int, int]:
        known = cell.method in _BY_COST
        cost = _BY_COST.index(cell.method) if known else len(_BY_COST)
        return cell.rank, cell.subset, cell.fold, cost, tasks.index(cell.task)

    return sorted((replace(cell, seed=suite.seed) for cell in found), key=order)


def _fits(suite: Suite) -> Iterator[GridCell]:
    """Cells on the head of the files, and on random subsets."""
    drawn = (suite.cl, suite.p, suite.r)
    plans = [("head", name, suite.run_folds, *drawn) for name in suite.methods]
    if (some := suite.robustness) is not None:
        about = product((f"random-{seed}" for seed in some.seeds), some.methods)
        plans += [(*one, some.folds, some.cl, some.p, ()) for one in about]
    for subset, method, folds, sizes, shares, flips in plans:
        exact = registry.estimator(method).method.exact_only
        for task, fold in product(suite.tasks, folds):
            base = GridCell(task, method, fold=fold, subset=subset)
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
        "n_folds": suite.folds,
        "params": params_of(cell, plan),
        "tuning": plan.tuning,
        "decoders": list(plan.decoders),
    }


def params_of(cell: GridCell, plan: MethodPlan) -> dict[str, Any]:
    """Settings of a method; flips have the penalty of the lists they are held against.

    These are cl 2 for few flips and cl 3 for many (Figure 9).
    """
    if plan.tuning != "development":
        return dict(plan.params)
    cl = cell.cl or (2 if (cell.r or 0.0) < 0.5 else 3)
    return {**plan.params, "lam": _PENALTIES[cell.method][cell.task][cl - 2]}


# What can be asked for, and the cells that each table or figure needs ------------


_NEEDS: dict[str, Callable[[GridCell], bool]] = {
    "table-1": lambda x: x.method == "corpus",
    "table-2": lambda x: x.on_head and x.method == "sgppsl" and x.cl is not None,
    "table-3": lambda x: x.on_head and x.method == "sgppsl" and x.cl == 3,
    "figure-5": lambda x: bool(x.watch),
    "figure-6": lambda x: x.on_head and x.task == "base-np" and x.r is None,
    "figure-7": lambda x: x.on_head and x.task == "chunking" and x.r is None,
    "figure-8": lambda x: x.on_head and x.task == "ner" and x.r is None,
    "figure-9": lambda x: (
        x.on_head
        and (x.method == GOLD or x.r is not None or (x.cl in (2, 3) and x.p == 0.5))
    ),
    "all": lambda x: True,
}

#: Everything that can be asked for, in the order of the paper.
TARGETS: tuple[str, ...] = tuple(_NEEDS)


def needed(target: str) -> Callable[[GridCell], bool]:
    """Return a test that tells which cells a table or figure of `TARGETS` needs."""
    if target not in _NEEDS:
        raise InputError(f"expected one of {', '.join(TARGETS)}, found {target!r}.")
    return _NEEDS[target]
