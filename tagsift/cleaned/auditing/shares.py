"""Shares that are stated: wrong ones among all tokens, spans or votes of a kind.

What the model expects of every sentence, and what was found in those looked at.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tagsift.cleaned.auditing.labels import AuditedLabels
from tagsift.data.span_table import span_table, types_of
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Part",
    "Share",
    "Tally",
    "expected",
    "found",
    "part_expected",
    "part_found",
    "parts",
]

#: Shares of the whole corpus: of tokens, of spans that are found, of true spans.
Share: TypeAlias = Literal["errors", "span_f1", "precision", "recall"]


class Tally(NamedTuple):
    """Wrong ones, and all, by sentence."""

    errors: FloatArray  # [S]
    size: FloatArray  # [S]


class Part(NamedTuple):
    """Tokens or votes that one statement is about."""

    name: str
    token: IntArray  # [K]  where each is
    code: IntArray  # [K]  what it says


def expected(labels: AuditedLabels, share: Share) -> Tally:
    """What the model expects of every sentence."""
    if share == "errors":
        every = np.ones(len(labels.codes))
        return Tally(labels.by_sentence(labels.wrong), labels.by_sentence(every))
    at = labels.sentence[labels.spans.start]  # [P]
    n = len(labels.corpus)
    found_ = np.bincount(at, minlength=n).astype(float)  # [S]
    right = np.bincount(at, 1 - labels.span_wrong, n).astype(float)  # [S]
    true = np.maximum(labels.by_sentence(labels.span_begins), right)  # [S]
    settled = labels.settled_sentences
    return _spans(share, found_, np.where(settled, found_, true), right)


def found(
    labels: AuditedLabels, share: Share, sentences: IntArray, truth: IntArray
) -> Tally:
    """What was found in sentences that were looked at.

    `truth` holds the right label of each of their tokens, one sentence after the other.
    """
    lengths = labels.corpus.lengths[sentences]  # [n]
    row = np.repeat(np.arange(len(sentences)), lengths)  # [M]
    begins = np.cumsum(lengths) - lengths  # [n]
    shift = np.repeat(labels.corpus.bounds[sentences] - begins, lengths)
    own = labels.codes[np.arange(len(row)) + shift]  # [M]
    n = len(sentences)
    if share == "errors":
        wrong = np.bincount(row, weights=own != truth, minlength=n).astype(float)
        return Tally(wrong, lengths.astype(float))
    first = np.zeros(len(row), dtype=bool)
    first[begins[lengths > 0]] = True
    about = labels.names, labels.corpus.scheme
    ours, theirs = (np.stack(span_table(x, first, *about), 1) for x in (own, truth))
    shared = set(map(tuple, ours.tolist())) & set(map(tuple, theirs.tolist()))
    places = (ours[:, 0], theirs[:, 0], np.array([x[0] for x in shared], dtype=int))
    counts = (np.bincount(row[at], minlength=n).astype(float) for at in places)
    return _spans(share, *counts)


def _spans(
    share: Share, found_: FloatArray, true: FloatArray, right: FloatArray
) -> Tally:
    """The complement of a score of spans: 1 − F1 is (P + G − 2 TP) / (P + G)."""
    if share == "precision":
        return Tally(found_ - right, found_)
    if share == "recall":
        return Tally(true - right, true)
    return Tally((found_ + true) / 2 - right, (found_ + true) / 2)


def parts(labels: AuditedLabels, kind: str) -> list[Part]:
    """What a statement is made for: every label, annotator or document."""
    corpus, every = labels.corpus, np.arange(len(labels.codes))
    if kind == "label":
        names, of = types_of(labels.names, corpus.scheme)  # types, [L]
        type_ = of[labels.codes]  # [N]
        named = [*((k, name) for k, name in enumerate(names)), (-1, "O")]
        return [_of(labels, name, every[type_ == k]) for k, name in named]
    if kind == "document":
        ids = corpus.document_ids
        if ids is None:
            raise InputError(
                "expected a corpus of documents, found sentences without any; ask by "
                "label or by annotator."
            )
        place = {name: k for k, name in enumerate(dict.fromkeys(ids))}
        own = np.array([place[name] for name in ids])[labels.sentence]  # [N]
        order = np.argsort(own, kind="stable")  # [N]
        groups = np.split(order, np.cumsum(np.bincount(own, minlength=len(place)))[:-1])
        return [_of(labels, name, at) for name, at in zip(place, groups, strict=True)]
    if kind == "annotator":
        votes = corpus.with_votes(corpus.speaks).votes
        if not len(votes.token):
            raise InputError("expected a corpus with votes, found none.")
        cast = [votes.annotator == a for a in range(len(corpus.annotators))]
        return [
            Part(one.name, votes.token[at], votes.code[at])
            for one, at in zip(corpus.annotators, cast, strict=True)
        ]
    raise InputError(f"kind must be 'label', 'annotator' or 'document'; got {kind!r}.")


def _of(labels: AuditedLabels, name: str, token: IntArray) -> Part:
    return Part(name, token, labels.codes[token])


def part_expected(labels: AuditedLabels, part: Part) -> Tally:
    """What the model expects of the part of every sentence."""
    rows = np.minimum(part.code, len(labels.names) - 1)
    right = labels.marginals[part.token, rows]  # [K]
    for k in np.flatnonzero(part.code >= len(labels.names)):  # votes of several labels
        right[k] = labels.marginals[part.token[k]] @ labels.corpus.members[part.code[k]]
    own = part.code == labels.codes[part.token]
    chance = np.where(own, labels.wrong[part.token], 1 - right)  # [K]
    return _summed(labels, part, chance)


def part_found(labels: AuditedLabels, part: Part, truth: IntArray) -> Tally:
    """What was found of the part; `truth` is [N], −1 where nobody has looked."""
    said = truth[part.token]  # [K]
    members = labels.corpus.members
    right = members[part.code, np.maximum(said, 0)]  # [K]
    return _summed(labels, part, np.asarray((said >= 0) & ~right))


def _summed(labels: AuditedLabels, part: Part, wrong: FloatArray | BoolArray) -> Tally:
    at, n = labels.sentence[part.token], len(labels.corpus)
    size = np.bincount(at, minlength=n).astype(float)
    errors = np.bincount(at, weights=wrong, minlength=n).astype(float)
    return Tally(errors, size)
