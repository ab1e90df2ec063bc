"""The result of cleaning a corpus, and every figure that is said about it.

A figure has one definition, here, whoever shows it: the command line, the report, the
review page or a notebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tagsift.annotators import (
    AnnotatorReport,
    Look,
    Outlook,
    VoteTable,
    VoteTagger,
    annotators_against,
    error_chance,
    outlook,
    rank_spans,
    rank_tokens,
    span_types,
)
from tagsift.data import Span, spans
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, NotSupportedError
from tagsift.metrics import (
    CalibrationScores,
    Scores,
    calibration_scores,
    evaluate,
    rank_sentences,
)
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Cleaned"]

#: How far the log-odds of the chances may be off; see `outlook`.
_SCALE_OF_VOTES, _SCALE_OF_CANDIDATES = 0.6, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Cleaned:
    """A corpus, and the labels that were found for it."""

    corpus: Corpus  # its first labels are those of the tagger, in their order
    tagger: Any  # the fitted estimator
    codes: IntArray  # [N]  the label of every token, among `classes`
    marginals: FloatArray | None = None  # [N, L]  None where a method has none

    # Labels -------------------------------------------------------------------------

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `confidences`."""
        return tuple(str(name) for name in self.tagger.classes_)

    @cached_property
    def labels(self) -> np.ndarray[Any, Any]:
        """The label found for every stacked token, [N] strings."""
        return np.array(self.classes, dtype=object)[self.codes]

    @property
    def sentences(self) -> list[list[str]]:
        """The labels found, sentence by sentence."""
        return split_at(self.labels.tolist(), self.corpus.bounds)

    @property
    def confidences(self) -> FloatArray:
        """Probability of every label of every stacked token, [N, L]."""
        if self.marginals is None:
            raise NotSupportedError(
                f"{self.tagger.method.title} gives no confidences; take a method that "
                "does (see: tagsift methods)."
            )
        return self.marginals

    @cached_property
    def confidence(self) -> FloatArray:
        """The confidence of the label found for every token, [N]."""
        return self.confidences[np.arange(len(self.codes)), self.codes]

    @property
    def marginal_sentences(self) -> list[FloatArray] | None:
        """Probability of every label, [T, L] a sentence, if known."""
        if self.marginals is None:
            return None
        return split_at(self.marginals, self.corpus.bounds)

    @property
    def confidence_sentences(self) -> list[list[float]] | None:
        """The confidence of every label found, sentence by sentence, if known."""
        if self.marginals is None:
            return None
        return split_at(self.confidence.tolist(), self.corpus.bounds)

    @cached_property
    def text(self) -> FloatArray:
        """What the text alone says of every label of every token, [N, L]."""
        alone = getattr(self.tagger, "text_marginals_", None)
        return np.concatenate(alone) if alone else self.confidences

    # Doubt --------------------------------------------------------------------------

    @cached_property
    def table(self) -> VoteTable:
        """The votes as tables count them."""
        return VoteTable(self.corpus)

    @cached_property
    def chance_wrong(self) -> FloatArray:
        """The chance that the label of a token is wrong, [N]."""
        lessons = getattr(self.tagger, "error_log_odds_", None)
        return error_chance(
            self.codes, self.confidences, self.text, self.table, lessons
        )

    @cached_property
    def settled(self) -> BoolArray:
        """Tokens that were known exactly: checked, or with one candidate, [N]."""
        if self.corpus.candidate_codes is not None and not self.has_votes:
            return self.corpus.candidate_codes < len(self.corpus.label_set)
        return np.asarray(self.table.exact >= 0)

    def ranking(
        self,
        unit: Literal["span", "token"] = "span",
        scores: FloatArray | None = None,
    ) -> Iterator[Look]:
        """Yield what a person should look at, the most doubtful first.

        Parameters
        ----------
        unit : {"span", "token"}
            Spans, and tokens outside all spans; or single tokens.
        scores : ndarray of shape (N,), optional
            What a look at every token is worth; by default the chance that its label
            is wrong.
        """
        if unit not in ("span", "token"):
            raise InputError(f"unit must be 'span' or 'token'; got {unit!r}.")
        if scores is None:
            scores = self.chance_wrong
        told = (self.codes, self.confidences, self.text, self.table, self.classes)
        if unit == "token":
            return rank_tokens(*told, scores)
        return rank_spans(*told, self.corpus.scheme, scores)

    def sentence_ranking(self, scores: FloatArray | None = None) -> Any:
        """Sentences by the sum over their tokens; see `tagsift.metrics`."""
        scores = self.chance_wrong if scores is None else scores
        return rank_sentences(scores, self.corpus.lengths.tolist())

    def outlook(self) -> Outlook:
        """How many labels of tokens are expected to be wrong, with a range."""
        scale = _SCALE_OF_VOTES if self.has_votes else _SCALE_OF_CANDIDATES
        return outlook(self.chance_wrong[~self.settled], scale=scale)

    # Votes --------------------------------------------------------------------------

    @cached_property
    def majority(self) -> np.ndarray[Any, Any] | None:
        """What counting alone says of every token, [N]; None without votes."""
        if not self.has_votes:
            return None
        rows = self.corpus.majority().labels
        return np.array([name for row in rows for name in row], dtype=object)

    @property
    def has_votes(self) -> bool:
        """Whether the labels were made of votes."""
        return len(self.corpus.votes.token) > 0

    @cached_property
    def majority_sentences(self) -> list[list[str]] | None:
        """What counting alone says, sentence by sentence."""
        if self.majority is None:
            return None
        return split_at(self.majority.tolist(), self.corpus.bounds)

    @cached_property
    def changed(self) -> BoolArray:
        """Whether a label differs from that of the majority, [N]."""
        if self.majority is None:
            return np.zeros(len(self.codes), dtype=bool)
        return np.asarray(self.labels != self.majority)

    @cached_property
    def annotators(self) -> tuple[AnnotatorReport, ...]:
        """The annotators against the labels found."""
        if not self.has_votes:
            return ()
        reports: tuple[AnnotatorReport, ...] = getattr(self.tagger, "annotators_", ())
        if any(one.tokens for one in reports):  # a model file knows no counts
            return reports
        by_votes = not isinstance(self.tagger, VoteTagger)
        against = self.corpus, self.sentences, self.classes
        return annotators_against(*against, by_votes=by_votes)

    # Truth --------------------------------------------------------------------------

    def scores(self, gold: list[list[str]] | None = None) -> Scores:
        """Every score of the labels against the truth: `gold`, or the corpus' own."""
        truth = self.corpus.gold if gold is None else gold
        if truth is None:
            raise InputError(
                "expected the truth to score with, found none in the corpus; give it."
            )
        return evaluate(
            truth,
            self.sentences,
            scheme=self.corpus.scheme,
            marginals=self.marginal_sentences,
            classes=self.classes,
            unknown="wrong",
        )

    @cached_property
    def calibration(self) -> tuple[str, CalibrationScores] | None:
        """How right confidences are, and by what: the truth, or tokens known exactly.

        Of what is known exactly, it is the confidences without that knowledge.
        """
        if self.corpus.gold is not None and self.marginals is not None:
            found = self.scores().calibration
            if found is not None:
                return "the true labels", found
        exact, blind = (
            self.table.exact,
            getattr(self.tagger, "marginals_without_exact_", None),
        )
        known = exact >= 0  # [N]
        if blind is None or not known.any():
            return None
        scores = calibration_scores(blind[known], exact[known])
        return f"the {int(known.sum()):,} tokens that are known exactly", scores

    # Places -------------------------------------------------------------------------

    @property
    def place_heads(self) -> tuple[str, ...]:
        """The heads of the cells of `place`."""
        return ("at",) if self.corpus.document_ids is None else ("document", "at")

    def place(self, sentence: int, token: int) -> tuple[str, ...]:
        """Where a token stands: the id of its document, if any; sentence and token."""
        ids = self.corpus.document_ids
        at = f"{sentence + 1}:{token + 1}"
        return (at,) if ids is None else (ids[sentence], at)

    # Spans --------------------------------------------------------------------------

    @cached_property
    def spans(self) -> list[list[Span]]:
        """The spans of the labels found, sentence by sentence."""
        return [spans(row, self.corpus.scheme) for row in self.sentences]

    def types(self) -> tuple[list[str], IntArray]:
        """Types of spans (of plain tags: the tags), and the type of every label, [L].

        The most frequent type comes first, and ``O`` last.
        """
        of = span_types(self.classes, self.corpus.scheme)
        counts = dict.fromkeys(of, 0)
        for k, count in enumerate(np.bincount(self.codes, minlength=len(of))):
            counts[of[k]] += int(count)
        names = sorted(counts, key=lambda name: (name == "O", -counts[name], name))
        return names, np.array([names.index(name) for name in of])

    def __repr__(self) -> str:
        return (
            f"Cleaned({len(self.corpus)} sentences, {self.corpus.n_tokens} tokens, by "
            f"{self.tagger.method.title})"
        )
