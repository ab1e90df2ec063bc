"""Feature dicts as users of CRF toolkits write them, to one sparse block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from tagsift.data import place_of
from tagsift.errors import InputError
from tagsift.storage import Saved, texts
from tagsift.typing import IntArray

__all__ = ["DictFeatures"]

Dicts: TypeAlias = Sequence[Mapping[str, Any]]


class DictFeatures:
    """The features that dicts had in training, and their columns.

    As in scikit-learn's ``DictVectorizer``: a string value becomes the binary feature
    ``name=value``, a number or truth value is the value of the feature ``name``, a
    list of strings becomes one binary feature each. Zeros are not stored.
    """

    saved: ClassVar[Saved] = {"names": texts()}

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._columns = {name: column for column, name in enumerate(self.names)}

    @classmethod
    def count(cls, dicts: Dicts, offsets: IntArray) -> Counter[str]:
        """At how many tokens every feature is not zero."""
        entries = _entries(dicts, offsets)
        return Counter(name for _, name, value in entries if value != 0.0)

    @classmethod
    def keep(cls, counts: Counter[str], least: int) -> Self:
        """Keep the features that are not zero at `least` tokens or more."""
        return cls(sorted(name for name, count in counts.items() if count >= least))

    def block(self, dicts: Dicts, offsets: IntArray) -> sp.csr_matrix:
        """Sparse features of the stacked tokens; unknown ones are ignored, [N, D]."""
        columns, entries = self._columns, _entries(dicts, offsets)
        found = [(n, columns[k], value) for n, k, value in entries if k in columns]
        n, d, values = np.array(found, dtype=np.float64).reshape(-1, 3).T  # [entries]
        places = n.astype(np.int32), d.astype(np.int32)
        shape = len(dicts), len(self.names)
        matrix = sp.csr_matrix((values, places), shape)  # [N, D], doubles are added up
        matrix.eliminate_zeros()
        return matrix


def _entries(dicts: Dicts, offsets: IntArray) -> Iterator[tuple[int, str, float]]:
    """Token, name and value of every feature."""
    several = (list, tuple, set, frozenset)
    items = ((n, *item) for n, one in enumerate(dicts) for item in one.items())
    for n, name, value in items:
        if isinstance(value, str):
            yield n, f"{name}={value}", 1.0
        elif isinstance(value, Real | np.bool_) and np.isfinite(float(value)):
            yield n, str(name), float(value)
        elif isinstance(value, several) and all(isinstance(k, str) for k in value):
            yield from ((n, f"{name}={entry}", 1.0) for entry in value)
        else:
            raise InputError(
                f"{place_of(n, offsets)}: the feature {name!r} has the value "
                f"{value!r}; expected a string, a truth value, a finite number or a "
                "list of strings."
            )
