"""Ways to cut text: our rules, at spaces, a function of the user, a spaCy pipeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeAlias, cast

from tagsift.data.cuts import Bounds, Cut, Tokenizer, with_starts
from tagsift.data.tokenizing import cut_text
from tagsift.errors import InputError

__all__ = ["Splitter", "as_tokenizer", "cut_spaces", "tokenizer_name"]

#: From a text to the first character of every sentence and the one after its last.
Splitter: TypeAlias = Callable[[str], Iterable[Bounds]]
_WORDS = re.compile(r"\S+")
_LINES = re.compile(r"[^\r\n]*\S[^\r\n]*")
#: Ways to find sentences that do not look at the words.
_SPLITTERS: dict[str, Splitter] = {
    "lines": lambda text: [line.span() for line in _LINES.finditer(text)],
    "none": lambda text: [(0, len(text))],
}


def as_tokenizer(given: Any = None, sentences: Any = "auto") -> Tokenizer:
    r"""Make one function of what says how text shall be cut.

    Parameters
    ----------
    given : None, {"words", "spaces"}, callable or spaCy pipeline
        None and ``"words"`` are the rules of `cut_text`; ``"spaces"`` is for text that
        is cut already, a sentence a line. A function takes a text and returns a `Cut`,
        or the (start, end) of every token. Of a pipeline the tokens are taken and,
        where it finds them, the sentences.
    sentences : {"auto", "lines", "none"} or callable
        A sentence a line, the whole text as one, or a function that takes a text and
        returns the (start, end) of every sentence; by default they are found by what
        cuts the tokens, or by the rules.

    Examples
    --------
    >>> as_tokenizer("spaces")("New York\nis n't")
    Cut(offsets=((0, 3), (4, 8), (9, 11), (12, 15)), sentences=(0, 2, 4))
    """
    if given is None or given == "words":
        cut: Callable[[str], Any] = cut_text
    elif given == "spaces":
        cut = cut_spaces
    elif hasattr(given, "make_doc") and callable(given):
        cut = _by_spacy(given)
    elif callable(given):
        cut = given
    else:
        raise InputError(
            "expected a tokenizer to be 'words', 'spaces', a function of a text or a "
            f"spaCy pipeline, found {given!r}."
        )
    split = _as_splitter(sentences)
    ours = cut in (cut_text, cut_spaces)
    if ours and split is None:
        return cut

    def tokenizer(text: str) -> Cut:
        found = cut(text)
        offsets = found.offsets if isinstance(found, Cut) else found
        offsets = offsets if ours else _checked(offsets, text)
        if split is None and isinstance(found, Cut):
            return Cut(offsets, _checked_sentences(found.sentences, len(offsets)))
        if split is None:
            by_rules = cut_text(text)
            starts = [by_rules.offsets[k][0] for k in by_rules.sentences[1:-1]]
        else:
            starts = _starts(split(text))
        return with_starts(offsets, starts)

    return tokenizer


def _as_splitter(given: Any) -> Splitter | None:
    """What finds sentences; None for what cuts the tokens, or the rules."""
    if given is None or given == "auto":
        return None
    if isinstance(given, str) and given in _SPLITTERS:
        return _SPLITTERS[given]
    if callable(given):
        return cast(Splitter, given)
    raise InputError(
        "expected sentences to be 'auto', 'lines', 'none' or a function of a text, "
        f"found {given!r}."
    )


def cut_spaces(text: str) -> Cut:
    """Cut at white space; every line with something in it is a sentence."""
    offsets = tuple(match.span() for match in _WORDS.finditer(text))
    return with_starts(offsets, [line.start() for line in _LINES.finditer(text)])


def tokenizer_name(given: Any) -> str:
    """Name what cuts text, or finds sentences, for a model file: it holds no code."""
    if given is None or isinstance(given, str):
        return given or "words"
    if hasattr(given, "make_doc"):
        meta = given.meta
        return f"spacy:{meta.get('lang')}_{meta.get('name')}-{meta.get('version')}"
    name = getattr(given, "__qualname__", type(given).__qualname__)
    return f"function:{getattr(given, '__module__', '')}.{name}"


def _by_spacy(nlp: Any) -> Callable[[str], Any]:
    def cut(text: str) -> Any:
        doc = nlp(text)
        words = [token for token in doc if not token.is_space]
        offsets = tuple((token.idx, token.idx + len(token)) for token in words)
        if not doc.has_annotation("SENT_START"):
            return offsets
        return with_starts(offsets, [sentence.start_char for sentence in doc.sents])

    return cut


def _starts(sentences: Iterable[Any]) -> list[int]:
    """First characters of sentences that a function found."""
    found = list(sentences)
    for one in found:
        bounds = isinstance(one, tuple | list) and len(one) == 2
        if not bounds or not all(isinstance(at, int) for at in one):
            raise InputError(
                "expected the function of sentences to return the (start, end) of "
                f"every sentence, found {str(one)[:60]!r}."
            )
    return [start for start, _ in found]


def _checked(offsets: Iterable[Any], text: str) -> tuple[Bounds, ...]:
    """Refuse tokens that are empty, out of order or outside the text."""
    found = tuple(tuple(bounds) for bounds in offsets)
    last = 0
    for bounds in found:
        whole = len(bounds) == 2 and all(isinstance(at, int) for at in bounds)
        if not whole or not last <= bounds[0] < bounds[1] <= len(text):
            raise InputError(
                "expected the tokenizer to return the (start, end) of every token, in "
                f"order and within the {len(text)} characters of the text, found "
                f"{bounds!r} after {last}."
            )
        last = bounds[1]
    return found


def _checked_sentences(sentences: Iterable[int], size: int) -> tuple[int, ...]:
    found = tuple(sentences)
    ends = (found[:1], found[-1:]) == ((0,), (size,))
    if not ends or any(a >= b for a, b in pairwise(found)):
        raise InputError(
            "expected the tokenizer to return the first token of every sentence and "
            f"the number of tokens, {size}, found {list(found)[:20]!r}."
        )
    return found
