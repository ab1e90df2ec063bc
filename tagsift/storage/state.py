"""What a model file holds is declared: shape, kind and range of every part.

A fitted estimator, or a frozen dataclass inside it, has one table::

    saved = {
        "prior_": array("L", least=0, sums=1),
        "weights_": part(ChainWeights),
        "n_iter_": whole(),
    }

`write_state` and `read_state` do the rest. Sizes are names: ``L`` labels, ``D``
features, and what the caller binds; any other name takes its value where it is read
first, and must agree everywhere else. What does not fit the declaration is refused in
one sentence, so that no altered file can reach the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import getitem
from typing import Any, TypeAlias

from tagsift.storage.items import (
    Array,
    Item,
    Matrix,
    PartsRead,
    PartsWritten,
    Texts,
    Value,
    is_count,
    refuse,
)
from tagsift.typing import Arrays

__all__ = [
    "Item",
    "Saved",
    "array",
    "by_name",
    "flag",
    "keyed",
    "listed",
    "matrix",
    "number",
    "part",
    "read_state",
    "several",
    "texts",
    "training_parts",
    "whole",
    "word",
    "write_state",
]

#: A table of what is saved, by attribute.
Saved: TypeAlias = Mapping[str, Item]


@dataclass(frozen=True)
class _Parts(Item):
    items: Mapping[Any, Item]
    get: Callable[[Any, Any], Any]
    make: Callable[[dict[Any, Any]], Any]
    sizes: Mapping[str, str] = field(default_factory=dict)

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        for key, item in self.items.items():
            item.write(f"{name}/{key}", self.get(value, key), out)

    def _read(self, name: str, source: PartsRead) -> Any:
        for own, outer in self.sizes.items():
            source.sizes[own] = source.sizes[outer]
        values = {k: item.read(f"{name}/{k}", source) for k, item in self.items.items()}
        return self.make(values)

    def training_parts(self, name: str) -> list[str]:
        inside = [i.training_parts(f"{name}/{k}") for k, i in self.items.items()]
        return [f"{name}/"] if self.training else list(chain.from_iterable(inside))


@dataclass(frozen=True)
class _ByName(Item):
    """A dictionary; sizes that are new in an entry hold in that entry only."""

    each: Item

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        out.meta[name] = list(value)
        for key, entry in value.items():
            self.each.write(f"{name}/{key}", entry, out)

    def _read(self, name: str, source: PartsRead) -> Any:
        keys = source.value(name)
        if not isinstance(keys, list) or not all(isinstance(k, str) for k in keys):
            refuse(name, "must be a list of names", keys)
        entries = {}
        for key in keys:
            own = PartsRead(source.meta, source.arrays, dict(source.sizes))
            entries[key] = self.each.read(f"{name}/{key}", own)
        return entries

    def training_parts(self, name: str) -> list[str]:
        return [f"{name}/"] if self.each.training_parts("") else []


@dataclass(frozen=True)
class _Listed(Item):
    """A list; an object that stands in it several times is stored once."""

    count: str
    each: Item
    training_parts = _ByName.training_parts

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        entries = list(value)
        first = [next(k for k, x in enumerate(entries) if x is y) for y in entries]
        out.meta[name] = first
        for k in sorted(set(first)):
            self.each.write(f"{name}/{k}", entries[k], out)

    def _read(self, name: str, source: PartsRead) -> Any:
        first = source.value(name)
        if not isinstance(first, list) or not all(
            is_count(k) and k <= n and first[k] == k for n, k in enumerate(first)
        ):
            refuse(name, "must say which entries are the same", first)
        source.match(name, self.count, (len(first),))
        made = {k: self.each.read(f"{name}/{k}", source) for k in sorted(set(first))}
        return [made[k] for k in first]


# Declarations read like words: ``array("D L", least=0)``, ``whole()``.
array, matrix, texts, by_name, listed = Array, Matrix, Texts, _ByName, _Listed
number = partial(Value, (int, float), "a number")
whole = partial(Value, (int,), "a whole number", least=0, most=2**53)
flag = partial(Value, (bool,), "true or false")


def word(*among: str, optional: bool = False) -> Item:
    """Declare a text, one of those given where some are."""
    words = f"one of {', '.join(among)}" if among else "a text"
    return Value((str,), words, among=among, optional=optional)


def part(
    kind: Any, *, training: bool = False, optional: bool = False, **sizes: str
) -> Item:
    """Declare an object of a class with a table ``saved`` of its fields.

    It is built by ``from_saved``, where the class has that, or by its constructor; a
    method ``check_saved`` is asked afterwards. Further keywords say which size outside
    a size of the class is: ``part(Weights, P="D")``.
    """

    def make(values: dict[str, Any]) -> Any:
        made = getattr(kind, "from_saved", kind)(**values)
        if hasattr(made, "check_saved"):
            made.check_saved()
        return made

    flags = {"training": training, "optional": optional}
    return _Parts(kind.saved, getattr, make, sizes, **flags)


def several(*each: Item) -> Item:
    items = dict(enumerate(each))
    return _Parts(items, getitem, lambda found: tuple(found.values()))


def keyed(*, optional: bool = False, **items: Item) -> Item:
    return _Parts(items, getitem, dict, optional=optional)


def write_state(table: Saved, source: Any) -> tuple[dict[str, Any], Arrays]:
    """Collect what the table names from `source`: JSON values and arrays, by path."""
    out = PartsWritten()
    for name, item in table.items():
        item.write(name.strip("_"), getattr(source, name, None), out)
    return out.meta, out.arrays


def read_state(
    table: Saved, meta: Any, arrays: Arrays, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Read and check what `write_state` returned, with the sizes known beforehand."""
    if not isinstance(meta, dict):
        refuse("model", "must be a table of values", meta)
    source = PartsRead(meta, arrays, dict(sizes))
    return {name: item.read(name.strip("_"), source) for name, item in table.items()}


def training_parts(table: Saved) -> tuple[str, ...]:
    """How the names of saved arrays begin that hold features of training tokens."""
    return tuple(
        prefix
        for name, item in table.items()
        for prefix in item.training_parts(name.strip("_"))
    )
