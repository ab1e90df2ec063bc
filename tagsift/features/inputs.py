"""What users give as X, checked and stacked: columns, feature dicts or arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from tagsift.data import Corpus, Sentence, locate, offsets_of, place_of
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray
from tagsift.visible import short

__all__ = ["Kind", "StackedTokens", "read_sentences", "stack_tokens", "words_of"]

#: What the tokens of a sentence are; "empty" where no sentence has a token.
Kind: TypeAlias = Literal["columns", "dict", "array", "empty"]

_NAMES = {
    "str": "strings",
    "row": "tuples of columns",
    "dict": "feature dicts",
    "array": "an array",
}
_REMEDY = (
    "give every sentence as a list of strings, of tuples of strings, of feature dicts, "
    "or as an array [T, D]"
)


@dataclass(frozen=True)
class StackedTokens:
    """The tokens of all sentences, one after the other."""

    kind: Kind  # which of the next three is filled
    offsets: IntArray  # where sentences begin
    columns: tuple[list[str], ...] = ()  # the first columns, N entries each
    dicts: Sequence[Mapping[str, Any]] = ()  # N feature dicts
    array: FloatArray | None = None  # ready features, [N, D]
    width: int = 1  # how many columns the tokens have, kept or not


def read_sentences(X: Any) -> list[Any]:
    """Check that `X` is a list of sentences and return it as a list."""
    if isinstance(X, Corpus):
        return X.rows
    if isinstance(X, str | bytes) or not isinstance(X, Sequence | np.ndarray):
        raise InputError(
            f"expected a list of sentences, found {type(X).__name__}; {_REMEDY}."
        )
    for s, sentence in enumerate(X):
        unordered = isinstance(sentence, str | bytes | set | frozenset | Mapping)
        bare = isinstance(sentence, np.ndarray) and sentence.ndim == 0
        if unordered or bare or not hasattr(sentence, "__len__"):
            kind = "an array without axes" if bare else type(sentence).__name__
            raise InputError(
                f"sentence {s}: expected a list of tokens, found {kind} "
                f"({short(sentence, 40)}); {_REMEDY}."
            )
    return [_words(sentence) for sentence in X]


def _words(sentence: Any) -> Any:
    """The rows of a sentence of a corpus, the words of spaCy; all else as it is."""
    if isinstance(sentence, Sentence):
        return sentence.rows
    if type(sentence).__module__.startswith("spacy.tokens"):
        return [token.text for token in sentence]
    return sentence


def stack_tokens(X: Sequence[Any], n_columns: int = 2) -> StackedTokens:
    """Check the sentences, all of one kind, and lay their tokens end to end.

    Of tuples that are longer, the first `n_columns` columns are kept.
    """
    sentences = [
        sentence if isinstance(sentence, list | tuple | np.ndarray) else list(sentence)
        for sentence in read_sentences(list(X) if isinstance(X, Iterator) else X)
    ]
    offsets = offsets_of(map(len, sentences))  # [S+1]
    filled = {s: _shape_of(s, found) for s, found in enumerate(sentences) if len(found)}
    if not filled:
        return StackedTokens("empty", offsets)
    first, (form, width) = next(iter(filled.items()))
    for s, (found, size) in filled.items():
        if found != form:
            raise InputError(
                f"sentence {s} holds {_NAMES[found]} where sentence {first} holds "
                f"{_NAMES[form]}; {_REMEDY}, all of one kind."
            )
        if size != width:
            what = "features" if form == "array" else "columns"
            raise InputError(
                f"sentence {s} has {size} {what} a token where sentence {first} has "
                f"{width}; every token needs the same number."
            )
    if form == "array":
        array = np.concatenate([sentences[s] for s in filled])  # [N, D]
        return StackedTokens("array", offsets, array=_finite(array, offsets))
    tokens = [token for sentence in sentences for token in sentence]
    if form == "dict":
        return StackedTokens("dict", offsets, dicts=tokens)
    if form == "str":
        return StackedTokens("columns", offsets, (tokens,))
    columns = tuple([row[k] for row in tokens] for k in range(min(width, n_columns)))
    for k, column in enumerate(columns):
        if not all(issubclass(kind, str) for kind in set(map(type, column))):
            n = next(n for n, entry in enumerate(column) if not isinstance(entry, str))
            s, t = locate(n, offsets)
            raise InputError(
                f"{_where(s, t, sentences[s])}: column {k} is of type "
                f"{type(column[n]).__name__}, expected a string; give features that "
                "are numbers as arrays [T, D] or as feature dicts."
            )
    return StackedTokens("columns", offsets, columns, width=width)


def words_of(tokens: StackedTokens) -> list[list[str]]:
    """Words of every sentence, for an encoder, which can use nothing else."""
    if tokens.kind not in ("columns", "empty"):
        raise InputError(
            "an encoder needs the words: give sentences of strings or of tuples whose "
            "first column is the word."
        )
    words = tokens.columns[0] if tokens.columns else []
    return [words[first:last] for first, last in pairwise(tokens.offsets.tolist())]


def _shape_of(s: int, sentence: Any) -> tuple[str, int]:
    """Kind of the tokens of one sentence and their number of columns."""
    if isinstance(sentence, np.ndarray) and sentence.dtype.kind in "fiub":
        if sentence.ndim != 2:
            raise InputError(
                f"sentence {s}: expected an array with the two axes [T, D], found "
                f"{sentence.ndim} (shape {sentence.shape})."
            )
        return "array", sentence.shape[1]
    form, first = _form_of_type(type(sentence[0])), type(sentence[0]).__name__
    if form is None:
        raise InputError(
            f"{_where(s, 0, sentence)}: cannot use a token of type {first}; {_REMEDY}."
        )
    odd = {kind for kind in set(map(type, sentence)) if _form_of_type(kind) != form}
    if odd:
        t = next(t for t, token in enumerate(sentence) if type(token) in odd)
        raise InputError(
            f"{_where(s, t, sentence)}: found {type(sentence[t]).__name__} after "
            f"{first}; {_REMEDY}, all of one kind."
        )
    if form != "row":
        return form, 1
    width = len(sentence[0])
    if set(map(len, sentence)) != {width}:
        t = next(t for t, token in enumerate(sentence) if len(token) != width)
        raise InputError(
            f"{_where(s, t, sentence)}: {len(sentence[t])} columns where the sentence "
            f"began with {width}; every token needs the same number of columns."
        )
    if width == 0:
        raise InputError(
            f"{_where(s, 0, sentence)}: a token without columns; the first column is "
            "the word."
        )
    return "row", width


def _form_of_type(kind: type) -> str | None:
    forms = {"str": str, "dict": Mapping, "row": tuple | list | np.ndarray}
    return next((form for form, of in forms.items() if issubclass(kind, of)), None)


def _finite(array: Any, offsets: IntArray) -> FloatArray:
    finite = np.isfinite(array)  # [N, D]
    if not finite.all():
        n, d = np.argwhere(~finite)[0]
        raise InputError(
            f"{place_of(n, offsets)}: feature {d} is {array[n, d]}; every feature must "
            "be a finite number."
        )
    return np.asarray(array, dtype=np.float64)  # [N, D]


def _where(s: int, t: int, sentence: Any) -> str:
    return f"sentence {s}, token {t} ({short(sentence[t], 40)})"
