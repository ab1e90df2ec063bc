"""The methods that the models are compared with, one file each, in the order of tables.

Token-wise methods label every token by itself; NAIVE, CLPL, CLLP and the two
conditional random fields see transitions. Word counts are the floor.
"""

# ruff: noqa: I001
from __future__ import annotations

from tagsift.baselines.naive import Naive as Naive
from tagsift.baselines.clpl import CLPL as CLPL
from tagsift.baselines.wknn import WKNN as WKNN
from tagsift.baselines.pl_ecoc import PLECOC as PLECOC
from tagsift.baselines.pl_svm import PLSVM as PLSVM
from tagsift.baselines.cllp import CLLP as CLLP
from tagsift.baselines.paloc import PALOC as PALOC
from tagsift.baselines.sure import SURE as SURE
from tagsift.baselines.pl_aggd import PLAGGD as PLAGGD
from tagsift.baselines.partial_crf import PartialCRF as PartialCRF
from tagsift.baselines.partial_crf import CRF as CRF
from tagsift.baselines.word_counts import WordCounts as WordCounts

__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))
