"""The estimator contract, and all checking of what users hand to an estimator."""

from __future__ import annotations

from tagsift.base.arrow_tagging import tag_table, tagged_schema
from tagsift.base.inputs import read_candidates
from tagsift.base.scoring import Scorer
from tagsift.base.settings import Method, setting
from tagsift.base.tagger import SequenceTagger
from tagsift.base.tagging import (
    batches,
    ready,
    tag_documents,
    tokenizer_of,
    tokens_of,
)
from tagsift.base.training_set import TrainingSet, Transduction

__all__ = [
    "Method",
    "Scorer",
    "SequenceTagger",
    "TrainingSet",
    "Transduction",
    "batches",
    "read_candidates",
    "ready",
    "setting",
    "tag_documents",
    "tag_table",
    "tagged_schema",
    "tokenizer_of",
    "tokens_of",
]
