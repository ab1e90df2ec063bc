"""Words to word pieces, and word pieces to windows that an encoder can take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagsift.errors import DataError, MissingExtraError
from tagsift.typing import Float32Array, IntArray

__all__ = ["Window", "WordPieces", "windows", "word_vectors"]


class WordPieces:
    """The tokenizer of a model folder: ``tokenizer.json``, or ``vocab.txt``."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = _load(folder)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        bare = self._pieces(["a"], special=False)[0]
        full = self._pieces(["a"], special=True)[0]
        places = [k for k in range(len(full)) if full[k : k + len(bare)] == bare]
        if not bare or not places:
            raise DataError("the tokenizer gives no word pieces for 'a'.", folder)
        at = places[0]
        #: Special pieces before and after every input.
        self.before, self.after = full[:at], full[at + len(bare) :]
        named = map(self._tokenizer.token_to_id, ("[UNK]", "<unk>"))
        self._unknown = next((piece for piece in named if piece is not None), bare[0])
        self._known: dict[str, list[int]] = {}

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """Word pieces of every word; at least one each.

        A word that the tokenizer drops (an empty string, control characters) gets the
        piece for unknown words.
        """
        fresh = list(dict.fromkeys(w for w in words if w not in self._known))
        for word, pieces in zip(fresh, self._pieces(fresh, special=False), strict=True):
            self._known[word] = pieces or [self._unknown]
        return [self._known[word] for word in words]

    def _pieces(self, words: Iterable[str], *, special: bool) -> list[list[int]]:
        # Lone surrogates are no text that a tokenizer could take.
        batch = [[word.encode("utf-8", "replace").decode("utf-8")] for word in words]
        encoded = self._tokenizer.encode_batch(
            batch, is_pretokenized=True, add_special_tokens=special
        )
        return [list(entry.ids) for entry in encoded]


def _load(folder: Path) -> Any:
    what = "the contextual encoder"
    tokenizers = MissingExtraError.imported("tokenizers", extra="encoder", what=what)
    try:
        if (folder / "tokenizer.json").is_file():
            return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        if (folder / "vocab.txt").is_file():
            extra = folder / "tokenizer_config.json"
            settings = json.loads(extra.read_bytes() if extra.is_file() else "{}")
            return tokenizers.BertWordPieceTokenizer(
                str(folder / "vocab.txt"),
                lowercase=settings.get("do_lower_case", True),
                strip_accents=settings.get("strip_accents"),
                handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
            )
    except Exception as error:  # tokenizers raises bare exceptions
        raise DataError(f"cannot use the tokenizer ({error}).", folder) from error
    message = "an encoder folder needs a tokenizer.json or a vocab.txt; found neither."
    raise DataError(message, folder)


class Window(NamedTuple):
    """A stretch of word pieces, and the part of it whose vectors are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def windows(n_pieces: int, capacity: int) -> list[Window]:
    """Cover a sentence with windows that overlap by about one half.

    Every piece is kept from the window in which it stands furthest from a cut.
    """
    if n_pieces <= capacity:
        return [Window(0, n_pieces, 0, n_pieces)]
    step = max(capacity // 2, 1)
    starts = [*range(0, n_pieces - capacity, step), n_pieces - capacity]
    # Between two windows the pieces are shared out at the middle of their overlap.
    cuts = [(left + capacity + right + 1) // 2 for left, right in pairwise(starts)]
    parts = zip(starts, [0, *cuts], [*cuts, n_pieces], strict=True)
    return [Window(k, k + capacity, first, last) for k, first, last in parts]


def word_vectors(states: Float32Array, sizes: IntArray, pooling: str) -> Float32Array:
    """One vector per word, [T, D], from those of its pieces; `sizes` counts these."""
    stops = np.cumsum(sizes)  # [T]
    starts = stops - sizes  # [T]
    if pooling == "first":
        return np.take(states, starts, axis=0)  # [T, D]
    if pooling == "last":
        return np.take(states, stops - 1, axis=0)  # [T, D]
    sums = np.add.reduceat(states, starts, axis=0)  # [T, D]
    return (sums / sizes[:, None]).astype(np.float32)  # [T, D]
