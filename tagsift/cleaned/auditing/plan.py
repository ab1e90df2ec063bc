"""The plan of an audit: sentences drawn by chance, and what people answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from tagsift.cleaned.auditing.drawing import drawn_order, weights_of
from tagsift.cleaned.auditing.labels import AuditedLabels, frozen
from tagsift.cleaned.auditing.sheet import read_sheet, write_sheet
from tagsift.cleaned.auditing.statement import Statement
from tagsift.cleaned.cleaned import Cleaned
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError
from tagsift.typing import IntArray

__all__ = ["AuditPlan", "audit"]


class AuditPlan:
    """Sentences to look at, in the order in which they were drawn, and the answers.

    Made by `tagsift.audit`. A statement is about the labels as they were when the
    sentences were drawn.

    Attributes
    ----------
    seed, planned : int
        What the draw rests on, and the number of looks at which bounds are narrowest.
    answers : dict of int to tuple of str
        The right labels of sentences that people have looked at.
    """

    def __init__(
        self,
        labels: AuditedLabels,
        planned: int,
        seed: int,
        size: int | None = None,
        cleaned: Cleaned | None = None,
    ) -> None:
        self.audited, self.planned, self.seed = labels, planned, seed
        self.cleaned = cleaned
        self.answers: dict[int, tuple[str, ...]] = {}
        self.path: Path | None = None
        variance = labels.by_sentence(labels.wrong * (1 - labels.wrong))
        self.weights = np.where(labels.settled_sentences, 0.0, weights_of(variance))
        self.order = drawn_order(self.weights, np.random.default_rng(seed))
        self.size = min(planned if size is None else size, len(self.order))

    @property
    def sentences(self) -> list[int]:
        """The sentences to look at, counted from 0, in the order of the draw."""
        return [int(s) for s in self.order[: self.size]]

    @property
    def id(self) -> str:
        """What tells this draw from all others: its labels, seed and planned looks."""
        return f"{self.audited.fingerprint[:12]}-{self.seed}-{self.planned}"

    @property
    def looks(self) -> list[int]:
        """Sentences that count: those answered before the first that is not."""
        counted: list[int] = []
        for s in self.sentences:
            if s not in self.answers:
                break
            counted.append(s)
        return counted

    def answer(self, sentence: int, labels: Sequence[str]) -> None:
        """Say the right labels of a sentence; stored at once if there is a sheet."""
        self._take({sentence: labels})

    def more(self, n: int) -> Self:
        """The same plan with `n` more sentences of the same draw."""
        open_ = len(self.order) - self.size
        if not 0 < n <= open_:
            raise InputError(
                f"expected a number of more sentences from 1 to {open_}, found {n}."
            )
        made = type(self)(
            self.audited, self.planned, self.seed, self.size + n, self.cleaned
        )
        made.answers = dict(self.answers)
        return made

    def result(self, level: float = 0.95) -> Statement:
        """What can be stated after the looks that were taken."""
        if not 0.5 < level < 1:
            raise InputError(f"level must be between 0.5 and 1; got {level!r}.")
        return Statement(self, level)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the sheet that people fill in; further answers are stored there."""
        self.path = Path(path)
        write_sheet(self.path, self.id, self.audited, self.sentences, self.answers)

    def read(self, path: str | PathLike[str], level: float = 0.95) -> Statement:
        """Take the answers of a sheet, all or none, and state what they show."""
        self._take(read_sheet(path, self.id, self.audited, self.sentences))
        return self.result(level)

    def truth(self, sentence: int) -> IntArray:
        """The codes of the right labels of a sentence that was looked at, [T]."""
        place = self.audited.corpus.label_set.index
        return np.array([place(name) for name in self.answers[sentence]], np.int64)

    def _take(self, answers: Mapping[int, Sequence[str]]) -> None:
        """Check all answers, then count and store them."""
        drawn = set(self.sentences)
        checked: dict[int, tuple[str, ...]] = {}
        for s, names in answers.items():
            if s not in drawn:
                raise InputError(
                    f"expected a look at one of the {self.size} sentences that were "
                    f"drawn, found one at sentence {s}; nothing was counted."
                )
            self._check(s, names)
            one = tuple(names)
            if self.answers.get(s, one) != one:
                raise InputError(
                    f"expected one answer for sentence {s}, found a second one that "
                    "differs; nothing was counted."
                )
            checked[s] = one
        self.answers |= checked
        if self.path is not None:
            self.write(self.path)

    def _check(self, s: int, names: Sequence[str]) -> None:
        length = int(self.audited.corpus.lengths[s])
        if isinstance(names, str) or len(names) != length:
            raise InputError(
                f"expected {length} labels for sentence {s}, one a token, found "
                f"{len(names)}; nothing was counted."
            )
        for name in names:
            if name not in self.audited.corpus.label_set:
                shown = ", ".join(self.audited.names[:12])
                raise InputError(
                    f"expected labels among {shown} for sentence {s}, found {name!r}; "
                    "nothing was counted."
                )

    def __repr__(self) -> str:
        return (
            f"AuditPlan({self.size} of {len(self.audited.corpus)} sentences, "
            f"{len(self.answers)} looked at, seed={self.seed})"
        )


def audit(source: Cleaned | Corpus, n: int = 60, seed: int = 0) -> AuditPlan:
    """Draw sentences to look at, for a statement that holds whatever the model says.

    Parameters
    ----------
    source : Cleaned or Corpus
        The labels that the statement is to be about: those found, or the labels of a
        finished corpus, of which nothing is expected.
    n : int
        Planned looks. One may stop before and go on after; bounds are narrowest there.
    seed : int
        What the draw rests on.

    Returns
    -------
    AuditPlan

    Examples
    --------
    >>> import tagsift
    >>> corpus = tagsift.bundled("ner")
    >>> plan = tagsift.audit(corpus, n=40)
    >>> for s in plan.sentences:
    ...     plan.answer(s, corpus.labels[s])  # what a person says
    >>> plan.result().errors.value
    0.0
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a number of sentences above 0; got {n!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number from 0 on; got {seed!r}.")
    cleaned = source if isinstance(source, Cleaned) else None
    return AuditPlan(frozen(source), int(n), int(seed), cleaned=cleaned)
