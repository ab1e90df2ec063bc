"""Text from outside, made safe to show: control characters become visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

__all__ = ["count", "in_context", "short", "visible"]

#: Joiners that the spelling of several languages needs; they move nothing.
_JOINERS = "\u200c\u200d"


def visible(text: str, *, keep: str = "") -> str:
    r"""Write characters that a terminal would obey, or not show, as ``\u....``.

    These are control characters (an escape sequence moves the cursor), those that turn
    the direction of writing, and halves of surrogate pairs, which no terminal can show.
    Inside the strings of a JSON text the result means the same as before.

    Examples
    --------
    >>> print(visible("\x1b[2Jdog"))
    \u001b[2Jdog
    """
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or _harmless(char) else _escape(char) for char in text
    )


def in_context(
    words: Sequence[str],
    start: int,
    end: int,
    around: int,
    width: int | None = None,
) -> str:
    """Words of a sentence between brackets, with a few others on either side.

    Those beyond `width` characters are left out, never those between the brackets.

    Examples
    --------
    >>> in_context("we met in Bad Tölz on Monday".split(), 3, 5, around=2, width=20)
    '… in [Bad Tölz] on …'
    """
    first, last = max(start - around, 0), min(end + around, len(words))

    def written(first: int, last: int) -> str:
        before, after = words[first:start], words[end:last]
        return " ".join((*before, f"[{' '.join(words[start:end])}]", *after))

    text, cut = written(first, last), ("", "")
    while width is not None and len(text) > width and last - first > end - start:
        if start - first >= last - end:
            first, cut = first + 1, ("… ", cut[1])
        else:
            last, cut = last - 1, (cut[0], " …")
        text = written(first, last).join(cut)
    return text


def short(value: Any, most: int = 60) -> str:
    """Show a value in a sentence about it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def _harmless(char: str) -> bool:
    shown = char.isprintable() or char in _JOINERS
    return shown or unicodedata.category(char) == "Zs"


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def count(number: int, thing: str) -> str:
    """Write a number of things: ``1 column``, ``2 columns``."""
    return f"{number} {thing}{'s' * (number != 1)}"
