"""The labels that a statement is about, and what their model believes, both frozen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagsift.cleaned.cleaned import Cleaned
from tagsift.data.corpus import Corpus
from tagsift.data.span_table import SpanTable, span_table, types_of
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["AuditedLabels", "frozen"]

#: Probabilities are kept in so many steps, so that what is stored is what was used.
_STEPS = 65535


@dataclass(frozen=True, eq=False)
class AuditedLabels:
    """The label of every token of a corpus, with the chances that it is wrong."""

    corpus: Corpus
    codes: IntArray  # [N]  among the label set of the corpus
    settled: BoolArray  # [N]  known exactly
    wrong: FloatArray  # [N]  chance that the label is wrong; 0 without a model
    steps: IntArray | None = None  # [N, L]  probabilities of labels, times `_STEPS`

    @property
    def names(self) -> tuple[str, ...]:
        """All labels, in the order of the codes."""
        return self.corpus.label_set.names

    @cached_property
    def sentence(self) -> IntArray:
        """The sentence of every token, [N]."""
        return np.repeat(np.arange(len(self.corpus)), self.corpus.lengths)

    @cached_property
    def settled_sentences(self) -> BoolArray:
        """Sentences of which every token is known, [S]; those without tokens, too."""
        unknown = self.by_sentence(~self.settled)
        return np.asarray(unknown == 0)

    @cached_property
    def marginals(self) -> FloatArray:
        """Probability of every label, [N, L]; without a model that of the labels."""
        if self.steps is None:
            return np.eye(len(self.names))[self.codes]
        made = np.zeros((len(self.codes), len(self.names)))
        made[:, : self.steps.shape[1]] = self.steps / _STEPS
        return made

    @cached_property
    def spans(self) -> SpanTable:
        """The spans of the labels."""
        first = np.zeros(len(self.codes), dtype=bool)
        first[self.corpus.bounds[:-1][self.corpus.lengths > 0]] = True
        return span_table(self.codes, first, self.names, self.corpus.scheme)

    @cached_property
    def span_wrong(self) -> FloatArray:
        """Chance that a span is wrong: of its label that is least sure, [P].

        The token behind a span belongs to it: by its label the span ends.
        """
        start, end, _ = self.spans
        last = np.searchsorted(self.corpus.bounds, start, side="right")  # [P]
        stop = np.minimum(end + 1, self.corpus.bounds[last])  # [P]
        edges = np.stack([start, stop], axis=1).ravel()  # [2 P]
        worst = np.maximum.reduceat(np.append(self.wrong, 0.0), edges)[::2]
        return np.asarray(worst, dtype=np.float64)

    @cached_property
    def span_begins(self) -> FloatArray:
        """Chance that a true span begins at a token, [N]."""
        scheme, chance = self.corpus.scheme, self.marginals
        head = np.array([name[:2] for name in self.names])  # [L]
        if scheme in ("iob2", "iobes"):
            return np.asarray(chance[:, np.isin(head, ["B-", "S-"])].sum(axis=1))
        _, type_ = types_of(self.names, scheme)  # [L]
        if scheme == "plain":
            return np.asarray(chance[:, type_ >= 0].sum(axis=1))
        begins = chance[:, head == "B-"].sum(axis=1)  # [N]
        before = np.roll(chance, 1, axis=0)
        before[self.corpus.bounds[:-1][self.corpus.lengths > 0]] = 0.0
        for k in np.unique(type_[type_ >= 0]):
            same = type_ == k
            inner = chance[:, same & (head != "B-")].sum(axis=1)
            begins = begins + inner * (1 - before[:, same].sum(axis=1))
        return np.asarray(begins)

    def by_sentence(self, values: FloatArray | BoolArray) -> FloatArray:
        """Sums of what tokens have over each sentence, [S]."""
        sums = np.bincount(self.sentence, weights=values, minlength=len(self.corpus))
        return sums.astype(float)

    @cached_property
    def fingerprint(self) -> str:
        """A number that tells text, labels and votes from all others."""
        made = hashlib.sha256(f"{self.corpus.scheme} {self.names}".encode())
        words = "\0".join(self.corpus.columns[0])
        made.update(words.encode("utf-8", "surrogatepass"))
        votes = self.corpus.votes
        for array in (self.corpus.bounds, self.codes, *votes):
            made.update(np.asarray(array, dtype="<i8").tobytes())
        return made.hexdigest()


def frozen(source: Cleaned | Corpus) -> AuditedLabels:
    """The labels of a result, or of a finished corpus, which has no model."""
    if isinstance(source, Corpus):
        _ = source.labels  # refuses votes and candidate sets
        codes = np.asarray(source.candidate_codes)
        zero = np.zeros(len(codes))
        return AuditedLabels(_any_tag(source), codes, zero.astype(bool), zero)
    corpus = _any_tag(source.corpus)
    if source.marginals is None:
        zero = np.zeros(len(source.codes))
        return AuditedLabels(corpus, source.codes, source.settled, zero)
    wrong = np.where(source.settled, 0.0, source.chance_wrong)
    return AuditedLabels(
        corpus,
        source.codes,
        source.settled,
        np.round(np.clip(wrong, 0, 1) * _STEPS) / _STEPS,
        np.round(np.clip(source.marginals, 0, 1) * _STEPS).astype(np.int64),
    )


def _any_tag(corpus: Corpus) -> Corpus:
    """The corpus with every tag of its types among its labels: people may need one."""
    types, _ = types_of(corpus.label_set.names, corpus.scheme)
    heads = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}.get(corpus.scheme, "")
    tags = [f"{head}-{name}" for name in types for head in heads if name]
    names = dict.fromkeys((*corpus.label_set.names, "O", *tags))
    return corpus.with_labels(list(names))
