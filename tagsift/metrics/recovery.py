"""How often the hidden true label of a training token was found (Table II).

The paper counts ambiguous tokens only: tokens whose candidate set has more than one
label. Tokens that came with an exact label are in the overall share as well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.metrics._pairs import check_pairs, equal_labels
from tagsift.typing import BoolArray, Label, Labels

__all__ = ["Recovery", "ambiguous_tokens", "recovery"]


@dataclass(frozen=True)
class Recovery:
    """Shares of training tokens whose recovered label is the truth."""

    ambiguous: float  # among tokens with several candidates; NaN when there are none
    overall: float  # among all tokens
    n_ambiguous: int
    n_tokens: int
    n_ambiguous_correct: int
    n_correct: int


def ambiguous_tokens(
    candidates: Sequence[Sequence[Collection[Label]] | npt.NDArray[np.bool_]],
) -> BoolArray:
    """Tell which of the stacked tokens have more than one candidate."""
    several: list[bool] = []
    for number, sentence in enumerate(candidates):
        sizes = [_size(entry) for entry in sentence]
        if 0 in sizes:
            raise InputError(
                f"Sentence {number}, token {sizes.index(0)} (counted from 0): the "
                "candidate set is empty. Every token needs at least one label; give "
                "the full label set for an unlabelled token."
            )
        several += [size > 1 for size in sizes]
    return np.array(several, dtype=np.bool_)  # [N]


def _size(entry: Collection[Label] | Label) -> int:
    """Count candidates; a bare label is an exact one."""
    if isinstance(entry, (str, int, np.integer)):
        return 1
    if isinstance(entry, np.ndarray):
        return int(np.count_nonzero(entry))
    return len(set(entry))


def recovery(
    gold: Labels,
    recovered: Labels,
    candidates: Sequence[Sequence[Collection[Label]] | npt.NDArray[np.bool_]],
) -> Recovery:
    """Compare recovered training labels with the truth, which no fit has seen.

    The candidates of a sentence are a list of sets of labels, or a mask [T, L].

    Examples
    --------
    >>> found = recovery([["A", "B"]], [["A", "C"]], [[{"A"}, {"B", "C"}]])
    >>> found.ambiguous, found.overall
    (0.0, 0.5)
    """
    check_pairs(gold, recovered, names=("gold", "recovered"))
    check_pairs(gold, candidates, names=("gold", "candidate"))
    several = ambiguous_tokens(candidates)  # [N]
    right = equal_labels(gold, recovered)  # [N]
    n_ambiguous = int(several.sum())
    n_right = int((right & several).sum())
    return Recovery(
        ambiguous=n_right / n_ambiguous if n_ambiguous else float("nan"),
        overall=float(right.mean()),
        n_ambiguous=n_ambiguous,
        n_tokens=len(right),
        n_ambiguous_correct=n_right,
        n_correct=int(right.sum()),
    )
