"""Fits in a process of their own, so that nobody who decides has to wait for one.

The process is given the sentences once and keeps the model; each fit gets the labels
that people have decided on, as exact ones. It ends with the server, however that ends.
"""

from __future__ import annotations

import math
import os
import signal
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, TypeAlias

import joblib
import numpy as np
from sklearn.base import clone

from tagsift.annotators import (
    AnnotatorReport,
    VoteTable,
    VoteTagger,
    error_chance,
)
from tagsift.annotators.from_votes import TaggerFromVotes
from tagsift.base import SequenceTagger
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError, TagsiftError, TagsiftWarning
from tagsift.metrics import label_indices, stack_marginals
from tagsift.review.corpus_view import Material
from tagsift.review.state import Found, Person
from tagsift.typing import FloatArray

__all__ = ["Exact", "Student", "Worker"]

#: Labels that are known exactly, by sentence; None between them.
Exact: TypeAlias = Mapping[int, list[str | None]]
#: How much the fits stand back behind everything else.
_NICE = 10
#: Models that votes are weighed with once they are fitted again.
_TEXT_MODELS = (ChainGP, PartialCRF)
#: What a fit on votes tells of its own tokens.
_LEARNT = ("text_marginals_", "error_log_odds_")


@dataclass
class Student:
    """A model, what it learns from, and how often it has done so.

    A `fitted` one comes from a model file: its first look is what it knows already.
    Where nobody has labelled anything, it learns from what it believed then.
    """

    material: Material
    model: SequenceTagger
    fitted: bool = False
    revision: int = 0

    def study(self, exact: Exact) -> Found:
        """Fit with labels that are known exactly, and say what was found."""
        began, votes = time.perf_counter(), self.material.has_votes
        known = self.fitted and not self.revision
        if not known and votes and isinstance(self.model, _TEXT_MODELS):
            self.model = VoteTagger(clone(self.model), random_state=0)
        told = self._told(exact, VoteTagger if known else TaggerFromVotes)
        names = {name for row in exact.values() for name in row if name is not None}
        known = known and names <= set(self.model.classes_)
        if known:
            labels, sure = self._judge(told)
        else:
            self._fit(told, exact, names)
            labels = self.model.transduction_
            sure = getattr(self.model, "confidences_", None)
            if sure is None:
                _, sure = self.model.recover(told)
        if sure is None:
            raise InputError(
                f"{self.model.method.title} gives no confidences; take a method that "
                "does (see: tagsift methods)."
            )
        self.revision += 1
        learnt = {} if known else {k: getattr(self.model, k, None) for k in _LEARNT}
        found = self._found(labels, sure, exact, **learnt)
        return replace(found, seconds=round(time.perf_counter() - began, 2)).ready()

    def _judge(self, told: Any) -> tuple[Any, Any]:
        """Labels by a model that is fitted already, and how sure it is of them.

        Of one annotator's labels it says what it thinks; those of several it weighs, or
        chooses among them.
        """
        corpus = self.material.corpus
        labels, sure = self.model.recover(told)
        if len(corpus.annotators) == 1 and not len(told.votes.token):
            sure = self.model.predict_proba(corpus)
        return labels, sure

    def _told(self, exact: Exact, takes_votes: type[TaggerFromVotes]) -> Corpus:
        """Votes or candidate sets, with what is known in them."""
        corpus = self.material.corpus
        blank: list[list[str | None]] = [[None] * n for n in self.material.lengths]
        labels = list(corpus.exact or blank)
        for s, row in exact.items():
            labels[s] = _both(row, labels[s])
        corpus = corpus.with_exact(labels)
        if self.material.has_votes and isinstance(self.model, takes_votes):
            return corpus
        codes = corpus.candidate_codes
        if codes is None:
            corpus = corpus.union()
            codes = corpus.candidate_codes
        assert codes is not None and corpus.exact_codes is not None
        checked = corpus.exact_codes >= 0  # [N]
        return replace(
            corpus, candidate_codes=np.where(checked, corpus.exact_codes, codes)
        )

    def _fit(self, told: Corpus, exact: Exact, names: set[str]) -> None:
        """Fit anew, or go on from what is known of the annotators."""
        model = self.model
        columns = None if model.labels is None else list(model.labels)
        if hasattr(model, "classes_"):
            columns = [str(name) for name in model.classes_]
            if isinstance(model, VoteTagger) and names <= set(columns):
                model.update(told)
                return
        if columns is not None:
            columns = list(dict.fromkeys((*columns, *sorted(names))))
        if self.fitted and self._unlabelled:
            weights = np.concatenate(self._beliefs(columns or [], exact))  # [N, L]
            told = replace(told.with_labels(columns or []), weights=weights)
        self.model = clone(model).set_params(labels=columns)
        self.model.fit(told)

    @cached_property
    def _unlabelled(self) -> bool:
        corpus = self.material.corpus
        codes = corpus.candidate_codes
        return codes is not None and bool(corpus.members[codes].all())

    @cached_property
    def _first_beliefs(self) -> list[FloatArray]:
        return list(self.model.predict_proba(self.material.corpus))

    def _beliefs(self, columns: list[str], exact: Exact) -> list[FloatArray]:
        """Weights of all labels as the model file has them, and what is known."""
        more = len(columns) - self._first_beliefs[0].shape[1]
        made = [np.pad(p, ((0, 0), (0, more))) for p in self._first_beliefs]  # [T, L]
        for s, row in exact.items():
            for t, name in enumerate(row):
                if name is not None:
                    made[s][t] = np.eye(len(columns))[columns.index(name)]
        return made

    def _found(
        self,
        labels: Any,
        sure: Any,
        exact: Exact,
        *,
        text_marginals_: list[FloatArray] | None = None,
        error_log_odds_: FloatArray | None = None,
    ) -> Found:
        """Everything in the columns of the material's labels."""
        told, model = self.material, self.model
        column = {name: k for k, name in enumerate(told.classes)}
        own = [str(name) for name in model.classes_]
        place = np.array([column[name] for name in own])  # [L']

        def widened(rows: Any) -> FloatArray:
            stacked = stack_marginals(rows, told.lengths, len(own))  # [N, L']
            wide = np.zeros((len(stacked), len(column)))  # [N, L]
            wide[:, place] = stacked
            return wide

        confidences = widened(sure)  # [N, L]
        alone = widened(text_marginals_) if text_marginals_ else confidences  # [N, L]
        chosen = place[label_indices(labels, own, name="labels")]  # [N]
        known = told.table.exact.copy()  # [N]
        for s, row in exact.items():
            here = known[told.offsets[s] : told.offsets[s + 1]]  # [T]
            here[:] = [
                h if k is None else column[k] for h, k in zip(here, row, strict=True)
            ]
        table = VoteTable(replace(told.table.corpus, exact_codes=known))
        chance = error_chance(chosen, confidences, alone, table, error_log_odds_)  # [N]
        return Found(
            told,
            self.revision,
            chosen,
            confidences.astype(np.float32),
            alone.astype(np.float32),
            chance,
            tuple(map(_person, getattr(model, "annotators_", ()))),
        )


def _person(report: AnnotatorReport) -> Person:
    none = math.isnan(report.reliability)
    return Person(report.name, None if none else report.reliability, report.flags)


def _both(row: list[str | None], before: list[str | None]) -> list[str | None]:
    """Labels that were decided, and those that were known before."""
    return [b if k is None else k for k, b in zip(row, before, strict=True)]


class Worker:
    """The process that fits, and the thread that waits for what it finds."""

    def __init__(
        self, material: Material, model: SequenceTagger, *, fitted: bool = False
    ) -> None:
        bare = replace(material, documents=None)
        self._material, self._student = material, Student(bare, model, fitted)
        self._then: Callable[[Found], None] | None = None
        self.model: str = joblib.hash(model)
        self.busy, self._fits = False, 0
        self.failed: str | None = None
        self._start()

    def learn(
        self, exact: Exact, then: Callable[[Found], None], revision: int = 0
    ) -> None:
        """Begin the fit after a `revision`; what it finds goes to `then`, later."""
        if not self._process.is_alive():
            self._start()
        self.busy, self._then = True, then
        self._fits = max(self._fits, revision)
        try:
            self._pipe.send((exact, revision))
        except OSError:
            self.busy, self.failed = False, _ENDED

    def close(self) -> None:
        """End the process."""
        self._then = None
        self._process.terminate()
        self._process.join()
        self._pipe.close()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(
            target=_work, args=(other, self._student), daemon=True, name="tagsift fits"
        )
        self._process.start()
        other.close()
        self._listener = Thread(target=self._listen, args=(self._pipe,), daemon=True)
        self._listener.start()

    def _listen(self, pipe: Connection) -> None:
        while True:
            try:
                found = pipe.recv()
            except (EOFError, OSError):
                found = _ENDED
            self.failed = found if isinstance(found, str) else None
            then, self.busy = self._then, False
            if then is not None and isinstance(found, Found):
                self._fits += 1
                then(found.over(self._material, self._fits))
            if found == _ENDED:
                return


#: What is said where the process is gone.
_ENDED = "the process that fits has ended; the next fit starts another one."


def _work(pipe: Connection, student: Student) -> None:
    """Fit whenever labels come, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            exact, student.revision = pipe.recv()
        except EOFError:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TagsiftWarning)
                answer: Any = student.study(exact)
        except TagsiftError as error:
            answer = str(error)
        except Exception as error:
            answer = f"a fault in tagsift itself ({type(error).__name__}: {error})."
        pipe.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
