"""Lists of sentences become the columns of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tagsift.data.annotators import Annotator, Vote, Votes
from tagsift.data.label_set import LabelSet, as_label_set
from tagsift.data.rows import Row, as_rows, check_lengths
from tagsift.data.schemes import scheme_of_pairs
from tagsift.data.stacking import offsets_of, place_of
from tagsift.errors import DataError, InputError
from tagsift.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from tagsift.data.corpus import Corpus

__all__ = [
    "ANY_LABEL",
    "Codes",
    "exact_codes",
    "mask_codes",
    "scheme_seen",
    "stacked",
    "stacked_columns",
]

#: Code of a candidate cell that says nothing, until all labels are known.
ANY_LABEL = -1


class Codes:
    """Numbers for labels and sets of labels in the order in which they are met."""

    def __init__(self, check: Callable[[str], str] = str) -> None:
        self._check = check
        self._codes: dict[Vote | None, int] = {None: ANY_LABEL}
        self.met: list[Vote] = []

    def __getitem__(self, vote: Any) -> int:
        try:
            return self._codes[vote]
        except KeyError:
            return self._new(vote)
        except TypeError:  # a list or a set, which cannot be looked up
            return self[frozenset(vote)]

    def column(self, votes: Sequence[Any]) -> IntArray:
        """The codes of many votes."""
        try:
            codes = list(map(self._codes.__getitem__, votes))
        except (KeyError, TypeError):
            codes = [self[vote] for vote in votes]
        return np.array(codes, dtype=np.int64)

    def _new(self, vote: Any) -> int:
        if isinstance(vote, frozenset | tuple):
            names = frozenset(vote)
            if not names or not all(isinstance(name, str) for name in names):
                raise InputError(
                    "expected a label (str), a set of labels or None, found "
                    f"{sorted(map(str, names)) if names else 'an empty set'}."
                )
            for name in names:
                self._check(name)
            (entry, *rest) = names
            said: Vote = names if rest else entry
        elif isinstance(vote, str):
            said = self._check(vote)
        else:
            raise InputError(
                f"expected a label (str), a set of labels or None, found {vote!r}."
            )
        if said not in self._codes:
            self._codes[said] = len(self.met)
            self.met.append(said)
        self._codes[vote] = self._codes[said]
        return self._codes[said]

    @property
    def labels(self) -> set[str]:
        """All labels met so far, those of sets among them."""
        sets = ({vote} if isinstance(vote, str) else vote for vote in self.met)
        return set(chain.from_iterable(sets))

    def translated(
        self, label_set: LabelSet
    ) -> tuple[IntArray, tuple[frozenset[str], ...]]:
        """Codes in a label set of what was met, the full set last, and the sets."""
        sets: list[frozenset[str]] = []
        new = []
        for vote in self.met:
            if isinstance(vote, str):
                new.append(label_set.index(vote))
            else:
                new.append(len(label_set) + len(sets))
                sets.append(vote)
        if len(label_set) == 1:
            new.append(0)
        elif label_set.full in sets:
            new.append(len(label_set) + sets.index(label_set.full))
        else:
            new.append(len(label_set) + len(sets))
            sets.append(label_set.full)
        return np.array(new, dtype=np.int64), tuple(sets)


def stacked(
    rows: Sequence[Sequence[str | Row]],
    labels: Sequence[Sequence[Any]] | None,
    votes: Any,
    annotators: Sequence[str | Annotator] | None,
    gold: Sequence[Sequence[str]] | None,
    exact: Sequence[Sequence[str | None]] | None,
    label_set: LabelSet | Iterable[str] | None,
    scheme: str,
) -> dict[str, Any]:
    """The columns of a corpus; see `Corpus.from_lists`."""
    text = [as_rows(sentence) for sentence in rows]
    check_lengths(text, labels, "labels")
    check_lengths(text, gold, "gold labels")
    check_lengths(text, exact, "exact labels")
    bounds = offsets_of(map(len, text))
    codes = Codes()
    candidates = known = None
    if labels is not None:
        candidates = _encoded(chain.from_iterable(labels), codes, bounds)
    people, cast = _cast(votes, annotators, codes, text, bounds)
    if exact is not None:
        known = _encoded(chain.from_iterable(exact), codes, bounds)
    names = as_label_set(label_set)
    if names is None:
        if not codes.labels:
            raise InputError(
                "expected labels among candidates, votes or exact labels, found none; "
                "give label_set= with the whole label set."
            )
        names = LabelSet(tuple(sorted(codes.labels)))
    truth = None if gold is None else tuple(map(str, chain.from_iterable(gold)))
    new, sets = codes.translated(names)
    return dict(
        columns=stacked_columns(list(chain.from_iterable(text))),
        bounds=bounds,
        label_set=names,
        scheme="plain" if scheme == "auto" else scheme,
        annotators=people,
        votes=cast._replace(code=new[cast.code]),
        sets=sets,
        candidate_codes=None if candidates is None else new[candidates],
        exact_codes=None if known is None else np.where(known < 0, -1, new[known]),
        truth=truth,
    )


def stacked_columns(flat: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """The columns of stacked rows, all of one width."""
    widths = {len(row) for row in flat}
    if len(widths) > 1:
        raise InputError(
            f"expected tokens of as many columns throughout, found {min(widths)} and "
            f"{max(widths)}."
        )
    return tuple(zip(*flat, strict=True)) if flat else ((),)


def _encoded(entries: Iterable[Any], codes: Codes, bounds: IntArray) -> IntArray:
    """Codes of stacked entries, [N]; an error says where."""
    found = np.full(int(bounds[-1]), ANY_LABEL, dtype=np.int64)  # [N]
    for n, entry in enumerate(entries):
        try:
            found[n] = codes[entry]
        except (InputError, DataError) as error:
            raise InputError(f"{place_of(n, bounds)}: {error}") from None
    return found


def _cast(
    votes: Any,
    annotators: Sequence[str | Annotator] | None,
    codes: Codes,
    text: Sequence[Sequence[Row]],
    bounds: IntArray,
) -> tuple[tuple[Annotator, ...], Votes]:
    """Annotators, and the votes that they cast."""
    people = [
        one if isinstance(one, Annotator) else Annotator(one)
        for one in annotators or (votes if isinstance(votes, Mapping) else ())
    ]
    said: list[tuple[int, int, int]] = []
    if isinstance(votes, Mapping):
        place = {one.name: a for a, one in enumerate(people)}
        for name, sentences in votes.items():
            if name not in place:
                raise InputError(
                    f"expected votes of {', '.join(place)}, found votes of {name!r}."
                )
            blank = [(None,) * len(row) for row in text]
            given = [
                empty if row is None else row
                for row, empty in zip(sentences, blank, strict=True)
            ]
            check_lengths(text, given, f"votes of {name}")
            column = _encoded(chain.from_iterable(given), codes, bounds)  # [N]
            heard = np.flatnonzero(column >= 0).tolist()
            said += [(n, place[name], int(column[n])) for n in heard]
    elif votes is not None:
        check_lengths(text, votes, "votes")
        for n, entry in enumerate(chain.from_iterable(votes)):
            if len(entry) != len(people):
                raise InputError(
                    f"{place_of(n, bounds)}: expected one entry for each of the "
                    f"{len(people)} annotators, found {len(entry)}."
                )
            for a, vote in enumerate(entry):
                if vote is not None:
                    said.append((n, a, codes[vote]))
    columns = np.array(said, dtype=np.int64).reshape(-1, 3).T  # [3, K]
    return tuple(people), Votes.of(*columns)


def scheme_seen(corpus: Corpus) -> str:
    """The scheme of the labels: of the truth, of the votes, or of exact sentences."""
    names = corpus.label_set.names
    if corpus.truth is not None:
        flat = np.array(corpus.truth, dtype=object)  # [N]
        kinds, codes = np.unique(flat, return_inverse=True)
        return scheme_of_pairs(
            _pairs(codes, _before(codes, corpus.bounds), list(kinds)), list(kinds)
        )
    if len(corpus.votes.code):
        code = corpus.votes.code  # [K]
        before = np.where(corpus.previous < 0, -1, code[corpus.previous])  # [K]
        starts = np.isin(corpus.votes.token, corpus.bounds)  # [K]
        after_gap = (before < 0) & ~starts  # [K]: what stands before is not known
        keep = (code < len(names)) & (before < len(names)) & ~after_gap  # [K]
        return scheme_of_pairs(_pairs(code[keep], before[keep], names), names)
    if corpus.candidate_codes is None:
        return scheme_of_pairs({}, names)
    code = corpus.candidate_codes  # [N]
    open_ = np.concatenate([[0], np.cumsum(code >= len(names))])  # [N + 1]
    exact = np.diff(open_[corpus.bounds]) == 0  # [S]
    keep = np.repeat(exact, corpus.lengths)  # [N]
    before = _before(code, corpus.bounds)  # [N]
    return scheme_of_pairs(_pairs(code[keep], before[keep], names), names)


def _before(codes: IntArray, bounds: IntArray) -> IntArray:
    """The code of the token before, −1 where a sentence begins, [N]."""
    before = np.concatenate([[-1], codes[:-1]])[: len(codes)]  # [N]
    before[bounds[:-1][np.diff(bounds) > 0]] = -1
    return np.asarray(before)


def _pairs(
    codes: IntArray, before: IntArray, names: Sequence[str]
) -> dict[tuple[str | None, str], int]:
    """How often a label follows another; None: it begins a sentence."""
    pairs, times = np.unique(
        np.column_stack([before, codes]), axis=0, return_counts=True
    )
    known = [*names, None]  # the last stands at −1
    return {
        (known[a], str(known[b])): int(n)
        for (a, b), n in zip(pairs.tolist(), times.tolist(), strict=True)
    }


def mask_codes(
    mask: BoolArray, label_set: LabelSet
) -> tuple[IntArray, tuple[frozenset[str], ...]]:
    """Codes of masks of labels, [N, L] to [N], and the sets that they stand for."""
    rows, which = np.unique(mask, axis=0, return_inverse=True)  # [P, L], [N]
    several = np.flatnonzero(rows.sum(axis=1) > 1)
    codes = rows.argmax(axis=1)  # [P]
    codes[several] = len(label_set) + np.arange(len(several))
    names = np.array(label_set.names, dtype=object)  # [L]
    sets = tuple(frozenset(names[rows[k]].tolist()) for k in several)
    return codes[which.ravel()], sets


def exact_codes(corpus: Corpus, labels: Sequence[Sequence[str | None]]) -> IntArray:
    """Codes of labels that are known exactly, −1 where they are not, [N]."""
    check_lengths(corpus.rows, labels, "exact labels")
    flat = chain.from_iterable(labels)
    codes = [-1 if name is None else corpus.label_set.index(name) for name in flat]
    return np.array(codes, dtype=np.int64)
