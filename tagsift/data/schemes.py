"""Tag schemes as pattern tables, and one walker that reads chunks by them.

A tag is a prefix and a type: ``B-NP`` begins a chunk of type NP, ``O`` is outside. Tags
without a type (``B``, ``I``) have the empty type. A scheme is data: which neighbouring
prefixes continue a chunk of the same type, which prefixes may open one, which may close
one. Spans, tags, conversions and allowed transitions all follow from that table.

Reading is lenient, by the rules of the CoNLL scoring script: a chunk ends where the
type changes, and an ``I-X`` after ``O`` or after another type opens a chunk. Plain tags
(parts of speech) are read as that script reads raw tags: every token that is not ``O``
is a chunk of one token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagsift.errors import InputError
from tagsift.typing import BoolArray

__all__ = [
    "SCHEMES",
    "Span",
    "allowed_transitions",
    "check_scheme",
    "detect_scheme",
    "is_tag",
    "spans",
    "tags",
    "to_scheme",
]

_OUTSIDE = "O"


class Span(NamedTuple):
    """A chunk: its type, its first token and the token after its last."""

    type: str
    start: int
    end: int


class _Chunk(NamedTuple):
    span: Span
    well_formed: bool


@dataclass(frozen=True)
class _Scheme:
    """A scheme as a table."""

    name: str  # its public name
    prefixes: str  # one letter each, without ``O``
    continues: frozenset[str]  # pairs of prefixes that lie inside one chunk of a type
    opens_after_same: str  # prefixes that open a chunk right after one of its type
    opens_after_other: str  # and those that do after anything else
    closes: str  # prefixes that the last token of a chunk may have

    def may_open(self, prefix: str, *, after_same: bool) -> bool:
        """Whether a well-formed chunk may open with this prefix here."""
        opens = self.opens_after_same if after_same else self.opens_after_other
        return prefix in opens

    def parse(self, tag: str) -> tuple[str, str] | None:
        """Split a tag into prefix and type; None where it is no tag of the scheme."""
        if tag == _OUTSIDE:
            return _OUTSIDE, ""
        if self.name == "plain":
            return ("S", tag) if tag else None
        if tag[:1] not in self.prefixes or not tag:
            return None
        if len(tag) == 1:
            return tag, ""
        return (tag[0], tag[2:]) if tag[1] == "-" and len(tag) > 2 else None

    def write(self, prefix: str, type_: str) -> str:
        """Join prefix and type to a tag."""
        if self.name == "plain":
            if type_ in ("", _OUTSIDE):
                raise InputError(
                    f"expected chunks with a type other than 'O' to write as plain "
                    f"tags, found the type {type_!r}; choose iob1, iob2 or iobes."
                )
            return type_
        return f"{prefix}-{type_}" if type_ else prefix


_TABLE = {
    scheme.name: scheme
    for scheme in (
        #       name     prefixes  continues           after same, other, closes
        _Scheme("iob1", "BI", frozenset({"BI", "II"}), "B", "I", "BI"),
        _Scheme("iob2", "BI", frozenset({"BI", "II"}), "B", "B", "BI"),
        _Scheme("iobes", "BIES", frozenset({"BI", "BE", "II", "IE"}), "BS", "BS", "ES"),
        _Scheme("plain", "S", frozenset(), "S", "S", "S"),
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


def _parse_all(labels: Sequence[str], scheme: _Scheme) -> Iterator[tuple[str, str]]:
    known: dict[str, tuple[str, str]] = {}
    for token, tag in enumerate(labels):
        parsed = known.get(tag)
        if parsed is None:
            parsed = scheme.parse(tag)
            if parsed is None:
                raise InputError(
                    f"token {token}: expected a tag of the scheme {scheme.name}, found "
                    f"{tag!r}; name the scheme the labels are written in "
                    f"({', '.join(SCHEMES)})."
                )
            known[tag] = parsed
        yield parsed


def _walk(labels: Sequence[str], scheme: _Scheme) -> Iterator[_Chunk]:
    """Yield the chunks of a sequence, left to right, by the lenient rules."""
    before, before_type = _OUTSIDE, ""
    start, opened_well = -1, False
    for token, (prefix, type_) in enumerate(_parse_all(labels, scheme)):
        same = before != _OUTSIDE and prefix != _OUTSIDE and before_type == type_
        if not (same and before + prefix in scheme.continues):
            if start >= 0:
                well = opened_well and before in scheme.closes
                yield _Chunk(Span(before_type, start, token), well)
                start = -1
            if prefix != _OUTSIDE:
                start = token
                opened_well = scheme.may_open(prefix, after_same=same)
        before, before_type = prefix, type_
    if start >= 0:
        well = opened_well and before in scheme.closes
        yield _Chunk(Span(before_type, start, len(labels)), well)


def spans(labels: Sequence[str], scheme: str, *, strict: bool = False) -> list[Span]:
    """Chunks of a label sequence.

    Parameters
    ----------
    labels : sequence of str
        The tags of one sentence.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        How they are written.
    strict : bool
        Leave out chunks that do not open or close as the scheme demands (an ``I-X``
        after ``O`` in IOB2). By default they count, as in the CoNLL script.

    Returns
    -------
    list of Span
        In order; ``end`` is exclusive.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "O", "I-VP"], "iob2")
    [Span(type='NP', start=0, end=2), Span(type='VP', start=3, end=4)]
    >>> spans(["B-NP", "I-NP", "O", "I-VP"], "iob2", strict=True)
    [Span(type='NP', start=0, end=2)]
    """
    table = _TABLE[check_scheme(scheme)]
    return [c.span for c in _walk(labels, table) if c.well_formed or not strict]


def tags(
    chunks: Iterable[Span | tuple[str, int, int]], length: int, scheme: str
) -> list[str]:
    """Labels of a sentence that has the given chunks.

    Parameters
    ----------
    chunks : iterable of Span
        In any order, not overlapping.
    length : int
        Number of tokens.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        How to write the tags. Plain tags name the type on every token of a chunk, so
        chunks of several tokens are not told apart again.

    Returns
    -------
    list of str
    """
    table = _TABLE[check_scheme(scheme)]
    labels = [_OUTSIDE] * length
    end_before, type_before = -1, ""
    for type_, start, end in sorted(chunks, key=lambda chunk: chunk[1]):
        if not max(0, end_before) <= start < end <= length:
            raise InputError(
                f"expected chunks that do not overlap inside 0:{length}, found "
                f"{type_!r} at {start}:{end}."
            )
        after_same = end_before == start and type_before == type_
        prefixes = _prefixes(table, end - start, after_same)
        labels[start:end] = [table.write(prefix, type_) for prefix in prefixes]
        end_before, type_before = end, type_
    return labels


def _prefixes(scheme: _Scheme, length: int, after_same: bool) -> str:
    """Prefixes of one well-formed chunk; the table leaves no choice."""
    if scheme.name == "plain":
        return "S" * length

    def fits(prefix: str, before: str, last: bool) -> bool:
        if before:
            if before + prefix not in scheme.continues:
                return False
        elif not scheme.may_open(prefix, after_same=after_same):
            return False
        if last:
            return prefix in scheme.closes
        return any(prefix + after in scheme.continues for after in scheme.prefixes)

    first = next(p for p in scheme.prefixes if fits(p, "", length == 1))
    if length == 1:
        return first
    if length == 2:
        return first + next(p for p in scheme.prefixes if fits(p, first, True))
    inside = next(p for p in scheme.prefixes if fits(p, first, False))
    last = next(p for p in scheme.prefixes if fits(p, inside, True))
    return first + inside * (length - 2) + last


def to_scheme(labels: Sequence[str], source: str, target: str) -> list[str]:
    """Rewrite labels of one scheme in another.

    Parameters
    ----------
    labels : sequence of str
        The tags of one sentence, read leniently.
    source, target : {"iob1", "iob2", "iobes", "plain"}
        The schemes. To plain tags the way is one-way: boundaries inside a run of one
        type are lost.

    Returns
    -------
    list of str

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
    ones; `labels` names those of the task that they do not show.
    """
    widest = _TABLE["iobes"]
    known: dict[str, tuple[str, str]] = {}
    opened_by = {"B": 0, "I": 0}

    def parse(tag: str) -> tuple[str, str] | None:
        parsed = widest.parse(tag) if isinstance(tag, str) else None
        if parsed is not None:
            known[tag] = parsed
        return parsed

    if any(parse(tag) is None for tag in labels):
        return "plain"
    for sequence in sequences:
        before = (_OUTSIDE, "")
        for tag in sequence:
            parsed = known.get(tag) or parse(tag)
            if parsed is None:
                return "plain"
            prefix, type_ = parsed
            if prefix in opened_by and (before[0] == _OUTSIDE or before[1] != type_):
                opened_by[prefix] += 1
            before = parsed
    prefixes = {prefix for prefix, _ in known.values()}
    if prefixes & {"E", "S"}:
        return "iobes"
    if not any(opened_by.values()):
        return "iob1" if "I" in prefixes and "B" not in prefixes else "iob2"
    return "iob1" if opened_by["I"] > opened_by["B"] else "iob2"


def allowed_transitions(
    label_names: Sequence[str], scheme: str
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which labels may follow each other (row, then column), stand first, and last."""
    table = _TABLE[check_scheme(scheme)]
    parsed = list(_parse_all(label_names, table))
    size = len(parsed)

    def follows(before: tuple[str, str], after: tuple[str, str]) -> bool:
        (prefix, type_), (next_prefix, next_type) = before, after
        inside = prefix != _OUTSIDE and next_prefix != _OUTSIDE
        same = inside and type_ == next_type
        if same and prefix + next_prefix in table.continues:
            return True
        closed = prefix == _OUTSIDE or prefix in table.closes
        opened = next_prefix == _OUTSIDE or table.may_open(next_prefix, after_same=same)
        return closed and opened

    outside = (_OUTSIDE, "")
    transitions = np.array(
        [[follows(a, b) for b in parsed] for a in parsed], dtype=bool
    ).reshape(size, size)  # [L, L]
    start = np.array([follows(outside, b) for b in parsed], dtype=bool)  # [L]
    end = np.array([follows(a, outside) for a in parsed], dtype=bool)  # [L]
    return transitions, start, end
