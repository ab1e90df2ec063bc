"""The simplest parts of a declared state: JSON values, and how they are refused.

What may be declared is listed in `tagsift.storage.state`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NoReturn

import numpy as np

from tagsift.errors import ModelFileError
from tagsift.typing import Arrays
from tagsift.visible import short

__all__ = [
    "LARGEST",
    "Item",
    "Reading",
    "Value",
    "Writing",
    "check_range",
    "damaged",
    "is_count",
    "refuse",
]

#: Larger numbers are no result of a fit, and their products overflow.
LARGEST = 1e100


@dataclass
class Writing:
    """Where the parts of a state are put: JSON values and arrays, by their path."""

    meta: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """Where they are taken from, and the sizes known so far."""

    meta: Mapping[str, Any]
    arrays: Arrays
    sizes: dict[str, int]

    def value(self, name: str) -> Any:
        """Return the JSON value called `name`."""
        return _entry(self.meta, "value", name)

    def array(self, name: str) -> Any:
        """Return the array called `name`."""
        return _entry(self.arrays, "array", name)

    def match(self, name: str, shape: str, found: tuple[int, ...]) -> None:
        """Compare a shape with its declaration, and bind the sizes that are new."""
        declared = re.findall(r"(\w+)(?:\+(\d+))?", shape)
        fits = len(declared) == len(found)
        for (size, more), length in zip(declared, found, strict=False):
            rest = length - int(more or 0)
            fits = fits and rest >= 0 and self.sizes.setdefault(size, rest) == rest
        if not fits:
            known = ", ".join(f"{k} = {v}" for k, v in self.sizes.items() if k in shape)
            wanted = ", ".join(shape.split())
            refuse(name, f"must have the shape [{wanted}] with {known}", list(found))


def _entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    if name not in entries:
        raise ModelFileError(f"the {kind} {name!r} is missing; save the model again.")
    return entries[name]


def damaged(what: str) -> ModelFileError:
    """Make the error of a file whose parts do not fit."""
    remedy = "the file was altered or damaged, save the model again."
    return ModelFileError(f"{what}; {remedy}")


def refuse(name: str, expected: str, found: Any) -> NoReturn:
    """Refuse a part of a file that is not as declared."""
    shown = found if isinstance(found, str) else short(found)
    raise damaged(f"{name!r} {expected}, found {shown}")


def check_range(
    name: str, low: float, high: float, least: float | None, most: float | None
) -> None:
    """Refuse numbers from `low` to `high` that leave the range."""
    if least is not None and not low >= least:
        refuse(name, f"must be at least {least:g}", low)
    if most is not None and not high <= most:
        refuse(name, f"must be at most {most:g}", high)


def is_count(value: Any) -> bool:
    """Whether a JSON value can be a size or a place."""
    return type(value) is int and 0 <= value < 2**62


@dataclass(frozen=True, kw_only=True)
class Item:
    """A part of a saved state: a JSON value, unless a subclass says otherwise."""

    optional: bool = False  # whether it may be None
    training: bool = False  # whether it holds features of training tokens

    def write(self, name: str, value: Any, out: Writing) -> None:
        """Put `value` under `name`."""
        if value is None and self.optional:
            out.meta[name] = None
        else:
            self._write(name, value, out)

    def read(self, name: str, source: Reading) -> Any:
        """Take and check what `write` put under `name`."""
        if self.optional and source.meta.get(name, name) is None:
            return None
        return self._read(name, source)

    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.meta[name] = value.item() if isinstance(value, np.generic) else value

    def _read(self, name: str, source: Reading) -> Any:
        raise NotImplementedError

    def training_parts(self, name: str) -> list[str]:
        """How the names of arrays begin that hold features of training tokens."""
        return [name] if self.training else []


@dataclass(frozen=True)
class Value(Item):
    """A JSON value of one of the `kinds`: a number in a range, a text `among` some."""

    kinds: tuple[type, ...]
    words: str  # what it must be
    _: KW_ONLY
    least: float = -LARGEST
    most: float = LARGEST
    above: float = -np.inf
    among: tuple[str, ...] = ()

    def _read(self, name: str, source: Reading) -> Any:
        found = source.value(name)
        if type(found) not in self.kinds or (self.among and found not in self.among):
            refuse(name, f"must be {self.words}", short(found))
        if type(found) in (int, float):
            check_range(name, found, found, self.least, self.most)
            if not found > self.above:
                refuse(name, f"must be above {self.above:g}", found)
        return float(found) if float in self.kinds else found
