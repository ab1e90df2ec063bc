"""VoteTagger: clean labels, a tagger and honest confidences from disagreeing votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from tagsift.annotators.annotator_report import AnnotatorReport, describe, quiet_sources
from tagsift.annotators.confusion import vote_evidence
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.annotators.cross_fit import CrossFit
from tagsift.annotators.from_votes import TaggerFromVotes, of_votes, votes_of
from tagsift.annotators.held_out_annotators import lessons
from tagsift.annotators.initialise import first_tables, vote_shares
from tagsift.annotators.new_votes import check_known, weigh_votes
from tagsift.annotators.ranking import Look, error_chance, rank_spans, rank_tokens
from tagsift.annotators.rounds import Chains, Consensus, Plan, run_rounds
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.sharded_chains import KeptRounds, ShardedChains
from tagsift.annotators.text_model import TextModel
from tagsift.annotators.text_views import text_views
from tagsift.annotators.vote_table import VoteTable
from tagsift.base import Method, TrainingSet, Transduction, setting
from tagsift.base.corpora import text_and_corpus
from tagsift.base.training_set import AnyTrainingSet
from tagsift.baselines import PartialCRF
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainProblem
from tagsift.chain.potentials import Allowed
from tagsift.chain_gp import ChainGP
from tagsift.data import allowed_transitions
from tagsift.data.annotators import AnnotatorKind
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, NotSupportedError, TagsiftWarning
from tagsift.progress import warn_user
from tagsift.storage.state import Saved, array, listed, number, word
from tagsift.typing import FloatArray, Label

__all__ = ["VoteTagger"]

#: Score of a transition that the tag scheme forbids, in the fitted tagger.
_NEVER = -30.0


class VoteTagger(TaggerFromVotes):
    """Tagger learnt from the votes of annotators who err, each in their own way.

    In rounds, the tables of the annotators (the chance of a vote given the truth and
    the vote before) make evidence of the votes, a text model that has not seen the
    votes on a sentence judges how much that evidence is worth, and both together give
    the labels, from which the tables of people are counted again; those of models and
    sources are counted once. The rounds begin with MACE and with the union of the
    votes, and the likelier goes on. The tagger is fitted on the evidence itself. See
    `tagsift.annotators.rounds`.

    Parameters
    ----------
    estimator : ChainGP or PartialCRF, optional
        The text model and tagger; None for ``PartialCRF(l2=3)``.
    o_means : "outside", "abstain", dict or None
        What the vote ``O`` means; see `TaggerFromVotes`.
    rounds : int
        Rounds of labels and tables.
    folds : int
        Parts of the sentences, each judged by a text model fitted on the others; with 1
        the text has seen the votes, which makes it repeat them.
    strength : float
        Pseudo-votes of all annotators in the table of each.
    temper : float, optional
        Weight τ of the votes; chosen by the text where none is given.
    context : bool
        Whether people's votes hang on their vote on the token before.
    n_jobs : int, optional
        Text models fitted at a time, as in joblib.
    engine : Engine, optional
        Who works on the text, in shards: a `LocalEngine`, or one of `tagsift.engines`;
        a model file does not keep it. Votes and evidence stay with the driver.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.

    Attributes
    ----------
    transduction_, confidences_ : lists
        Labels of the training text, and the probability of every label. The truth may
        lie outside all votes.
    annotators_ : tuple of AnnotatorReport
        Name, tokens, reliability, span F1 against the labels, confusion and flags. A
        model file keeps name, reliability and confusion.
    text_marginals_ : list of ndarray of shape (T, L)
        What the text alone says of the training tokens; not saved.
    vote_weight_ : float
        Weight τ of the votes.
    guessed_kinds_ : dict of str
        Annotators of unknown kind who vote as models do: they are taken for such. Say
        what they are (``kinds=``), and nothing is guessed. Not saved.
    temperature_ : float
        Factor T of all scores in the confidences, estimated from this corpus without a
        known label: from the votes that contradict the labels and the weight that the
        text gives to votes. See `tagsift.annotators.temperature`.
    error_log_odds_ : ndarray of shape (N,), or None
        By how much the labels of stacked tokens are likelier wrong than confidences and
        text say, as log-odds, told by annotators who are left out and by tokens that
        are known exactly; found when first asked for, not saved.
    marginals_without_exact_ : ndarray of shape (N, L), or None
        What text and votes say of stacked tokens without what is known exactly; not
        saved.
    history_ : list of dict
        τ, the judge's score and the share of changed labels of every round.
    estimator_ : fitted estimator
        The tagger.

    Examples
    --------
    >>> from tagsift.annotators import VoteTagger
    >>> from tagsift.data.corpus import Corpus
    >>> rows = [["the", "cat"], ["a", "dog"]] * 4
    >>> votes = [[("D", "D", "N"), ("N", "N", None)]] * 8
    >>> corpus = Corpus.from_lists(rows, votes=votes, annotators=["ann", "bob", "eve"])
    >>> VoteTagger().fit(corpus).transduction_[0]
    ['D', 'N']
    """

    method: ClassVar[Method] = Method(
        name="vote-tagger",
        title="VoteTagger",
        family="annotator model and chain",
        disambiguation="votes weighed by the text",
        structured=True,
        probabilities=True,
        votes=True,
        settings="{rounds}, {folds}, {strength}",
        cost="rounds × folds fits of the chain",
        source="this package",
    )
    saved: ClassVar[Saved] = {
        "names_": listed("A", word()),
        "log_pi_": array("A L B L", most=1e-9),  # logarithms of probabilities
        "vote_weight_": number(above=0),
        "temperature_": number(above=0, most=1),
        "reliability_": listed("A", number(optional=True, least=0, most=1)),
    }
    _check_params: ClassVar[dict[str, Any]] = {"rounds": 2, "folds": 2}

    rounds: int = setting(4, least=1)
    folds: int = setting(5, least=1)
    strength: float = setting(20.0, above=0)
    temper: float | None = setting(None, above=0)
    context: bool = setting(True)
    n_jobs: int | None = setting(None)
    engine: Any = setting(None)

    _seen: tuple[Consensus, FloatArray] | None = None
    _lessons: FloatArray | None = None

    def update(self, X: Any, y: Any = None) -> Self:
        """Fit again, with more votes, from what is known of the annotators.

        Parameters
        ----------
        X, y
            As in `fit`: all sentences and votes that there are now.

        Returns
        -------
        self
        """
        self._check_fitted()
        X, corpus = votes_of(X, y, self.method.title)
        self.check_settings()
        check_known(corpus, self.names_, self.classes_)
        tables = dict(zip(self.names_, self.log_pi_, strict=True))
        rounds = min(self.rounds, CONSTANTS.update_rounds)
        labels = tuple(self.labels or self.classes_)
        return self._fit_votes(X, corpus, labels, rounds=rounds, tables=tables)

    @property
    def error_log_odds_(self) -> FloatArray | None:
        """By how much labels are likelier wrong than confidences and text say, [N]."""
        self._check_fitted()
        if self._lessons is None and self._seen is not None:
            reliability = [one.reliability for one in self.annotators_]  # [A]
            self._lessons = lessons(*self._seen, np.nan_to_num(reliability))  # [N]
        return self._lessons

    @property
    def marginals_without_exact_(self) -> FloatArray | None:
        """Marginals of the stacked tokens without what is known exactly, [N, L]."""
        self._check_fitted()
        if self._seen is None:
            return None
        found, weights = self._seen
        votes = vote_evidence(found.log_pi, found.table, weights)  # [N, L]
        return np.asarray(found.marginals(votes))

    def looks(self, unit: Literal["token", "span"] = "token") -> Iterator[Look]:
        """Yield what a second look pays for most, of the training text, in that order.

        Parameters
        ----------
        unit : {"token", "span"}
            Tokens, or whole spans, and tokens outside them: neighbours that are likely
            a span which was missed as one, the others one by one.

        Yields
        ------
        Look
            Place, label, the chance that it is wrong, the votes, and a reason.
        """
        self._check_fitted()
        if unit not in ("token", "span"):
            raise InputError(f"unit must be 'token' or 'span'; got {unit!r}.")
        if self._seen is None:
            raise NotSupportedError(
                "a model file does not hold the votes; fit on them to rank them."
            )
        found, _ = self._seen
        confidences = np.concatenate(self.confidences_)  # [N, L]
        told = (found.labels, confidences, found.text, found.table)
        chance = error_chance(*told, self.error_log_odds_)  # [N]
        if unit == "token":
            return rank_tokens(*told, self.classes_, chance)
        return rank_spans(*told, self.classes_, self.scheme_, chance)

    def recover(
        self, X: Any, y: Any = None
    ) -> tuple[list[list[Label]], list[FloatArray] | None]:
        """Find the labels of new sentences with votes, without fitting again.

        Parameters
        ----------
        X : Corpus
            With votes of annotators who are known from the fit as far as possible; or
            sentences with candidate sets `y`, as in `SequenceTagger.recover`.

        Returns
        -------
        labels, confidences
            As in `SequenceTagger.recover`.
        """
        given = X, y
        X, corpus = text_and_corpus(X, y)
        if corpus is None or not of_votes(corpus):
            return super().recover(*given)
        self._check_fitted()
        check_known(corpus, self.names_, self.classes_)
        table = self._table(corpus, self.classes_)
        known = self.names_, self.log_pi_, self.vote_weight_
        return super().recover(X, weigh_votes(table, *known))

    # How it works ----------------------------------------------------------------

    def _aggregate(
        self,
        train: AnyTrainingSet,
        table: VoteTable,
        rounds: int | None = None,
        tables: Mapping[str, FloatArray] | None = None,
    ) -> Transduction:
        """Run `rounds`, if not as many as the settings say, from earlier `tables`."""
        table = replace(table, context=self.context)
        quiet = quiet_sources(table)
        if quiet and self.o_means is None:
            warn_user(
                f"{', '.join(quiet)} hardly ever say anything but O where others do; "
                "if they abstain by it, as rules and dictionaries do, say so by "
                "o_means='abstain' or by name, else by o_means='outside'.",
                TagsiftWarning,
            )
        groups = copy_groups(table)
        weights = copy_weights(table, groups)  # [A]
        inner = self._new_estimator()
        text: TextModel = inner
        plan = self._plan(train, rounds)
        start = self._earlier(table, weights, tables) if tables else None
        chains, problem = self._chains(text, train, plan)
        kept = None
        if isinstance(chains, ShardedChains) and train.checkpoint is not None:
            same = replace(plan, n_jobs=None, verbose=False)
            told = table.token, table.annotator, table.code, table.exact, table.abstains
            kept = KeptRounds.of(train.checkpoint, chains, same, *told, table.models)
        found = run_rounds(chains, table, weights, plan, start, kept)
        bonus = found.bonus_of_new_text(train.classes, train.scheme)
        chain = chains.whole(found.evidence, CONSTANTS.tagger_steps)
        text.take_chain(_banned(chain, _way_through(train)), problem, bonus)
        self._take(inner)
        self.names_, self.log_pi_ = table.names, found.log_pi
        self.vote_weight_ = found.history[-1]["temper"]
        self.temperature_ = found.temperature
        self.history_ = found.history
        self.text_marginals_ = split_at(found.text, train.offsets)
        self._seen, self._lessons = (found, weights), None
        pairs = zip(table.corpus.annotators, found.table.models, strict=True)
        self.guessed_kinds_: dict[str, AnnotatorKind] = {
            one.name: "model" for one, model in pairs if model and one.kind == "unknown"
        }
        several = len(np.unique(table.annotator)) > 1
        self.annotators_: tuple[AnnotatorReport, ...] = describe(
            table,
            found.labels,
            train.classes,
            train.scheme,
            groups,
            weights,
            judged=np.full(table.n_annotators, several),
        )
        self.reliability_ = [
            None if np.isnan(one.reliability) else one.reliability
            for one in self.annotators_
        ]
        return Transduction(found.labels, found.confidences)

    def _chains(
        self, text: TextModel, train: AnyTrainingSet, plan: Plan
    ) -> tuple[Chains, ChainProblem | None]:
        """The text models, in memory or of an engine, and what the first is fitted to.

        Those of an engine are of a text without word vectors.
        """
        allowed = _way_through(train)
        if isinstance(train, TrainingSet):
            problem = replace(text.chain_problem(train), allowed=allowed)
            views = text_views(problem, train.features.dense, train.seed)
            return CrossFit(views, plan.parts, plan.seed, plan.n_jobs), problem
        if not isinstance(text, PartialCRF):
            raise InputError("with an engine the estimator must be a PartialCRF.")
        if plan.vectors:
            raise InputError(
                "with an engine VoteTagger takes templates, no word vectors; leave out "
                "the encoder or the engine."
            )
        penalties = [text.l2, CONSTANTS.tighter * text.l2]
        return ShardedChains(train, penalties, allowed, self.folds, train.seed), None

    def _plan(self, train: AnyTrainingSet, rounds: int | None) -> Plan:
        return Plan(
            rounds=self.rounds if rounds is None else rounds,
            parts=self.folds,
            strength=self.strength,
            weight=self.temper,
            vectors=not all(sparse for _, _, sparse in train.columns),
            scale=CONSTANTS.chain_gp if isinstance(self.estimator, ChainGP) else 1.0,
            seed=train.seed,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _earlier(
        self, table: VoteTable, weights: FloatArray, tables: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Tables of an earlier fit; of new annotators, those before any text."""
        shares = vote_shares(table)  # [N, L]
        log_pi = first_tables(shares, table, weights, strength=self.strength)
        for a, name in enumerate(table.names):
            before = tables.get(name)
            if before is not None and before.shape == log_pi[a].shape:
                log_pi[a] = before
        return log_pi

    def _restored(self) -> None:
        super()._restored()
        self.history_, self.text_marginals_, self.guessed_kinds_ = [], [], {}
        self._seen, self._lessons = None, None
        each = zip(self.names_, self.log_pi_, self.reliability_, strict=True)
        self.annotators_ = tuple(AnnotatorReport.of_table(*one) for one in each)


def _way_through(train: AnyTrainingSet) -> Allowed | None:
    """What the tag scheme allows; None where that is everything, or leads nowhere."""
    if train.scheme == "plain":
        return None
    names = [str(name) for name in train.classes]
    between, first, last = allowed_transitions(names, train.scheme)
    if first.any() and last.any() and between.any(axis=1).all():
        return between, first, last
    return None


def _banned(chain: LinearChain, allowed: Allowed | None) -> LinearChain:
    """The same chain, in which what the scheme forbids scores very little."""
    if allowed is None:
        return chain
    between, first, _ = allowed
    return replace(
        chain,
        transitions=np.where(between, chain.transitions, _NEVER),
        start=np.where(first, chain.start, _NEVER),
    )
