"""What is looked at: sentences, their documents, and the labels there can be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tagsift.annotators import span_types
from tagsift.annotators.from_votes import labels_of
from tagsift.cleaned import Cleaned, counted
from tagsift.data.corpus import Corpus
from tagsift.typing import IntArray

__all__ = ["CorpusView", "Place"]


class Place(NamedTuple):
    """Where a sentence stands."""

    document: str  # its id
    first: bool  # whether the document begins with it
    last: bool  # whether it ends with it
    spaces: tuple[bool, ...] | None  # whether one follows each token; None: always


@dataclass(frozen=True, eq=False)
class CorpusView:
    """A corpus of votes or of candidates, as it is reviewed."""

    corpus: Corpus
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

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of every sentence."""
        return [int(length) for length in self.corpus.lengths]

    @property
    def offsets(self) -> IntArray:
        """Where sentences begin among the stacked tokens, [S + 1]."""
        return self.corpus.bounds

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """All labels that there can be: those given, and what a decision may need."""
        given = tuple(self.corpus.label_set)
        if len(self.corpus.votes.token):
            given = tuple(str(name) for name in labels_of(self.corpus))
        given = (*given, *self.known)
        prefixes = {"plain": "", "iobes": "BIES"}.get(self.scheme, "BI")
        names = {"O": None} if prefixes else {}
        for kind in span_types(given, self.scheme):
            if kind != "O":
                names |= {f"{p}-{kind}" if kind else p: None for p in prefixes}
        return tuple(dict.fromkeys((*given, *names)))

    @cached_property
    def counted(self) -> Cleaned:
        """What counting alone says, before anything is fitted."""
        return counted(self.corpus, self.classes)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Types of spans (of plain tags: the tags), the most frequent first."""
        return tuple(name for name in self.counted.types()[0] if name != "O")

    @cached_property
    def places(self) -> list[Place]:
        """Where every sentence stands; those of a column file are all neighbours."""
        if self.corpus.sources is None:
            last = len(self.words) - 1
            return [Place(str(s + 1), s == 0, s == last, None) for s in range(last + 1)]
        places = []
        for document in self.corpus.sources:
            bounds, offsets = document.bounds(), document.aligned().offsets
            for a, b in bounds:
                spaces = None
                if offsets is not None:
                    here = [*offsets[a:b], (offsets[b - 1][1] + 1, 0)]
                    spaces = tuple(x[1] < y[0] for x, y in pairwise(here))
                places.append(Place(document.id, a == 0, (a, b) == bounds[-1], spaces))
        return places

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
        corpus = self.corpus
        sets = [sorted(names) for names in corpus.sets]
        told = self.fingerprint, self.classes, corpus.annotators, corpus.label_set, sets
        made = hashlib.sha256(repr(told).encode())
        for column in corpus.columns:
            made.update(repr(column).encode())
        for array in (*corpus.votes, corpus.exact_codes, corpus.candidate_codes):
            if array is not None:
                made.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
        return made.hexdigest()

    def ready(self) -> CorpusView:
        """The same, with everything counted that the page will ask for."""
        _ = self.types, self.places, self.searched, self.counted.majority
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
