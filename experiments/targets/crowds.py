"""Who finds the labels in the votes of simulated crowds.

Seven kinds of crowds, from people who are alike to dictionaries that abstain, label
sentences of the test files: names, chunks and base NPs. All methods get the same votes,
at their defaults; no method sees a gold label. An earlier draw from the same files
showed a fault of VoteTagger that was mended; these places and errors were drawn after.

    python -m experiments crowds --records experiments/records/crowds.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.aggregators import AGGREGATORS
from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import rounded
from experiments.folds import stable_seed
from experiments.measuring import measured
from experiments.records import Found
from experiments.tables import Tables, table
from experiments.vote_scores import score
from tagsift.cleaned import clean
from tagsift.data import SimulatedAnnotator, bundled
from tagsift.data import simulate_votes as simulate
from tagsift.data.corpus import Corpus
from tagsift.io import read

DRAWS, SIZES = 2, (50, 200, 800)
#: Corpus → its file; the bundled corpus where there are none.
FILES = {
    "names": "conll2003/dev.conll",
    "chunks": "conll2000/test.conll",
    "base NPs": "basenp/test.conll",
}
METHODS = ("majority", "dawid-skene", "mace", "vote-tagger")
SCORES = ("span_f1", "nll", "ece")


def _people(misses: list[float], **more: Any) -> tuple[SimulatedAnnotator, ...]:
    """Annotators with these chances of missing a span, alike in all else."""
    usual: dict[str, Any] = {"shifts": 0.1, "invents": 0.1} | more
    return tuple(
        SimulatedAnnotator(name=f"p{k}", misses=chance, **usual)
        for k, chance in enumerate(misses)
    )


def _dictionaries(n: int) -> tuple[SimulatedAnnotator, ...]:
    names = [f"d{k}" for k in range(n)]
    return tuple(
        SimulatedAnnotator(name=name, misses=0.6, abstains=True) for name in names
    )


CROWDS = {
    "two": _people([0.2, 0.2]),
    "five alike": _people([0.25] * 5),
    "five who miss half": _people([0.5] * 5, shifts=0.2),
    "twelve, each on a third": _people(
        [0.05 * k for k in range(1, 13)], labels=0.35, shifts=0.15
    ),
    "two good, three careless": _people([0.1, 0.1])
    + tuple(
        replace(one, name=f"careless{k}")
        for k, one in enumerate(_people([0.6] * 3, shifts=0.3, invents=0.5))
    ),
    "two and two dictionaries": _people([0.15, 0.25]) + _dictionaries(2),
    "four dictionaries": _dictionaries(4),
}


@dataclass(frozen=True)
class CrowdCell(KeyedCell):
    """One method on the votes of one crowd."""

    form = "{corpus}/{crowd}/{sentences}/draw{draw}/{method}"
    corpus: str
    crowd: str
    sentences: int
    draw: int
    method: str


#: What all methods have on the votes of one crowd, in the order of `METHODS`.
Scored: TypeAlias = tuple[CrowdCell, list[list[float]]]


class Crowds(Experiment):
    """All methods on all crowds."""

    name = "crowds"
    title = "Votes of simulated crowds"
    summary = (
        "Labels of the text that was voted on, at the defaults. The lead is that over "
        f"the better of majority and Dawid–Skene; {DRAWS} draws of sentences and votes."
    )

    def cells(self) -> list[CrowdCell]:
        about = product(range(DRAWS), SIZES, FILES, CROWDS, METHODS)
        return [CrowdCell(c, who, n, draw, m) for draw, n, c, who, m in about]

    def files(self, cell: CrowdCell) -> tuple[str, ...]:
        return (FILES[cell.corpus],)

    def run(self, cell: CrowdCell) -> dict[str, Any]:
        votes = self._votes(cell)
        with measured() as cost:
            if cell.method in AGGREGATORS:
                codes, shares = AGGREGATORS[cell.method](votes)
            else:
                cleaned = clean(votes)
                votes, codes, shares = cleaned.corpus, cleaned.codes, cleaned.marginals
        scores = score(votes, codes, shares)
        return {"scores": rounded(scores), "cpu_s": round(cost["cpu"], 2)}

    def _votes(self, cell: CrowdCell) -> Corpus:
        """The votes, the same for all methods; words are the only features."""
        seed = stable_seed(
            "crowds 2", cell.corpus, cell.crowd, cell.sentences, cell.draw
        )
        whole = _whole(self.data, cell.corpus)
        n = min(cell.sentences, len(whole))
        first = int(np.random.default_rng(seed).integers(len(whole) - n + 1))
        part = whole[first : first + n].with_columns(1)
        return simulate(part, CROWDS[cell.crowd], random_state=seed % 2**32)

    def tables(self, found: Found) -> Tables:
        done = dict(self.finished(found))
        whole: list[Scored] = []
        for cell in done:
            sides = [replace(cell, method=method) for method in METHODS]
            if cell == sides[0] and all(side in done for side in sides):
                scores = [[done[x]["scores"][s] for s in SCORES] for x in sides]
                whole.append((cell, scores))
        for name, title in (("crowd", "Crowd by crowd"), ("sentences", "By size")):
            rows = _rows(whole, name) if whole else []
            yield table((name, "runs", *_columns()), rows, title=title)


@lru_cache(maxsize=3)
def _whole(data: Path | None, corpus: str) -> Corpus:
    return bundled("chunk") if data is None else read(data / FILES[corpus])


def _columns() -> list[str]:
    percent = [f"{name}: span F1|.1f|100" for name in METHODS]
    return [
        *percent,
        "lead|+.1f|100",
        "least lead|+.1f|100",
        "ahead",
        "log-loss|.3f",
        "ECE %|.1f|100",
    ]


def _rows(whole: list[Scored], name: str) -> Iterator[tuple[Any, ...]]:
    """A row for every value of a field of the cells, and one for all of them."""
    values = list(dict.fromkeys(getattr(cell, name) for cell, _ in whole))
    for value in [*values, None]:
        mine = [s for cell, s in whole if value in (None, getattr(cell, name))]
        scores = np.array(mine)  # [K, methods, scores]
        f1 = scores[:, :, 0]  # [K, methods]
        leads = f1[:, -1] - f1[:, :2].max(axis=1)  # [K]
        calm = scores[:, -1, 1:].mean(axis=0)  # log-loss, ECE
        ahead = f"{int((leads > 0).sum())} of {len(leads)}"
        title = "all" if value is None else value
        yield (
            title,
            len(leads),
            *f1.mean(axis=0),
            leads.mean(),
            leads.min(),
            ahead,
            *calm,
        )


EXPERIMENT = Crowds
