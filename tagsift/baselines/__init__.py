"""The methods that the models are compared with, one file each.

Token-wise methods label every token by itself; NAIVE, CLPL, CLLP and the two
conditional random fields see transitions. Classes are imported when they are first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagsift.baselines.cllp import CLLP as CLLP
    from tagsift.baselines.clpl import CLPL as CLPL
    from tagsift.baselines.crf import CRF as CRF
    from tagsift.baselines.naive import Naive as Naive
    from tagsift.baselines.paloc import PALOC as PALOC
    from tagsift.baselines.partial_crf import PartialCRF as PartialCRF
    from tagsift.baselines.pl_aggd import PLAGGD as PLAGGD
    from tagsift.baselines.pl_ecoc import PLECOC as PLECOC
    from tagsift.baselines.pl_svm import PLSVM as PLSVM
    from tagsift.baselines.sure import SURE as SURE
    from tagsift.baselines.wknn import WKNN as WKNN

__all__ = [
    "CLLP",
    "CLPL",
    "CRF",
    "Naive",
    "PALOC",
    "PLAGGD",
    "PLECOC",
    "PLSVM",
    "PartialCRF",
    "SURE",
    "WKNN",
]

_HOME_OF = {
    "CLLP": "cllp",
    "CLPL": "clpl",
    "CRF": "crf",
    "Naive": "naive",
    "PALOC": "paloc",
    "PLAGGD": "pl_aggd",
    "PLECOC": "pl_ecoc",
    "PLSVM": "pl_svm",
    "PartialCRF": "partial_crf",
    "SURE": "sure",
    "WKNN": "wknn",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
