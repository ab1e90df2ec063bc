"""What is looked at: sentences, the documents they stand in, and what was said."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tagsift.annotators import VoteTable, span_types, vote_table
from tagsift.annotators.from_votes import labels_of
from tagsift.data.corpus import Corpus
from tagsift.io import Documents
from tagsift.typing import BoolArray, IntArray

__all__ = ["Material", "Place"]


class Place(NamedTuple):
    """Where a sentence stands."""

    document: str  # its id
    first: bool  # whether the document begins with it
    last: bool  # whether it ends with it
    spaces: tuple[bool, ...] | None  # whether one follows each token; None: always


@dataclass(frozen=True, eq=False)
class Material:
    """A corpus of votes or of candidates, and the documents it comes from."""

    corpus: Corpus
    documents: Documents | None = None  # None for a column file
    title: str = ""
    known: tuple[str, ...] = ()  # labels that a fitted model has

    @property
    def words(self) -> list[list[str]]:
        """Per sentence, the tokens."""
        return self.corpus.tokens

    @property
    def scheme(self) -> str:
        """How the labels are written."""
        return self.corpus.scheme

    @property
    def has_votes(self) -> bool:
        """Whether annotators have voted."""
        return len(self.corpus.votes.token) > 0

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of every sentence."""
        return [int(length) for length in self.corpus.lengths]

    @cached_property
    def offsets(self) -> IntArray:
        """Where sentences begin among the stacked tokens, [S + 1]."""
        return self.corpus.bounds

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """All labels that there can be: those given, and what a decision may need."""
        given = tuple(self.corpus.label_set)
        if self.has_votes:
            given = tuple(str(name) for name in labels_of(self.corpus))
        given = (*given, *self.known)
        prefixes = {"plain": "", "iobes": "BIES"}.get(self.scheme, "BI")
        names = {"O": None} if prefixes else {}
        for kind in span_types(given, self.scheme):
            if kind != "O":
                names |= {f"{p}-{kind}" if kind else p: None for p in prefixes}
        return tuple(dict.fromkeys((*given, *names)))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Types of spans (of plain tags: the tags), the most frequent first."""
        corpus = self.table.corpus
        codes = corpus.candidate_codes  # [N]
        times = np.bincount(
            self.table.code if codes is None else codes, minlength=len(corpus.members)
        )  # [V]
        counts = (times @ corpus.members).tolist()  # [L]
        by_type: Counter[str] = Counter()
        for kind, count in zip(
            span_types(self.classes, self.scheme), counts, strict=True
        ):
            by_type[kind] += count
        return tuple(name for name, _ in by_type.most_common() if name != "O")

    @cached_property
    def places(self) -> list[Place]:
        """Where every sentence stands; those of a column file are all neighbours."""
        if self.documents is None:
            last = len(self.words) - 1
            return [Place(str(s + 1), s == 0, s == last, None) for s in range(last + 1)]
        found = []
        for document in self.documents.cut():
            bounds, offsets = document.bounds(), document.offsets
            for a, b in bounds:
                spaces = None
                if offsets is not None:
                    here = [*offsets[a:b], (offsets[b - 1][1] + 1, 0)]
                    spaces = tuple(x[1] < y[0] for x, y in pairwise(here))
                found.append(Place(document.id, a == 0, (a, b) == bounds[-1], spaces))
        return found

    @cached_property
    def table(self) -> VoteTable:
        """The votes over all labels."""
        return vote_table(self.corpus, self.classes)

    @cached_property
    def majority(self) -> IntArray:
        """The label that most annotators gave each token, [N]."""
        return self.table.majority.labels

    @cached_property
    def searched(self) -> list[str]:
        """Every sentence in lower case, for the search."""
        return [" ".join(row).casefold() for row in self.words]

    @cached_property
    def fingerprint(self) -> str:
        """A number that tells this text from all others."""
        made = hashlib.sha256(self.scheme.encode())
        for row in self.words:
            made.update("\0".join(row).encode("utf-8", "surrogatepass") + b"\n")
        return made.hexdigest()

    @cached_property
    def digest(self) -> str:
        """A number that tells all that a fit rests on: words, features and votes."""
        table, corpus = self.table, self.table.corpus
        made = hashlib.sha256(
            f"{self.fingerprint} {self.classes} {table.names}".encode()
        )
        for column in corpus.columns:
            made.update(repr(column).encode())
        for array in (
            *corpus.votes,
            table.members,
            table.abstains,
            table.exact,
            corpus.candidate_codes,
        ):
            if array is not None:
                made.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
        return made.hexdigest()

    def ready(self) -> Material:
        """The same, with everything counted that the page will ask for."""
        _ = self.types, self.places, self.searched, self.majority
        return self

    def texts(self, s: int, most: int) -> Iterator[str | None]:
        """The sentences before and after one, in its document; a long one is cut."""
        place = self.places[s]
        for other, none in ((s - 1, place.first), (s + 1, place.last)):
            if none:
                yield None
                continue
            spaces = self.places[other].spaces
            words = self.words[other][:most] if other > s else self.words[other][-most:]
            if spaces is not None:
                spaces = spaces[:most] if other > s else spaces[-most:]
            text = "".join(
                word + " " * (spaces is None or spaces[t])
                for t, word in enumerate(words)
            ).strip()
            cut = len(text) > most
            yield (text[:most] + "…" * cut) if other > s else "…" * cut + text[-most:]

    def differing(self, annotator: str, labels: IntArray) -> BoolArray:
        """Tokens of which an annotator says something else than the labels, [N]."""
        table = self.table
        mine = table.annotator == table.names.index(annotator)  # [K]
        differs = np.zeros(table.n_tokens, dtype=bool)  # [N]
        differs[table.token[mine & (table.code != labels[table.token])]] = True
        return differs
