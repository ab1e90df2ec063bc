"""The estimator contract, and all checking of what users hand to an estimator."""

from __future__ import annotations

from tagsift.base.inputs import read_candidates
from tagsift.base.settings import Method, setting
from tagsift.base.tagger import SequenceTagger
from tagsift.base.training_set import TrainingSet

__all__ = ["Method", "SequenceTagger", "TrainingSet", "read_candidates", "setting"]
