"""One corpus: text, annotators, votes, candidates and truth as columns of one object.

Everything is stacked over the tokens of all sentences and checked once, when a corpus
is made. What one annotator or one candidate cell says of a token is a *code*: label k
of the label set where it is less than L, the set of labels `sets[code - L]` where one
could not decide. Votes are stored as they were cast, so that memory and time grow with
their number and not with tokens times annotators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, Self, overload

import numpy as np

from tagsift.data._from_lists import exact_codes, scheme_seen, stacked
from tagsift.data.agreement import Agreement, agreement
from tagsift.data.annotators import NO_VOTES, Annotator, Vote, Votes
from tagsift.data.counting import Majority, majority, union
from tagsift.data.documents import Document
from tagsift.data.label_set import LabelSet
from tagsift.data.rows import Row
from tagsift.data.schemes import check_scheme
from tagsift.data.stacking import split_at
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Annotator", "Corpus", "Sentence", "Vote", "Votes", "register_tables"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a corpus."""

    corpus: Corpus
    number: int

    @property
    def rows(self) -> list[Row]:
        """The tokens with their columns; the first one is the word."""
        return self.corpus.rows[self.number]

    @property
    def tokens(self) -> list[str]:
        """The words."""
        return self.corpus.tokens[self.number]

    @property
    def candidates(self) -> list[frozenset[str]] | None:
        """A set of labels per token, where the corpus has candidates."""
        sets = self.corpus.candidates
        return None if sets is None else sets[self.number]

    @property
    def labels(self) -> list[str]:
        """The labels of a corpus whose candidates are all exact."""
        return self.corpus.labels[self.number]

    @property
    def gold(self) -> list[str] | None:
        """The truth, where it is known."""
        return None if self.corpus.gold is None else self.corpus.gold[self.number]

    @property
    def votes(self) -> dict[str, list[Vote | None]]:
        """What each annotator of the sentence said, one entry per token, by name."""
        first, last = self.corpus.bounds[self.number : self.number + 2]
        return self.corpus._said_between(int(first), int(last))

    def __len__(self) -> int:
        return int(np.diff(self.corpus.bounds)[self.number])

    def __repr__(self) -> str:
        words = " ".join(self.tokens)
        return f"Sentence({words if len(words) < 60 else words[:59] + '…'!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Sentences, and what anybody says of the labels of their tokens.

    Made by `tagsift.read` from files and tables, by `Corpus.from_lists` from lists.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     [["Rates", "fell"], ["Ann"]],
    ...     votes={"bo": [["O", "O"], ["B-PER"]], "ed": [None, ["O"]]},
    ... )
    >>> corpus
    Corpus(2 sentences, 3 tokens, 2 annotators, 4 votes, 2 labels, scheme='iob2')
    >>> corpus[1].votes
    {'bo': ['B-PER'], 'ed': ['O']}
    """

    columns: tuple[tuple[str, ...], ...]  # the words, then further columns; N each
    bounds: IntArray  # [S + 1]  where each sentence begins
    label_set: LabelSet
    scheme: str  # of the labels: iob1, iob2, iobes or plain
    annotators: tuple[Annotator, ...] = ()
    votes: Votes = NO_VOTES
    sets: tuple[frozenset[str], ...] = ()  # those that codes from L on stand for
    candidate_codes: IntArray | None = None  # [N]
    weights: FloatArray | None = None  # [N, L]  soft labels, up to a factor a token
    exact_codes: IntArray | None = None  # [N]  labels known exactly; −1 elsewhere
    truth: tuple[str, ...] | None = None  # N; for scoring only
    sources: tuple[Document, ...] | None = field(default=None)  # as they were read

    def __post_init__(self) -> None:
        self._check()
        for name, column in self._arrays():
            array = np.ascontiguousarray(column)
            if array is column and array.flags.writeable:
                array = array.copy()
            array.flags.writeable = False
            if name in Votes._fields:
                self._set(votes=self.votes._replace(**{name: array}))
            else:
                self._set(**{name: array})
        self._number_sets()

    # Making -------------------------------------------------------------------------

    @classmethod
    def from_lists(
        cls,
        rows: Sequence[Sequence[str | Row]],
        labels: Sequence[Sequence[Any]] | None = None,
        *,
        votes: Any = None,
        annotators: Sequence[str | Annotator] | None = None,
        gold: Sequence[Sequence[str]] | None = None,
        exact: Sequence[Sequence[str | None]] | None = None,
        label_set: LabelSet | Iterable[str] | None = None,
        scheme: str = "auto",
    ) -> Corpus:
        """Make a corpus of lists.

        Parameters
        ----------
        rows : list of sentences
            Of words, or of tuples of columns, the word first.
        labels : list of sentences, optional
            What is to be learnt from: per token a label, a set of labels, or None for
            any label.
        votes : dict of lists, or list of sentences, optional
            By the name of the annotator, their labels of every sentence (None for a
            sentence or a token that they did not label); or per token one entry an
            annotator, in the order of `annotators`.
        annotators : sequence of str or Annotator, optional
            Who they are, where `votes` is no dict or more than names are known.
        gold, exact : lists of sentences of labels, optional
            The truth, for scoring only; labels that are known, None elsewhere.
        label_set : sequence of str, optional
            All labels; by default those of candidates, votes and exact labels, sorted.
        scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        """
        made = cls(
            **stacked(rows, labels, votes, annotators, gold, exact, label_set, scheme)
        )
        return made if scheme != "auto" else made.with_scheme(scheme_seen(made))

    # Text ---------------------------------------------------------------------------

    @cached_property
    def rows(self) -> list[list[Row]]:
        """Per sentence, the tokens with their columns."""
        return split_at(list(zip(*self.columns, strict=True)), self.bounds)

    @cached_property
    def tokens(self) -> list[list[str]]:
        """Per sentence, the words."""
        return split_at(list(self.columns[0]), self.bounds)

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sentences, N."""
        return len(self.columns[0])

    @cached_property
    def lengths(self) -> IntArray:
        """Tokens of every sentence, [S]."""
        return np.diff(self.bounds)

    @cached_property
    def document_ids(self) -> list[str] | None:
        """The id of the document of every sentence; None for columns, without ids."""
        if self.sources is None:
            return None
        return [one.id for one in self.sources for _ in one.bounds()]

    # Labels -------------------------------------------------------------------------

    @cached_property
    def members(self) -> BoolArray:
        """The labels that every code stands for, [V, L]; those below L, themselves."""
        members = np.eye(len(self.label_set), dtype=bool)  # [L, L]
        if not self.sets:
            return members
        sets = [self.label_set.mask([names])[0] for names in self.sets]
        return np.concatenate([members, sets])

    @cached_property
    def meanings(self) -> list[Vote]:
        """What every code says: a label, or a set of labels."""
        return [*self.label_set.names, *self.sets]

    @cached_property
    def candidates(self) -> list[list[frozenset[str]]] | None:
        """Per sentence, a set of labels for every token, where there are candidates."""
        if self.candidate_codes is None:
            return None
        sets = [*(frozenset([name]) for name in self.label_set), *self.sets]
        return self._by_sentence([sets[code] for code in self.candidate_codes.tolist()])

    @cached_property
    def labels(self) -> list[list[str]]:
        """Per sentence, the labels of a corpus whose candidates are all exact."""
        codes = self.candidate_codes
        if codes is None or (codes >= len(self.label_set)).any():
            what = "candidates" if codes is not None else "no labels but votes or none"
            raise InputError(
                f"expected one label per token, found {what}; see .candidates, .votes "
                "and .majority()."
            )
        names = self.label_set.names
        return self._by_sentence([names[code] for code in codes.tolist()])

    @cached_property
    def gold(self) -> list[list[str]] | None:
        """Per sentence, the truth, for scoring only."""
        return None if self.truth is None else self._by_sentence(list(self.truth))

    @cached_property
    def exact(self) -> list[list[str | None]] | None:
        """Per sentence, the labels that are known exactly, None elsewhere."""
        if self.exact_codes is None:
            return None
        names = (*self.label_set.names, None)  # the last stands at −1
        return self._by_sentence([names[code] for code in self.exact_codes.tolist()])

    @cached_property
    def n_ambiguous(self) -> int:
        """Number of tokens with more than one candidate."""
        if self.candidate_codes is None:
            return 0
        return int((self.candidate_codes >= len(self.label_set)).sum())

    # Votes --------------------------------------------------------------------------

    @cached_property
    def abstains(self) -> BoolArray:
        """Whether the ``O`` of an annotator says nothing, [A]."""
        return np.array([one.abstains for one in self.annotators], dtype=bool)

    @cached_property
    def outside(self) -> int:
        """The code of the label ``O``; −1 where there is none."""
        return self.label_set.index("O") if "O" in self.label_set else -1

    @cached_property
    def speaks(self) -> BoolArray:
        """Whether a vote says something: all but the ``O`` of who abstains, [K]."""
        _, annotator, code = self.votes
        silent = self.abstains[annotator] & (code == self.outside)  # [K]
        return np.asarray(~silent)

    @cached_property
    def previous(self) -> IntArray:
        """The vote of the same annotator on the token before; −1 if none is, [K]."""
        token, annotator, _ = self.votes
        order = np.lexsort((token, annotator))  # [K]
        t, a = token[order], annotator[order]  # [K], [K]
        starts = np.zeros(self.n_tokens + 1, dtype=bool)  # [N + 1]
        starts[self.bounds] = True
        follows = (a[1:] == a[:-1]) & (t[1:] == t[:-1] + 1) & ~starts[t[1:]]  # [K-1]
        previous = np.full(len(token), -1, dtype=np.int64)  # [K]
        previous[order[1:][follows]] = order[:-1][follows]
        return previous

    def tally(self, n: int) -> dict[str, int]:
        """Votes on stacked token `n`, the commonest first; a set of labels is one."""
        first, last = np.searchsorted(self.votes.token, [n, n + 1])
        counts = Counter(self.votes.code[first:last].tolist())
        said = [(_written(self.meanings[code]), k) for code, k in counts.items()]
        return dict(sorted(said, key=_by_count))

    def tally_text(self, n: int) -> str:
        """The tally of a token as it is shown: ``B-LOC:2 O:1``; a dash for none."""
        return " ".join(f"{k}:{times}" for k, times in self.tally(n).items()) or "-"

    def union(self, min_votes: int = 1) -> Corpus:
        """The votes as candidate sets: labels that `min_votes` annotators gave.

        Where no label got so many, those with the most votes are candidates; a token
        that nobody labelled gets the full label set.
        """
        codes, sets = union(self, min_votes)
        return replace(
            self, votes=NO_VOTES, sets=sets, candidate_codes=codes, sources=None
        )

    def as_votes(self) -> Corpus:
        """Labels that are all exact as the votes of one annotator, who may err."""
        _ = self.labels  # refuses candidate sets
        if len(self.annotators) > 1:
            raise InputError(
                f"expected the labels of one annotator, found {len(self.annotators)}."
            )
        every = np.arange(self.n_tokens)  # [N]
        return replace(
            self,
            annotators=self.annotators or (Annotator("labels"),),
            votes=Votes.of(every, np.zeros_like(every), self.candidate_codes),
            candidate_codes=None,
        )

    def majority(self, by: Literal["span", "token"] = "span") -> Majority:
        """What most annotators say; see `tagsift.data.counting.majority`."""
        return majority(self, by)

    def agreement(self) -> Agreement:
        """How far annotators agree; see `tagsift.data.agreement`."""
        return agreement(self)

    def documents(self) -> Iterator[Document]:
        """The documents that it was made of, or one a sentence, to be written."""
        from tagsift.data.exchange import documents_of  # which stands on corpora

        return documents_of(self)

    def to(
        self,
        kind: Literal["pandas", "arrow", "datasets"],
        *,
        rows: Literal["documents", "sentences", "tokens", "spans"] = "documents",
        layer: str | None = None,
        soft: bool = False,
    ) -> Any:
        """Turn into a data frame, an Arrow table or a data set of Hugging Face.

        Parameters
        ----------
        kind : {"pandas", "arrow", "datasets"}
        rows : {"documents", "sentences", "tokens", "spans"}
            What a row is: a document, with the columns id, text, tokens, offsets,
            sentences, spans, tags, layers and more, in which nothing is lost; of data
            frames, a token (id, sentence, token, word, start, end, and a column a
            layer) or a span (id, start, end, text, label, score, annotator, kind); of
            data sets, a sentence to train with (id, tokens, ner_tags).
        layer : str, optional
            The one annotator whose labels are wanted; ``"gold"`` is the truth.
        soft : bool
            Whether there is one more column, of soft labels: a share of every label for
            every token, in the order of the label set.
        """
        if not _TABLES:
            import_module("tagsift.io")  # which registers how they are made
        return _TABLES[0](self, kind, rows, layer, soft)

    # Views --------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: int) -> Sentence: ...
    @overload
    def __getitem__(self, key: slice) -> Corpus: ...
    def __getitem__(self, key: int | slice) -> Sentence | Corpus:
        if isinstance(key, slice):
            return self.take(range(*key.indices(len(self))))
        return Sentence(self, range(len(self))[key])

    def __iter__(self) -> Iterator[Sentence]:
        return (Sentence(self, number) for number in range(len(self)))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def take(self, index: Iterable[int]) -> Self:
        """The sentences of these numbers, in this order; one may come twice."""
        chosen = np.fromiter(index, dtype=np.int64)  # [S']
        if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(self):
            raise InputError(
                f"expected numbers of the {len(self)} sentences, counted from 0, found "
                f"{int(chosen.min() if chosen.min() < 0 else chosen.max())}."
            )
        rows, bounds = _ranges(self.bounds, chosen)  # [N'], [S' + 1]
        cast = np.searchsorted(self.votes.token, self.bounds)  # [S + 1]
        which, ends = _ranges(cast, chosen)  # [K'], [S' + 1]
        shift = np.repeat(bounds[:-1] - self.bounds[chosen], np.diff(ends))  # [K']
        token, annotator, code = (column[which] for column in self.votes)
        pick = rows.tolist()
        codes, exact, soft = self.candidate_codes, self.exact_codes, self.weights
        return replace(
            self,
            columns=tuple(tuple(map(c.__getitem__, pick)) for c in self.columns),
            bounds=bounds,
            votes=Votes(token + shift, annotator, code),
            candidate_codes=None if codes is None else codes[rows],
            weights=None if soft is None else soft[rows],
            exact_codes=None if exact is None else exact[rows],
            truth=None if self.truth is None else tuple(self.truth[n] for n in pick),
            sources=self._whole_sources(chosen),
        )

    def with_labels(self, names: Iterable[str]) -> Self:
        """The same corpus over another label set, which has all labels that are used.

        A candidate set that held all labels holds all of the new ones.
        """
        label_set = LabelSet(tuple(names))
        if label_set == self.label_set:
            return self
        size, sets, full = len(self.label_set), self.sets, self.label_set.full
        exact, candidates = self.exact_codes, self.candidate_codes
        weights = self.weights  # [N, L]
        heavy = None if weights is None else np.flatnonzero(weights.any(axis=0))
        every = (self.votes.code, candidates, exact, heavy)
        codes = [code for code in every if code is not None]
        for code in np.unique(np.concatenate(codes)).tolist():
            if 0 <= code < size:
                label_set.index(self.label_set.names[code])  # or say what is missing
        places = [label_set.names.index(k) if k in label_set else -1 for k in full]
        old = dict(zip(full, places, strict=True))
        new = np.array([old[name] for name in self.label_set])  # [L]
        new = np.append(new, len(label_set) + np.arange(len(sets) + 1))  # [V + 1]
        if candidates is not None:
            whole = size + sets.index(full) if full in sets else -1
            candidates = np.where(candidates == whole, new[-1], new[candidates])
            sets = (*sets, label_set.full)
        if weights is not None:
            of_old = weights  # [N, L]
            weights = np.zeros((self.n_tokens, len(label_set)))  # [N, L']
            weights[:, new[heavy]] = of_old[:, heavy]
        return replace(
            self,
            label_set=label_set,
            sets=sets,
            votes=self.votes._replace(code=new[self.votes.code]),
            candidate_codes=candidates,
            weights=weights,
            exact_codes=None if exact is None else np.where(exact < 0, -1, new[exact]),
        )

    def with_votes(self, keep: BoolArray) -> Self:
        """The same corpus with some of its votes, [K]."""
        return replace(self, votes=Votes(*(column[keep] for column in self.votes)))

    def with_exact(self, labels: Sequence[Sequence[str | None]]) -> Corpus:
        """The same corpus with labels known exactly, None where they are not."""
        names = {k for row in labels for k in row if k is not None}
        new = sorted(names - self.label_set.full)
        wider = self.with_labels(sorted((*self.label_set, *new))) if new else self
        return replace(wider, exact_codes=exact_codes(wider, labels))

    def with_columns(self, k: int) -> Self:
        """The same corpus with only the first `k` columns of the text."""
        if not 1 <= k <= len(self.columns):
            raise InputError(
                f"expected a number of columns between 1 and {len(self.columns)}, "
                f"found {k}."
            )
        return replace(self, columns=self.columns[:k])

    def with_scheme(self, scheme: str) -> Self:
        """The same corpus, its labels read by another scheme."""
        return replace(self, scheme=scheme)

    def select(self, *, annotators: Iterable[str]) -> Self:
        """The same sentences with the votes of some annotators."""
        if isinstance(annotators, str):
            raise InputError(
                "expected a list of names of annotators, found a text; give "
                f"[{annotators!r}]."
            )
        place = {one.name: a for a, one in enumerate(self.annotators)}
        names = list(annotators)
        for name in names:
            if name not in place:
                raise InputError(
                    f"expected names of annotators, found {name!r}; they are "
                    f"{', '.join(place)}."
                )
        chosen = sorted({place[name] for name in names})
        number = np.full(len(place), -1, dtype=np.int64)  # [A]
        number[chosen] = np.arange(len(chosen))
        heard = number[self.votes.annotator] >= 0  # [K]
        token, annotator, code = (column[heard] for column in self.votes)
        return replace(
            self,
            annotators=tuple(self.annotators[a] for a in chosen),
            votes=Votes(token, number[annotator], code),
            sources=_heard(self.sources, set(place) - set(names)),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        same = all(
            getattr(self, name) == getattr(other, name)
            for name in (
                "columns",
                "label_set",
                "scheme",
                "annotators",
                "sets",
                "truth",
            )
        )
        arrays = zip(self._arrays(), other._arrays(), strict=False)
        return (
            same
            and [k for k, _ in self._arrays()] == [k for k, _ in other._arrays()]
            and all(np.array_equal(a, b) for (_, a), (_, b) in arrays)
        )

    __hash__ = None  # type: ignore[assignment]  # as of all that hold arrays

    def __repr__(self) -> str:
        parts = [f"{len(self)} sentences", f"{self.n_tokens} tokens"]
        if self.annotators:
            parts += [f"{len(self.annotators)} annotators"]
        if len(self.votes.token):
            parts += [f"{len(self.votes.token)} votes"]
        if self.candidate_codes is not None:
            parts += [f"{self.n_ambiguous} of them ambiguous"]
        parts += [f"{len(self.label_set)} labels", f"scheme={self.scheme!r}"]
        return f"Corpus({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from tagsift.data.corpus_html import fragment  # which stands on corpora

        return fragment(self)

    # How it works -------------------------------------------------------------------

    def _by_sentence(self, stacked: list[Any]) -> list[Any]:
        return split_at(stacked, self.bounds)

    def _said_between(self, first: int, last: int) -> dict[str, list[Vote | None]]:
        """What each annotator said of some stacked tokens, by name."""
        low, high = np.searchsorted(self.votes.token, [first, last])
        said: dict[str, list[Vote | None]] = {}
        heard = np.unique(self.votes.annotator[low:high])
        for a in heard.tolist():
            said[self.annotators[a].name] = [None] * (last - first)
        for token, a, code in zip(
            *(c[low:high].tolist() for c in self.votes), strict=True
        ):
            said[self.annotators[a].name][token - first] = self.meanings[code]
        return said

    def _arrays(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """The columns that are arrays, by name; those that are there."""
        yield "bounds", self.bounds
        yield from zip(Votes._fields, self.votes, strict=True)
        for name in ("candidate_codes", "weights", "exact_codes"):
            if getattr(self, name) is not None:
                yield name, getattr(self, name)

    def _set(self, **parts: Any) -> None:
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def _whole_sources(self, chosen: IntArray) -> tuple[Document, ...] | None:
        """The documents of some sentences, where these are all of theirs, in order."""
        if self.sources is None:
            return None
        sizes = [len(one.bounds()) for one in self.sources]
        ends = np.cumsum([0, *sizes])  # [D + 1]
        document = np.searchsorted(ends, chosen, side="right") - 1  # [S']
        kept: list[Document] = []
        at = 0
        while at < len(chosen):
            d = int(document[at])
            size = sizes[d]
            if chosen[at : at + size].tolist() != list(range(ends[d], ends[d] + size)):
                return None
            kept.append(self.sources[d])
            at += size
        return tuple(kept)

    def _number_sets(self) -> None:
        """Number the sets that are used in the order of their labels, and no others."""
        size = len(self.label_set)
        codes = [self.votes.code]
        codes += [] if self.candidate_codes is None else [self.candidate_codes]
        used = np.unique(np.concatenate([c[c >= size] for c in codes]))  # [U]
        keys = [sorted(map(self.label_set.index, self.sets[k - size])) for k in used]
        order = sorted(range(len(used)), key=keys.__getitem__)
        if [int(used[k]) for k in order] == list(range(size, size + len(self.sets))):
            return
        new = np.arange(size + len(self.sets))  # [V]
        new[used[order]] = size + np.arange(len(order))
        sets = tuple(self.sets[int(used[k]) - size] for k in order)
        self._set(sets=sets, votes=self.votes._replace(code=new[self.votes.code]))
        if self.candidate_codes is not None:
            self._set(candidate_codes=new[self.candidate_codes])

    def _check(self) -> None:
        """Refuse what is no corpus."""
        check_scheme(self.scheme)
        n, size, n_codes = self.n_tokens, len(self.label_set), 0
        n_codes = size + len(self.sets)
        widths = {len(column) for column in self.columns}
        if len(widths) != 1:
            raise InputError(
                f"expected columns of {n} tokens each, found {sorted(widths)}."
            )
        bounds = self.bounds
        if bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) < 0).any():
            raise InputError(
                f"expected bounds of sentences from 0 to {n}, in order, found others."
            )
        names = [one.name for one in self.annotators]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(
                f"expected annotators with different names, found {twice!r} twice."
            )
        full = self.label_set.full
        for names_of_set in self.sets:
            if len(names_of_set) < 2 or not names_of_set <= full:
                raise InputError(
                    "expected sets of two labels or more from the label set, found "
                    f"{sorted(names_of_set)}."
                )
        token, annotator, _ = self.votes
        key = token * max(len(names), 1) + annotator  # [K]
        if (np.diff(key) <= 0).any():
            raise InputError(
                "expected votes by token, then annotator, one each, found others."
            )
        _check_range("tokens of votes", token, 0, n)
        _check_range("annotators of votes", annotator, 0, len(names))
        _check_range("codes of votes", self.votes.code, 0, n_codes)
        for what, column, least, most in (
            ("candidates", self.candidate_codes, 0, n_codes),
            ("exact labels", self.exact_codes, -1, size),
        ):
            if column is not None:
                _check_length(what, column, n)
                _check_range(what, column, least, most)
        if self.truth is not None:
            _check_length("gold labels", self.truth, n)
        if self.weights is not None:
            _check_length("weights", self.weights, n)
            good = np.isfinite(self.weights) & (self.weights >= 0)  # [N, L]
            if self.weights.shape[1:] != (size,) or not (
                good.all() and self.weights.any(axis=1).all()
            ):
                raise InputError(
                    f"expected weights of {size} labels a token, finite, not negative "
                    "and one of them above 0, found others."
                )


#: Makes tables of corpora.
_TABLES: list[Callable[[Corpus, str, str, str | None, bool], Any]] = []


def register_tables(
    make: Callable[[Corpus, str, str, str | None, bool], Any],
) -> None:
    """Say how tables of corpora are made, so that imports go downwards."""
    _TABLES[:] = [make]


def _check_length(what: str, column: Any, n: int) -> None:
    if len(column) != n:
        raise InputError(f"expected {what} for {n} tokens, found {len(column)}.")


def _check_range(what: str, column: IntArray, least: int, most: int) -> None:
    if len(column) and not (least <= column.min() and column.max() < most):
        raise InputError(
            f"expected {what} from {least} to {most - 1}, found "
            f"{int(column.min())} to {int(column.max())}."
        )


def _ranges(bounds: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Places between the bounds of the chosen parts, and their bounds."""
    sizes = np.diff(bounds)[chosen]  # [S']
    ends = np.concatenate([[0], np.cumsum(sizes)])  # [S' + 1]
    first = np.repeat(bounds[chosen] - ends[:-1], sizes)  # [N']
    return first + np.arange(ends[-1]), ends


def _heard(
    sources: tuple[Document, ...] | None, silent: set[str]
) -> tuple[Document, ...] | None:
    """The documents without the layers of some annotators."""
    if sources is None:
        return None
    return tuple(
        replace(one, layers=tuple(k for k in one.layers if k.annotator not in silent))
        for one in sources
    )


def _written(vote: Vote) -> str:
    return vote if isinstance(vote, str) else "|".join(sorted(vote))


def _by_count(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]
