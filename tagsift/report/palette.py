"""Colours of both themes, and one fixed colour and marker for every method.

Drawings are made in stand-in colours and rewritten to CSS variables, so that one inline
SVG follows the theme of the page. The main hues are those of the palette of Okabe and
Ito, made for colour-blind readers; methods differ in marker and dash as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from tagsift.registry import names

__all__ = ["COLOURS", "Colour", "Style", "css_variables", "method_styles", "themed"]


@dataclass(frozen=True)
class Colour:
    """A named colour with a value for each theme."""

    name: str  # CSS variable without its dashes
    light: str  # values on a light and on a dark page
    dark: str  # values on a light and on a dark page
    stand_in: str  # what is drawn, before it is rewritten to the variable


@dataclass(frozen=True)
class Style:
    """How the line of a method is drawn."""

    colour: str  # stand-in colour
    marker: str  # marker of matplotlib, empty for none
    dash: str  # line style of matplotlib
    width: float  # line width in points


_VALUES = (
    # name, light, dark
    ("page", "#ffffff", "#14171c"),
    ("card", "#f6f7f9", "#1c2027"),
    ("ink", "#1d2129", "#e6e9ef"),
    ("muted", "#59616e", "#a2abba"),
    ("rule", "#d9dde3", "#343b46"),
    ("accent", "#0b63a5", "#63b3f4"),
    ("on-accent", "#ffffff", "#0b1016"),
    ("counter", "#b8501a", "#ff9c66"),
    ("good", "#0a6b47", "#4ed3a0"),
    ("bad", "#a8251f", "#ff8f86"),
    ("warn", "#7d5700", "#f1c04f"),
    ("s0", "#d55e00", "#ff9250"),
    ("s1", "#0072b2", "#5ab4f2"),
    ("s2", "#00845f", "#35c79a"),
    ("s3", "#1d2129", "#e6e9ef"),
    ("s4", "#767676", "#9c9c9c"),
    ("s5", "#9a3e9a", "#d98bda"),
    ("s6", "#8a1f4f", "#e0759f"),
    ("s7", "#3b2f9b", "#a59df5"),
    ("s8", "#7a7a12", "#c9c94e"),
    ("s9", "#0b7f92", "#58cfe0"),
    ("s10", "#cc5566", "#f494a0"),
    ("s11", "#a97400", "#f0bf45"),
    ("s12", "#7b4b2a", "#cfa07c"),
    ("s13", "#5c6b7a", "#93a5b8"),
)

#: Every colour by name.
COLOURS: dict[str, Colour] = {
    name: Colour(name, light, dark, f"#01f0{place:02x}")
    for place, (name, light, dark) in enumerate(_VALUES)
}

_BY_STAND_IN = {colour.stand_in: colour for colour in COLOURS.values()}

# The methods in the order of the series colours: those that lead, then as in tables.
_LEADING = ("sgppsl", "chain-gp", "partial-crf", "crf")
_ORDER = (*_LEADING, *(name for name in names() if name not in _LEADING))
_MARKERS = ("o", "D", "s", "", *"x^vP<>p*h+")
_WIDTHS = {"sgppsl": 2.2, "chain-gp": 2.2, "partial-crf": 1.6, "crf": 1.4}
_BY_LETTERS = {name.replace("-", ""): name for name in names()}
# Styles lent to names that are no methods, in this order.
_FIRST_FREE = ("chain-gp", "sgppsl", "partial-crf", "clpl", "sure", "cllp", "wknn")


def method_styles(methods: Sequence[str]) -> dict[str, Style]:
    """Fixed styles of the known methods, free ones for any other name."""
    keys = {
        name: _BY_LETTERS.get(re.sub("[ _-]", "", name.lower())) for name in methods
    }
    order = [*_FIRST_FREE, *(name for name in _ORDER if name not in _FIRST_FREE)]
    free = cycle([name for name in order if name not in keys.values()] or order)
    return {name: _style(key or next(free)) for name, key in keys.items()}


def _style(method: str) -> Style:
    """Colour, marker, dash and width of a method, by its place in the order."""
    place = _ORDER.index(method) % len(_MARKERS)
    return Style(
        COLOURS[f"s{place}"].stand_in,
        _MARKERS[place],
        "--" if method == "crf" else "-",
        _WIDTHS.get(method, 1.2),
    )


def css_variables(theme: Literal["light", "dark"]) -> str:
    """Declarations of all colours of one theme, for a rule of a style sheet."""
    return " ".join(
        f"--{colour.name}: {getattr(colour, theme)};" for colour in COLOURS.values()
    )


def themed(svg: str) -> str:
    """Rewrite stand-in colours to CSS variables with the light value as fallback."""

    def variable(found: re.Match[str]) -> str:
        colour = _BY_STAND_IN[found[0]]
        return f"var(--{colour.name}, {colour.light})"

    return re.sub(r"#01f0[0-9a-f]{2}", variable, svg)
