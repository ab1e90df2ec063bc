"""A set of labels whose order is fixed, so that a label is also a column number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from tagsift.data.schemes import is_tag
from tagsift.errors import DataError, InputError
from tagsift.typing import BoolArray, IntArray

__all__ = [
    "ANY",
    "LabelSet",
    "as_label_set",
    "check_label",
    "check_written",
    "label_problem",
]

#: Stands for "any label" in candidate files and for "did not label" in vote files.
ANY = "?"


@dataclass(frozen=True)
class LabelSet:
    """Labels in a fixed order: as given, or sorted by `LabelSet.union`.

    Examples
    --------
    >>> labels = LabelSet(("B-NP", "I-NP", "O"))
    >>> labels.index("O")
    2
    >>> labels.mask([{"B-NP", "O"}, "O"]).tolist()
    [[True, False, True], [False, False, True]]
    """

    names: tuple[str, ...]  # the labels, each once

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if not self.names:
            raise InputError("a label set needs at least one label; none was given.")
        if len(set(self.names)) != len(self.names):
            twice = next(n for n in self.names if self.names.count(n) > 1)
            raise InputError(
                f"the label {twice!r} stands twice in the label set; give each label "
                "once."
            )

    @classmethod
    def union(cls, sequences: Iterable[Iterable[str]]) -> LabelSet:
        """Gather the labels of many sequences (or sets), sorted."""
        return cls(tuple(sorted(set(chain.from_iterable(sequences)))))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def full(self) -> frozenset[str]:
        """All labels: the candidate set of an unlabelled token."""
        return frozenset(self.names)

    def index(self, name: str) -> int:
        """Position of a label in the order, counted from 0."""
        try:
            return self._positions[name]
        except KeyError:
            raise InputError(self._unknown(name)) from None

    def encode(self, labels: Sequence[str]) -> IntArray:
        """Positions of a sequence of labels, [T]."""
        for token, name in enumerate(labels):
            if name not in self:
                raise InputError(f"token {token}: {self._unknown(name)}")
        return np.array([self._positions[name] for name in labels], np.int64)  # [T]

    def mask(self, sentence: Sequence[str | AbstractSet[str]]) -> BoolArray:
        """Which labels each token may have, given its label or candidates, [T, L]."""
        positions = self._positions
        mask = np.zeros((len(sentence), len(self.names)), dtype=bool)  # [T, L]
        for token, entry in enumerate(sentence):
            names = (entry,) if isinstance(entry, str) else entry
            if not names:
                raise InputError(
                    f"token {token}: the candidate set is empty; every token needs at "
                    "least one label, give the full label set for an unlabelled token."
                )
            for name in names:
                if name not in positions:
                    raise InputError(f"token {token}: {self._unknown(name)}")
                mask[token, positions[name]] = True
        return mask

    def _unknown(self, name: object) -> str:
        shown = ", ".join(self.names[:8]) + (", …" if len(self.names) > 8 else "")
        return (
            f"expected one of the {len(self.names)} labels ({shown}), found {name!r}; "
            "give labels= with the whole label set."
        )


def as_label_set(labels: LabelSet | Iterable[str] | None) -> LabelSet | None:
    """Take a label set as it is, make one of an iterable, pass None on."""
    if labels is None or isinstance(labels, LabelSet):
        return labels
    return LabelSet(tuple(labels))


def check_label(label: str, scheme: str = "auto") -> str:
    """Refuse what cannot be one label."""
    problem = label_problem(label)
    if problem is None and scheme != "auto" and not is_tag(label, scheme):
        problem = f"a tag of the scheme {scheme}"
    if problem is None:
        return label
    hint = "."
    if "|" in label or label == ANY:
        hint = "; say which columns are votes (--votes, in Python votes=)."
    raise DataError(f"expected {problem}, found {label!r}{hint}")


def label_problem(label: str) -> str | None:
    """What a label should have been, or None if it is one."""
    if not label:
        return "a label"
    if "|" in label:
        return "one label without '|'"
    if label == ANY:
        return "a label ('?' stands for any label)"
    if label != label.strip():
        return "a label without white space around it"
    return None


def check_written(label: str, where: str = "") -> None:
    """Refuse a label that a column file cannot hold."""
    problem = label_problem(label)
    if problem is not None:
        raise InputError(f"{where}expected {problem}, found {label!r}.")
