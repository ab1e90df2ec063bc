r"""Factor-as-piece: the chain cut into factors, each candidate of each a piece.

Equation (1):

.. math:: p(Y_i | X_i) = \prod_a \prod_{y_a^j \in S_a} C_a^j \, p(y_a^j | x_a)

A token with l candidates gives l unary pieces, a pair of neighbours l · l' transition
pieces, so a sentence of m tokens has l·m + l²·(m − 1) of them instead of the l^m label
sequences of the whole chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Pieces", "neighbours", "pieces"]


@dataclass(frozen=True)
class Pieces:
    """Index tables of all candidate pieces.

    Parameters
    ----------
    token, label : ndarray of shape (n_unary,)
        Unary pieces: stacked token and candidate label.
    right : ndarray of shape (n_transition,)
        Transition pieces: the stacked token at the right end of the pair.
    left_label, right_label : ndarray of shape (n_transition,)
        The candidate pair.
    """

    token: IntArray
    label: IntArray
    right: IntArray
    left_label: IntArray
    right_label: IntArray

    @property
    def count(self) -> int:
        """Number of pieces, l·m + l²·(m − 1) for equal candidate counts l."""
        return len(self.token) + len(self.right)

    def log_likelihood(
        self,
        log_unary: FloatArray,
        log_transition: FloatArray,
        C: FloatArray,
        C_pairs: FloatArray,
    ) -> float:
        """Logarithm of Equation (1) as printed: confidences as added constants.

        Parameters
        ----------
        log_unary : ndarray of shape (n_tokens, n_labels)
            log p of every unary piece, Equation (2).
        log_transition : ndarray of shape (n_labels, n_labels)
            log p of every transition piece.
        C : ndarray of shape (n_tokens, n_labels)
            Confidences of the unary pieces.
        C_pairs : ndarray of shape (n_transition,)
            Confidences of the transition pieces.
        """
        unary = log_unary[self.token, self.label]  # [J]
        weight = np.log(C[self.token, self.label])  # [J]
        transition = log_transition[self.left_label, self.right_label]  # [J']
        return float(
            unary.sum() + weight.sum() + transition.sum() + np.log(C_pairs).sum()
        )


def neighbours(offsets: IntArray) -> IntArray:
    """Stacked tokens that have a left neighbour in their sentence, [P]."""
    has_left = np.ones(int(offsets[-1]), dtype=bool)  # [N]
    starts = offsets[:-1][np.diff(offsets) > 0]  # [S']
    has_left[starts] = False
    return np.flatnonzero(has_left)  # [P]


def pieces(mask: BoolArray, offsets: IntArray) -> Pieces:
    """Cut the chains into pieces.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets.
    offsets : ndarray of shape (n_sequences + 1,)
        Where each sentence begins.
    """
    token, label = np.nonzero(mask)  # [J]
    right = neighbours(offsets)  # [P]
    pair = mask[right - 1][:, :, None] & mask[right][:, None, :]  # [P, L, L]
    which, left_label, right_label = np.nonzero(pair)  # [J']
    return Pieces(token, label, right[which], left_label, right_label)
