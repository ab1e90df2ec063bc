"""Partial labels made from gold ones: the two sampling schemes of section IV.

``cl``: the truth and ``cl - 1`` negatives, each drawn uniformly and with replacement
from the other labels of the whole task, so that a set may have fewer than ``cl``
members. ``r``: every negative is flipped into the set with probability ``r``.
Exactly ``round(p * n)`` sequences keep their exact labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from numbers import Integral

import numpy as np

from tagsift.data._from_lists import mask_codes
from tagsift.data.corpus import Corpus
from tagsift.data.label_set import LabelSet, as_label_set
from tagsift.errors import InputError
from tagsift.typing import BoolArray, IntArray

__all__ = ["corrupt", "draw_flips", "draw_list"]

_LONGEST = 10_000


def corrupt(
    corpus: Corpus,
    *,
    cl: int | None = None,
    p: float = 0.0,
    r: float | None = None,
    random_state: int | np.random.Generator = 0,
    labels: LabelSet | Iterable[str] | None = None,
) -> Corpus:
    """Hide the labels of a corpus among random candidates.

    Parameters
    ----------
    corpus : Corpus
        With a label for every token; they travel in ``.gold`` of the result, which no
        fit sees.
    cl : int, optional
        Length of the candidate list: the truth and ``cl - 1`` negatives drawn with
        replacement. Give either `cl` or `r`.
    p : float
        Share of the sequences that stay exact, in [0, 1].
    r : float, optional
        Probability that a negative label is flipped into the set, in [0, 1].
    random_state : int or Generator
        Fixes the draws. With the same seed a larger `p` keeps the same sequences exact
        and more, and leaves the candidates of the others as they were.
    labels : LabelSet or iterable of str, optional
        The whole label set of the task, when the corpus is only a part of it (a fold);
        default: those that the corpus uses.

    Examples
    --------
    >>> corpus = Corpus.from_lists([["Rates", "fell"]], [["I", "O"]])
    >>> partial = corrupt(corpus, cl=4, labels=("B", "I", "O"))
    >>> all(g in c for g, c in zip(partial.gold[0], partial.candidates[0]))
    True
    """
    _check_settings(cl, p, r)
    label_set = as_label_set(labels) or LabelSet.union(corpus.labels)
    truth = _encode(corpus, label_set)  # [N]
    rng = np.random.default_rng(random_state)
    kept = rng.permutation(len(corpus))[: round(p * len(corpus))]  # [round(p S)]
    if cl is not None:
        mask = draw_list(truth, len(label_set), cl, rng)  # [N, L]
    else:
        mask = draw_flips(truth, len(label_set), float(r or 0.0), rng)  # [N, L]
    stays = np.repeat(np.isin(np.arange(len(corpus)), kept), corpus.lengths)  # [N]
    mask[stays] = False  # [N, L]
    mask[np.arange(len(truth)), truth] = True  # [N, L]
    codes, sets = mask_codes(mask, label_set)
    return Corpus(
        columns=corpus.columns,
        bounds=corpus.bounds,
        label_set=label_set,
        scheme=corpus.scheme,
        sets=sets,
        candidate_codes=codes,
        truth=tuple(chain.from_iterable(corpus.labels)),
    )


def draw_list(
    truth: IntArray, n_labels: int, cl: int, rng: np.random.Generator
) -> BoolArray:
    """Masks of the truth and ``cl - 1`` negatives drawn with replacement, [N, L]."""
    size = len(truth)
    mask: BoolArray = np.arange(n_labels) == truth[:, None]  # [N, L]
    if cl > 1 and n_labels < 2:
        raise InputError(
            f"expected at least 2 labels to draw negatives for cl = {cl}, found 1; "
            "give labels= with the whole label set."
        )
    for _ in range(cl - 1):
        if mask.all():
            break
        negative = rng.integers(0, n_labels - 1, size=size)  # [N]
        negative += negative >= truth  # [N]
        mask[np.arange(size), negative] = True  # [N, L]
    return mask


def draw_flips(
    truth: IntArray, n_labels: int, r: float, rng: np.random.Generator
) -> BoolArray:
    """Masks of the truth and every negative with probability `r`, [N, L]."""
    mask = rng.random((len(truth), n_labels)) < r  # [N, L]
    mask[np.arange(len(truth)), truth] = True  # [N, L]
    return mask


def _check_settings(cl: int | None, p: float, r: float | None) -> None:
    if (cl is None) == (r is None):
        found = "neither" if cl is None else "both"
        raise InputError(f"expected either cl or r, found {found}; give one of them.")
    whole = isinstance(cl, Integral) and not isinstance(cl, bool)
    if cl is not None and (not whole or cl < 1):
        raise InputError(f"expected cl to be a whole number of at least 1, found {cl}.")
    if cl is not None and cl > _LONGEST:
        raise InputError(
            f"expected cl of at most {_LONGEST}, found {cl}; r=1 makes every label a "
            "candidate."
        )
    for name, value in (("p", p), ("r", r or 0.0)):
        if not 0.0 <= value <= 1.0:
            raise InputError(f"expected {name} to lie in [0, 1], found {value}.")


def _encode(corpus: Corpus, label_set: LabelSet) -> IntArray:
    """Positions of the gold labels of all tokens, [N]."""
    codes = [np.zeros(0, dtype=np.int64)]
    for number, labels in enumerate(corpus.labels):
        try:
            codes.append(label_set.encode(labels))
        except InputError as error:
            raise InputError(f"sentence {number}, {error}") from None
    return np.concatenate(codes)  # [N]
