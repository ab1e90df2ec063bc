"""Features without a vocabulary: columns by hashing, as many as one likes.

Every feature of the templates falls into one of a fixed number of columns by a hash of
its text. Nothing is counted and no word is stored, so the size of a model is chosen
beforehand and hangs neither on the corpus nor on its words; features that share a
column share a weight.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from tagsift.errors import InputError, ModelFileError
from tagsift.features.indicators import Columns, neighbours
from tagsift.features.templates import (
    POSITIONAL,
    Template,
    attribute,
    parse_templates,
    template_texts,
)
from tagsift.storage import Saved, texts, whole
from tagsift.typing import IntArray

__all__ = ["HashedIndicators"]

#: The block that all templates share.
GROUP = "hashed"
#: An odd number of 64 bits with no pattern (2⁶⁴ divided by the golden ratio).
_MIX = np.uint64(0x9E3779B97F4A7C15)


class HashedIndicators:
    """Templates whose features fall into columns by a hash."""

    saved: ClassVar[Saved] = {
        "template_texts": texts(distinct=False),
        "n_columns": whole(least=1, most=2**31),
    }
    #: No value of any attribute is known.
    vocabularies: ClassVar[dict[str, Any]] = {}

    def __init__(self, templates: Sequence[Template], n_columns: int) -> None:
        self.templates = tuple(templates)
        self.n_columns = n_columns

    @classmethod
    def learn(cls, templates: Sequence[Template], width: int, n_columns: int) -> Self:
        """Keep the templates that tokens of so many columns have."""
        used = [t for t in templates if t.columns <= set(range(width))]
        if not used:
            raise InputError(
                "every feature template looks at columns that the tokens do not have "
                f"(the tokens have {width}); give more columns or other templates."
            )
        return cls(used, n_columns)

    @property
    def widths(self) -> dict[str, int]:
        return {GROUP: self.n_columns}

    @property
    def template_texts(self) -> list[str]:
        return template_texts(self.templates)

    @classmethod
    def from_saved(cls, template_texts: Sequence[str], n_columns: int) -> Self:
        try:
            return cls(parse_templates(template_texts), n_columns)
        except InputError as error:
            raise ModelFileError(f"{error} Save the model again.") from error

    def names(self, group: str) -> list[str]:
        """The numbers of the columns; they stand for no feature alone."""
        return [str(column) for column in range(self.n_columns)]

    def blocks(self, columns: Columns, offsets: IntArray) -> dict[str, sp.csr_matrix]:
        """Sparse binary features of the stacked tokens, [N, n_columns]."""
        n_tokens = int(offsets[-1])
        at = np.full((n_tokens, len(self.templates)), -1, dtype=np.int64)
        codes = self._codes(columns, offsets)
        for number, template in enumerate(self.templates):
            key = np.full(n_tokens, number + 1, dtype=np.uint64)  # [N]
            there = np.ones(n_tokens, dtype=bool)  # [N]
            for name, place in template.parts:
                code, there_is = codes.get(name, _nothing(n_tokens))  # [N+1], [N+1]
                where = neighbours(offsets, place)  # [N]
                key = (key ^ code[where]) * _MIX  # [N]
                key ^= key >> np.uint64(29)
                there &= there_is[where]
            column = (key >> np.uint64(16)) % np.uint64(self.n_columns)  # [N]
            at[:, number] = np.where(there, column.astype(np.int64), -1)
        at.sort(axis=1)
        fresh = np.ones(at.shape, dtype=bool)  # [N, templates]
        fresh[:, 1:] = at[:, 1:] != at[:, :-1]  # two features in one column are one
        active = (at >= 0) & fresh  # [N, templates]
        indptr = np.concatenate([[0], np.cumsum(active.sum(axis=1))])  # [N+1]
        indices = at[active].astype(np.int32)  # [non-zeros]
        block = sp.csr_matrix(
            (np.ones(len(indices)), indices, indptr.astype(np.int32)),
            shape=(n_tokens, self.n_columns),
        )
        return {GROUP: block}

    def _codes(self, columns: Columns, offsets: IntArray) -> dict[str, tuple[Any, Any]]:
        """Hash of every attribute, and whether it has a value; at N there is none."""
        n_tokens = int(offsets[-1])
        names = {name for template in self.templates for name, _ in template.parts}
        found: dict[str, tuple[Any, Any]] = {}
        for name in sorted(names):
            if name in POSITIONAL:
                edge = neighbours(offsets, -1 if name == "begin" else 1) == n_tokens
                code = np.full(n_tokens, _hash(name, "yes"), dtype=np.uint64)  # [N]
                found[name] = np.append(code, np.uint64(0)), np.append(edge, False)
                continue
            kind = attribute(name)
            if kind.column >= len(columns):
                continue
            entries = columns[kind.column]
            number = {entry: n for n, entry in enumerate(dict.fromkeys(entries))}
            types = np.fromiter(map(number.get, entries), np.int64)  # [N]
            values = [kind.value(entry) for entry in number]
            hashes = [0 if v is None else _hash(name, v) for v in values]
            filled = np.array([v is not None for v in values], dtype=bool)  # [types]
            code = np.array(hashes, dtype=np.uint64)[types]  # [N]
            found[name] = np.append(code, np.uint64(0)), np.append(filled[types], False)
        return found


def _nothing(n_tokens: int) -> tuple[Any, Any]:
    return np.zeros(n_tokens + 1, np.uint64), np.zeros(n_tokens + 1, bool)


def _hash(name: str, value: str) -> int:
    """A number of 64 bits that is the same on every machine."""
    text = f"{name}={value}".encode("utf-8", "surrogatepass")
    return zlib.crc32(text) | zlib.crc32(text[::-1], 0x5BD1E995) << 32
