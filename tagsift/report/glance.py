"""A corpus at a glance: its size, and the types of spans found in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain

import numpy as np

from tagsift.cleaned import Cleaned
from tagsift.data import spans
from tagsift.report.bars import bar_plot
from tagsift.report.document import Cell, Figure, Section, Table, columns
from tagsift.typing import IntArray

__all__ = ["glance_section"]

#: Types in the table, and among the bars.
_TYPES, _BARS = 60, 20


def glance_section(cleaned: Cleaned) -> Section:
    """Sizes, and the types of spans (the tags)."""
    given, lengths = cleaned.corpus, cleaned.corpus.lengths  # [S]
    words = Counter(chain.from_iterable(given.tokens))
    facts: list[tuple[Cell, ...]] = [
        ("sentences", f"{len(given):,}"),
        ("tokens", f"{given.n_tokens:,}"),
        ("different words", f"{len(words):,}"),
        ("tokens of a sentence", _middle(lengths)),
        ("labels", f"{len(cleaned.classes)}, written as {given.scheme}"),
    ]
    if cleaned.has_votes:
        silent = int((~cleaned.table.voted).sum())
        facts.append(("annotators", f"{len(given.annotators)}"))
        facts.append(("tokens that nobody labelled", f"{silent:,}"))
        facts.append(("tokens known exactly", f"{int(cleaned.settled.sum()):,}"))
    else:
        facts.append(
            ("tokens with several candidates", f"{(~cleaned.settled).sum():,}")
        )
    table, figure = _types(cleaned)
    about = Table(columns({"what": "", "how many": ""}), tuple(facts))
    return Section("At a glance", "", (about, table, *((figure,) if figure else ())))


def _middle(lengths: IntArray) -> str:
    if not len(lengths):
        return "–"
    return f"{np.median(lengths):.0f} in the middle, {lengths.max():,} at most"


def _types(cleaned: Cleaned) -> tuple[Table, Figure | None]:
    """Types of spans by number, and how sure they are."""
    plain, sure = cleaned.corpus.scheme == "plain", cleaned.marginals is not None
    counts = Counter[str]()
    doubts, confidence = defaultdict[str, float](float), defaultdict[str, float](float)
    for s, row in enumerate(cleaned.spans):
        lo = int(cleaned.corpus.bounds[s])
        for one in row:
            counts[one.type] += 1
            if sure:
                at = slice(lo + one.start, lo + one.end)
                doubts[one.type] += float(cleaned.chance_wrong[at].max())
                confidence[one.type] += float(cleaned.confidence[at].min())
    counted = cleaned.majority
    before = Counter(
        one.type for row in counted or () for one in spans(row, cleaned.corpus.scheme)
    )
    total = sum(counts.values())
    ranked = sorted({*counts, *before}, key=lambda name: (-counts[name], name))
    rows: list[tuple[Cell, ...]] = []
    for name in ranked[:_TYPES]:
        n = counts[name]
        rows.append(
            (
                name or "(no type)",
                n,
                n / total if total else None,
                *((before[name],) if counted else ()),
                *((confidence[name] / n if n else None, doubts[name]) if sure else ()),
            )
        )
    unit = "tokens" if plain else "spans"
    heads = {"tag" if plain else "type": "", unit: ",d", "share %": ".1f%"}
    heads |= {"by majority": ",d"} if counted else {}
    heads |= {"mean confidence": ".3f", "expected wrong": ".1f"} if sure else {}
    rest = len(ranked) - len(rows)
    note = f"{rest} rarer ones are left out." if rest else ""
    title = "Tags" if plain else "Types of spans"
    shown = [name or "(no type)" for name in ranked[:_BARS]]
    series = {"found": [counts[name] for name in ranked[:_BARS]]}
    if counted:
        series["by majority vote"] = [before[name] for name in ranked[:_BARS]]
    drawn = {"title": f"How many {unit}", "axis": unit}
    figure = bar_plot(shown, series, **drawn) if shown else None
    return Table(columns(heads), tuple(rows), title, note), figure
