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
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from tagsift.annotators import VoteTagger, error_chance
from tagsift.annotators.from_votes import TaggerFromVotes
from tagsift.base import SequenceTagger
from tagsift.data import VoteCorpus
from tagsift.errors import InputError, TagsiftError, TagsiftWarning
from tagsift.metrics import label_indices, stack_marginals
from tagsift.review.found import Found
from tagsift.review.material import Material
from tagsift.typing import FloatArray

__all__ = ["Exact", "Student", "Worker"]

#: Labels that are known exactly, by sentence; None between them.
Exact: TypeAlias = Mapping[int, list[str | None]]
#: How much the fits stand back behind everything else.
_NICE = 10


@dataclass
class Student:
    """A model, what it learns from, and how often it has done so.

    A `fitted` one comes from a model file: its first look is what it knows already.
    """

    material: Material
    model: SequenceTagger
    fitted: bool = False
    revision: int = 0

    def study(self, exact: Exact) -> Found:
        """Fit with labels that are known exactly, and say what was found."""
        began, rows = time.perf_counter(), self.material.partial.rows
        told = self._told(exact)
        names = {name for row in exact.values() for name in row if name is not None}
        if self.fitted and not self.revision and names <= set(self.model.classes_):
            labels, sure = self.model.recover(rows, told)
        else:
            self._fit(told, names)
            labels = self.model.recovered_
            sure = getattr(self.model, "confidences_", None)
            if sure is None:
                _, sure = self.model.recover(rows, told)
        if sure is None:
            raise InputError(
                f"{self.model.method.title} gives no confidences; take a method that "
                "does (see: tagsift methods)."
            )
        self.revision += 1
        return self._found(labels, sure, exact, time.perf_counter() - began)

    def _told(self, exact: Exact) -> Any:
        """Votes or candidate sets, with what is known in them."""
        votes, partial = self.material.votes, self.material.partial
        takes = VoteTagger if self.fitted else TaggerFromVotes
        if votes is not None and isinstance(self.model, takes):
            known: list[list[str | None]] = list(
                votes.exact or ([None] * length for length in self.material.lengths)
            )
            for s, row in exact.items():
                known[s] = _both(row, known[s])
            return replace(votes, exact=known)
        sets = list(partial.candidates)
        for s, row in exact.items():
            pairs = zip(row, sets[s], strict=True)
            sets[s] = [c if k is None else frozenset([k]) for k, c in pairs]
        return sets

    def _fit(self, told: Any, names: set[str]) -> None:
        """Fit anew, or go on from what is known of the annotators."""
        rows, model = self.material.partial.rows, self.model
        again = self.fitted or self.revision
        if again and isinstance(model, VoteTagger) and isinstance(told, VoteCorpus):
            if names <= set(model.classes_):
                model.update(rows, told)
                return
        self.model = clone(model)
        if self.model.labels is not None:
            known = dict.fromkeys((*self.model.labels, *sorted(names)))
            self.model.set_params(labels=list(known))
        self.model.fit(rows, told)

    def _found(self, labels: Any, sure: Any, exact: Exact, seconds: float) -> Found:
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
        text = getattr(model, "text_", None)
        alone = widened(text) if text else confidences  # [N, L]
        chosen = place[label_indices(labels, own, name="labels")]  # [N]
        known = told.ballots.exact.copy()  # [N]
        for s, row in exact.items():
            here = known[told.offsets[s] : told.offsets[s + 1]]  # [T]
            here[:] = [
                h if k is None else column[k] for h, k in zip(here, row, strict=True)
            ]
        ballots = replace(told.ballots, exact=known)
        lessons = getattr(model, "lessons_", None)
        chance = error_chance(chosen, confidences, alone, ballots, lessons)  # [N]
        return Found(
            told,
            self.revision,
            chosen,
            confidences.astype(np.float32),
            alone.astype(np.float32),
            chance,
            tuple(getattr(model, "annotators_", ())),
            round(seconds, 2),
        ).ready()


def _both(row: list[str | None], before: list[str | None]) -> list[str | None]:
    """Labels that were decided, and those that were known before."""
    return [b if k is None else k for k, b in zip(row, before, strict=True)]


class Worker:
    """The process that fits, and the thread that waits for what it finds."""

    def __init__(
        self, material: Material, model: SequenceTagger, *, fitted: bool = False
    ) -> None:
        bare = Material(material.partial, material.votes)
        self._material, self._student = material, Student(bare, model, fitted)
        self._then: Callable[[Found], None] | None = None
        self.busy, self.failed = False, None
        self._start()

    failed: str | None

    def learn(self, exact: Exact, then: Callable[[Found], None]) -> None:
        """Begin a fit; what it finds goes to `then`, in a thread of its own."""
        if not self._process.is_alive():
            self._start()
        self.busy, self._then = True, then
        try:
            self._pipe.send(exact)
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
        Thread(target=self._listen, args=(self._pipe,), daemon=True).start()

    def _listen(self, pipe: Connection) -> None:
        while True:
            try:
                found = pipe.recv()
            except (EOFError, OSError):
                found = _ENDED
            then, self.busy = self._then, False
            self.failed = found if isinstance(found, str) else None
            if then is not None and isinstance(found, Found):
                then(found.over(self._material))
            if found == _ENDED:
                return


#: What is said where the process is gone.
_ENDED = "the process that fits has ended; the next fit starts another one."


def _work(pipe: Connection, student: Student) -> None:
    """Fit whenever labels come, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            exact = pipe.recv()
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
