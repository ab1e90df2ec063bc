"""The result of cleaning a corpus, and every figure that is said about it.

A figure has one definition, here, whoever shows it: the command line, the report, the
review page or a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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
from tagsift.cleaned.alternatives import OUTSIDE, Alternative, SpanChain
from tagsift.cleaned.rendering import renderer
from tagsift.cleaned.saving import save
from tagsift.cleaned.writing import (
    annotators_and_ours,
    columns,
    labelled,
    ranked,
    table,
    with_tally,
)
from tagsift.data import Document, Losses, Span, spans
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, NotSupportedError
from tagsift.io import format_to_write, write
from tagsift.io.column_file import PathName
from tagsift.metrics import (
    CalibrationScores,
    Recovery,
    Scores,
    SentenceRanking,
    SpanScores,
    calibration_scores,
    evaluate,
    rank_sentences,
    recovery,
    span_scores,
)
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Cleaned"]

#: How far the log-odds of the chances may be off, for labels made of votes and of
#: candidate sets; chosen on simulated annotators, see `tagsift.annotators.outlook`.
_SCALE_OF_VOTES = 0.6
_SCALE_OF_CANDIDATES = 2.0
#: From this chance of a span on, `alternatives` are given where no span was found.
_MISSED = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Cleaned:
    """A corpus, and the labels that were found for it.

    Made by `tagsift.clean`, or opened by `tagsift.load`.

    Attributes
    ----------
    corpus : Corpus
        What was cleaned; its first labels are `classes`, in this order.
    tagger : SequenceTagger, or None where votes were only counted
        The fitted estimator.
    classes : tuple of str
        The labels, in the order of the columns of `confidences`.
    codes : ndarray of shape (N,)
        The label found for every stacked token, as its place in `classes`.
    marginals : ndarray of shape (N, L), or None
        `confidences`, where the method has any.
    fitted_to_it : bool
        Whether the tagger was fitted to this corpus, and not to another one: what it
        knows of its training tokens is of these, then.
    """

    corpus: Corpus
    tagger: Any
    classes: tuple[str, ...]
    codes: IntArray  # [N]
    marginals: FloatArray | None = None  # [N, L]
    fitted_to_it: bool = True

    # Labels -------------------------------------------------------------------------

    @cached_property
    def labels(self) -> np.ndarray[Any, Any]:
        """The label found for every stacked token, [N] strings."""
        return np.array(self.classes, dtype=object)[self.codes]

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The labels found, sentence by sentence."""
        return split_at(self.labels.tolist(), self.corpus.bounds)

    @cached_property
    def spans(self) -> list[list[Span]]:
        """The spans of the labels found, sentence by sentence."""
        return [spans(row, self.corpus.scheme) for row in self.sentences]

    @property
    def title(self) -> str:
        """The name of the method, as it is shown."""
        return "Counting" if self.tagger is None else str(self.tagger.method.title)

    @property
    def confidences(self) -> FloatArray:
        """Probability of every label of every stacked token, [N, L]."""
        if self.marginals is None:
            raise NotSupportedError(
                f"{self.title} gives no confidences; take a method that does (see: "
                "tagsift methods)."
            )
        return self.marginals

    @cached_property
    def confidence(self) -> FloatArray:
        """The confidence of the label found for every token, [N]."""
        return self.confidences[np.arange(len(self.codes)), self.codes]

    @cached_property
    def text(self) -> FloatArray:
        """What the text alone says of every label of every token, [N, L]."""
        alone = self._learnt("text_marginals_")
        if not alone:
            return self.confidences
        table = np.concatenate(alone)  # [N, L']
        return np.pad(table, ((0, 0), (0, len(self.classes) - table.shape[1])))

    def alternatives(self, sentence: int) -> list[list[Alternative]]:
        """What may be right at every span of a sentence, and where one may be missed.

        Parameters
        ----------
        sentence : int
            Its number, counted from 0.

        Returns
        -------
        list of lists of Alternative
            One list a place, in the order of the text: whole spans, and that there is
            none (type ``O``), with shares that add up to one; the likeliest first. The
            place of a span is its token that is likeliest inside of any.
        """
        first, last = self.corpus.bounds[sentence : sentence + 2]
        marginals = self.confidences[first:last]  # [T, L]
        types = tuple(span_types(self.classes, self.corpus.scheme))
        chain = SpanChain(
            marginals, self.classes, types, self.corpus.scheme, self._transitions
        )
        outside = np.array([kind == OUTSIDE for kind in types])  # [L]
        inside = 1.0 - marginals[:, outside].sum(axis=1)  # [T]
        places = {}
        free = np.ones(len(marginals), dtype=bool)  # [T]
        for one in self.spans[sentence]:
            t = one.start + int(inside[one.start : one.end].argmax())
            places[t] = chain.at(t)
            free[one.start : one.end] = False
        for t in np.argsort(-inside, kind="stable").tolist():
            if free[t] and inside[t] >= _MISSED:
                places[t] = chain.at(t)
                _, start, end, _ = next(x for x in places[t] if x.type != OUTSIDE)
                free[start:end] = False
        return [places[t] for t in sorted(places)]

    @property
    def _transitions(self) -> FloatArray | None:
        """Scores of transitions between `classes`, of the chain in the tagger, if any.

        Labels that the tagger does not know follow each other like the average ones.
        """
        inner = getattr(self.tagger, "estimator_", self.tagger)
        chain: Any = getattr(inner, "weights_", None)
        if not hasattr(chain, "transitions"):
            return None
        factor = float(getattr(self.tagger, "temperature_", 1.0))
        if inner is self.tagger:  # which divides by it
            factor = 1.0 / factor
        scores = factor * np.asarray(chain.transitions)  # [L', L']
        more = len(self.classes) - len(scores)
        return np.pad(scores, (0, more), constant_values=float(np.median(scores)))

    # Doubt --------------------------------------------------------------------------

    @cached_property
    def table(self) -> VoteTable:
        """The votes as tables count them, over `classes`."""
        return VoteTable(self.corpus)

    @cached_property
    def chance_wrong(self) -> FloatArray:
        """The chance that the label of a token is wrong, [N]."""
        lessons = self._learnt("error_log_odds_")
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
        state = (self.codes, self.confidences, self.text, self.table, self.classes)
        if unit == "token":
            return rank_tokens(*state, scores)
        return rank_spans(*state, self.corpus.scheme, scores)

    def sentence_ranking(self, scores: FloatArray | None = None) -> SentenceRanking:
        """Sentences by the sum over their tokens; see `tagsift.metrics`."""
        scores = self.chance_wrong if scores is None else scores
        return rank_sentences(scores, self.corpus.lengths.tolist())

    def outlook(
        self,
        chances: npt.ArrayLike | None = None,
        asked: npt.ArrayLike = (),
        wrong: npt.ArrayLike = (),
    ) -> Outlook:
        """How many labels are expected to be wrong, with a range.

        Of tokens that nobody has checked, or of looks with `chances` of being wrong;
        with what looks at chances `asked` have shown to be `wrong`.
        """
        scale = _SCALE_OF_VOTES if self.has_votes else _SCALE_OF_CANDIDATES
        chances = self.chance_wrong[~self.settled] if chances is None else chances
        return outlook(chances, asked, wrong, scale=scale)

    # Votes --------------------------------------------------------------------------

    @property
    def has_votes(self) -> bool:
        """Whether the labels were made of votes."""
        return len(self.corpus.votes.token) > 0

    @cached_property
    def majority(self) -> list[list[str]] | None:
        """What counting alone says, sentence by sentence; None without votes."""
        return self.corpus.majority().labels if self.has_votes else None

    @cached_property
    def changed(self) -> BoolArray:
        """Whether a label differs from that of the majority, [N]."""
        if self.majority is None:
            return np.zeros(len(self.codes), dtype=bool)
        flat = np.array([name for row in self.majority for name in row], dtype=object)
        return np.asarray(self.labels != flat)

    @cached_property
    def annotators(self) -> tuple[AnnotatorReport, ...]:
        """The annotators against the labels found."""
        if not self.has_votes:
            return ()
        reports: tuple[AnnotatorReport, ...] | None = self._learnt("annotators_")
        if reports:
            return reports
        by_votes = not isinstance(self.tagger, VoteTagger)
        against = self.corpus, self.sentences, self.classes
        return annotators_against(*against, by_votes=by_votes)

    # Truth --------------------------------------------------------------------------

    def scores(self, gold: list[list[str]] | None = None) -> Scores:
        """Every score of the labels against the truth: `gold`, or the corpus' own."""
        marginals = self.marginals
        return evaluate(
            self._truth(gold),
            self.sentences,
            scheme=self.corpus.scheme,
            marginals=(
                None if marginals is None else split_at(marginals, self.corpus.bounds)
            ),
            classes=self.classes,
            unknown="wrong",
        )

    def majority_scores(self, gold: list[list[str]] | None = None) -> SpanScores:
        """Scores of what counting alone says, against the same truth."""
        if self.majority is None:
            raise InputError("expected votes to count, found none in the corpus.")
        return span_scores(self._truth(gold), self.majority, scheme=self.corpus.scheme)

    def recovery(self, gold: list[list[str]] | None = None) -> Recovery:
        """How many labels are right, of all tokens and of those that were open.

        The candidates of votes are their union.
        """
        sets = self.corpus.union().candidates if self.has_votes else None
        return recovery(
            self._truth(gold), self.sentences, sets or self.corpus.candidates or ()
        )

    def _truth(self, gold: list[list[str]] | None) -> list[list[str]]:
        truth = self.corpus.gold if gold is None else gold
        if truth is None:
            raise InputError(
                "expected the truth to score with, found none in the corpus; give it."
            )
        return truth

    @cached_property
    def unpinned(self) -> FloatArray | None:
        """The confidences of checked tokens, had nobody checked them, [C, L]."""
        blind = self._learnt("marginals_without_exact_")  # [N, L]
        return None if blind is None else blind[self.table.exact >= 0]

    @cached_property
    def calibration(self) -> tuple[str, CalibrationScores] | None:
        """How right confidences are, and by what: the truth, or tokens known exactly.

        Of what is known exactly, it is the confidences without that knowledge.
        """
        if self.corpus.gold is not None and self.marginals is not None:
            by_truth = self.scores().calibration
            if by_truth is not None:
                return "the true labels", by_truth
        if self.unpinned is None or not len(self.unpinned):
            return None
        exact = self.table.exact[self.table.exact >= 0]  # [C]
        by_people = calibration_scores(self.unpinned, exact)
        return f"the {len(exact):,} tokens that are known exactly", by_people

    def _learnt(self, name: str) -> Any:
        """What the tagger knows of the tokens of this corpus."""
        return getattr(self.tagger, name, None) if self.fitted_to_it else None

    # Places and types ---------------------------------------------------------------

    @property
    def place_heads(self) -> tuple[str, ...]:
        """The heads of the cells of `place`."""
        return ("at",) if self.corpus.document_ids is None else ("document", "at")

    def place(self, sentence: int, token: int) -> tuple[str, ...]:
        """Where a token stands: the id of its document, if any; sentence and token."""
        ids = self.corpus.document_ids
        at = f"{sentence + 1}:{token + 1}"
        return (at,) if ids is None else (ids[sentence], at)

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

    # Out ----------------------------------------------------------------------------

    def documents(self, min_confidence: float = 0.0) -> Iterator[Document]:
        """The documents of the corpus, with the labels found as one more layer."""
        return labelled(self, min_confidence)

    def columns(self, min_confidence: float = 0.0) -> Iterator[list[tuple[str, ...]]]:
        """Per sentence, rows of a column file: the text, the label, its confidence.

        Of votes, their tally and whether the label differs from the majority follow.
        """
        return columns(self, min_confidence)

    def write(
        self,
        path: PathName,
        to: str | None = None,
        *,
        min_confidence: float = 0.0,
        scores: FloatArray | None = None,
        **options: Any,
    ) -> Losses:
        """Write documents with the labels found as one more annotator.

        Parameters
        ----------
        path : path-like
            The file or folder, written whole or not at all, or ``-``.
        to : str, optional
            The format; by default that of the path's ending. ``label-studio`` gets the
            labels alone, as predictions to import (``shape="full"``: beside the
            annotators').
        min_confidence : float
            Leaves out spans whose least sure token is less sure.
        scores : ndarray of shape (N,), optional
            What a look at every token is worth: the documents come by falling sums.
        **options
            As in `tagsift.write`.
        """
        form = format_to_write(path, to)
        documents: Iterable[Document] = labelled(
            self, min_confidence, as_spans=not form.tokens
        )
        if form.name == "csv" and self.has_votes:
            documents = with_tally(self, documents)
        if scores is not None:
            documents = ranked(self, documents, scores)
        if form.tokens:  # beside the annotators, in their order
            options["info"] = annotators_and_ours(self.corpus)
        return write(documents, path, form.name, added=True, **options)

    def to(
        self, kind: Literal["pandas", "arrow", "datasets"], *, soft: bool = False
    ) -> Any:
        """A table of the tokens with their labels, or a data set of the sentences.

        With `soft`, the probability of every label is in it, too.
        """
        return table(self, kind, soft=soft)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as one file, whole or not at all; `tagsift.load` opens it.

        It holds the corpus, the tagger and every figure, as numbers and JSON.
        """
        save(self, path)

    def report(self, path: str | PathLike[str] | None = None, **about: Any) -> Any:
        """The report on this result, and its HTML page at `path`, if one is given.

        `about` is what `tagsift.report.data_report` takes, such as its ``title``.
        """
        return renderer().report(self, path, **about)

    def _repr_html_(self) -> str:
        return renderer().fragment(self)

    def __repr__(self) -> str:
        return (
            f"Cleaned({len(self.corpus)} sentences, {self.corpus.n_tokens} tokens, by "
            f"{self.title})"
        )
