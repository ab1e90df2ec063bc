"""Features of tokens: templates in named groups, ready arrays, contextual vectors."""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.features.compact import *
from tagsift.features.counting import *
from tagsift.features.distances import *
from tagsift.features.encoder import ContextualEncoder
from tagsift.features.inputs import *
from tagsift.features.matrix import FeatureMatrix, checked
from tagsift.features.packed import *
from tagsift.features.scaling import *
from tagsift.features.templates import Template, column_templates, default_templates
from tagsift.features.vector_cache import clear_cache
from tagsift.features.vectorizer import SequenceVectorizer
from tagsift.features.vectorizer_state import *

#: What users find here; other rooms also take what is imported above.
__all__ = [
    "ContextualEncoder",
    "FeatureMatrix",
    "SequenceVectorizer",
    "Template",
    "checked",
    "clear_cache",
    "column_templates",
    "default_templates",
]
