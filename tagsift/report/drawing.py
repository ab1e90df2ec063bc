"""From matplotlib to an inline SVG that follows the theme of the page.

Nothing here needs a display, and matplotlib's global state is left as it was. The text
of a drawing stays text: it is set in the font of the page, and a screen reader or a
search finds it.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tagsift.report.palette import COLOURS, Style, css_variables, themed
from tagsift.visible import visible

__all__ = ["NARROW", "WIDTH", "can_draw", "draw", "draw_legend", "ink", "standalone"]

#: Width of a panel in inches: readable on a phone without zooming.
WIDTH = 4.3
#: Width of panels that stand side by side.
NARROW = 3.6
# The font of the page, or the reader's where a drawing stands alone.
_FONT = "var(--sans, sans-serif)"
_LOOK = Path(__file__).parent / "templates" / "drawing.mplstyle"
_INKS = {
    "ink": ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")
    + ("legend.labelcolor",),
    "muted": ("axes.edgecolor", "xtick.color", "ytick.color"),
    "rule": ("grid.color",),
}


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def ink(name: str) -> str:
    """Stand-in of a named colour, for drawing."""
    return COLOURS[name].stand_in


def draw(
    paint: Callable[[Any], None], *, alt: str, width: float = WIDTH, height: float = 3.2
) -> tuple[str, ...]:
    """Let `paint` draw on axes; return inline SVG, nothing without matplotlib."""
    if not can_draw():
        return ()
    return (_render(lambda figure: paint(figure.subplots()), alt, width, height),)


def _render(fill: Callable[[Any], None], alt: str, width: float, height: float) -> str:
    """Let `fill` fill a matplotlib figure, and return it as themed SVG."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    buffer = io.StringIO()
    inks: Any = {part: ink(name) for name, parts in _INKS.items() for part in parts}
    with matplotlib.rc_context(inks, _LOOK), warnings.catch_warnings():
        # Letters that the measuring font lacks are set in a font of the reader's.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained")
        canvas: Any = FigureCanvasSVG(figure)
        fill(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    return _clean(buffer.getvalue(), alt, wide=width > WIDTH)


def draw_legend(styles: dict[str, Style], names: dict[str, str] | None = None) -> str:
    """Draw a legend as inline SVG of its own, empty without matplotlib."""
    if not can_draw():
        return ""
    from matplotlib.lines import Line2D

    columns = min(3, len(styles))
    rows = -(-len(styles) // columns)
    labels = [(names or {}).get(name, name) for name in styles]

    def fill(figure: Any) -> None:
        handles = [Line2D([], [], **style) for style in styles.values()]
        look = {"loc": "center", "handlelength": 2.2, "columnspacing": 1.2}
        figure.legend(handles, labels, ncols=columns, **look)

    return _render(fill, "Legend: " + ", ".join(labels), NARROW + 0.4, 0.2 * rows + 0.1)


def _clean(svg: str, alt: str, *, wide: bool) -> str:
    """Make matplotlib's SVG fit to stand inside a page, many of them at once."""
    svg = svg[svg.index("<svg") :]
    for element in ("metadata", "style"):
        svg = re.sub(rf"<{element}.*?</{element}>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    prefix = "t" + hashlib.sha256(svg.encode()).hexdigest()[:8] + "-"
    # Only tags are rewritten: what stands between them is the reader's text.
    svg = re.sub(r"<[^>]*>", lambda tag: _clean_tag(tag.group(0), prefix), svg)
    head = f'<svg role="img" aria-label="{escape(visible(alt), quote=True)}" '
    head += 'stroke-linejoin="round" stroke-linecap="butt" ' + 'class="wide" ' * wide
    return svg.replace("<svg ", head, 1).strip()


def _clean_tag(tag: str, prefix: str) -> str:
    """Rewrite fonts, identifiers and colours inside one tag."""
    tag = re.sub(r'(<g) id="(?:text|patch|line2d)_\d+"', r"\1", tag)
    tag = re.sub(r"(font: [^;\"]*?px)[^;\"]*", rf"\1 {_FONT}", tag)
    tag = re.sub(r"font-family: [^;\"]*", f"font-family: {_FONT}", tag)
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', tag)
    tag = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", tag)
    return themed(tag)


def standalone(panel: str) -> str:
    """Complete an inline drawing to an SVG file that carries both themes itself."""
    style = (
        f"<style>svg {{ {css_variables('light')} }} "
        "@media (prefers-color-scheme: dark) { "
        f"svg {{ {css_variables('dark')} }} }}</style>"
    )
    whole = re.sub(r"(<svg[^>]*>)", rf"\1\n {style}", panel, count=1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{whole}\n'
