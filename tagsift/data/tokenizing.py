"""Raw text into tokens and sentences, by rules, with the offsets of every token.

Text is cut at white space, and what stands between by one pattern: URLs and addresses,
words with their marks, hyphens and inner points, numbers, abbreviations with their
full stop, clitics (``do|n't``, ``Ann|'s``) as in the Penn Treebank, clusters of emoji,
single signs. Scripts without spaces are cut by character. White space, control
characters and invisible marks of direction belong to no token.

What a piece of text without spaces is cut into hangs on nothing else, so it is worked
out once and kept: running text repeats itself.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from tagsift.data.abbreviations import (
    AS_WRITTEN,
    ENDING,
    INNER,
    MONTHS,
    NUMBERED,
    ORDINAL,
    SECOND,
    STARTERS,
)
from tagsift.data.cuts import SILENT, Bounds, Cut

__all__ = ["cut_text"]

_CHUNK = re.compile(rf"[^\s{SILENT}]+")
_BLANK_LINE = re.compile(r"(?>\r\n|[\r\n])[^\S\r\n]*(?>\r\n|[\r\n])|[\f\u2029]")
#: Scripts written without spaces: Han, kana, bopomofo; Thai, Lao, Tibetan, Myanmar,
#: Khmer; Han beyond the first plane.
_ALONE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u303c\u3041-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f"
    "\u1780-\u17ff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_CLITIC = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|re|ve|ll|m|d))$", re.IGNORECASE)
_CLOSING = "\"'”’»›)]}」』）】》〉］｝"
_OPENING = "\"'“‘„‚«‹([{「『（【《〈［｛¿¡"
_STOPS = frozenset(".!?…。！？｡．؟۔।॥։።᙮။៕។‼⁇⁈⁉")
#: Those after which a sentence ends without a space, too.
_FULL = frozenset("。！？｡．؟۔।॥።။")
#: Longest piece that is kept, and how many of them.
_LONGEST, _MOST = 32, 100_000


class _Piece(NamedTuple):
    """A piece of text without spaces, cut."""

    tokens: tuple[Bounds, ...]  # counted from the first character of the piece
    breaks: tuple[int, ...]  # tokens that begin a sentence inside
    end: int  # see below
    lead: int


# How a piece ends: nothing ends; a stop; the number of an item or a day (1.); a day and
# a month (24.12.); what may stand before a number (No.); an abbreviation that may end a
# sentence; an initial; a small letter (z. B.); an abbreviation and closing marks.
_OPEN, _STOP, _ITEM, _DATE, _BEFORE, _MAY, _INITIAL, _LETTER, _CLOSED = range(9)
# How a piece begins: inside a sentence; as one may begin; with a word that often begins
# one; with a number; with a month; as a closing mark alone.
_INSIDE, _CAN, _OFTEN, _DIGIT, _MONTH, _CLOSER = range(6)
#: Before a month: a day; before a new sentence: a unit, no abbreviation.
_DAY = re.compile(r"(?<![\d.,])\d\d?\.\s*$")
_UNIT = re.compile(r"\d\s?[mglhst]\.\s*$")
#: Abbreviations of two letters that end no sentence, whatever follows.
_NEVER = re.compile(r"\b(?:z\.\s?B|d\.\s?h|e\.\s?g|i\.\s?e|p\.\s?e[xjs])\.\s*$")
_DAY_AND_MONTH = re.compile(r"\d\d?\.\d\d?")
_ROMAN = re.compile(r"[IVX]{2,}")
#: Characters that these look back over.
_BACK = 12


def cut_text(text: str) -> Cut:
    r"""Cut a text into tokens and sentences.

    A blank line ends a sentence; the end of a line does not.

    Examples
    --------
    >>> text = "Dr. Ann's cat isn't here. She left."
    >>> offsets, sentences = cut_text(text)
    >>> [text[a:b] for a, b in offsets]
    ['Dr.', 'Ann', "'s", 'cat', 'is', "n't", 'here', '.', 'She', 'left', '.']
    >>> sentences
    (0, 8, 11)
    """
    kept, offsets, starts = _kept, list[Bounds](), [0]
    lines = iter([match.end() for match in _BLANK_LINE.finditer(text)])
    line = next(lines, len(text))  # where the next paragraph begins
    ending = _OPEN
    for match in _CHUNK.finditer(text):
        at, word = match.start(), match.group()
        tokens, breaks, end, lead = kept.get(word) or _look_up(word)
        if at >= line:
            _end_sentence(starts, offsets, ending)
            while line <= at:
                line = next(lines, len(text) + 1)
        elif end == _ITEM and text[at - 1] in "\n\r" and not _counts(text, offsets):
            _end_sentence(starts, offsets, ending)
        elif ending:
            if _STOP < ending < _MAY:
                joined = _is_joined(text, offsets, starts[-1], ending, lead)
                if joined:
                    _join(offsets)
                ending = _OPEN if joined else _STOP
            elif ending == _LETTER and word.lower() in SECOND:
                tokens, end = ((0, len(word)),), _MAY
            if lead == _CLOSER:
                end = _CLOSED if ending >= _MAY else ending
            elif lead and _ends(text, at, ending, lead):
                _end_sentence(starts, offsets, ending)
        if len(tokens) == 1:
            offsets.append((at, at + tokens[0][1]))
        else:
            if breaks:
                starts += [len(offsets) + k for k in breaks]
            offsets += [(at + a, at + b) for a, b in tokens]
        ending = end
    _end_sentence(starts, offsets, ending)
    return Cut(tuple(offsets), tuple(starts))


def _ends(text: str, at: int, ending: int, lead: int) -> bool:
    """Whether a sentence ends before a piece, which begins as one may begin."""
    back = max(at - _BACK, 0)
    if ending == _STOP:
        return lead != _MONTH or not _DAY.search(text, back, at)
    if ending >= _MAY and lead == _OFTEN:
        return not _NEVER.search(text, back, at)
    return ending == _LETTER and _UNIT.search(text, back, at) is not None


def _is_joined(
    text: str, offsets: list[Bounds], start: int, ending: int, lead: int
) -> bool:
    """Whether the stop after a number, or before one, belongs to the word before it."""
    if ending == _BEFORE:
        return lead == _DIGIT
    if ending == _ITEM and (lead == _MONTH or len(offsets) == start + 2):
        return True
    return lead != _OFTEN and _counts(text, offsets[-3:-2])


def _counts(text: str, offsets: list[Bounds]) -> bool:
    """Whether the last word is one that stands before ordinals."""
    return bool(offsets) and text[slice(*offsets[-1])].lower() in ORDINAL


def _end_sentence(starts: list[int], offsets: list[Bounds], ending: int) -> None:
    """End a sentence, if it has a token; a stop that ends it is a token of its own."""
    if starts[-1] == len(offsets):
        return
    if ending in (_MAY, _INITIAL, _LETTER):
        first, last = offsets[-1]
        offsets[-1:] = [(first, last - 1), (last - 1, last)]
    starts.append(len(offsets))


def _join(offsets: list[Bounds]) -> None:
    """Make one token of the last two, a word and its full stop."""
    (first, _), (_, last) = offsets[-2:]
    offsets[-2:] = [(first, last)]


_kept: dict[str, _Piece] = {}


def _look_up(word: str) -> _Piece:
    """Cut a piece that is not kept yet."""
    tokens = tuple(_tokens(word))
    words = [word[a:b] for a, b in tokens]
    breaks = [
        k
        for k in range(1, len(words))
        if words[k][0] not in _CLOSING
        and words[k][0] not in _STOPS
        and _ends_inside(words, k)
    ]
    piece = _Piece(tokens, tuple(breaks), _end_of(words), _lead_of(words))
    if len(word) <= _LONGEST:
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[word] = piece
    return piece


def _ends_inside(words: list[str], k: int) -> bool:
    """Whether a sentence ends before a word though no space stands there."""
    last = words[k - 1]
    if last in _FULL:
        return True
    inner = last in (".", "!", "?") and k > 1 and words[k][0].isupper()
    return inner and words[k - 2][-1].islower()


def _end_of(words: list[str]) -> int:
    """How a piece ends."""
    last = next((w for w in reversed(words) if w[0] not in _CLOSING), "")
    if last and _STOPS.issuperset(last):
        *before, word, stop = ["", *words]
        if stop != "." or any(w not in _OPENING for w in before):
            return _STOP
        if word.isdecimal() and len(word) < 4:
            return _ITEM
        if _DAY_AND_MONTH.fullmatch(word):
            return _DATE
        return _BEFORE if word.lower() in NUMBERED else _STOP
    if last[-1:] != "." or last[:-1].lower() in INNER:
        return _OPEN
    if last is not words[-1]:
        return _CLOSED
    if len(last) > 2:
        return _MAY
    return _INITIAL if last[0].isupper() else _LETTER


def _lead_of(words: list[str]) -> int:
    """How a piece begins."""
    first = next((w for w in words if w[0] not in _OPENING), '"')
    if first in STARTERS:
        return _OFTEN
    if first[0].isdigit() or first[0] == "§" or _ROMAN.fullmatch(first):
        return _DIGIT
    if first.rstrip(".") in MONTHS:
        return _MONTH
    if all(w in _CLOSING and w not in _OPENING for w in words):
        return _CLOSER
    inner = first[0].islower() or (first is words[0] and first[0] in ",;:.!?…)]}%")
    return _INSIDE if inner else _CAN


def _tokens(word: str) -> Iterable[Bounds]:
    """Tokens of a piece of text without spaces."""
    pattern = _ascii_pattern() if word.isascii() else _pattern()
    at, size = 0, len(word)
    while at < size:
        match = pattern.match(word, at)
        assert match is not None  # the last alternative takes anything
        first, at = at, match.end()
        if match.lastgroup == "word":
            found = match.group()
            if word[at : at + 1] == "." and _takes_stop(found, word[at + 1 : at + 2]):
                at += 1
            elif "'" in found or "’" in found:
                clitic = _CLITIC.search(found)
                if clitic is not None:
                    yield first, first + clitic.start()
                    first += clitic.start()
        yield first, at


def _takes_stop(word: str, after: str) -> bool:
    """Whether the full stop after a word belongs to it; `after` stands behind it."""
    if after.isalnum() or after == ".":
        return False
    small = word.lower()
    if len(word) == 1:
        return word.isalpha() and (word.isupper() or word.islower())
    known = small in INNER or small in ENDING or word in AS_WRITTEN
    return known or (small.endswith("str") and len(word) > 3)  # a street in German


@cache
def _ascii_pattern() -> re.Pattern[str]:
    return _compile(r"\w", "")


@cache
def _pattern() -> re.Pattern[str]:
    """As `_ascii_pattern`, with combining marks, joiners and other scripts."""
    marks = _marks()
    return _compile(rf"(?:(?![{_ALONE}])[\w\u00ad\u200c\u200d{marks}])", marks)


def _marks() -> str:
    """All combining marks, as ranges of a character class."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x1F000), *range(0xE0100, min(0xE01F0, sys.maxunicode))):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


def _compile(w: str, marks: str) -> re.Pattern[str]:
    """Make the pattern of tokens; `w` is a character of a word."""
    after = rf"[{marks}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*" if marks else ""
    alone = rf"|[{_ALONE}]{after}" if marks else ""
    joined = rf"(?:\u200d\S{after})*" if marks else ""
    flags = (
        rf"|[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3{alone}" if marks else ""
    )
    return re.compile(
        rf"""
        (?:https?://|ftp://|www\.)[^\s<>"]*[^\s<>"'.,;:!?)\]}}…”’»。，]
        |[A-Za-z0-9_.+-]{{1,64}}@\w[\w-]*(?:\.\w[\w-]*)+
        {flags}
        |(?:(?:[^\W\d_]|[A-Z][a-z]|Chr)\.){{2,}}(?:[^\W\d_](?!{w}))?(?:-{w}+)*
        |[A-Z]{{1,3}}\$|[A-Za-z](?:\+\+|\#)(?!{w})
        |[@\#](?=[^\W\d_]){w}+
        |(?P<word>
            (?:(?<![\w)])(?:[+-](?=\.?\d)|(?=\.\d)))?
            (?:(?<!\w)\.(?=\d)|(?<!\w)['’](?=\d\d(?:s|\b)))?
            {w}+
            (?:(?:[-‐‑'’&/·](?={w})|(?<=\d)[.,:](?=\d)|(?<=[^\W_A-Z])\.(?=[a-z])){w}+)*
        )
        |(?<!\s)['’](?i:s|re|ve|ll|m|d)(?!{w})
        |\.{{2,}}|-{{2,}}|[!?]{{2,}}|``|''|={{2,}}|\*{{2,}}
        |\S{after}{joined}
        """,
        re.VERBOSE,
    )
