"""Word vectors of known sentences in a file, in place of an encoder.

Half precision, so that the file and the encoder that made it give the same figures; the
sentences are named by hashes and their words are not in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.folds import TASKS, read_head
from tagsift.features import ContextualEncoder
from tagsift.storage import atomic_write


class StoredVectors:
    """What an encoder would say of the sentences in a file of `write_vectors`."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as stored:
            keys, cuts, vectors = (stored[x] for x in ("keys", "cuts", "vectors"))
        parts = np.split(vectors, cuts[1:-1])  # [T, D] each
        self.vectors = dict(zip(keys.tolist(), parts, strict=True))
        self.n_features = int(vectors.shape[1])

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, path: Path) -> StoredVectors:
        """Read a file once per process."""
        return cls(path)

    def encode(self, sentences: Sequence[Sequence[str]]) -> Any:
        """Word vectors of all words, stacked, [N, D]."""
        rows = [self.vectors[_digest(words)] for words in sentences]
        return np.concatenate(rows).astype(np.float32)  # [N, D]


def _digest(words: Sequence[str]) -> str:
    """Name of a sentence that does not give its words away."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:24]


def write_vectors(path: Path, data: Path | None) -> None:
    """Encode the sentences of all tasks, in half precision, each sentence once."""
    sentences = {
        _digest(words): words
        for task in TASKS.values()
        for words in read_head(data, task.name, task.n_sentences).tokens
    }
    vectors = ContextualEncoder.packaged(layer=4).encode(list(sentences.values()))
    cuts = np.cumsum([0, *map(len, sentences.values())])  # [K + 1]
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, "wb") as stream:
        np.savez_compressed(
            stream,
            keys=np.array(list(sentences)),
            cuts=cuts,
            vectors=vectors.astype(np.float16),
        )
