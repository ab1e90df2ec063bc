"""Cases: feature matrices and vote matrices given to Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tagsift
from tagsift import annotators, metrics
from tagsift.registry import estimator
from tests.fuzz import inputs
from tests.fuzz.dice import Dice
from tests.fuzz.outcome import attempt

_ODD_VALUES = (0.0, -0.0, 1.0, -1.0, 1e-320, 1e-160, 1e160, 1e300, -1e300, 2.0**53)
_NO_VALUES = (np.nan, np.inf, -np.inf)


def feature_matrices(dice: Dice, folder: Path) -> None:
    """Fit and predict on features that may be odd, sparse, empty or no numbers."""
    lengths = [dice.randint(0, 4) for _ in range(dice.randint(1, 4))]
    width = dice.choice((0, 1, 1, 3, 7))
    features = _features(dice, lengths, width)
    labels = _labels(dice, lengths)
    kind = estimator(inputs.methods(dice))
    settings: dict[str, Any] = dict(kind._check_params)
    if dice.often(0.1):
        settings["labels"] = dice.choice((["A"], ["A", "B", "C"], [], ["A", "A"]))
    model = kind(**settings)

    def work() -> Any:
        model.fit(features, labels)
        new = _features(dice, lengths, width) if dice.often(0.5) else features
        answer = [model.predict(new)]
        if model.method.probabilities:
            answer.append(model.predict_proba(new))
        if dice.often(0.3):
            answer.append(model.recover(new, labels))
        return answer

    attempt(work)


def _features(dice: Dice, lengths: list[int], width: int) -> Any:
    rng = dice.numpy()
    stacked = rng.normal(size=(sum(lengths), width))
    if dice.often(0.4):
        stacked = (stacked > 0.3).astype(np.float64)
    for values, share in ((_ODD_VALUES, 0.3), (_NO_VALUES, 0.1)):
        if stacked.size and dice.often(share):
            for _ in range(dice.randint(1, 3)):
                place = dice.randrange(len(stacked)), dice.randrange(width)
                stacked[place] = dice.choice(values)
    if dice.often(0.1) and stacked.size:
        with np.errstate(all="ignore"):
            stacked = stacked * dice.choice((1e-200, 1e100, 1e200))
    if dice.often(0.1):
        with np.errstate(all="ignore"):
            kinds = (np.float32, np.int64, np.uint8, bool, object, np.complex128, "U5")
            stacked = stacked.astype(dice.choice(kinds))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    how = dice.randrange(4)
    if how == 0:
        return [stacked[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    if how == 1:
        rows = [{f"f{j}": float(j) for j in range(dice.randint(0, 3))} for _ in stacked]
        return [rows[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    block = _sparse(dice, stacked) if how == 2 else stacked
    if dice.often(0.1):
        offsets = offsets + dice.choice((1, -1))
    return attempt(lambda: tagsift.FeatureMatrix(("a",), (block,), offsets)) or []


def _sparse(dice: Dice, stacked: Any) -> Any:
    """Rows in compressed form, at times not as the library would write them."""
    try:
        matrix = sp.csr_matrix(stacked)
    except (TypeError, ValueError):  # a type that no sparse matrix has
        return stacked
    if matrix.nnz and dice.often(0.3):
        how = dice.randrange(4)
        if how == 0:
            matrix.indices = matrix.indices[::-1].copy()
        elif how == 1:
            matrix.indices[dice.randrange(matrix.nnz)] = dice.choice((-1, 10**6))
        elif how == 2:
            matrix.indptr[dice.randrange(len(matrix.indptr))] = dice.choice((-1, 10**6))
        else:
            matrix.indices[:] = matrix.indices[0]
    return matrix


def _labels(dice: Dice, lengths: list[int]) -> Any:
    names = ("A", "B", "C")
    how = dice.randrange(4)
    if how == 0:
        return [[dice.choice(names) for _ in range(n)] for n in lengths]
    if how == 1:
        least = 0 if dice.often(0.1) else 1
        return [
            [set(dice.sample(names, dice.randint(least, 3))) for _ in range(n)]
            for n in lengths
        ]
    rng = dice.numpy()
    masks = [rng.random((n, 3)) < 0.6 for n in lengths]
    for mask in masks:
        if not dice.often(0.1):
            mask[:, 0] = True
    if how == 2:
        return masks
    odd = dice.choice((1.0, 1.0, 0.0, 1e-300, 1e300, -1.0, np.nan, np.inf))
    return [np.where(mask, rng.random(mask.shape) * odd, 0.0) for mask in masks]


def vote_matrices(dice: Dice, folder: Path) -> None:
    """Counts, agreement and taggers of votes that may be missing, sets or no labels."""
    corpus = attempt(lambda: inputs.votes(dice))
    if corpus is None:
        return
    kind = estimator(dice.choice(inputs.FROM_VOTES))
    settings = dict(kind._check_params)
    if dice.often(0.2):
        settings["o_means"] = dice.choice(("abstain", {"bob": "abstain"}, {"x": "y"}))

    def fit() -> Any:
        model = kind(**settings).fit(corpus)
        return [model.predict(corpus.rows), model.predict_proba(corpus.rows)]

    choices = (
        corpus.majority,
        lambda: repr(corpus.agreement()),  # what is not defined may be NaN
        lambda: corpus.union(dice.randint(0, 3)).candidates,
        lambda: metrics.vote_disagreement(corpus, np.zeros(corpus.n_tokens, int)),
        lambda: annotators.quick_labels(corpus),
        fit,
    )
    attempt(dice.choice(choices))
