"""ChainGP against the partial CRF on corpora that nothing was chosen on.

Ten corpora made of the shared files' sentences that neither the paper's subsets nor the
development of the method have: all names and one kind of them alone, chunks of two
sorts of text and verb phrases alone, base NPs, parts of speech as labels, diseases. 400
sentences to learn from and the next 300, mostly of other documents, to tag; five draws
of the candidates, both sides at their defaults, the partial CRF tuned.

    python -m experiments elsewhere --records experiments/records/elsewhere.jsonl
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import fit, tuner_of
from experiments.folds import Fold, stable_seed
from experiments.records import Found
from experiments.tables import Tables, table
from experiments.targets.duel import lead_counts, leads, paired
from tagsift.data import bundled, corrupt
from tagsift.data.corpus import Corpus
from tagsift.data.rows import Row
from tagsift.io import read

LEARN, TAG, DRAWS = 400, 300, 5
SIDES = ("partial-crf", "chain-gp")
#: (cl, r, p): how labels are hidden.
HIDDEN = ((3, None, 0.1), (3, None, 0.5), (3, None, 0.9), (None, 0.75, 0.5))


class Source(NamedTuple):
    """Where a corpus is from."""

    path: str  # below the folder of the corpora
    first: int  # sentence
    label: int  # column
    columns: int = 2  # that features are made of
    kind: str = ""  # of spans; all if empty
    plain: bool = False  # no spans


SOURCES = {
    "names": Source("conll2003/train.conll", 10_000, 3),
    "persons": Source("conll2003/train.conll", 10_700, 3, kind="PER"),
    "organisations": Source("conll2003/train.conll", 11_400, 3, kind="ORG"),
    "places, no POS": Source("conll2003/train.conll", 12_100, 3, 1, "LOC"),
    "chunks of news wire": Source("conll2003/train.conll", 12_800, 2),
    "parts of speech": Source("conll2003/train.conll", 13_300, 1, 1, plain=True),
    "base NPs": Source("basenp/train.conll", 6_000, 2),
    "chunks": Source("conll2000/train.conll", 7_000, 2),
    "verb phrases": Source("conll2000/train.conll", 8_000, 2, kind="VP"),
    "diseases": Source("weak_ncbi/valid.tsv", 0, 1, 1),
}


@dataclass(frozen=True)
class ElsewhereCell(KeyedCell):
    """One fit of one side."""

    form = "{corpus}/cl{cl}-r{r}-p{p}/draw{draw}/{method}"
    corpus: str
    cl: int | None
    r: float | None
    p: float
    draw: int
    method: str

    @property
    def titles(self) -> tuple[str, str, str]:
        """The row of a table: data, features, and how labels are hidden."""
        hidden = f"cl {self.cl}" if self.cl is not None else f"r {self.r}"
        return self.corpus, "sparse", f"{hidden}, p {self.p}"


def read_source(data: Path | None, source: Source) -> Corpus:
    """Read the sentences of a source; the bundled corpus where there are none."""
    if data is None:
        return bundled("chunk")
    last = source.first + LEARN + TAG
    sentences = list(islice(_rows(data / source.path), source.first, last))
    kept = [[row[: source.columns] for row in rows] for rows in sentences]
    labels = [_labels(rows, source) for rows in sentences]
    return Corpus.from_lists(kept, labels, scheme=_scheme(source))


def _scheme(source: Source) -> str:
    if source.path.startswith("basenp"):
        return "iob1"
    return "plain" if source.plain else "iob2"


def _rows(path: Path) -> Iterator[list[Row]]:
    """All columns of every sentence; the truth of votes is behind the words."""
    if path.suffix == ".tsv":
        votes = read(path, votes="2:18", gold=-1)
        return _cut(map(_beside, votes.rows, votes.gold or ()))
    corpus = read(path)
    return map(_beside, corpus.rows, corpus.labels)


def _beside(rows: list[Row], labels: list[str]) -> list[Row]:
    return [(*row, label) for row, label in zip(rows, labels, strict=True)]


def _cut(documents: Iterable[list[Row]]) -> Iterator[list[Row]]:
    """Cut abstracts behind their full stops."""
    for document in documents:
        stops = [n + 1 for n, row in enumerate(document) if row[0] == "."]
        for lo, hi in zip([0, *stops], [*stops, len(document)], strict=True):
            if lo < hi:
                yield document[lo:hi]


def _labels(rows: list[Row], source: Source) -> list[str]:
    labels = (row[source.label] for row in rows)
    kind = f"-{source.kind}" if source.kind else ""
    return [x if x.endswith(kind) else "O" for x in labels]


class Elsewhere(Experiment):
    """Both sides on other corpora."""

    name = "elsewhere"
    title = "ChainGP against the partial CRF on other corpora"
    summary = f"Mean ± standard error over {DRAWS} draws of the candidates."

    def cells(self) -> list[ElsewhereCell]:
        about = product(range(DRAWS), SOURCES, HIDDEN, SIDES)
        return [
            ElsewhereCell(corpus, *hidden, draw, side)
            for draw, corpus, hidden, side in about
        ]

    def files(self, cell: ElsewhereCell) -> tuple[str, ...]:
        return (SOURCES[cell.corpus].path,)

    def run(self, cell: ElsewhereCell) -> dict[str, Any]:
        corpus = read_source(self.data, SOURCES[cell.corpus])
        n = LEARN * len(corpus) // (LEARN + TAG)
        fold = Fold.of(corpus[:n], corpus[n:], corpus.label_set)
        cl, p, r, names = cell.cl, cell.p, cell.r, fold.label_set
        seed = stable_seed("elsewhere", cell.corpus, cl, p, r, cell.draw)
        hidden = corrupt(fold.train, cl=cl, p=p, r=r, random_state=seed, labels=names)
        tuner = tuner_of(cell.method)
        fitted = fit(cell.method, fold, hidden, tuner.ask)
        return {
            "scores": fitted.four_scores(),
            "settings": tuner.read(fitted.model),
            "temperature": round(getattr(fitted.model, "temperature_", 1.0), 4),
            "cpu_s": round(fitted.fitting.cpu, 2),
        }

    def tables(self, found: Found) -> Tables:
        done = dict(self.finished(found))
        scores = paired(done, SIDES)
        yield lead_counts(scores, "Who wins how often")
        yield leads(scores, "both at their defaults")
        spent = {side: 0.0 for side in SIDES}
        for cell, record in done.items():
            spent[cell.method] += record["cpu_s"]
        yield table(("method", "CPU s of all fits|.0f"), spent.items(), title="Time")


EXPERIMENT = Elsewhere
