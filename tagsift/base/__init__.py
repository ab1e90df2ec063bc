"""The estimator contract, and all checking of what users hand to an estimator."""

# ruff: noqa: F403, F405
from __future__ import annotations

from tagsift.base.arrow_tagging import tag_table, tagged_schema
from tagsift.base.conformal import *
from tagsift.base.corpora import *
from tagsift.base.inputs import *
from tagsift.base.saving import *
from tagsift.base.scoring import Scorer
from tagsift.base.settings import Method, setting
from tagsift.base.sharded_set import *
from tagsift.base.sharding import *
from tagsift.base.tagger import SequenceTagger
from tagsift.base.tagging import batches, ready, tag_documents, tokenizer_of, tokens_of
from tagsift.base.training_set import *
from tagsift.base.vectorizing import *

#: What users find here; other rooms also take what is imported above.
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
