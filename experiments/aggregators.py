"""Who turns votes into labels without looking at the text: ours, and other packages'.

Of crowd-kit, those that aggregate labels; its segmentations are of masks of images, and
its RASA is of embeddings. skweak's hidden Markov model (Lison, Barnes and Hubin, 2021)
reads spans; a source is silent where it says ``O``, and it learns what that means.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTable
from tagsift.data import spans
from tagsift.data.corpus import Corpus
from tagsift.metrics import label_indices
from tagsift.typing import FloatArray, IntArray


class Aggregated(NamedTuple):
    """Labels of all tokens, among those of the corpus."""

    codes: IntArray  # [N]
    shares: FloatArray | None = None  # [N, L]  their probabilities, if there are any


def counted(kind: Any, votes: Corpus) -> Aggregated:
    """Labels of an estimator of ours that only counts, without its tagger."""
    table, model = VoteTable(votes), kind()
    shares = model._posterior(table)  # [N, L]
    return Aggregated(np.asarray(model._labels(table, shares)), shares)


def by_token(votes: Corpus) -> Aggregated:
    """Counting as it is mostly done: tags as they are, bounds among them."""
    return Aggregated(_codes(votes, votes.majority("token").labels))


def crowd_kit(name: str, votes: Corpus) -> Aggregated:
    """Labels of crowd-kit, tag by tag; who abstains has no vote."""
    import crowdkit.aggregation
    import pandas as pd

    task, who, code = votes.with_votes(votes.speaks).votes  # [K] each
    said = pd.DataFrame({"task": task, "worker": who, "label": code})
    model = getattr(crowdkit.aggregation, name)()
    with _quiet():
        found = model.fit_predict(said)
    codes = np.full(votes.n_tokens, max(votes.outside, 0))  # [N]
    codes[found.index.to_numpy()] = found.to_numpy()
    probas = getattr(model, "probas_", None)
    if probas is None:
        return Aggregated(codes)
    shares = np.eye(len(votes.label_set))[codes]  # [N, L]
    columns = probas.columns.to_numpy()
    rows = np.zeros((len(probas), shares.shape[1]))  # [N', L]
    rows[:, columns] = probas.to_numpy()
    shares[probas.index.to_numpy()] = rows / rows.sum(axis=1, keepdims=True)
    return Aggregated(codes, shares)


def hidden_markov(votes: Corpus) -> Aggregated:
    """Labels of skweak's hidden Markov model over the spans of all annotators."""
    from skweak.generative import HMM
    from spacy.tokens import Doc, Span
    from spacy.vocab import Vocab

    vocab, docs = Vocab(), []
    for sentence in votes:
        doc = Doc(vocab, words=["x"] * len(sentence))  # it reads no words
        for name, said in sentence.votes.items():
            if None not in said:
                found = spans(list(map(str, said)), votes.scheme)
                marks = [Span(doc, s.start, s.end, label=s.type) for s in found]
                doc.spans[name] = marks
        docs.append(doc)
    types = {name[2:] for name in votes.label_set if name != "O"}
    with _quiet():
        model = HMM("hmm", sorted(types))
        model.fit(docs)
        docs = list(model.pipe(docs))
    names = list(votes.label_set)
    shares = np.zeros((votes.n_tokens, len(names)))  # [N, L]
    labels = list[list[str]]()
    for doc, first in zip(docs, votes.bounds.tolist(), strict=False):
        row, group = ["O"] * len(doc), doc.spans["hmm"]
        for one in group:
            row[one.start : one.end] = _tags(one.label_, one.end - one.start)
        labels.append(row)
        for t, chances in group.attrs.get("probs", {}).items():
            for name, chance in chances.items():
                if name in names:
                    shares[first + t, names.index(name)] = chance
    shares[:, votes.outside] = 1 - np.delete(shares, votes.outside, 1).sum(axis=1)
    return Aggregated(_codes(votes, labels), np.clip(shares, 0, 1))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let a package say nothing of its progress and of its use of others."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _tags(type_: str, length: int) -> list[str]:
    return [f"B-{type_}", *[f"I-{type_}"] * (length - 1)]


def _codes(votes: Corpus, labels: list[list[str]]) -> IntArray:
    return label_indices(labels, list(votes.label_set), name="labels")


#: By their names in records.
AGGREGATORS: dict[str, Callable[[Corpus], Aggregated]] = {
    "majority": partial(counted, MajorityVote),
    "majority-token": by_token,
    "dawid-skene": partial(counted, DawidSkene),
    "mace": partial(counted, MACE),
    "crowd-kit-majority": partial(crowd_kit, "MajorityVote"),
    "crowd-kit-dawid-skene": partial(crowd_kit, "DawidSkene"),
    "crowd-kit-mace": partial(crowd_kit, "MACE"),
    "skweak-hmm": hidden_markov,
}
