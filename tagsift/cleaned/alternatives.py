r"""Whole spans that could stand at a token, with shares that add up to one.

The confidences p of the tokens do not say how often a whole span is right. A chain

.. math::

    P(y_t, y_{t+1}) = a_t(y_t) \, e^{S(y_t, y_{t+1})} \, b_t(y_{t+1})

with the transition scores S of the tagger has exactly these confidences for one a and
one b, found by iterative scaling. Where p are the marginals of one chain with these
transitions it is that chain; where they are means of several, or have none (S = 0: the
labels are independent), it is the one nearest to S. By that chain one span or none
covers a token, and all that could, each from its first token to its last, have shares
that add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tagsift.data import opening_transitions
from tagsift.typing import BoolArray, FloatArray

__all__ = ["OUTSIDE", "Alternative", "SpanChain"]

#: The label, and here the type, of what lies outside all spans.
OUTSIDE = "O"
#: Steps of iterative scaling, at most.
_STEPS = 500
#: Error of a probability at which they end.
_CLOSE = 1e-12
#: The least weight of a transition, beside the largest: what is forbidden is rare.
_LEAST = 1e-15
#: How little of a span's probability may be left where its longer forms are cut off.
_REST = 1e-9


class Alternative(NamedTuple):
    """What may be right at some tokens: a span, or that there is none."""

    type: str  # ``O``: no span
    start: int
    end: int  # exclusive
    share: float  # the probability of it


@dataclass(frozen=True, eq=False)
class SpanChain:
    """A chain over the labels of one sentence that has given confidences."""

    marginals: FloatArray  # [T, L]
    classes: tuple[str, ...]
    types: tuple[str, ...]  # the type of every label, ``O`` outside
    scheme: str
    transitions: FloatArray | None = None  # [L, L]  scores; None: all are alike

    @cached_property
    def pairs(self) -> FloatArray:
        """Probability of every pair of neighbouring labels, [T - 1, L, L]."""
        size = len(self.classes)
        kernel = np.ones((size, size))  # [L, L]
        if self.transitions is not None:
            kernel = np.exp(self.transitions - self.transitions.max())
        kernel = np.maximum(kernel, _LEAST)
        before, after = self.marginals[:-1], self.marginals[1:]  # [T - 1, L] each
        a, b = np.ones_like(before), np.ones_like(after)
        for _ in range(_STEPS):
            a = _ratio(before, b @ kernel.T)  # [T - 1, L]
            sums = a @ kernel  # [T - 1, L]
            if np.abs(sums * b - after).max(initial=0.0) < _CLOSE:
                break
            b = _ratio(after, sums)
        return np.asarray(a[:, :, None] * kernel * b[:, None, :])

    @cached_property
    def continues(self) -> BoolArray:
        """Whether a label goes on with the span of the label before, [L, L]."""
        after, _ = opening_transitions(list(self.classes), self.scheme)
        inside = np.array([kind != OUTSIDE for kind in self.types])  # [L]
        return np.asarray(~after & inside & inside[:, None])

    def at(self, t: int) -> list[Alternative]:
        """Every span that could cover a token, and that none does; likeliest first."""
        ends = self._extents(t, 1)
        starts = self._extents(t, -1)
        made = []
        for kind in dict.fromkeys(self.types):
            mine = np.array([one == kind for one in self.types])  # [L]
            p = np.where(mine, self.marginals[t], 0.0)  # [L]
            if kind == OUTSIDE:
                made.append(Alternative(kind, t, t + 1, float(p.sum())))
                continue
            for before, left in enumerate(starts):
                weight = p * left  # [L]
                if weight.any():
                    made += [
                        Alternative(
                            kind, t - before, t + 1 + more, float(weight @ right)
                        )
                        for more, right in enumerate(ends)
                    ]
        total = sum(one.share for one in made)
        made = [one._replace(share=one.share / total) for one in made if one.share > 0]
        return sorted(made, key=lambda one: (-one.share, one.start, one.end, one.type))

    def _extents(self, t: int, step: int) -> list[FloatArray]:
        """Chance that a span goes on for just so many tokens, given its label at t.

        One array [L] a number of tokens: to the right (`step` 1) or to the left.
        """
        pairs = self.pairs[t:] if step > 0 else self.pairs[:t][::-1].swapaxes(1, 2)
        reached = np.eye(len(self.classes))  # [L, L]  label at t, then where it is now
        on = self.continues if step > 0 else self.continues.T
        made = []
        for pair in pairs:
            chance = _ratio(pair, pair.sum(axis=1, keepdims=True))  # [L, L]
            further = reached @ np.where(on, chance, 0.0)  # [L, L]
            made.append(reached.sum(axis=1) - further.sum(axis=1))
            reached = further
            if reached.max() < _REST:
                break
        return [*made, reached.sum(axis=1)]


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Quotients, and nothing of nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
