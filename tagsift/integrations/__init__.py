"""tagsift inside other libraries: a component of spaCy pipelines, datasets."""

from __future__ import annotations

from tagsift.integrations.hugging_face import from_dataset as from_dataset
from tagsift.integrations.hugging_face import to_dataset as to_dataset

__all__ = ["from_dataset", "to_dataset"]
