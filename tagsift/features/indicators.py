"""Binary features from templates: one sparse block per group of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from tagsift.errors import InputError, ModelFileError
from tagsift.features.templates import (
    POSITIONAL,
    Template,
    attribute,
    parse_templates,
    template_texts,
)
from tagsift.storage import Saved, array, by_name, damaged, texts
from tagsift.typing import IntArray

__all__ = ["Columns", "Indicators", "join_codes", "neighbours"]

Columns: TypeAlias = Sequence[Sequence[str]]  # the entries of all tokens, by column


class Indicators:
    """The features that templates found in training, and their columns.

    A feature of a template is a tuple of attribute codes, packed into one integer key;
    its column is the place of its key among the sorted keys of its template. Attributes
    are computed once for every distinct word and then carried by index arithmetic: the
    millions of strings that a loop over tokens would build never exist.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        vocabularies: Mapping[str, Sequence[str]],
        keys: Sequence[IntArray],
    ) -> None:
        self.templates = tuple(templates)
        #: Known values of every attribute, by code.
        self.vocabularies = {name: tuple(v) for name, v in vocabularies.items()}
        self.keys = tuple(keys)
        self._attributes = [attribute(name) for name in self.vocabularies]
        self._values = self.vocabularies | dict.fromkeys(POSITIONAL, ("yes",))
        self._code_of: dict[str, dict[str | None, int]] = {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self.vocabularies.items()
        }

    @classmethod
    def draft(cls, columns: Columns, templates: Sequence[Template]) -> Self:
        """The values of the attributes of tokens, and no feature yet."""
        there = set(range(len(columns)))
        used = [template for template in templates if template.columns <= there]
        if not used:
            raise InputError(
                "every feature template looks at columns that the tokens do not have "
                f"(the tokens have {len(columns)}); give more columns or other "
                "templates."
            )
        names = dict.fromkeys(name for t in used for name, _ in t.parts)
        types = [set(column) for column in columns]
        vocabularies: dict[str, list[str]] = {}
        for kind in (attribute(name) for name in names if name not in POSITIONAL):
            values = set(map(kind.value, types[kind.column]))
            vocabularies[kind.name] = sorted(v for v in values if v is not None)
        return cls(used, vocabularies, [np.empty(0, dtype=np.int64)] * len(used))

    def sizes(self, template: Template) -> list[int]:
        return [len(self._values[name]) for name, _ in template.parts]

    @property
    def groups(self) -> dict[str, list[int]]:
        """Numbers of the templates of every group that has a feature."""
        members: dict[str, list[int]] = {}
        for number, template in enumerate(self.templates):
            members.setdefault(template.group, []).append(number)
        filled = {g: m for g, m in members.items() if any(self.counts[m])}
        return filled or members

    @property
    def widths(self) -> dict[str, int]:
        return {g: int(self.counts[m].sum()) for g, m in self.groups.items()}

    def blocks(self, columns: Columns, offsets: IntArray) -> dict[str, sp.csr_matrix]:
        """Sparse binary features of the stacked tokens, one block per group.

        Templates that look at a column that is not there are silent.
        """
        rows = self.token_keys(columns, offsets)
        places = [_places(row, keys) for row, keys in zip(rows, self.keys, strict=True)]
        n_tokens = int(offsets[-1])
        blocks = {}
        for group, numbers in self.groups.items():
            first = np.cumsum([0, *self.counts[numbers]])  # [templates+1]
            # Columns of the templates of the group, one row per token.  [N, templates]
            at = np.empty((n_tokens, len(numbers)), dtype=np.int32)
            for j, number in enumerate(numbers):
                at[:, j] = np.where(places[number] < 0, -1, places[number] + first[j])
            active = at >= 0  # [N, templates]
            indptr = np.concatenate([[0], np.cumsum(active.sum(axis=1))])  # [N+1]
            indices = at[active]  # [non-zeros]
            blocks[group] = sp.csr_matrix(
                (np.ones(len(indices)), indices, indptr.astype(np.int32)),
                shape=(n_tokens, int(first[-1])),
            )
        return blocks

    def names(self, group: str) -> list[str]:
        """Names of the features of a group, in the order of its columns."""
        names: list[str] = []
        for number in self.groups[group]:
            template, keys = self.templates[number], self.keys[number]
            if len(keys):
                codes = np.unravel_index(keys, self.sizes(template))
                values = [
                    [self._values[name][code] for code in row]
                    for (name, _), row in zip(template.parts, codes, strict=True)
                ]
                texts = map("|".join, zip(*values, strict=True))
                names += [f"{template.name}={text}" for text in texts]
        return names

    def token_keys(self, columns: Columns, offsets: IntArray) -> list[IntArray]:
        """Key of every template at every token, [N] each; −1 where it is silent."""
        n_tokens = int(offsets[-1])
        codes = self._attribute_codes(columns)
        for name, step in (("begin", -1), ("end", 1)):
            codes[name] = np.where(neighbours(offsets, step) == n_tokens, 0, -1)  # [N]
        silent = np.full(n_tokens, -1, dtype=np.int64)  # [N]
        windows: dict[int, IntArray] = {}
        shifted: dict[tuple[str, int], IntArray] = {}
        for name, place in {part for t in self.templates for part in t.parts}:
            if place not in windows:
                windows[place] = neighbours(offsets, place)  # [N]
            row = np.append(codes.get(name, silent), -1)  # [N+1]
            shifted[name, place] = row[windows[place]]  # [N]
        return [
            join_codes(t, [shifted[part] for part in t.parts], self.sizes(t))
            for t in self.templates
        ]

    def _attribute_codes(self, columns: Columns) -> dict[str, IntArray]:
        """Codes of every attribute, [N] each; −1 for no value or an unknown one."""
        codes = {}
        for k, entries in enumerate(columns):
            number = {entry: n for n, entry in enumerate(dict.fromkeys(entries))}
            types = np.fromiter(map(number.get, entries), np.int64)  # [N]
            for name, column, value in self._attributes:
                if column == k:
                    code_of = self._code_of[name]
                    of_type = [code_of.get(value(entry), -1) for entry in number]
                    codes[name] = np.array(of_type, dtype=np.int64)[types]  # [N]
        return codes

    # What a model file holds ---------------------------------------------------

    saved: ClassVar[Saved] = {
        "template_texts": texts(distinct=False),
        "vocabularies": by_name(texts()),
        "counts": array("templates", "int", least=0),
        "stacked_keys": array("columns", "int", least=0),
    }

    @property
    def template_texts(self) -> list[str]:
        return template_texts(self.templates)

    @property
    def counts(self) -> IntArray:
        """Number of keys of every template, [templates]."""
        return np.asarray([len(keys) for keys in self.keys], dtype=np.int64)

    @property
    def stacked_keys(self) -> IntArray:
        """All keys, [columns]."""
        return np.concatenate([np.empty(0, np.int64), *self.keys])

    @classmethod
    def from_saved(
        cls,
        template_texts: Sequence[str],
        vocabularies: Mapping[str, Sequence[str]],
        counts: IntArray,
        stacked_keys: IntArray,
    ) -> Self:
        """Build again what a model file holds, checking that its parts fit."""
        try:
            keys = np.split(stacked_keys, np.cumsum(counts)[:-1])
            new = cls(parse_templates(template_texts), vocabularies, keys)
        except InputError as error:
            raise ModelFileError(f"{error} Save the model again.") from error
        templates = new.templates
        complete = all(k in new._values for t in templates for k, _ in t.parts)
        fits = len(counts) == len(templates) and counts.sum() == len(stacked_keys)
        if not (complete and fits and all(map(new._is_sorted, templates, keys))):
            raise damaged("the saved feature templates do not fit their values")
        return new

    def _is_sorted(self, template: Template, keys: IntArray) -> bool:
        """Whether the keys rise, up to the number of combinations of the template."""
        most = prod(self.sizes(template))
        return not len(keys) or bool((np.diff(keys) > 0).all() and keys[-1] < most)


def join_codes(
    template: Template, codes: Sequence[IntArray], sizes: Sequence[int]
) -> IntArray:
    """Keys of the values of all parts of a template, −1 where one has none, [N]."""
    if prod(sizes) >= 2**63:
        raise InputError(
            f"the feature template {template.name!r} has more combinations of "
            "values than can be counted; use fewer parts."
        )
    key = codes[0]  # [N]
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        key = np.where((key < 0) | (code < 0), -1, key * size + code)  # [N]
    return key


def neighbours(offsets: IntArray, place: int) -> IntArray:
    """Index of the token `place` steps on, or N outside the sentence, [N]."""
    n_tokens = int(offsets[-1])
    lengths = np.diff(offsets)  # [S]
    first = np.repeat(offsets[:-1], lengths)  # [N]
    last = np.repeat(offsets[1:], lengths)  # [N]
    there = np.arange(n_tokens) + place  # [N]
    return np.where((there >= first) & (there < last), there, n_tokens)  # [N]


def _places(row: IntArray, keys: IntArray) -> IntArray:
    """Place of every entry of `row` among the sorted `keys`, −1 if absent, [N]."""
    if not len(keys):
        return np.full(len(row), -1, dtype=np.int64)  # [N]
    at = np.minimum(np.searchsorted(keys, row), len(keys) - 1)  # [N]
    return np.where(keys[at] == row, at, -1)  # [N]
