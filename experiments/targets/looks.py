"""What second looks bring: labels mended per hundred looks, in three orders.

A reviewer looks at spans (or single tokens outside them) and says what is true there;
after every hundred looks the model is fitted again with what is known. The order is
that of tagsift, that of the entropy of the votes (of the candidate sets), or random. On
crowd NER votes are turned into labels by VoteTagger, on the paper's tasks (cl 3, p 0.1)
candidate sets by ChainGP, whose kernel is learnt once.

    python -m experiments looks --records experiments/records/looks.jsonl
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.experiment import Experiment, KeyedCell
from experiments.folds import TASKS, read_head
from experiments.measuring import measured
from experiments.records import Found
from experiments.tables import Tables, table
from tagsift.annotators import VoteTagger
from tagsift.chain_gp import ChainGP
from tagsift.data import corrupt, read_votes, spans
from tagsift.errors import InputError
from tagsift.metrics import span_scores

#: Name of an order → what the figure calls it.
ORDERS = {"tagsift": "tagsift", "entropy": "entropy", "random": "random order"}
#: Looks between two fits, and fits.
LOOKS, STEPS = 100, 5
CORPORA = {"crowd": "Crowd NER", "base-np": "Base NP", "ner": "NER"}

#: A place to look at: sentence, first token, end.
Place = tuple[int, int, int]


@dataclass(frozen=True)
class LookCell(KeyedCell):
    """One reviewer on one corpus."""

    form = "{corpus}/{order}"
    corpus: str
    order: str


class Looks(Experiment):
    """All orders on all corpora."""

    name = "looks"
    title = "What second looks bring"
    summary = (
        "A look is at one span, or at one token outside all spans; after every "
        f"{LOOKS} looks the model is fitted again."
    )
    separate = True

    def cells(self) -> list[LookCell]:
        return [LookCell(*pair) for pair in product(CORPORA, ORDERS)]

    def run(self, cell: LookCell) -> dict[str, Any]:
        if self.data is None:
            raise InputError("looks need the corpora; name their folder with --data.")
        crowd, data = cell.corpus == "crowd", self.data
        reviewed = _Crowd(data) if crowd else _Task(data, cell.corpus)
        rng, steps, seen = np.random.default_rng(0), [], set[Place]()
        with measured() as cost:
            for step in range(STEPS + 1):
                if step:
                    places = reviewed.order(cell.order, rng)
                    fresh = (place for place in places if place not in seen)
                    for place in list(islice(fresh, LOOKS)):
                        reviewed.look(*place)
                        seen.add(place)
                reviewed.fit()
                steps.append({"looks": len(seen), **reviewed.scores()})
        return {"steps": steps, "time": cost}

    def tables(self, found: Found) -> Tables:
        rows = [
            (CORPORA[cell.corpus], ORDERS[cell.order], *step.values())
            for cell, record in self.finished(found)
            for step in record["steps"]
        ]
        head = ("corpus", "order", "looks", "wrong labels|d", "span F1|.2f|100")
        yield table(head, rows)


class _Reviewed(ABC):
    """A corpus whose labels are found, looked at, and found again."""

    gold: list[list[str]]
    labels: list[list[str]]
    scheme: str

    @abstractmethod
    def fit(self) -> None:
        """Find labels from all that is known."""

    @abstractmethod
    def doubts(self) -> Iterator[tuple[Place, float]]:
        """Places and the entropy of what is given there, in tagsift's order."""

    @abstractmethod
    def reveal(self, s: int, t: int) -> None:
        """Let one label be known."""

    def order(self, name: str, rng: np.random.Generator) -> Iterator[Place]:
        """Places in the order in which a reviewer takes them."""
        places, spreads = zip(*self.doubts(), strict=True)
        order = np.arange(len(places))
        if name == "random":
            order = rng.permutation(len(places))
        elif name == "entropy":
            order = np.lexsort((rng.random(len(places)), np.negative(spreads)))
        return (places[k] for k in order)

    def look(self, s: int, start: int, end: int) -> None:
        """Say what is true of a place, and of the true spans that reach into it."""
        known = set(range(start, end))
        for span in spans(self.gold[s], self.scheme):
            if span.start < end and start < span.end:
                known |= set(range(span.start, span.end))
        for t in sorted(known):
            self.reveal(s, t)

    def scores(self) -> dict[str, float]:
        """Wrong labels, and span F1."""
        both = zip(chain(*self.labels), chain(*self.gold), strict=True)
        wrong = sum(label != gold for label, gold in both)
        f1 = span_scores(self.gold, self.labels, scheme=self.scheme).f1
        return {"wrong": wrong, "span_f1": round(float(f1), 6)}


class _Crowd(_Reviewed):
    """Crowd NER: votes, turned into labels by VoteTagger."""

    def __init__(self, data: Path) -> None:
        path = data / "crowd_ner" / "train.tsv"
        self.votes = read_votes(path, columns="2:48", gold=-1)
        self.gold, self.scheme = self.votes.gold or [], self.votes.scheme
        self.known: list[list[str | None]] = [[None] * len(row) for row in self.gold]
        self.model: VoteTagger | None = None

    def fit(self) -> None:
        model = self.model or VoteTagger(random_state=0)
        work = model.fit if self.model is None else model.update
        work(self.votes.rows, self.votes, exact=self.known)
        self.model = model
        self.labels = [[str(name) for name in row] for row in model.recovered_]

    def reveal(self, s: int, t: int) -> None:
        self.known[s][t] = self.gold[s][t]

    def doubts(self) -> Iterator[tuple[Place, float]]:
        assert self.model is not None
        for look in self.model.looks("span"):
            counts = np.array(list(look.tally.values()), dtype=float)
            p = counts / max(counts.sum(), 1.0)
            yield (look.sentence, look.start, look.end), float(-(p * np.log(p)).sum())


class _Task(_Reviewed):
    """A task of the paper: candidate sets, and ChainGP with a kernel learnt once."""

    def __init__(self, data: Path, task: str) -> None:
        corpus = read_head(data, task, TASKS[task].n_sentences)
        hidden = corrupt(corpus, cl=3, p=0.1, random_state=0)
        self.rows, self.gold = hidden.rows, hidden.gold or []
        self.scheme, self.names = hidden.scheme, tuple(hidden.label_set)
        self.candidates = [list(row) for row in hidden.candidates]
        self.kernel: dict[str, Any] | None = None

    def fit(self) -> None:
        about: dict[str, Any] = {"labels": self.names, "scheme": self.scheme}
        model = ChainGP(kernel=self.kernel, random_state=0, **about)
        model.fit(self.rows, self.candidates)
        self.kernel = model.kernel_.as_dict()
        self.labels = [[str(name) for name in row] for row in model.recovered_]
        column = {name: k for k, name in enumerate(model.classes_)}
        self.sure = [
            [float(c[column[name]]) for c, name in zip(rows, row, strict=True)]
            for rows, row in zip(model.confidences_, self.labels, strict=True)
        ]

    def reveal(self, s: int, t: int) -> None:
        self.candidates[s][t] = frozenset([self.gold[s][t]])

    def doubts(self) -> Iterator[tuple[Place, float]]:
        found: list[tuple[float, Place, float]] = []
        for s, row in enumerate(self.labels):
            whole = [(span.start, span.end) for span in spans(row, self.scheme)]
            inside = {t for lo, hi in whole for t in range(lo, hi)}
            whole += [(t, t + 1) for t in range(len(row)) if t not in inside]
            for lo, hi in whole:
                sure = min(self.sure[s][lo:hi])
                most = max(len(names) for names in self.candidates[s][lo:hi])
                found.append((sure, (s, lo, hi), float(np.log(most))))
        return ((place, spread) for _, place, spread in sorted(found))


EXPERIMENT = Looks
