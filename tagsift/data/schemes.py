"""Tag schemes as pattern tables, and one walker that reads chunks by them.

A tag is a prefix and a type: ``B-NP`` begins a chunk of type NP, ``O`` is outside, and
``B`` alone has the empty type. Reading is lenient, by the rules of the CoNLL scoring
script: a chunk ends where the type changes, and an ``I-X`` after ``O`` or after another
type opens one. Of plain tags (parts of speech), every token that is not ``O`` is a
chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from tagsift.errors import DataError, InputError
from tagsift.typing import BoolArray

__all__ = [
    "SCHEMES",
    "Span",
    "allowed_transitions",
    "check_one_kind",
    "check_scheme",
    "detect_scheme",
    "is_tag",
    "opening_transitions",
    "scheme_of_pairs",
    "spans",
    "tags",
    "to_scheme",
]


class Span(NamedTuple):
    """A chunk: its type, its first token and the token after its last."""

    type: str
    start: int
    end: int


class _Tag(NamedTuple):
    prefix: str
    type: str


_OUTSIDE = _Tag("O", "")


@dataclass(frozen=True)
class _Scheme:
    """A scheme as a table."""

    name: str
    continues: frozenset[str]  # pairs of prefixes that lie inside one chunk of a type
    opens_after_same: str  # prefixes that open a chunk right after one of its type
    opens_after_other: str  # and those that do after anything else
    closes: str  # prefixes that the last token of a chunk may have
    writes: str  # prefixes of a chunk of one token; first, inner and last of more

    def parse(self, tag: str) -> _Tag | None:
        """Split a tag into prefix and type; None where it is no tag of the scheme."""
        if tag == "O":
            return _OUTSIDE
        if not tag or not isinstance(tag, str):
            return None
        if self.name == "plain":
            return _Tag("S", tag)
        if tag[0] not in self.writes + self.opens_after_same:
            return None
        if len(tag) == 1:
            return _Tag(tag, "")
        return _Tag(tag[0], tag[2:]) if tag[1] == "-" and len(tag) > 2 else None

    def write(self, type_: str, length: int, *, after_same: bool) -> list[str]:
        """Tags of one chunk."""
        if self.name == "plain":
            if type_ in ("", "O"):
                raise InputError(
                    f"expected chunks with a type other than 'O' to write as plain "
                    f"tags, found the type {type_!r}; choose iob1, iob2 or iobes."
                )
            return [type_] * length
        single, first, inner, last = tuple(self.writes)
        prefixes = first + inner * (length - 2) + last if length > 1 else single
        if after_same and prefixes[0] not in self.opens_after_same:
            prefixes = self.opens_after_same + prefixes[1:]
        return [f"{prefix}-{type_}" if type_ else prefix for prefix in prefixes]

    def joins(self, before: _Tag, after: _Tag) -> bool:
        """Whether two neighbours lie inside one chunk."""
        same = before.type == after.type
        return same and before.prefix + after.prefix in self.continues

    def opens(self, before: _Tag, after: _Tag) -> bool:
        """Whether a well-formed chunk, or none, may begin here."""
        same = before is not _OUTSIDE and before.type == after.type
        opening = self.opens_after_same if same else self.opens_after_other
        return after is _OUTSIDE or after.prefix in opening

    def ends(self, before: _Tag) -> bool:
        """Whether a well-formed chunk, or none, may end here."""
        return before is _OUTSIDE or before.prefix in self.closes


_IOB = frozenset({"BI", "II"})
_TABLE = {
    scheme.name: scheme
    for scheme in (
        #        name, continues,  after same, after other, closes, writes
        _Scheme("iob1", _IOB, "B", "I", "BI", "IIII"),
        _Scheme("iob2", _IOB, "B", "B", "BI", "BBII"),
        _Scheme("iobes", _IOB | {"BE", "IE"}, "BS", "BS", "ES", "SBIE"),
        _Scheme("plain", frozenset(), "S", "S", "S", "SSSS"),
    )
}

#: The names of the schemes.
SCHEMES: tuple[str, ...] = tuple(_TABLE)


def check_scheme(name: str) -> str:
    """Return the name if it is a scheme's, else raise a clear error."""
    if name not in _TABLE:
        raise InputError(
            f"expected scheme to be one of {', '.join(SCHEMES)}, found {name!r}."
        )
    return name


def is_tag(tag: str, scheme: str) -> bool:
    """Whether a label is written as a tag of the scheme."""
    return _TABLE[check_scheme(scheme)].parse(tag) is not None


def _parse_all(labels: Sequence[str], scheme: _Scheme) -> Iterator[_Tag]:
    known: dict[str, _Tag] = {}
    for token, tag in enumerate(labels):
        parsed = known.get(tag) or scheme.parse(tag)
        if parsed is None:
            raise InputError(
                f"token {token}: expected a tag of the scheme {scheme.name}, found "
                f"{tag!r}; name the scheme the labels are written in "
                f"({', '.join(SCHEMES)})."
            )
        known[tag] = parsed
        yield parsed


def _walk(labels: Sequence[str], scheme: _Scheme) -> Iterator[tuple[Span, bool]]:
    """Yield the chunks by the lenient rules, and whether they are well formed."""
    before, start, well_opened = _OUTSIDE, 0, True
    for token, tag in enumerate((*_parse_all(labels, scheme), _OUTSIDE)):
        if not scheme.joins(before, tag):
            if before is not _OUTSIDE:
                well = well_opened and scheme.ends(before)
                yield Span(before.type, start, token), well
            start, well_opened = token, scheme.opens(before, tag)
        before = tag


def spans(labels: Sequence[str], scheme: str, *, strict: bool = False) -> list[Span]:
    """Chunks of the labels of a sentence, in order; their ``end`` is exclusive.

    With `strict`, chunks that do not open or close as the scheme demands (an ``I-X``
    after ``O`` in IOB2) are left out; by default they count, as in the CoNLL script.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "O", "I-VP"], "iob2")
    [Span(type='NP', start=0, end=2), Span(type='VP', start=3, end=4)]
    >>> spans(["B-NP", "I-NP", "O", "I-VP"], "iob2", strict=True)
    [Span(type='NP', start=0, end=2)]
    """
    table = _TABLE[check_scheme(scheme)]
    return [span for span, well in _walk(labels, table) if well or not strict]


def tags(
    chunks: Iterable[Span | tuple[str, int, int]], length: int, scheme: str
) -> list[str]:
    """Labels of a sentence of `length` tokens that has the given chunks.

    They come in any order and do not overlap. Plain tags name the type on every token
    of a chunk, so chunks of several tokens are not told apart again.
    """
    table = _TABLE[check_scheme(scheme)]
    labels = ["O"] * length
    before = Span("", -1, -1)
    for chunk in sorted(starmap(Span, chunks), key=attrgetter("start")):
        type_, start, end = chunk
        if not max(0, before.end) <= start < end <= length:
            raise InputError(
                f"expected chunks that do not overlap inside 0:{length}, found "
                f"{type_!r} at {start}:{end}."
            )
        after_same = before.end == start and before.type == type_
        labels[start:end] = table.write(type_, end - start, after_same=after_same)
        before = chunk
    return labels


def to_scheme(labels: Sequence[str], source: str, target: str) -> list[str]:
    """Rewrite the labels of a sentence, read leniently, in another scheme.

    To plain tags the way is one-way: boundaries inside a run of one type are lost.

    Examples
    --------
    >>> to_scheme(["I-NP", "B-NP", "I-NP"], "iob1", "iobes")
    ['S-NP', 'B-NP', 'E-NP']
    """
    return tags(spans(labels, source), len(labels), target)


def detect_scheme(
    sequences: Iterable[Sequence[str]], labels: Iterable[str] = ()
) -> str:
    """Find the scheme that labels are written in.

    A label that is no tag makes it plain, a prefix E or S makes it IOBES. IOB1 and IOB2
    differ in how chunks open after ``O`` or another type: with ``I`` or with ``B``; the
    more frequent way decides, since released corpora hold a few odd tags. Where no
    chunk opens, the names decide: labels with ``I`` and none with ``B`` are IOB1, all
    else is IOB2. The sequences are gold or exact labels, never corrupted or predicted
    ones; `labels` are those of the task, where sequences do not show all of them.
    """
    pairs: Counter[tuple[str | None, str]] = Counter()
    for sequence in sequences:
        pairs.update(zip((None, *sequence), sequence, strict=False))
    return scheme_of_pairs(pairs, labels)


def scheme_of_pairs(
    pairs: Mapping[tuple[str | None, str], int], labels: Iterable[str] = ()
) -> str:
    """As `detect_scheme`, from how often a label follows another; None: it begins."""
    parse = _TABLE["iobes"].parse
    names = dict.fromkeys([*labels, *(name for _, name in pairs)])
    known: dict[str, _Tag] = {}
    for name in names:
        tag = parse(name)
        if tag is None:
            return "plain"
        known[name] = tag
    opened_by = {"B": 0, "I": 0}
    for (previous, name), times in pairs.items():
        before, tag = _OUTSIDE if previous is None else known[previous], known[name]
        same = before is not _OUTSIDE and before.type == tag.type
        if tag.prefix in opened_by and not same:
            opened_by[tag.prefix] += times
    prefixes = {tag.prefix for tag in known.values()}
    if prefixes & {"E", "S"}:
        return "iobes"
    if not any(opened_by.values()):
        return "iob1" if "I" in prefixes and "B" not in prefixes else "iob2"
    return "iob1" if opened_by["I"] > opened_by["B"] else "iob2"


def check_one_kind(labels: Iterable[str]) -> None:
    """Refuse a few labels that are no tags among chunk tags.

    They would make all of them plain, and every chunk a row of tokens.
    """
    parse = _TABLE["iobes"].parse
    names = sorted(set(labels))
    others = [name for name in names if parse(name) is None]
    typed = [name for name in names if name[1:2] == "-" and name not in others]
    if others and len(others) <= 2 * len(typed):
        raise DataError(
            f"expected chunk tags such as {typed[0]!r} throughout, found "
            f"{others[0]!r} among them, which would make all of them plain labels; "
            "write '?' where there is no label, or say --scheme plain (in Python "
            "scheme='plain')."
        )


def allowed_transitions(
    label_names: Sequence[str], scheme: str
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which labels may follow each other (row, then column), stand first, and last."""
    table = _TABLE[check_scheme(scheme)]
    parsed = list(_parse_all(label_names, table))
    inside = (*parsed, _OUTSIDE)  # the last row and column are the ends of a sentence
    follows = np.array(
        [
            [table.joins(a, b) or (table.ends(a) and table.opens(a, b)) for b in inside]
            for a in inside
        ]
    )  # [L + 1, L + 1]
    return follows[:-1, :-1], follows[-1, :-1], follows[:-1, -1]


def opening_transitions(
    label_names: Sequence[str], scheme: str
) -> tuple[BoolArray, BoolArray]:
    """Which labels open a chunk after another (row, then column), and which at once.

    By the lenient rules, which are the same for IOB1 and IOB2.
    """
    table = _TABLE[check_scheme(scheme)]
    parsed = list(_parse_all(label_names, table))
    opens = np.array(
        [
            [b is not _OUTSIDE and not table.joins(a, b) for b in parsed]
            for a in (*parsed, _OUTSIDE)
        ]
    )  # [L + 1, L]
    return opens[:-1], opens[-1]
