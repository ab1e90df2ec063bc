"""What a report on somebody's own data starts from: what was said, and what was found.

The labels may come from votes or from candidate sets, by a fit or by a model that was
there before; with or without confidences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tagsift.annotators import (
    AnnotatorReport,
    Ballots,
    Look,
    Outlook,
    VoteTagger,
    annotators_against,
    ballots_of,
    error_chance,
    outlook,
    rank_spans,
    span_types,
)
from tagsift.data import Documents, PartialCorpus, Span, VoteCorpus, spans
from tagsift.data.offsets import offsets_of
from tagsift.errors import InputError
from tagsift.metrics import (
    CalibrationScores,
    Scores,
    calibration_scores,
    evaluate,
    label_indices,
    stack_marginals,
)
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Findings", "Told"]


class Told(NamedTuple):
    """What is known of all stacked tokens, as `rank_tokens` takes it."""

    labels: IntArray  # [N]
    confidences: FloatArray  # [N, L]
    text: FloatArray  # [N, L]  what the text alone says
    ballots: Ballots
    classes: list[str]


@dataclass(frozen=True, eq=False)
class Findings:
    """Votes or candidate sets, and the labels that a model found for them."""

    given: PartialCorpus | VoteCorpus
    model: Any  # the fitted tagger
    labels: Sequence[Sequence[str]]  # the label found for every token
    confidences: Sequence[FloatArray] | None = None  # of every label; None: not known
    documents: Documents | None = None  # that the sentences stand in

    @property
    def votes(self) -> VoteCorpus | None:
        """The votes, where there are any."""
        return self.given if isinstance(self.given, VoteCorpus) else None

    @cached_property
    def sentence_ids(self) -> list[str] | None:
        """The id of the document of every sentence, where there are ids."""
        return None if self.documents is None else self.documents.sentence_ids

    @property
    def place_heads(self) -> tuple[str, ...]:
        """The heads of the cells of `place`."""
        return ("at",) if self.sentence_ids is None else ("document", "at")

    def place(self, sentence: int, token: int) -> tuple[str, ...]:
        """Where a token stands: the id of its document, if any; sentence and token."""
        ids = () if self.sentence_ids is None else (self.sentence_ids[sentence],)
        return (*ids, f"{sentence + 1}:{token + 1}")

    @cached_property
    def offsets(self) -> IntArray:
        """Where sentences begin among the stacked tokens, [S + 1]."""
        return offsets_of(map(len, self.given.rows))

    @cached_property
    def classes(self) -> list[str]:
        """The labels, as strings."""
        return [str(name) for name in self.model.classes_]

    @cached_property
    def chosen(self) -> IntArray:
        """The columns of the labels found, [N]."""
        return label_indices(self.labels, self.classes, name="labels")

    @cached_property
    def ballots(self) -> Ballots:
        """The votes as arrays; those of nobody where there are candidate sets."""
        lengths = [len(row) for row in self.given.rows]
        return ballots_of(self.votes, self.classes, lengths)

    @cached_property
    def told(self) -> Told:
        """What is known of every token; for labels with confidences only."""
        if self.confidences is None:
            raise InputError(
                f"{self.model.method.title} gives no confidences; take a method that "
                "does (see: tagsift methods)."
            )
        lengths, width = [len(row) for row in self.given.rows], len(self.classes)
        sure = stack_marginals(self.confidences, lengths, width)  # [N, L]
        alone = getattr(self.model, "text_", None)
        text = stack_marginals(alone, lengths, width) if alone else sure  # [N, L]
        return Told(self.chosen, sure, text, self.ballots, self.classes)

    @cached_property
    def chance(self) -> FloatArray:
        """The chance that the label of a token is wrong, [N]."""
        lessons = getattr(self.model, "lessons_", None)
        return error_chance(*self.told[:4], lessons)

    @cached_property
    def sure(self) -> FloatArray:
        """The confidence of the label found for every token, [N]."""
        rows = np.arange(len(self.chosen))  # [N]
        return np.asarray(self.told.confidences[rows, self.chosen])

    @property
    def chosen_confidences(self) -> list[list[float]] | None:
        """The confidence of every label found, sentence by sentence, if known."""
        if self.confidences is None:
            return None
        return [part.tolist() for part in np.split(self.sure, self.offsets[1:-1])]

    def looks(self) -> Iterator[Look]:
        """Spans and tokens outside them, the one to look at first in front."""
        return rank_spans(*self.told, self.given.scheme, self.chance)

    @cached_property
    def outlook(self) -> Outlook:
        """How many labels of tokens are expected to be wrong."""
        scale = 2.0 if self.votes is None else 0.7
        return outlook(self.chance[~self.known], scale=scale)

    @cached_property
    def known(self) -> BoolArray:
        """Tokens that were known exactly before: checked, or with one candidate."""
        if self.votes is not None:
            return np.asarray(self.ballots.exact >= 0)
        sets = chain.from_iterable(self._candidates)
        return np.array([len(names) == 1 for names in sets], dtype=bool)

    @property
    def _candidates(self) -> list[list[frozenset[str]]]:
        return self.given.candidates if isinstance(self.given, PartialCorpus) else []

    @cached_property
    def spans(self) -> list[list[Span]]:
        """The spans of the labels found, sentence by sentence."""
        return [spans(row, self.given.scheme) for row in self.labels]

    @cached_property
    def majority(self) -> list[list[str]] | None:
        """What most votes say; None for candidate sets."""
        return None if self.votes is None else self.votes.majority().labels

    def kinds(self) -> tuple[list[str], IntArray]:
        """Types of spans (of plain tags: the tags), and the type of every label, [L].

        The most frequent type comes first, and ``O`` last.
        """
        of = span_types(self.classes, self.given.scheme)
        counts = dict.fromkeys(of, 0)
        for k, count in enumerate(np.bincount(self.chosen, minlength=len(of))):
            counts[of[k]] += int(count)
        names = sorted(counts, key=lambda name: (name == "O", -counts[name], name))
        return names, np.array([names.index(name) for name in of])

    @cached_property
    def people(self) -> tuple[AnnotatorReport, ...]:
        """The annotators against the labels found."""
        if self.votes is None:
            return ()
        known: tuple[AnnotatorReport, ...] = getattr(self.model, "annotators_", ())
        if any(one.tokens for one in known):  # a model file knows no counts
            return known
        by_votes = not isinstance(self.model, VoteTagger)
        against = self.votes, self.labels, self.classes
        return annotators_against(*against, by_votes=by_votes)

    @cached_property
    def scores(self) -> Scores | None:
        """Every score of the labels found, where the truth is known."""
        if self.given.gold is None:
            return None
        return evaluate(
            self.given.gold,
            self.labels,
            scheme=self.given.scheme,
            marginals=self.confidences,
            classes=self.classes,
            unknown="wrong",
        )

    @cached_property
    def calibration(self) -> tuple[str, CalibrationScores] | None:
        """How right confidences are, and by what: the truth, or tokens known exactly.

        Of what is known exactly, it is the confidences without that knowledge.
        """
        if self.scores is not None and self.scores.calibration is not None:
            return "the true labels", self.scores.calibration
        exact, blind = self.ballots.exact, getattr(self.model, "blind_", None)
        if blind is None or not (exact >= 0).any():
            return None
        known = exact >= 0  # [N]
        found = calibration_scores(blind[known], exact[known])
        return f"the {int(known.sum()):,} tokens that are known exactly", found
