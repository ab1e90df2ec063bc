"""The plan of an audit: sentences drawn by chance, and what people answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from tagsift.cleaned.auditing.drawing import drawn_order, weights_of
from tagsift.cleaned.auditing.labels import AuditedLabels, frozen
from tagsift.cleaned.auditing.sheet import read_sheet, write_sheet
from tagsift.cleaned.auditing.statement import Statement
from tagsift.cleaned.cleaned import Cleaned
from tagsift.data.corpus import Corpus
from tagsift.errors import DataError, InputError
from tagsift.storage import read_container, write_container
from tagsift.typing import Arrays, FloatArray, IntArray

__all__ = ["AuditPlan", "audit", "drawn_plan"]

#: What the file of a plan says it is.
_KIND = "audit"


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
        weights: FloatArray,
        order: IntArray,
        size: int,
        cleaned: Cleaned | None = None,
    ) -> None:
        self.audited, self.planned, self.seed = labels, planned, seed
        self.weights, self.order, self.size = weights, order, size
        self.cleaned = cleaned
        self.answers: dict[int, tuple[str, ...]] = {}
        self.path: Path | None = None

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
        made = copy(self)
        made.size, made.answers, made.path = self.size + n, dict(self.answers), None
        return made

    def result(self, level: float = 0.95) -> Statement:
        """What can be stated after the looks that were taken."""
        if not 0.5 < level < 1:
            raise InputError(f"level must be between 0.5 and 1; got {level!r}.")
        return Statement(self, level)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the sheet that people fill in; further answers are stored there.

        Beside it stands what the statement rests on, in a file of the same name that
        ends in ``.plan``: the labels, the chances and the order of the draw.
        """
        self.path = Path(path)
        labels = self.audited
        arrays = {
            "codes": labels.codes.astype(np.int32),
            "settled": labels.settled,
            "wrong": labels.wrong,
            "weights": self.weights,
            "order": self.order.astype(np.int32),
        }
        if labels.steps is not None:
            arrays["steps"] = labels.steps.astype(np.uint16)
        about = {"seed": self.seed, "planned": self.planned, "size": self.size}
        meta = {**about, "kind": _KIND, "id": self.id, "names": list(labels.names)}
        write_container(self.path.with_suffix(".plan"), meta, arrays)
        self._write_sheet()

    @classmethod
    def open(cls, path: str | PathLike[str], corpus: Corpus) -> Self:
        """The plan that stands beside a sheet, with the answers of the sheet.

        `corpus` is that of the draw: its votes, or its finished labels.
        """
        beside = Path(path).with_suffix(".plan")
        meta, arrays = read_container(beside)
        if meta.get("kind") != _KIND:
            raise DataError(
                "expected the plan of an audit, found another file.", beside
            )
        plan = cls._of(meta, arrays, corpus, beside)
        plan.read(path)
        plan.path = Path(path)
        return plan

    @classmethod
    def _of(
        cls, meta: dict[str, Any], arrays: Arrays, corpus: Corpus, path: Path
    ) -> Self:
        changed = DataError(
            "the corpus or its labels have changed since the sentences were drawn; "
            "draw again. Nothing was counted.",
            path,
        )
        codes = arrays["codes"].astype(np.int64)
        if len(codes) != corpus.n_tokens or not corpus.label_set.full <= {
            *meta["names"]
        }:
            raise changed
        corpus = corpus.with_labels(meta["names"])
        own = corpus.candidate_codes
        if (
            own is not None
            and (own < len(meta["names"])).all()
            and (own != codes).any()
        ):
            raise changed
        steps = arrays["steps"].astype(np.int64) if "steps" in arrays else None
        labels = AuditedLabels(corpus, codes, arrays["settled"], arrays["wrong"], steps)
        order = arrays["order"].astype(np.int64)
        made = cls(
            labels,
            meta["planned"],
            meta["seed"],
            arrays["weights"],
            order,
            meta["size"],
        )
        if made.id != meta["id"]:
            raise changed
        return made

    def _write_sheet(self) -> None:
        assert self.path is not None
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
            self._write_sheet()

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
    return drawn_plan(frozen(source), int(n), int(seed), cleaned)


def drawn_plan(
    labels: AuditedLabels, n: int, seed: int, cleaned: Cleaned | None = None
) -> AuditPlan:
    """Draw the sentences of a plan."""
    variance = labels.by_sentence(labels.wrong * (1 - labels.wrong))
    weights = np.where(labels.settled_sentences, 0.0, weights_of(variance))
    order = drawn_order(weights, np.random.default_rng(seed))
    if not len(order):
        raise InputError(
            "expected sentences that nobody has decided on, found none: every label is "
            "known exactly, and there is nothing to look at."
        )
    return AuditPlan(labels, n, seed, weights, order, min(n, len(order)), cleaned)
