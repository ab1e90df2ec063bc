"""Checks that a method sees transitions between labels where it says so."""

from __future__ import annotations

import numpy as np

from tagsift.base import SequenceTagger
from tagsift.checks._sample import fresh, require
from tagsift.typing import FloatArray

__all__ = ["check_ignores_neighbours", "check_sees_neighbours"]

#: The features of the words "a", "b" and "x"; "x" is ambiguous by itself.
_ROWS = np.eye(3)
_X: list[FloatArray] = [_ROWS[[0, 2]], _ROWS[[1, 2]]]
_Y = [["A", "C"], ["B", "D"]]


def _answers(estimator: SequenceTagger) -> list[list[str]]:
    """Labels of "a x" and "b x": only the label before "x" tells C from D."""
    model = fresh(estimator).fit(_X * 10, _Y * 10)
    return [[str(k) for k in labels] for labels in model.predict(_X)]


def check_sees_neighbours(estimator: SequenceTagger) -> None:
    """A structured method learns a label that only the label before it tells."""
    found = _answers(estimator)
    require(found == _Y, f"Of {_Y} it predicts {found}.")


def check_ignores_neighbours(estimator: SequenceTagger) -> None:
    """A token-wise method gives tokens with the same features the same label."""
    first, second = _answers(estimator)
    require(first[1] == second[1], f"Found {first[1]!r} and {second[1]!r}.")
