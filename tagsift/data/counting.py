"""What votes add up to: the majority, with its ties, and the union.

Votes are counted in their strongest form, so that the baseline is the best that
counting can do: on types, the bounds apart. The `O` of who abstains is no vote. A span
begins where more than half of its type's voters began one; those who abstain (rules,
dictionaries) have no say in that, and what they alone mark goes on as long as its type
does. Ties go to the type that is voted for on more tokens, and to `O` last of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tagsift.data._from_lists import mask_codes
from tagsift.data.schemes import opening_transitions
from tagsift.data.span_table import SpanTable, tag_codes, types_of
from tagsift.data.stacking import split_at
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tagsift.data.corpus import Corpus

__all__ = ["Majority", "majority", "union"]

#: Counts that are nearer than this are the same: sets of labels share a vote.
_SAME = 1e-9


class Majority(NamedTuple):
    """What most annotators say."""

    labels: list[list[str]]  # per sentence
    ties: list[list[bool]]  # whether others had as many votes


def majority(corpus: Corpus, by: Literal["span", "token"] = "span") -> Majority:
    """Label every token by majority vote.

    Parameters
    ----------
    corpus : Corpus
        With votes.
    by : {"span", "token"}
        Whether types are counted, and then bounds, or tags as they are.

    Returns
    -------
    Majority
        A token of which nobody says anything is outside, or gets the commonest label
        where there is no ``O``.
    """
    if by not in ("span", "token"):
        raise InputError(f"expected by to be 'span' or 'token', found {by!r}.")
    if not len(corpus.votes.code):
        raise InputError("expected at least one vote, found none in the corpus.")
    names = list(corpus.label_set)
    if by == "token" or corpus.scheme == "plain":
        place = np.argsort(np.argsort(np.array(names, dtype=object)))  # [L], by name
        winner, ties = _winners(corpus, place, len(names))  # [N]
        ordered = sorted(names)
        labels = [ordered[k] for k in winner.tolist()]
    else:
        types, of_label = types_of(names, corpus.scheme)
        kinds, ties = _winners(corpus, of_label % (len(types) + 1), len(types) + 1)
        winner = np.where(kinds < len(types), kinds, -1)  # [N]
        first = np.zeros(corpus.n_tokens, dtype=bool)  # [N]
        first[corpus.bounds[:-1][corpus.lengths > 0]] = True
        begins = _begins(corpus, winner, of_label, first)  # [N]
        start = np.flatnonzero(begins)  # [P]
        stop = np.append(np.flatnonzero(begins | (winner < 0)), corpus.n_tokens)
        end = stop[np.searchsorted(stop, start, side="right")]  # [P]
        table = SpanTable(start, end, winner[start])
        codes, tags = tag_codes(table, first, types, corpus.scheme)
        labels = [tags[k] for k in codes.tolist()]
    bounds = corpus.bounds
    return Majority(split_at(labels, bounds), split_at(ties.tolist(), bounds))


def _shares(corpus: Corpus, kind: IntArray, n_kinds: int) -> FloatArray:
    """How a vote is shared among kinds of labels, [V, Y]."""
    one_hot = np.eye(n_kinds)[kind]  # [L, Y]
    members = corpus.members  # [V, L]
    return np.asarray((members / members.sum(axis=1, keepdims=True)) @ one_hot)


def _winners(
    corpus: Corpus, kind: IntArray, n_kinds: int
) -> tuple[IntArray, BoolArray]:
    """The kind with the most votes of every token, and whether others have as many.

    `kind` is that of every label, [L].
    """
    speaks = corpus.speaks  # [K]
    token, code = corpus.votes.token[speaks], corpus.votes.code[speaks]  # [K'], [K']
    shares = _shares(corpus, kind, n_kinds)  # [V, Y]
    vote, said = np.nonzero(shares)  # [E], [E]
    first = np.searchsorted(vote, np.arange(len(shares) + 1))  # [V + 1]
    copies = np.diff(first)[code]  # [K']
    ends = np.cumsum(copies)  # [K']
    e = np.arange(int(copies.sum())) + np.repeat(first[code] - (ends - copies), copies)
    cell = np.repeat(token, copies) * n_kinds + said[e]  # [K'']
    weight = shares[vote[e], said[e]]  # [K'']
    cells, inverse = np.unique(cell, return_inverse=True)  # [C]
    count = np.bincount(inverse, weight, len(cells))  # [C]
    common = np.bincount(cells % n_kinds, minlength=n_kinds)  # [Y], tokens that have it
    if corpus.outside >= 0:
        common[kind[corpus.outside]] = -1  # a tie is no reason to see nothing
    order = np.lexsort((-common[cells % n_kinds], -count.round(9), cells // n_kinds))
    cells, count = cells[order], count[order]
    at = np.flatnonzero(np.diff(cells // n_kinds, prepend=-1))  # [N'] the best cells
    winner = np.full(corpus.n_tokens, _silent(corpus, kind, common))  # [N]
    winner[cells[at] // n_kinds] = cells[at] % n_kinds
    ties = np.zeros(corpus.n_tokens, dtype=bool)  # [N]
    second = at[at + 1 < len(cells)] + 1  # [N'']
    same = cells[second] // n_kinds == cells[second - 1] // n_kinds
    same &= np.abs(count[second] - count[second - 1]) < _SAME
    ties[cells[second[same]] // n_kinds] = True
    return winner, ties


def _silent(corpus: Corpus, kind: IntArray, common: IntArray) -> int:
    """The kind of a token of which nobody says anything."""
    return int(kind[corpus.outside] if corpus.outside >= 0 else common.argmax())


def _begins(
    corpus: Corpus, winner: IntArray, of_label: IntArray, first: BoolArray
) -> BoolArray:
    """Where the spans of the winning types begin, [N]."""
    token, annotator, code = corpus.votes
    n_labels = len(of_label)
    after, at_once = opening_transitions(list(corpus.label_set), corpus.scheme)
    single = code < n_labels  # [K]
    label = np.where(single, code, 0)  # [K]
    before = np.where(corpus.previous < 0, -1, code[corpus.previous])  # [K]
    known = (before >= 0) & (before < n_labels)  # [K]
    opens = np.where(known, after[np.where(known, before, 0), label], at_once[label])
    counts = single & ~corpus.abstains[annotator]  # [K]
    counts &= (winner[token] >= 0) & (of_label[label] == winner[token])
    voters = np.bincount(token[counts], minlength=corpus.n_tokens)  # [N]
    began = np.bincount(token[counts & opens], minlength=corpus.n_tokens)  # [N]
    changes = winner != np.concatenate([[-1], winner[:-1]])[: len(winner)]  # [N]
    return np.asarray((winner >= 0) & (first | changes | (2 * began > voters)))


def union(
    corpus: Corpus, min_votes: int
) -> tuple[IntArray, tuple[frozenset[str], ...]]:
    """Codes of candidate sets made of votes, [N], and the sets; see `Corpus.union`."""
    if min_votes < 1:
        raise InputError(f"expected min_votes of at least 1, found {min_votes}.")
    token, _, code = corpus.votes
    n_labels = len(corpus.label_set)
    counts = np.zeros((corpus.n_tokens, n_labels), dtype=np.int64)  # [N, L]
    np.add.at(counts, token, corpus.members[code])
    least = np.clip(counts.max(axis=1, initial=0), 1, min_votes)  # [N]
    chosen = counts >= least[:, None]  # [N, L]
    chosen[~chosen.any(axis=1)] = True
    return mask_codes(chosen, corpus.label_set)
