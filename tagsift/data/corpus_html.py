"""A corpus as a notebook shows it: counts, labels, first sentences, a lane for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from tagsift.data.annotators import Vote
from tagsift.data.schemes import spans

if TYPE_CHECKING:
    from tagsift.data.corpus import Corpus, Sentence

__all__ = ["fragment"]

#: How much is shown.
_SENTENCES = 5
_TOKENS = 40
_LANES = 12
_LABELS = 30
#: Degrees between the hues of types, so that neighbours differ.
_HUE = 137.5


def fragment(corpus: Corpus) -> str:
    """HTML of a corpus, complete in itself; every text of the corpus is escaped."""
    single = [spans([name], corpus.scheme) for name in corpus.label_set]
    types = sorted({one[0].type for one in single if one})
    hues = {name: round(k * _HUE) % 360 for k, name in enumerate(types)}
    chips = " ".join(_chip(name, hues[name]) for name in types[:_LABELS])
    more = f" and {len(types) - _LABELS} more" * (len(types) > _LABELS)
    tables = "".join(_sentence(corpus, one, hues) for one in corpus[:_SENTENCES])
    rest = len(corpus) - _SENTENCES
    return (
        '<div style="font-family:sans-serif;font-size:13px;overflow-x:auto">'
        f"<p>{escape(repr(corpus))}</p><p>{chips}{more}</p>{tables}"
        + f"<p>… and {rest:,} more sentences</p>" * (rest > 0)
        + "</div>"
    )


def _chip(name: str, hue: int) -> str:
    return f'<span style="{_colour(hue)}">{escape(name)}</span>'


def _colour(hue: int) -> str:
    return f"background:hsl({hue},70%,85%);color:#222;border-radius:4px;padding:1px 5px"


def _sentence(corpus: Corpus, sentence: Sentence, hues: dict[str, int]) -> str:
    words = sentence.tokens[:_TOKENS]
    cells = "".join(f'<td dir="auto">{escape(word)}</td>' for word in words)
    cells += "<td>…</td>" * (len(sentence) > _TOKENS)
    rows = [f"<tr><th></th>{cells}</tr>"]
    for name, labels in _lanes(sentence):
        lane = "".join(_marked(labels[:_TOKENS], corpus.scheme, hues))
        rows.append(f'<tr><th style="text-align:left">{escape(name)}</th>{lane}</tr>')
    silent = len(sentence.votes) - _LANES
    note = f"<p>and {silent} more annotators</p>" * (silent > 0)
    style = "border-collapse:collapse;margin:6px 0"
    return f'<table style="{style}">{"".join(rows)}</table>{note}'


def _lanes(sentence: Sentence) -> Iterator[tuple[str, Sequence[Vote | None]]]:
    """What annotators say, candidates, and what is known; by name."""
    yield from list(sentence.votes.items())[:_LANES]
    if sentence.candidates is not None:
        full = sentence.corpus.label_set.full
        sets = sentence.candidates
        yield (
            "labels",
            [
                next(iter(one)) if len(one) == 1 else None if one == full else one
                for one in sets
            ],
        )
    exact = sentence.corpus.exact
    if exact is not None and any(exact[sentence.number]):
        yield "exact", exact[sentence.number]
    if sentence.gold is not None:
        yield "gold", sentence.gold


def _marked(
    labels: Sequence[Vote | None], scheme: str, hues: dict[str, int]
) -> Iterator[str]:
    """Cells of a lane: spans in the colour of their type, over all their tokens."""
    single = [name if isinstance(name, str) else "O" for name in labels]
    starts = {one.start: one for one in spans(single, scheme)}
    t = 0
    while t < len(labels):
        name, span = labels[t], starts.get(t)
        if span is not None:
            size = span.end - span.start
            chip = _chip(span.type, hues.get(span.type, 0))
            yield f'<td colspan="{size}">{chip}</td>'
            t = span.end
            continue
        text = (
            "?"
            if name is None
            else name
            if isinstance(name, str)
            else "|".join(sorted(name))
        )
        yield f'<td style="color:#888">{escape(text)}</td>'
        t += 1
