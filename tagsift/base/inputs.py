"""Check what users hand to an estimator, and turn candidate sets into masks.

This is the one place where messages about bad Python input are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tagsift.errors import InputError
from tagsift.typing import BoolArray, IntArray, Label

__all__ = ["read_candidates", "read_sentences", "resolve_labels"]


def read_sentences(X: Any) -> list[Any]:
    """Check that `X` is a list of sentences and return it as a list.

    Parameters
    ----------
    X : sequence of sentences
        Each a sequence of tokens, of column tuples, of feature dicts, or an array.
    """
    if isinstance(X, (str, bytes, dict)) or not isinstance(X, (Sequence, np.ndarray)):
        raise InputError(
            "X must be a list of sentences (each a list of tokens, of column tuples, "
            f"of feature dicts, or an array [T, D]); got {type(X).__name__}."
        )
    for s, sentence in enumerate(X):
        if isinstance(sentence, (str, bytes)):
            raise InputError(
                f"sentence {s} of X is one string ({_short(sentence)}); give a list of "
                "its tokens."
            )
        if not hasattr(sentence, "__len__"):
            raise InputError(
                f"sentence {s} of X must be a list of tokens; got "
                f"{type(sentence).__name__}."
            )
    return list(X)


def resolve_labels(labels: Iterable[Label] | None) -> tuple[Label, ...] | None:
    """Check the `labels` setting of an estimator."""
    if labels is None:
        return None
    if isinstance(labels, str):
        raise InputError(
            f"labels must be a list of labels; got the string {labels!r}."
        )
    names = tuple(labels)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"labels must be distinct; {twice!r} stands there twice.")
    if not names:
        raise InputError("labels is empty; give at least one label, or None.")
    return names


def read_candidates(
    y: Any,
    lengths: IntArray,
    labels: tuple[Label, ...] | None = None,
) -> tuple[BoolArray, tuple[Label, ...]]:
    """Turn labels, sets of labels or masks into one candidate mask.

    Parameters
    ----------
    y : sequence of sentences
        Each a list of labels, of sets of labels, or a boolean mask [T, L].
    lengths : ndarray of shape (n_sequences,)
        Number of tokens of every sentence of X.
    labels : tuple, optional
        The label set in order; by default the sorted union of what occurs.

    Returns
    -------
    mask : ndarray of bool, shape (n_tokens, n_labels)
        The candidate sets of the stacked tokens.
    classes : tuple
        The labels, in column order.
    """
    if isinstance(y, (str, bytes, dict)) or not isinstance(y, (Sequence, np.ndarray)):
        raise InputError(
            "y must be a list of sentences of labels, of sets of labels, or of boolean "
            f"masks; got {type(y).__name__}."
        )
    if len(y) != len(lengths):
        raise InputError(
            f"X has {len(lengths)} sentences and y has {len(y)}; they must be as many."
        )
    for s, (sentence, length) in enumerate(zip(y, lengths, strict=True)):
        if isinstance(sentence, (str, bytes)) or not hasattr(sentence, "__len__"):
            raise InputError(
                f"sentence {s} of y must be a list of labels, of sets, or a mask; got "
                f"{_short(sentence)}."
            )
        if len(sentence) != length:
            raise InputError(
                f"sentence {s}: X has {length} tokens and y has {len(sentence)} "
                "entries; every token needs one."
            )
    if any(_is_mask(sentence) for sentence in y):
        return _from_masks(y, labels)
    return _from_sets(y, lengths, labels)


def _is_mask(sentence: Any) -> bool:
    return isinstance(sentence, np.ndarray) and sentence.ndim == 2


def _from_masks(
    y: Any, labels: tuple[Label, ...] | None
) -> tuple[BoolArray, tuple[Label, ...]]:
    """Stack boolean masks [T, L]."""
    width = (
        len(labels)
        if labels is not None
        else next(sentence.shape[1] for sentence in y if _is_mask(sentence))
    )
    pieces = []
    for s, sentence in enumerate(y):
        array = np.asarray(sentence)
        if array.size == 0:
            continue
        if array.ndim != 2 or array.shape[1] != width:
            raise InputError(
                f"sentence {s} of y: expected a mask of {width} columns, got an array "
                f"of shape {array.shape}."
            )
        if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
            raise InputError(
                f"sentence {s} of y: a mask holds only 0/1 or booleans; got "
                f"{array.dtype} with other values."
            )
        empty = np.flatnonzero(~array.astype(bool).any(axis=1))
        if len(empty):
            raise InputError(_empty_sentence(s, int(empty[0])))
        pieces.append(array.astype(bool))  # [T, L]
    mask = (
        np.concatenate(pieces) if pieces else np.zeros((0, width), dtype=bool)
    )  # [N, L]
    return mask, labels if labels is not None else tuple(range(width))


def _from_sets(
    y: Any, lengths: IntArray, labels: tuple[Label, ...] | None
) -> tuple[BoolArray, tuple[Label, ...]]:
    """Index labels and sets of labels."""
    flat = [entry for sentence in y for entry in sentence]
    known: dict[Any, frozenset[Label]] = {}
    sets: list[frozenset[Label]] = []
    for n, entry in enumerate(flat):
        try:
            found = known.get(entry)
        except TypeError:  # a set or list: not hashable
            found = None
        if found is None:
            found = _as_set(entry, n, lengths)
            if isinstance(entry, (str, frozenset, tuple)):
                known[entry] = found
        sets.append(found)
    distinct = set(sets)
    union = frozenset().union(*distinct) if distinct else frozenset()
    classes = labels if labels is not None else _sorted_union(union)
    position = {name: k for k, name in enumerate(classes)}
    if not union <= position.keys():
        n = next(k for k, entry in enumerate(sets) if not entry <= position.keys())
        name = sorted(map(str, sets[n] - position.keys()))[0]
        raise InputError(
            f"{_where(n, lengths)}: label {name!r} is not in labels="
            f"{_short(list(classes))}; add it there or mend the data."
        )
    rows = {}
    for entry in distinct:
        row = np.zeros(len(classes), dtype=bool)  # [L]
        row[[position[name] for name in entry]] = True
        rows[entry] = row
    mask = (
        np.stack([rows[entry] for entry in sets])
        if sets
        else np.zeros((0, len(classes)), dtype=bool)
    )  # [N, L]
    return mask, classes


def _as_set(entry: Any, n: int, lengths: IntArray) -> frozenset[Label]:
    """Read one token's labels."""
    if isinstance(entry, (str, int, np.integer, np.str_)) and not isinstance(
        entry, (bool, np.bool_)
    ):
        return frozenset([_plain(entry)])
    if isinstance(entry, (set, frozenset, list, tuple)):
        if not entry:
            s, t = _locate(n, lengths)
            raise InputError(_empty_sentence(s, t))
        for name in entry:
            if not isinstance(name, (str, int, np.integer)) or isinstance(name, bool):
                raise InputError(
                    f"{_where(n, lengths)}: a candidate must be a str or an int; got "
                    f"{_short(name)}."
                )
        return frozenset(_plain(name) for name in entry)
    raise InputError(
        f"{_where(n, lengths)}: expected a label or a set of labels, got "
        f"{_short(entry)}; give the full label set for an unlabelled token."
    )


def _plain(name: Any) -> Label:
    """Strip NumPy scalar types."""
    return str(name) if isinstance(name, str) else int(name)


def _sorted_union(union: frozenset[Label]) -> tuple[Label, ...]:
    kinds = {isinstance(name, str) for name in union}
    if len(kinds) > 1:
        raise InputError(
            "labels mix strings and integers; use one kind: "
            f"{_short(sorted(map(repr, union)))}."
        )
    return tuple(sorted(union))  # type: ignore[type-var]


def _empty_sentence(s: int, t: int) -> str:
    return (
        f"sentence {s}, token {t}: the candidate set is empty. Every token needs at "
        "least one label; give the full label set for an unlabelled token."
    )


def _locate(n: int, lengths: IntArray) -> tuple[int, int]:
    """Sentence and position of stacked token `n`."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])  # [S + 1]
    s = int(np.searchsorted(offsets, n, side="right")) - 1
    return s, int(n - offsets[s])


def _where(n: int, lengths: IntArray) -> str:
    s, t = _locate(n, lengths)
    return f"sentence {s}, token {t}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
