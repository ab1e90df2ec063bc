"""Feature templates in the manner of CRF toolkits, in named groups.

A template is written as a product of attributes at places near the token:
``lower[-1]|lower[0]`` is the pair of the word before and the word itself, both in lower
case. It is one binary feature for every pair seen in training, named
``lower[-1]|lower[0]=in|the``. A template whose place lies outside the sentence, or
whose attribute has no value there (``prefix4`` of a three-letter word), is silent.
The attributes are listed in ``docs/reference/features.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import NamedTuple

from tagsift.errors import InputError

__all__ = [
    "Attribute",
    "DEFAULT_GROUPS",
    "POSITIONAL",
    "Template",
    "attribute",
    "column_templates",
    "default_templates",
    "input_width",
    "parse_templates",
    "template_texts",
    "word_shape",
]

#: The default templates, by group.
DEFAULT_GROUPS: dict[str, str] = {
    "word": "word[0]",
    "lower": "lower[0]",
    "affix": (
        "prefix1[0] prefix2[0] prefix3[0] prefix4[0] "
        "suffix1[0] suffix2[0] suffix3[0] suffix4[0]"
    ),
    "shape": "shape[0] brief[0] brief[-1]|brief[0] brief[0]|brief[1]",
    "digits": "digits[0] numeral[0]",
    "capitals": "capitals[0] begin[0]|capitals[0]",
    "window": (
        "lower[-2] lower[-1] lower[1] lower[2] "
        "shape[-2] shape[-1] shape[1] shape[2] "
        "suffix3[-1] suffix3[1]"
    ),
    "pos": (
        "pos[-2] pos[-1] pos[0] pos[1] pos[2] "
        "pos[-2]|pos[-1] pos[-1]|pos[0] pos[0]|pos[1] pos[1]|pos[2] "
        "pos[-1]|pos[0]|pos[1]"
    ),
    "position": "begin[0] end[0]",
}

#: Attributes of the place in the sentence, not of a column.
POSITIONAL = ("begin", "end")

_PART = re.compile(r"([a-z]+[0-9]{0,6})\[([+-]?[0-9]{1,4})\]")
_RUNS = re.compile(r"(.)\1+", re.DOTALL)


def word_shape(word: str, longest: int = 2) -> str:
    """Shape of a word: X upper case, x lower case, d digit, others as they are.

    Examples
    --------
    >>> word_shape("McDonald's"), word_shape("1,250.75"), word_shape("IBM", 1)
    ("XxXxx'x", 'd,dd.dd', 'X')
    """
    signs = "".join(map(_sign, word))
    return _RUNS.sub(lambda run: run.group(0)[:longest], signs)


def _sign(char: str) -> str:
    if char.isdigit():
        return "d"
    if char.isupper():
        return "X"
    return "x" if char.isalpha() else char


def _prefix(word: str, length: int) -> str | None:
    return word.lower()[:length] if len(word) >= length else None


def _suffix(word: str, length: int) -> str | None:
    return word.lower()[-length:] if len(word) >= length else None


def _digits(word: str) -> str | None:
    if word.isdigit():
        return "all"
    return "some" if any(map(str.isdigit, word)) else None


def _numeral(word: str) -> str | None:
    written = "".join("0" if sign.isdigit() else sign for sign in word.lower())
    return written if any(map(str.isdigit, word)) else None


def _capitals(word: str) -> str | None:
    if not any(map(str.isupper, word)):
        return None
    if word.isupper():
        return "all" if len(word) > 1 else "single"
    return "initial" if word[0].isupper() else "inner"


_WORD_ATTRIBUTES: dict[str, Callable[[str], str | None]] = {
    "word": str,
    "lower": str.lower,
    "shape": word_shape,
    "brief": partial(word_shape, longest=1),
    "digits": _digits,
    "numeral": _numeral,
    "capitals": _capitals,
    **{f"prefix{k}": partial(_prefix, length=k) for k in range(1, 5)},
    **{f"suffix{k}": partial(_suffix, length=k) for k in range(1, 5)},
}


class Attribute(NamedTuple):
    """A property of the entry of one column."""

    name: str  # as written in templates
    column: int  # counted from 0
    value: Callable[[str], str | None]  # of an entry; None where it has none


def attribute(name: str) -> Attribute:
    if name in _WORD_ATTRIBUTES:
        return Attribute(name, 0, _WORD_ATTRIBUTES[name])
    if name == "pos":
        return Attribute(name, 1, str)
    if re.fullmatch(r"column[0-9]{1,6}", name):
        return Attribute(name, int(name.removeprefix("column")), str)
    names = [*_WORD_ATTRIBUTES, "pos", "column<k>", *POSITIONAL]
    raise InputError(
        f"there is no attribute {name!r} for feature templates; choose from "
        f"{', '.join(names)}."
    )


@dataclass(frozen=True)
class Template:
    """One feature template of a group.

    Examples
    --------
    >>> Template.parse("window", "lower[-1]|lower[0]").parts
    (('lower', -1), ('lower', 0))
    """

    group: str  # the block of features it belongs to
    parts: tuple[tuple[str, int], ...]  # attribute and place relative to the token

    @classmethod
    def parse(cls, group: str, text: str) -> Template:
        """Read a template written as in ``lower[-1]|lower[0]``."""
        parts = []
        for part in text.split("|"):
            match = _PART.fullmatch(part)
            if match is None:
                raise InputError(
                    f"the feature template {text!r} has the part {part!r}; expected "
                    "an attribute with a place, such as 'lower[-1]'."
                )
            if match[1] not in POSITIONAL:
                attribute(match[1])
            parts.append((match[1], int(match[2])))
        return cls(group, tuple(parts))

    @property
    def name(self) -> str:
        return "|".join(f"{name}[{place}]" for name, place in self.parts)

    @property
    def columns(self) -> frozenset[int]:
        names = [name for name, _ in self.parts if name not in POSITIONAL]
        return frozenset(attribute(name).column for name in names)


def parse_templates(texts: Sequence[str]) -> tuple[Template, ...]:
    if len(texts) % 2:
        raise InputError("feature templates are pairs of a group and a text.")
    return tuple(starmap(Template.parse, zip(texts[::2], texts[1::2], strict=True)))


def template_texts(templates: Iterable[Template]) -> list[str]:
    return [text for t in templates for text in (t.group, t.name)]


def input_width(templates: Iterable[Template] | None) -> int:
    """How many columns of the tokens the templates (None: a function) look at."""
    if templates is None:
        return 2
    return 1 + max((k for template in templates for k in template.columns), default=0)


def default_templates(groups: Iterable[str] | None = None) -> tuple[Template, ...]:
    """Return the default templates, of all groups or of those named."""
    chosen = tuple(DEFAULT_GROUPS) if groups is None else tuple(groups)
    for group in chosen:
        if group not in DEFAULT_GROUPS:
            raise InputError(
                f"there is no group of feature templates called {group!r}; choose "
                f"from {', '.join(DEFAULT_GROUPS)}."
            )
    return tuple(
        Template.parse(group, text)
        for group in chosen
        for text in DEFAULT_GROUPS[group].split()
    )


def column_templates(
    column: int, places: Sequence[int] = (-2, -1, 0, 1, 2)
) -> tuple[Template, ...]:
    """Return templates for a further column: its entries at places near the token.

    Columns are counted from 0; the group is called ``column<k>``.
    """
    name = f"column{column}"
    return tuple(Template(name, ((name, place),)) for place in places)
