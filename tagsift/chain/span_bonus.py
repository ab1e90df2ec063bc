r"""A bonus for every span, at which the expected F1 is highest.

With F the F1 that can be reached, F1 is highest when the spans of probability above
F / 2 are taken; the likeliest sequence takes those above 1 / 2. The difference of the
log-odds, in scores that a temperature T has not divided, is

.. math:: b = T \log\frac{2 - F}{F}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from tagsift.chain.linear_chain import LinearChain
from tagsift.data import opening_transitions
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["expected_f1", "span_bonus", "with_span_bonus"]

#: The largest bonus.
_LARGEST = 2.0


def span_bonus(f1: float, temperature: float = 1.0) -> float:
    """Bonus b of a span where this F1 can be reached."""
    return min(temperature * log((2.0 - f1) / max(f1, 1e-3)), _LARGEST)


def expected_f1(labels: IntArray, p: FloatArray, inside: BoolArray) -> float:
    """F1 of the tokens in spans, of labels [N] whose probabilities are p [N, L].

    `inside` are the labels of spans, [L].
    """
    taken = inside[labels]  # [N]
    hits = float(p[np.arange(len(p)), labels][taken].sum())
    return 2.0 * hits / max(float(taken.sum() + p[:, inside].sum()), 1e-9)


def with_span_bonus(
    chain: LinearChain, bonus: float, classes: Sequence[Label], scheme: str
) -> LinearChain:
    """The chain with the bonus on every transition that opens a span."""
    if not bonus:
        return chain
    between, first = opening_transitions([str(name) for name in classes], scheme)
    return replace(
        chain,
        transitions=chain.transitions + bonus * between,  # [L, L]
        start=chain.start + bonus * first,  # [L]
    )
