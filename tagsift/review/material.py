"""What is looked at: sentences, the documents they stand in, and what was said."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from tagsift.annotators import Ballots, ballots_of, span_types
from tagsift.annotators.from_votes import labels_of
from tagsift.annotators.start import vote_shares
from tagsift.data import Documents, PartialCorpus, VoteCorpus
from tagsift.data.offsets import offsets_of
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
    """Sentences with candidate sets, the votes they come from, and documents."""

    partial: PartialCorpus
    votes: VoteCorpus | None = None
    documents: Documents | None = None  # None for a column file
    title: str = ""
    known: tuple[str, ...] = ()  # labels that a fitted model has

    @property
    def words(self) -> list[list[str]]:
        """Per sentence, the tokens."""
        return self.partial.tokens

    @property
    def scheme(self) -> str:
        """How the labels are written."""
        return self.partial.scheme

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of every sentence."""
        return [len(row) for row in self.partial.rows]

    @cached_property
    def offsets(self) -> IntArray:
        """Where sentences begin among the stacked tokens, [S + 1]."""
        return offsets_of(self.lengths)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """All labels that there can be: those given, and what a decision may need."""
        given = tuple(self.partial.label_set)
        if self.votes is not None:
            given = tuple(str(name) for name in labels_of(self.votes, self.scheme))
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
        counts: Counter[str] = Counter()
        for names in chain.from_iterable(self.partial.candidates):
            counts.update(names)
        by_type: Counter[str] = Counter()
        for name, kind in zip(
            self.classes, span_types(self.classes, self.scheme), strict=True
        ):
            by_type[kind] += counts[name]
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
    def ballots(self) -> Ballots:
        """The votes as arrays; those of nobody where there are candidate sets."""
        return ballots_of(self.votes, self.classes, self.lengths)

    @cached_property
    def majority(self) -> IntArray:
        """The label that most annotators gave each token, [N]."""
        return np.asarray(vote_shares(self.ballots).argmax(axis=1))

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
        told = self.ballots
        made = hashlib.sha256(
            f"{self.fingerprint} {self.classes} {told.names}".encode()
        )
        for row in self.partial.rows:
            made.update(repr(row).encode())
        for array in (told.votes, told.members, told.abstains, told.exact):
            made.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
        if self.votes is None:
            for sets in self.partial.candidates:
                made.update(repr([sorted(names) for names in sets]).encode())
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
        column = self.ballots.votes[:, self.ballots.names.index(annotator)]  # [N]
        return np.asarray((column >= 0) & (column != labels))
