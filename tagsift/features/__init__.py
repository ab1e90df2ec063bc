"""Features of tokens: templates in named groups, ready arrays, contextual vectors."""

from __future__ import annotations

from tagsift.features.matrix import FeatureMatrix
from tagsift.features.templates import Template, column_templates, default_templates
from tagsift.features.vectorizer import SequenceVectorizer

__all__ = [
    "FeatureMatrix",
    "SequenceVectorizer",
    "Template",
    "column_templates",
    "default_templates",
]
