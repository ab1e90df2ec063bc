"""The conditional random field on gold labels: the ceiling of the comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tagsift.base import Method
from tagsift.baselines.partial_crf import PartialCRF

__all__ = ["CRF"]


class CRF(PartialCRF):
    """Linear-chain conditional random field; every token needs its one exact label.

    The same model, objective and settings as `PartialCRF`; ambiguous labels are
    refused.

    Examples
    --------
    >>> from tagsift.baselines import CRF
    >>> CRF().fit([["a", "dog"]], [["D", "N"]]).predict([["a", "dog"]])
    [['D', 'N']]
    """

    method: ClassVar[Method] = replace(
        PartialCRF.method,
        name="crf",
        title="CRF",
        disambiguation="none: exact labels only",
        exact_only=True,
        cost="steps × one lattice: N L² and the sparse products",
        source="Lafferty, McCallum, Pereira, ICML 2001",
    )
