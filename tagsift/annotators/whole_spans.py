"""Labels of whole spans: what sources confine, and what exact spans settle.

Where only sources have looked that abstain, a token has one of the types that one of
them names, or none: what a text adds where all are silent, or puts in the place of the
only type named, is mostly wrong, and what it deletes mostly right. And spans of one
type side by side, which are pieced together from votes on tokens, become one where as
many annotators have marked the whole as its best part. Else, of sources, the parts that
nobody marked go; what people and text find together may well be what nobody marked.
"""

from __future__ import annotations

import numpy as np

from tagsift.annotators.cross_fit import TextScores
from tagsift.annotators.vote_table import VoteTable
from tagsift.data.span_table import SpanTable, span_table, tag_codes, types_of
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["confined", "marked_spans", "settled", "without_neighbours"]

#: Score of a label that nobody named.
_UNNAMED = -1e3


def settled(model: TextScores, evidence: FloatArray, table: VoteTable) -> IntArray:
    """The labels of text and evidence, in whole spans, [N]."""
    if table.corpus.scheme == "plain" or table.outside < 0:
        return model.best(evidence)
    labels = model.best(confined(evidence, table))  # [N]
    whole = without_neighbours(labels, table)  # [N]
    return np.where(table.exact >= 0, labels, whole)


def confined(evidence: FloatArray, table: VoteTable) -> FloatArray:
    """Evidence without the types that no source names, where only sources look."""
    types, of_label = types_of(table.corpus.label_set.names, table.corpus.scheme)
    quiet = table.abstains[table.annotator]  # [K]
    only = (table.sum_by_token(quiet) > 0) & (table.sum_by_token(~quiet) == 0)  # [N]
    only &= table.exact < 0
    of_type = np.eye(len(types) + 1)[of_label]  # [L, Y + 1], the last is outside
    named = (table.counts @ of_type > 0) @ of_type.T > 0  # [N, L]
    free = named | ~only[:, None]  # [N, L]
    free[:, of_label < 0] = True
    return np.where(free, evidence, evidence + _UNNAMED)


def marked_spans(table: VoteTable) -> tuple[SpanTable, IntArray]:
    """Every span that an annotator marked, in stacked tokens, and who did, [P]."""
    names, scheme = table.corpus.label_set.names, table.corpus.scheme
    order = np.lexsort((table.token, table.annotator))  # [K]
    single = np.where(table.code < len(names), table.code, -1)[order]  # [K]
    spans = span_table(single, table.corpus.previous[order] < 0, names, scheme)
    token, annotator = table.token[order], table.annotator[order]  # [K], [K]
    start, end = token[spans.start], token[spans.end - 1] + 1  # [P], [P]
    return SpanTable(start, end, spans.type), annotator[spans.start]


def without_neighbours(labels: IntArray, table: VoteTable) -> IntArray:
    """Labels whose neighbouring spans of one type are settled by exact spans, [N]."""
    names, scheme = table.corpus.label_set.names, table.corpus.scheme
    first = table.begins  # [N]
    mine = span_table(labels, first, names, scheme)
    if not len(mine.start):
        return labels
    types, _ = types_of(names, scheme)
    going_on = np.zeros(len(mine.start), dtype=bool)  # [P]
    going_on[1:] = (
        (mine.start[1:] == mine.end[:-1])
        & (mine.type[1:] == mine.type[:-1])
        & ~first[mine.start[1:]]
    )
    if not going_on.any():
        return labels
    head, group = np.flatnonzero(~going_on), np.cumsum(~going_on) - 1  # [G], [P]
    size = np.bincount(group)  # [G]
    whole = SpanTable(mine.start[head], mine.end[head + size - 1], mine.type[head])
    marked, _ = marked_spans(table)
    n = table.n_tokens
    of_part, of_whole = _times(mine, marked, n), _times(whole, marked, n)  # [P], [G]
    best = np.maximum.reduceat(of_part, head)  # [G]
    only_sources = bool(table.abstains.all())
    joined = (size > 1) & (of_whole >= best) & (only_sources | (of_whole > 0))  # [G]
    wanted = (size[group] == 1) | (of_part > 0) | (not only_sources)  # [P]
    stays = ~joined[group] & wanted  # [P]
    return _tagged(mine, stays, whole, joined, labels, table, types)


def _times(spans: SpanTable, marked: SpanTable, n_tokens: int) -> IntArray:
    """How often each span was marked, [P]."""

    def key(of: SpanTable) -> IntArray:
        size = 1 + max(int(x.type.max(initial=0)) for x in (spans, marked))
        return np.asarray((of.start * (n_tokens + 1) + of.end) * size + of.type)

    keys, times = np.unique(key(marked), return_counts=True)
    if not len(keys):
        return np.zeros(len(spans.start), dtype=np.int64)
    wanted = key(spans)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, times[place], 0)


def _tagged(
    mine: SpanTable,
    stays: BoolArray,
    whole: SpanTable,
    joined: BoolArray,
    labels: IntArray,
    table: VoteTable,
    types: list[str],
) -> IntArray:
    """Labels of the spans that stay and of those that were joined, [N]."""
    parts = [
        np.concatenate([a[stays], b[joined]]) for a, b in zip(mine, whole, strict=True)
    ]
    order = np.argsort(parts[0], kind="stable")
    spans = SpanTable(*(part[order] for part in parts))
    names = table.corpus.label_set.names
    codes, tags = tag_codes(spans, table.begins, types, table.corpus.scheme)  # [N]
    place = np.array([names.index(tag) if tag in names else -1 for tag in tags])
    found = place[codes]  # [N]
    return np.where(found < 0, labels, found)
