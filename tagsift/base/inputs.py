"""Check what users hand to an estimator, and turn candidate sets into masks.

This is the one place where messages about bad Python input are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tagsift.data import offsets_of, place_of
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray, Label
from tagsift.visible import short

__all__ = [
    "leaves_open",
    "read_candidates",
    "read_evidence",
    "read_gold",
    "read_sample_weight",
    "resolve_labels",
]


def resolve_labels(labels: Iterable[Label] | None) -> tuple[Label, ...] | None:
    if labels is None:
        return None
    if not _is_list(labels):
        raise InputError(f"labels must be a list, in order; got {short(labels)}.")
    names = tuple(labels)
    if not names:
        raise InputError("labels is empty; give at least one label, or None.")
    for name in names:
        if not _is_label(name):
            raise InputError(f"labels must be strings or integers; got {short(name)}.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"labels must be distinct; {twice!r} stands there twice.")
    return tuple(_plain(name) for name in names)


def read_candidates(
    y: Any, lengths: IntArray, labels: tuple[Label, ...] | None = None
) -> tuple[BoolArray, tuple[Label, ...]]:
    """Turn labels, sets of labels, masks or weights [T, L] into one mask, [N, L].

    Without `labels` the classes are the sorted union of what occurs; None stands for
    an unlabelled token.
    """
    if isinstance(y, (str, bytes, dict)) or not isinstance(y, (Sequence, np.ndarray)):
        raise InputError(
            "y must be a list of sentences of labels, of sets of labels, of boolean "
            f"masks or of weights; got {type(y).__name__}."
        )
    if len(y) != len(lengths):
        raise InputError(
            f"X has {len(lengths)} sentences and y has {len(y)}; they must be as many."
        )
    for s, (sentence, length) in enumerate(zip(y, lengths, strict=True)):
        if not _is_list(sentence):
            raise InputError(
                f"sentence {s} of y must be a list of labels, of sets, or a mask; got "
                f"{short(sentence)}."
            )
        if len(sentence) != length:
            raise InputError(
                f"sentence {s}: X has {length} tokens and y has {len(sentence)} "
                "entries; every token needs one."
            )
    if any(_is_mask(sentence) for sentence in y):
        return _from_masks(y, labels)
    return _from_sets(y, lengths, labels)


def read_evidence(y: Any, mask: BoolArray) -> FloatArray | None:
    """Log evidence of weighted labels; None where all candidates are alike."""
    pieces = [sentence for sentence in y if _is_mask(sentence) and len(sentence)]
    if all(piece.dtype.kind in "bui" and piece.max() <= 1 for piece in pieces):
        return None
    weights = np.concatenate(pieces).astype(np.float64)  # [N, L]
    weights /= weights.max(axis=1, keepdims=True)
    if (weights[mask] == 1.0).all():
        return None
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))  # [N, L]


def read_sample_weight(sample_weight: Any, n_sequences: int) -> FloatArray | None:
    """Check one number a sentence; None where every sentence counts alike."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.shape != (n_sequences,):
        raise InputError(
            f"sample_weight must hold one number for each of the {n_sequences} "
            f"sentences; got an array of shape {weights.shape}."
        )
    if not _are_weights(weights):
        raise InputError("sample_weight must hold finite numbers, none below 0.")
    if not weights.any():
        raise InputError("sample_weight is 0 for every sentence; nothing counts.")
    return weights.astype(np.float64)  # [S]


def read_gold(y: Any) -> list[list[Label]]:
    """Read labels to score with: one label per token, or sets of one label."""
    if not _is_list(y):
        raise InputError(
            f"y must be a list of sentences of gold labels; got {type(y).__name__}."
        )
    gold: list[list[Label]] = []
    for s, sentence in enumerate(y):
        if not _is_list(sentence):
            raise InputError(
                f"sentence {s} of y must be a list of gold labels; got "
                f"{short(sentence)}."
            )
        gold.append([])
        for t, entry in enumerate(sentence):
            if isinstance(entry, (set, frozenset)) and len(entry) == 1:
                (entry,) = entry
            if not _is_label(entry):
                raise InputError(
                    f"sentence {s}, token {t}: expected one gold label to score with, "
                    f"got {short(entry)}; candidate sets are scored by tagsift.Scorer."
                )
            gold[-1].append(_plain(entry))
    return gold


def leaves_open(y: Any) -> bool:
    """Whether the label of some token is left open: a set of several, weights, None."""
    return _is_list(y) and any(
        getattr(sentence, "ndim", 1) == 2
        or any(
            entry is None or (isinstance(entry, (set, frozenset)) and len(entry) > 1)
            for entry in (sentence if _is_list(sentence) else ())
        )
        for sentence in y
    )


def _is_list(value: Any) -> bool:
    """Whether `value` is no text, has a length, and its items have an order."""
    if isinstance(value, (str, bytes, set, frozenset, Mapping)):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return hasattr(value, "__len__") and hasattr(value, "__iter__")


def _is_label(value: Any) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def _plain(name: Any) -> Label:
    """Strip NumPy scalar types."""
    return str(name) if isinstance(name, str) else int(name)


def _is_mask(sentence: Any) -> bool:
    return isinstance(sentence, np.ndarray) and sentence.ndim == 2


def _are_weights(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind not in "buif":
        return False
    return bool(np.isfinite(array).all() and (array >= 0).all())


def _from_masks(
    y: Any, labels: tuple[Label, ...] | None
) -> tuple[BoolArray, tuple[Label, ...]]:
    """Stack boolean masks, or the masks of positive weights, [T, L]."""
    if labels is None:
        labels = tuple(range(next(mask.shape[1] for mask in y if _is_mask(mask))))
    pieces = [np.zeros((0, len(labels)), dtype=bool)]
    for s, sentence in enumerate(y):
        if len(sentence) == 0:
            continue
        if not isinstance(sentence, np.ndarray):
            raise InputError(
                f"sentence {s} of y is a {type(sentence).__name__} where others are "
                "masks; give every sentence as a mask [T, L]."
            )
        if sentence.ndim != 2 or sentence.shape[1] != len(labels):
            raise InputError(
                f"sentence {s} of y: expected a mask of {len(labels)} columns, got an "
                f"array of shape {sentence.shape}."
            )
        if not _are_weights(sentence):
            raise InputError(
                f"sentence {s} of y: a mask holds only 0/1 or booleans, and weights of "
                f"labels are finite and not negative; got {sentence.dtype} with other "
                "values."
            )
        pieces.append(sentence.astype(bool))  # [T, L]
        empty = np.flatnonzero(~pieces[-1].any(axis=1))
        if len(empty):
            raise _empty_set(f"sentence {s}, token {empty[0]}")
    return np.concatenate(pieces), labels


def _from_sets(
    y: Any, lengths: IntArray, labels: tuple[Label, ...] | None
) -> tuple[BoolArray, tuple[Label, ...]]:
    flat = [entry for sentence in y for entry in sentence]
    offsets = offsets_of(lengths)  # [S + 1]
    known: dict[Any, int] = {}  # entry → number of its set, where it can be looked up
    numbers: dict[frozenset[Label], int] = {}
    which = np.empty(len(flat), dtype=np.int64)  # [N]
    for n, entry in enumerate(flat):
        try:
            key = frozenset(entry) if type(entry) in (set, list, tuple) else entry
            number = known.get(key)
        except TypeError:  # what cannot be hashed is no label: `_as_set` will say so
            number, key = None, None
        if number is None:
            number = numbers.setdefault(_as_set(entry, n, offsets), len(numbers))
            if isinstance(key, (str, frozenset)):
                known[key] = number
        which[n] = number
    union: frozenset[Label] = frozenset().union(*numbers)
    if not union and numbers and labels is None:
        raise InputError("y holds no label at all; give labels= or some labels.")
    if labels is None and len(set(map(type, union))) > 1:
        raise InputError(
            "labels mix strings and integers; use one kind: "
            f"{short(sorted(map(repr, union)))}."
        )
    classes = labels if labels is not None else tuple(sorted(union))
    position = {name: k for k, name in enumerate(classes)}
    if not union <= position.keys():
        bad = [not entry <= position.keys() for entry in numbers]
        n = int(np.flatnonzero(np.array(bad)[which])[0])
        name = sorted(map(repr, list(numbers)[which[n]] - position.keys()))[0]
        raise InputError(
            f"{place_of(n, offsets)}: label {name} is not in labels="
            f"{short(list(classes))}; add it there or mend the data."
        )
    rows = np.zeros((len(numbers), len(classes)), dtype=bool)  # distinct sets by L
    for entry, number in numbers.items():
        rows[number, [position[name] for name in entry or classes]] = True
    return rows[which], classes  # [N, L]


def _as_set(entry: Any, n: int, offsets: IntArray) -> frozenset[Label]:
    """Read one token's labels; nothing where it is unlabelled."""
    if entry is None:
        return frozenset()
    if _is_label(entry):
        return frozenset([_plain(entry)])
    if not isinstance(entry, (set, frozenset, list, tuple)):
        raise InputError(
            f"{place_of(n, offsets)}: expected a label or a set of labels, got "
            f"{short(entry)}; give None for an unlabelled token."
        )
    if not entry:
        raise _empty_set(place_of(n, offsets))
    for name in entry:
        if not _is_label(name):
            raise InputError(
                f"{place_of(n, offsets)}: a candidate must be a str or an int; got "
                f"{short(name)}."
            )
    return frozenset(_plain(name) for name in entry)


def _empty_set(where: str) -> InputError:
    return InputError(
        f"{where}: the candidate set is empty. Every token needs at least one label; "
        "give the full label set for an unlabelled token."
    )
