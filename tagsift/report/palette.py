"""Colours of both themes, and one fixed colour and marker for every method.

Drawings are made in stand-in colours and rewritten to CSS variables, so that one inline
SVG follows the theme of the page. The main hues are those of the palette of Okabe and
Ito, made for colour-blind readers; methods differ in marker and dash as well.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tagsift.registry import names

__all__ = ["COLOURS", "Colour", "Style", "css_variables", "method_styles", "themed"]


@dataclass(frozen=True)
class Colour:
    """A colour with a value for each theme."""

    light: str  # its value on a light page
    dark: str  # and on a dark one
    stand_in: str  # what is drawn, before it is rewritten to the variable


#: How the line of a method is drawn: arguments of matplotlib's line.
Style: TypeAlias = dict[str, Any]

_VALUES = Path(__file__).parent / "templates" / "colours.toml"

#: Every colour by the name of its CSS variable, without the dashes.
COLOURS: dict[str, Colour] = {
    name: Colour(light, dark, f"#01f0{place:02x}")
    for place, (name, (light, dark)) in enumerate(
        tomllib.loads(_VALUES.read_text("utf-8")).items()
    )
}

_VARIABLES = {one.stand_in: f"var(--{k}, {one.light})" for k, one in COLOURS.items()}

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
    bare = {name: re.sub("[ _-]", "", name.lower()) for name in methods}
    keys = {name: _BY_LETTERS.get(letters) for name, letters in bare.items()}
    order = [*_FIRST_FREE, *(name for name in _ORDER if name not in _FIRST_FREE)]
    free = cycle([name for name in order if name not in keys.values()] or order)
    return {name: _style(key or next(free)) for name, key in keys.items()}


def _style(method: str) -> Style:
    """Colour, marker, dash and width of a method, by its place in the order."""
    place = _ORDER.index(method) % len(_MARKERS)
    marker, width = _MARKERS[place], _WIDTHS.get(method, 1.2)
    return {
        "color": COLOURS[f"s{place}"].stand_in,
        "linestyle": "--" if method == "crf" else "-",
        "linewidth": width,
        "marker": marker or "None",
        "markersize": 3.2 + width,
        "markeredgewidth": 1.2 if marker in "x+" else 0.0,
    }


def css_variables(theme: Literal["light", "dark"]) -> str:
    """Declarations of all colours of one theme, for a rule of a style sheet."""
    return " ".join(f"--{k}: {getattr(one, theme)};" for k, one in COLOURS.items())


def themed(svg: str) -> str:
    """Rewrite stand-in colours to CSS variables with the light value as fallback."""
    return re.sub(r"#01f0[0-9a-f]{2}", lambda found: _VARIABLES[found[0]], svg)
