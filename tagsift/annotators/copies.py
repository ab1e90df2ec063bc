"""Annotators who copy each other: found, and counted as one.

Good annotators agree because they are right; copies agree where they are alone with
what they say, too. Two annotators are held to be copies if they say the same wherever
either of them differs from what the others say, and wherever either says something
other than the commonest label.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["copy_groups", "copy_weights"]


def copy_groups(table: VoteTable) -> list[tuple[int, ...]]:
    """Groups of annotators who copy each other, by column; each of two or more."""
    usual = _usual(table)
    group = np.arange(table.n_annotators)  # [A]
    for a, b in _alike_pairs(table, usual):
        if _are_copies(table, a, b, usual):
            group[group == group[b]] = group[a]
    members = [np.flatnonzero(group == g) for g in np.unique(group)]
    return [tuple(map(int, one)) for one in members if len(one) > 1]


def copy_weights(table: VoteTable, groups: list[tuple[int, ...]]) -> FloatArray:
    """How much every annotator counts: a group counts as one annotator, [A]."""
    weights = np.ones(table.n_annotators)  # [A]
    for members in groups:
        mine = np.isin(table.annotator, members)  # [K]
        together = table.sum_by_token(mine)  # [N]
        for a in members:
            token = table.token[table.annotator == a]  # [K']
            weights[a] = float((1.0 / together[token]).mean()) if len(token) else 1.0
    return weights


def _usual(table: VoteTable) -> int:
    """The commonest vote: what two annotators say alike without copying."""
    return int(np.bincount(table.code).argmax()) if len(table.code) else -1


def _alike_pairs(table: VoteTable, usual: int) -> list[tuple[int, int]]:
    """Pairs that say the same wherever either says something but the usual.

    Only annotators of the same tokens are compared.
    """
    n_annotators, n_codes = table.n_annotators, len(table.members)

    def together(token: IntArray, annotator: IntArray, height: int) -> sp.csr_matrix:
        shape = (height, n_annotators)
        there = sp.csr_matrix((np.ones(len(token)), (token, annotator)), shape=shape)
        return there.T @ there  # [A, A]

    token, annotator, code = table.token, table.annotator, table.code  # [K] each
    commonplace = code == usual  # [K]
    rest = ~commonplace  # [K]
    cell = token * n_codes + code  # [K]
    _, cell = np.unique(cell[rest], return_inverse=True)
    height = int(cell.max(initial=-1)) + 1
    equal = together(cell, annotator[rest], height)
    both = together(token[commonplace], annotator[commonplace], table.n_tokens)
    spoken = together(token, annotator, table.n_tokens) - both  # [A, A]
    pairs = sp.triu(spoken >= CONSTANTS.copied_tokens, k=1).tocoo()
    if not pairs.nnz:
        return []
    a, b = pairs.row, pairs.col  # [P], [P]
    share = np.asarray(equal[a, b]).ravel() / np.asarray(spoken[a, b]).ravel()  # [P]
    alike = share >= CONSTANTS.copied_share  # [P]
    return sorted(zip(a[alike].tolist(), b[alike].tolist(), strict=True))


def _are_copies(table: VoteTable, a: int, b: int, usual: int) -> bool:
    if table.abstains[[a, b]].any() or table.n_annotators == 2:
        return True
    each = np.arange(table.n_tokens)  # [N]
    x, y = table.of(each, np.full_like(each, a)), table.of(each, np.full_like(each, b))
    shared = (x >= 0) & (y >= 0)  # [N]
    spoken = shared & ((x != usual) | (y != usual))  # [N]
    others = _others(table, a, b)  # [N]
    apart = shared & (others >= 0) & ((x != others) | (y != others))  # [N]
    alone = shared & (others < 0)  # nobody else to compare with
    return bool(alone[spoken].all()) or _alike(x, y, apart)


def _alike(x: IntArray, y: IntArray, where: BoolArray) -> bool:
    if where.sum() < CONSTANTS.copied_tokens:
        return False
    return float((x[where] == y[where]).mean()) >= CONSTANTS.copied_share


def _others(table: VoteTable, a: int, b: int) -> IntArray:
    """What most of the others say of a token; −1 where nobody does, [N]."""
    rest = ~np.isin(table.annotator, [a, b])  # [K]
    n_codes = len(table.members)
    cells, times = np.unique(
        table.token[rest] * n_codes + table.code[rest], return_counts=True
    )
    token, code = np.divmod(cells, n_codes)
    order = np.lexsort((-code, times, token))  # the last of a token is the commonest
    others = np.full(table.n_tokens, -1, dtype=np.int64)  # [N]
    others[token[order]] = code[order]
    return others
