"""Features of tokens: templates in named groups, ready arrays, contextual vectors."""

from __future__ import annotations

from tagsift.features.encoder import ContextualEncoder
from tagsift.features.matrix import FeatureMatrix, checked
from tagsift.features.templates import Template, column_templates, default_templates
from tagsift.features.vector_cache import clear_cache
from tagsift.features.vectorizer import SequenceVectorizer

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
