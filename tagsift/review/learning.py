"""Fits in a process of their own, so that nobody who decides has to wait for one.

The process is given the sentences once and keeps the model; each fit gets the labels
that people have decided on, as exact ones. It ends with the server, however that ends.
"""

from __future__ import annotations

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
from typing import Any, Protocol, TypeAlias

import joblib
import numpy as np
from sklearn.base import clone

from tagsift.annotators import VoteTagger
from tagsift.annotators.from_votes import TaggerFromVotes
from tagsift.base import SequenceTagger
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.cleaned import cleaned_by
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError, TagsiftError, TagsiftWarning
from tagsift.review.corpus_view import CorpusView
from tagsift.review.results import packed, unpacked
from tagsift.review.state import State
from tagsift.typing import FloatArray

__all__ = ["Exact", "Learner", "Student", "Worker"]

#: Labels that are known exactly, by sentence; None between them.
Exact: TypeAlias = Mapping[int, list[str | None]]
#: How much the fits stand back behind everything else.
_NICE = 10
#: Models that votes are weighed with once they are fitted again.
_TEXT_MODELS = (ChainGP, PartialCRF)


@dataclass
class Student:
    """A model, what it learns from, and how often it has done so.

    A `fitted` one comes from a model file: its first look is what it knows already.
    Where nobody has labelled anything, it learns from what it believed then.
    """

    view: CorpusView
    model: SequenceTagger
    fitted: bool = False
    revision: int = 0

    def study(self, exact: Exact) -> State:
        """Fit with labels that are known exactly, and say what was found."""
        began, votes = time.perf_counter(), len(self.view.corpus.votes.token) > 0
        ready = self.fitted and not self.revision
        if not ready and votes and isinstance(self.model, _TEXT_MODELS):
            self.model = VoteTagger(clone(self.model), random_state=0)
        corpus = self._with_exact(exact)
        names = {name for row in exact.values() for name in row if name is not None}
        ready = ready and names <= set(self.model.classes_)
        by_votes = votes and isinstance(self.model, TaggerFromVotes)
        source = corpus if by_votes else _candidates(corpus)
        if ready:
            labels, sure = self._judge(source)
        else:
            self._fit(source, exact, names)
            labels = self.model.transduction_
            sure = getattr(self.model, "confidences_", None)
            if sure is None:
                _, sure = self.model.recover(source)
        if sure is None:
            raise InputError(
                f"{self.model.method.title} gives no confidences; take a method that "
                "does (see: tagsift methods)."
            )
        self.revision += 1
        cleaned = cleaned_by(
            corpus,
            self.model,
            labels,
            sure,
            self.view.classes,
            fitted_to_it=not ready,
        )
        seconds = round(time.perf_counter() - began, 2)
        return State(self.view, cleaned, self.revision, seconds).ready()

    def _judge(self, source: Corpus) -> tuple[Any, Any]:
        """Labels by a model that is fitted already, and how sure it is of them.

        Of one annotator's labels it says what it thinks; those of several it weighs, or
        chooses among them.
        """
        labels, sure = self.model.recover(source)
        if len(self.view.corpus.annotators) == 1 and not len(source.votes.token):
            sure = self.model.predict_proba(self.view.corpus)
        return labels, sure

    def _with_exact(self, exact: Exact) -> Corpus:
        """The corpus with what was decided, and what was known before."""
        corpus = self.view.corpus
        blank: list[list[str | None]] = [[None] * n for n in self.view.lengths]
        labels = list(corpus.exact or blank)
        for s, row in exact.items():
            both = zip(row, labels[s], strict=True)
            labels[s] = [before if new is None else new for new, before in both]
        return corpus.with_exact(labels)

    def _fit(self, source: Corpus, exact: Exact, names: set[str]) -> None:
        """Fit anew, or go on from what is known of the annotators."""
        model = self.model
        columns = None if model.labels is None else list(model.labels)
        if hasattr(model, "classes_"):
            columns = [str(name) for name in model.classes_]
            if isinstance(model, VoteTagger) and names <= set(columns):
                model.update(source)
                return
        if columns is not None:
            columns = list(dict.fromkeys((*columns, *sorted(names))))
        if self.fitted and self._unlabelled:
            weights = np.concatenate(self._beliefs(columns or [], exact))  # [N, L]
            source = replace(source.with_labels(columns or []), weights=weights)
        self.model = clone(model).set_params(labels=columns)
        self.model.fit(source)

    @cached_property
    def _unlabelled(self) -> bool:
        corpus = self.view.corpus
        codes = corpus.candidate_codes
        return codes is not None and bool(corpus.members[codes].all())

    @cached_property
    def _first_beliefs(self) -> list[FloatArray]:
        return list(self.model.predict_proba(self.view.corpus))

    def _beliefs(self, columns: list[str], exact: Exact) -> list[FloatArray]:
        """Weights of all labels as the model file has them, and what is known."""
        more = len(columns) - self._first_beliefs[0].shape[1]
        made = [np.pad(p, ((0, 0), (0, more))) for p in self._first_beliefs]  # [T, L]
        for s, row in exact.items():
            for t, name in enumerate(row):
                if name is not None:
                    made[s][t] = np.eye(len(columns))[columns.index(name)]
        return made


def _candidates(corpus: Corpus) -> Corpus:
    """Candidate sets, of votes their union, with what is known exactly in them."""
    corpus = corpus if corpus.candidate_codes is not None else corpus.union()
    known, codes = corpus.exact_codes, corpus.candidate_codes
    assert known is not None and codes is not None
    return replace(corpus, candidate_codes=np.where(known >= 0, known, codes))


class Learner(Protocol):
    """What fits the model again, elsewhere."""

    model: str  # tells what is fitted, and how it is set, from all others
    busy: bool  # whether a fit runs
    failed: str | None  # why the last one gave nothing

    def learn(
        self,
        exact: Exact,
        then: Callable[[State, bytes], None],
        revision: int,
    ) -> None:
        """Begin the fit after a revision with labels that are known exactly."""


class Worker:
    """The process that fits, and the thread that waits for what it finds."""

    def __init__(
        self, view: CorpusView, model: SequenceTagger, *, fitted: bool = False
    ) -> None:
        bare = replace(view, corpus=replace(view.corpus, sources=None))
        self._view, self._student = view, Student(bare, model, fitted)
        self._then: Callable[[State, bytes], None] | None = None
        self.model: str = joblib.hash(model)
        self.busy, self._fits = False, 0
        self.failed: str | None = None
        self._start()

    def learn(
        self, exact: Exact, then: Callable[[State, bytes], None], revision: int = 0
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
                answer = pipe.recv()
            except (EOFError, OSError):
                answer = _ENDED
            self.failed = answer if isinstance(answer, str) else None
            then, self.busy = self._then, False
            if then is not None and not isinstance(answer, str):
                self._fits += 1
                content, seconds = answer
                result = unpacked(content)
                then(State(self._view, result, self._fits, seconds).ready(), content)
            if answer == _ENDED:
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
                state = student.study(exact)
                answer: Any = packed(state.cleaned), state.seconds
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
