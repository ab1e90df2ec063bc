"""Sentences and corpora with one label a token, as frozen records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, overload

from tagsift.data.label_set import LabelSet
from tagsift.data.rows import Row, RowCorpus, as_rows, check_lengths
from tagsift.data.schemes import check_scheme, detect_scheme, spans
from tagsift.errors import InputError

__all__ = ["Corpus", "Sentence"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its tokens with their columns, and its labels if they are known."""

    rows: tuple[Row, ...]  # the columns of every token; the first one is the word
    labels: tuple[str, ...] | None  # one per token

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != len(self.rows):
            raise InputError(
                f"expected one label per token, found {len(self.rows)} tokens and "
                f"{len(self.labels)} labels."
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words: the first column."""
        return tuple(row[0] for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, repr=False)
class Corpus(RowCorpus):
    """Sentences with gold labels, and the scheme the labels are written in.

    Examples
    --------
    >>> corpus = Corpus.from_lists([["Rates", "fell"]], [["B-NP", "B-VP"]])
    >>> corpus.scheme, corpus.n_spans, corpus.labels
    ('iob2', 2, [['B-NP', 'B-VP']])
    """

    per_sentence: ClassVar[tuple[str, ...]] = ("sentences",)

    sentences: tuple[Sentence, ...]
    scheme: str  # iob1, iob2, iobes or plain

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(self.sentences))
        check_scheme(self.scheme)

    @classmethod
    def from_lists(
        cls,
        rows: Sequence[Sequence[str | Row]],
        labels: Sequence[Sequence[str]],
        scheme: str = "auto",
    ) -> Corpus:
        """Build a corpus from sentences of words or tuples of columns, and labels.

        The scheme ``"auto"`` is found from the labels.
        """
        check_lengths(rows, labels, "labels")
        made = tuple(
            Sentence(as_rows(sentence), tuple(tags))
            for sentence, tags in zip(rows, labels, strict=True)
        )
        return cls(made, detect_scheme(labels) if scheme == "auto" else scheme)

    @cached_property
    def rows(self) -> list[list[Row]]:
        """Per sentence and token, all columns but the label."""
        return [list(sentence.rows) for sentence in self.sentences]

    @cached_property
    def labels(self) -> list[list[str]]:
        """Per sentence, the labels."""
        found = []
        for number, sentence in enumerate(self.sentences):
            if sentence.labels is None:
                raise InputError(
                    f"expected labels, found none in sentence {number}; only labelled "
                    "sentences have .labels."
                )
            found.append(list(sentence.labels))
        return found

    @cached_property
    def label_set(self) -> LabelSet:
        """The sorted union of the labels."""
        return LabelSet.union(self.labels)

    @cached_property
    def n_spans(self) -> int:
        """Number of chunks by the lenient CoNLL rules."""
        return sum(len(spans(labels, self.scheme)) for labels in self.labels)

    def _with_rows(self, rows: list[list[Row]]) -> Self:
        pairs = zip(rows, self.sentences, strict=True)
        made = tuple(Sentence(tuple(row), old.labels) for row, old in pairs)
        return self._replace(sentences=made)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, key: int) -> Sentence: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> Sentence | Self:
        if isinstance(key, slice):
            return super().__getitem__(key)
        return self.sentences[key]

    def __repr__(self) -> str:
        size = f"{len(self)} sentences, {self.n_tokens} tokens"
        return f"Corpus({size}, scheme={self.scheme!r})"
