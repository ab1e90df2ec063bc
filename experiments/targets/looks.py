"""What second looks bring: labels mended per fifty looks, in several orders.

A reviewer looks at spans (or single tokens outside them) and says what is true there;
after every fifty looks the model is fitted again with what is known. The order is that
of the queue of `tagsift review`, that of the entropy of the votes (of the candidate
sets), or random among the spans found. On crowd NER votes are turned into labels by
VoteTagger, on the paper's tasks (cl 3, p 0.1) candidate sets by ChainGP, whose kernel
is learnt once. In the order of the queue, what the page says is recorded as well: how
many wrong labels are left, and how many the next looks find.

    python -m experiments looks --records experiments/records/looks.jsonl
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Experiment, KeyedCell
from experiments.folds import TASKS, read_head
from experiments.measuring import measured
from experiments.records import Found
from experiments.tables import Tables, table
from tagsift.annotators import VoteTagger, outlook
from tagsift.chain_gp import ChainGP
from tagsift.data import corrupt, spans
from tagsift.io import read
from tagsift.metrics import span_scores
from tagsift.review.state import queue_order

#: Name of an order → what the figure calls it.
ORDERS = {
    "tagsift": "tagsift",
    "entropy": "entropy",
    "spans": "random spans",
}
#: Looks between two fits, and fits.
LOOKS, STEPS = 50, 6
CORPORA = {"crowd": "Crowd NER", "base-np": "Base NP", "ner": "NER"}


class Doubt(NamedTuple):
    """A place to look at."""

    sentence: int
    start: int
    end: int
    score: float  # chance that its label is wrong
    spread: float  # entropy of what is given there
    span: bool  # whether it is one, and not a token outside all


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
        f"{LOOKS} looks the model is fitted again. What is left, and what the next "
        "looks find, is said with a range that should hold nine times in ten."
    )
    separate = True
    needs_corpora = True

    def cells(self) -> list[LookCell]:
        return [LookCell(*pair) for pair in product(CORPORA, ORDERS)]

    def config(self, cell: LookCell) -> dict[str, Any]:
        return {**asdict(cell), "every": LOOKS}

    def files(self, cell: LookCell) -> tuple[str, ...]:
        crowd = cell.corpus == "crowd"
        return ("crowd_ner/train.tsv" if crowd else TASKS[cell.corpus].path,)

    def run(self, cell: LookCell) -> dict[str, Any]:
        crowd, data = cell.corpus == "crowd", self.data
        assert data is not None
        reviewed = _Crowd(data) if crowd else _Task(data, cell.corpus)
        rng, steps = np.random.default_rng(0), list[dict[str, Any]]()
        asked, wrong = list[float](), list[bool]()
        with measured() as cost:
            for step in range(STEPS + 1):
                reviewed.fit()
                steps.append({"looks": len(asked), **reviewed.scores()})
                queue = list(reviewed.order(cell.order, rng))
                if cell.order == "tagsift":
                    chances, told = [x.score for x in queue], (asked, wrong)
                    said = outlook(chances, *told, looks=LOOKS, scale=reviewed.scale)
                    truly = sum(map(reviewed.is_wrong, queue))
                    steps[-1] |= {"outlook": _rounded(asdict(said)), "truly": truly}
                if step == STEPS:
                    break
                for one in islice(queue, LOOKS):
                    asked.append(one.score)
                    wrong.append(reviewed.is_wrong(one))
                    reviewed.look(one)
                steps[-1]["found"] = sum(wrong[-LOOKS:])
        return {"steps": steps, "time": cost}

    def tables(self, found: Found) -> Tables:
        done = [
            (cell, step)
            for cell, record in self.finished(found)
            for step in record["steps"]
        ]
        head = ("corpus", "order", "looks", "wrong labels|d", "span F1|.2f|100")
        names = ("looks", "wrong", "span_f1")
        yield table(
            head,
            [
                (CORPORA[cell.corpus], ORDERS[cell.order], *map(step.get, names))
                for cell, step in done
            ],
        )
        rows = []
        for cell, step in done:
            if "outlook" in step:
                said, corpus = step["outlook"], CORPORA[cell.corpus]
                left, gain = (
                    "–".join(f"{x:.0f}" for x in said[name])
                    for name in ("left_range", "gain_range")
                )
                so_far = (corpus, step["looks"], said["left"], left, step["truly"])
                rows.append((*so_far, said["gain"], gain, step.get("found")))
        ahead = f"next {LOOKS}"
        yield table(
            (
                *("corpus", "looks", "left, expected|.0f", "range|>", "left, truly|d"),
                *(f"{ahead}, expected|.1f", "range |>", f"{ahead}, wrong|d"),
            ),
            rows,
            title="Spans and tokens that are wrong, as the page expects them",
        )


def _rounded(said: dict[str, Any]) -> dict[str, Any]:
    return {k: np.round(value, 2).tolist() for k, value in said.items()}


class _Reviewed(ABC):
    """A corpus whose labels are found, looked at, and found again."""

    gold: list[list[str]]
    labels: list[list[str]]
    scheme: str
    scale: float  # how far the log-odds of chances may be off

    def __init__(self) -> None:
        self.looked_at: set[tuple[int, int]] = set()

    @abstractmethod
    def fit(self) -> None:
        """Find labels from all that is known."""

    @abstractmethod
    def doubts(self) -> Iterator[Doubt]:
        """Places to look at, in the order of the text or any other."""

    @abstractmethod
    def reveal(self, s: int, t: int) -> None:
        """Let one label be known."""

    def order(self, name: str, rng: np.random.Generator) -> Iterator[Doubt]:
        """Places that are open, in the order in which a reviewer takes them."""
        places = sorted(one for one in self.doubts() if not self.is_known(one))
        if name == "spans":
            places = [one for one in places if one.span]
        order = rng.permutation(len(places))
        if name == "entropy":
            order = np.lexsort((order, np.array([-one.spread for one in places])))
        elif name == "tagsift":
            scores = np.array([one.score for one in places])  # [K]
            order = queue_order(scores, np.array([one.sentence for one in places]))
        return (places[k] for k in order)

    @cached_property
    def true_spans(self) -> list[list[tuple[int, int]]]:
        """Bounds of the true spans of every sentence."""
        rows = (spans(row, self.scheme) for row in self.gold)
        return [[(one.start, one.end) for one in row] for row in rows]

    def judged(self, one: Doubt) -> set[int]:
        """Tokens of a place, and of the true spans that reach into it."""
        known = set(range(one.start, one.end))
        for start, end in self.true_spans[one.sentence]:
            if start < one.end and one.start < end:
                known |= set(range(start, end))
        return known

    def is_known(self, one: Doubt) -> bool:
        """Whether nothing is left to be said of a place."""
        tokens = range(one.start, one.end)
        return all((one.sentence, t) in self.looked_at for t in tokens)

    def is_wrong(self, one: Doubt) -> bool:
        """Whether a look at a place changes anything."""
        s = one.sentence
        return any(self.labels[s][t] != self.gold[s][t] for t in self.judged(one))

    def look(self, one: Doubt) -> None:
        """Say what is true of a place."""
        for t in sorted(self.judged(one)):
            self.reveal(one.sentence, t)
            self.looked_at.add((one.sentence, t))

    def scores(self) -> dict[str, float]:
        """Wrong labels, and span F1."""
        both = zip(chain(*self.labels), chain(*self.gold), strict=True)
        wrong = sum(label != gold for label, gold in both)
        f1 = span_scores(self.gold, self.labels, scheme=self.scheme).f1
        return {"wrong": wrong, "span_f1": round(float(f1), 6)}


class _Crowd(_Reviewed):
    """Crowd NER: votes, turned into labels by VoteTagger."""

    scale = 0.7

    def __init__(self, data: Path) -> None:
        super().__init__()
        path = data / "crowd_ner" / "train.tsv"
        self.votes = read(path, votes="2:48", gold=-1)
        self.gold, self.scheme = self.votes.gold or [], self.votes.scheme
        self.known: list[list[str | None]] = [[None] * len(row) for row in self.gold]
        self.model: VoteTagger | None = None

    def fit(self) -> None:
        model = self.model or VoteTagger(random_state=0)
        work = model.fit if self.model is None else model.update
        work(self.votes.with_exact(self.known))
        self.model = model
        self.labels = [[str(name) for name in row] for row in model.transduction_]

    def reveal(self, s: int, t: int) -> None:
        self.known[s][t] = self.gold[s][t]

    def doubts(self) -> Iterator[Doubt]:
        assert self.model is not None
        for look in self.model.looks("span"):
            counts = np.array(list(look.tally.values()), dtype=float)
            p = counts / max(counts.sum(), 1.0)
            place = (look.sentence, look.start, look.end)
            spread = float(-(p * np.log(p)).sum())
            yield Doubt(*place, look.score, spread, look.label != "O")


class _Task(_Reviewed):
    """A task of the paper: candidate sets, and ChainGP with a kernel learnt once."""

    scale = 2.0

    def __init__(self, data: Path, task: str) -> None:
        super().__init__()
        corpus = read_head(data, task, TASKS[task].n_sentences)
        hidden = corrupt(corpus, cl=3, p=0.1, random_state=0)
        self.rows, self.gold = hidden.rows, hidden.gold or []
        self.scheme, self.names = hidden.scheme, tuple(hidden.label_set)
        self.candidates = [list(row) for row in hidden.candidates or ()]
        self.kernel: dict[str, Any] | None = None

    def fit(self) -> None:
        about: dict[str, Any] = {"labels": self.names, "scheme": self.scheme}
        model = ChainGP(kernel=self.kernel, random_state=0, **about)
        model.fit(self.rows, self.candidates)
        self.kernel = model.kernel_.as_dict()
        self.labels = [[str(name) for name in row] for row in model.transduction_]
        column = {name: k for k, name in enumerate(model.classes_)}
        self.sure = [
            [float(c[column[name]]) for c, name in zip(rows, row, strict=True)]
            for rows, row in zip(model.confidences_, self.labels, strict=True)
        ]

    def reveal(self, s: int, t: int) -> None:
        self.candidates[s][t] = frozenset([self.gold[s][t]])

    def doubts(self) -> Iterator[Doubt]:
        for s, row in enumerate(self.labels):
            whole = [(span.start, span.end) for span in spans(row, self.scheme)]
            inside = {t for lo, hi in whole for t in range(lo, hi)}
            single = [(t, t + 1) for t in range(len(row)) if t not in inside]
            for lo, hi in chain(whole, single):
                sure = min(self.sure[s][lo:hi])
                most = max(len(names) for names in self.candidates[s][lo:hi])
                doubt = min(max(1 - sure, 0.0), 1.0)
                yield Doubt(s, lo, hi, doubt, float(np.log(most)), lo in inside)


EXPERIMENT = Looks
