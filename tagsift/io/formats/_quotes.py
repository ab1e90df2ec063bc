"""Where a quote stands in a text: as it is, then ignoring case, spaces and signs."""

from __future__ import annotations

import re

from tagsift.data.documents import Bounds

__all__ = ["find_quote"]

_ALIKE = ("'‘’‛′`´", '"“”„‟″«»', "-‐‑‒–—−")
_SIGNS = {sign: f"[{re.escape(signs)}]" for signs in _ALIKE for sign in signs}
#: Signs of a quote that are looked for.
_LONGEST = 2000


def find_quote(
    quote: str, text: str, taken: set[Bounds], placed: list[Bounds]
) -> Bounds | None:
    """The first place of a quote that is not taken yet, rather a free one."""
    words = quote.split()
    if not words:
        return None
    as_it_stands = re.escape(quote.strip())
    loose = r"\s*".join(
        _SIGNS.get(sign) or re.escape(sign) for sign in "".join(words)[:_LONGEST]
    )
    for form in (r"(?<!\w){}(?!\w)", "{}"):
        for pattern, flags in ((as_it_stands, 0), (loose, re.IGNORECASE)):
            places = [
                one.span() for one in re.finditer(form.format(pattern), text, flags)
            ]
            left = [one for one in places if one not in taken]
            free = ((a, b) for a, b in left if all(d <= a or b <= c for c, d in placed))
            if left:
                return next(free, left[0])
    return None
