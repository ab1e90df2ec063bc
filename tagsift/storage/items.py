"""The simplest parts of a declared state: numbers and words, and how they are refused.

What may be declared is listed in `tagsift.storage.state`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from tagsift.errors import ModelFileError

__all__ = [
    "LARGEST",
    "Item",
    "Reading",
    "Writing",
    "flag",
    "is_count",
    "number",
    "refuse",
    "short",
    "size",
    "whole",
    "word",
]

#: Larger numbers are no result of a fit, and their products overflow.
LARGEST = 1e100


@dataclass
class Writing:
    """Where the parts of a state are put: JSON values and arrays, by their path."""

    meta: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """Where they are taken from, and the sizes known so far."""

    meta: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray[Any, Any]]
    sizes: dict[str, int]

    def value(self, name: str) -> Any:
        """Return the JSON value called `name`."""
        if name not in self.meta:
            _missing("value", name)
        return self.meta[name]

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """Return the array called `name`."""
        if name not in self.arrays:
            _missing("array", name)
        return self.arrays[name]

    def match(self, name: str, shape: str, found: tuple[int, ...]) -> None:
        """Compare a shape with its declaration, and bind the sizes that are new."""
        declared = [re.fullmatch(r"(\w+?)(?:\+(\d+))?", k) for k in shape.split()]
        if len(declared) == len(found):
            for size, known in zip(found, declared, strict=True):
                assert known is not None
                rest = size - int(known[2] or 0)
                if rest < 0 or self.sizes.setdefault(known[1], rest) != rest:
                    break
            else:
                return
        sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items() if k in shape)
        refuse(
            name,
            f"must have the shape [{', '.join(shape.split())}] with {sizes}",
            f"{list(found)}",
        )


def refuse(name: str, expected: str, found: str) -> NoReturn:
    """Refuse a part of a file that is not as declared."""
    raise ModelFileError(
        f"{name!r} {expected}, found {found}; the file was altered or damaged, save "
        "the model again."
    )


def _missing(what: str, name: str) -> NoReturn:
    """Refuse a file in which something is missing."""
    raise ModelFileError(f"the {what} {name!r} is missing; save the model again.")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A part of a saved state.

    Parameters
    ----------
    optional : bool
        Whether it may be None.
    training : bool
        Whether it holds features of training tokens.
    """

    optional: bool = False
    training: bool = False

    def write(self, name: str, value: Any, out: Writing) -> None:
        """Put `value` under `name`."""
        if value is None and self.optional:
            out.meta[name] = None
        else:
            self._write(name, value, out)

    def read(self, name: str, source: Reading) -> Any:
        """Take and check what `write` put under `name`."""
        if self.optional and name in source.meta and source.meta[name] is None:
            return None
        return self._read(name, source)

    def _write(self, name: str, value: Any, out: Writing) -> None:
        raise NotImplementedError

    def _read(self, name: str, source: Reading) -> Any:
        raise NotImplementedError

    def training_parts(self, name: str) -> list[str]:
        """How the names of arrays begin that hold features of training tokens."""
        return [name] if self.training else []


@dataclass(frozen=True, kw_only=True)
class _Number(Item):
    integer: bool = False
    least: float | None = None
    above: float | None = None
    most: float = LARGEST

    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.meta[name] = int(value) if self.integer else float(value)

    def _read(self, name: str, source: Reading) -> Any:
        return self.check(name, source.value(name))

    def check(self, name: str, found: Any) -> Any:
        """Refuse what is no such number."""
        allowed = int if self.integer else int | float
        if isinstance(found, bool) or not isinstance(found, allowed):
            refuse(
                name,
                "must be a whole number" if self.integer else "must be a number",
                short(found),
            )
        if not -LARGEST <= found <= self.most:
            refuse(name, f"must be at most {self.most:g}", short(found))
        if self.least is not None and found < self.least:
            refuse(name, f"must be at least {self.least:g}", short(found))
        if self.above is not None and found <= self.above:
            refuse(name, f"must be above {self.above:g}", short(found))
        return found if self.integer else float(found)


def number(
    *, least: float | None = None, above: float | None = None, optional: bool = False
) -> Item:
    """Declare a finite number."""
    return _Number(least=least, above=above, optional=optional)


@dataclass(frozen=True, kw_only=True)
class _Size(_Number):
    name: str

    def _read(self, name: str, source: Reading) -> Any:
        found = self.check(name, source.value(name))
        source.match(name, self.name, (found,))
        return found


def size(name: str) -> Item:
    """Declare a whole number that is one of the sizes."""
    return _Size(name=name, integer=True, least=0)


def whole(*, least: int = 0, most: int = 2**53, optional: bool = False) -> Item:
    """Declare a whole number."""
    return _Number(integer=True, least=least, most=most, optional=optional)


@dataclass(frozen=True, kw_only=True)
class _Word(Item):
    among: tuple[str, ...] = ()

    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.meta[name] = str(value)

    def _read(self, name: str, source: Reading) -> Any:
        found = source.value(name)
        if not isinstance(found, str) or (self.among and found not in self.among):
            expected = f"one of {', '.join(self.among)}" if self.among else "a text"
            refuse(name, f"must be {expected}", short(found))
        return found


def word(*among: str, optional: bool = False) -> Item:
    """Declare a text, one of those given where some are."""
    return _Word(among=among, optional=optional)


@dataclass(frozen=True, kw_only=True)
class _Flag(Item):
    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.meta[name] = bool(value)

    def _read(self, name: str, source: Reading) -> Any:
        found = source.value(name)
        if not isinstance(found, bool):
            refuse(name, "must be true or false", short(found))
        return found


def flag() -> Item:
    """Declare a truth value."""
    return _Flag()


def is_count(value: Any) -> bool:
    """Whether a JSON value can be a size or a place."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def short(value: Any) -> str:
    """Show a JSON value in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
