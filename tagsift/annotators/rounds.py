"""From votes to labels, in rounds: annotators → evidence → text → labels → annotators.

A round counts the annotators' tables under the current labels, lets the text choose the
weight τ of the votes, fits the text models on the tempered evidence, and decodes scores
and evidence together. At the end the corpus tells how sure confidences may be. See the
modules `tables`, `judge`, `views`, `cross_fit` and `calm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.cross_fit import TextScores
from tagsift.annotators.initialise import vote_shares
from tagsift.annotators.temperature import calm_factor
from tagsift.annotators.vote_table import VoteTable
from tagsift.annotators.vote_weight import (
    TEMPERS,
    choose_temper,
    hinge,
    least_temper,
    looks_like_models,
)
from tagsift.progress import progress
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "Chains",
    "Consensus",
    "History",
    "Kept",
    "Plan",
    "run_rounds",
    "weight_limits",
]

#: τ, the judge's score and the share of changed labels of every round.
History: TypeAlias = list[dict[str, Any]]

#: The weight τ of votes before there is any text (people's votes count no more beside a
#: text with word vectors), and the least later: of people, and where all abstain.
_PEOPLE, _SOURCES = (0.3, 0.25), (0.6, 0.6)
#: How many votes' worth of evidence a token has at least, and the largest least τ.
_WORTH, _FEW = 1.1, 0.6
#: The share of the table without context in that of a model; how many votes' worth of
#: evidence models give a token at least, and limits of the least τ from that.
_ANEW, _WORTH_OF_MODELS, _OF_MODELS = 0.5, 2.1, (0.5, 0.7)


@dataclass(frozen=True)
class Plan:
    """How the rounds are run."""

    rounds: int = 4
    parts: int = 5  # that the sentences are dealt into, by `seed`
    strength: float = 20.0  # pseudo-votes of the pooled table in each annotator's
    temper: float | None = None  # weight τ of the votes; None: chosen by the text
    first: int = 40  # quasi-Newton steps of the first round
    later: int = 15  # and of the others
    vectors: bool = False  # whether the text has word vectors
    scale: float = 1.0  # T of the confidences against that of a partial CRF
    seed: int = 0
    n_jobs: int | None = None  # chains fitted at a time
    verbose: bool = False


@dataclass(frozen=True)
class Consensus:
    """What the rounds found."""

    labels: IntArray  # [N]  the best sequences of text and votes
    confidences: FloatArray  # [N, L]  marginals of text and votes together, calmed
    text: FloatArray  # [N, L]  marginals of texts fitted without the sentence
    evidence: FloatArray  # [N, L]  tempered; −inf for what exact labels rule out
    log_pi: FloatArray  # [A, L, B, L]  tables of the annotators
    temper: float  # weight τ of the votes
    calm: float  # factor T of all scores in `confidences`
    history: History  # τ, judge's score, share of changed labels by round
    model: TextScores  # the text


class Chains(Protocol):
    """Text models that are fitted again and again."""

    def fit(self, evidence: FloatArray, max_iter: int) -> TextScores:
        """Fit every model on the evidence of the sentences it does not score."""


class Kept(Protocol):
    """Where the rounds are kept, for a fit that is killed."""

    def write(self, history: History, labels: IntArray, text: FloatArray) -> None:
        """Keep what is known after a round."""

    def read(self) -> tuple[History, IntArray, FloatArray] | None:
        """What was kept, or None where there is nothing."""


def run_rounds(
    chains: Chains,
    table: VoteTable,
    weights: FloatArray,
    plan: Plan,
    log_pi: FloatArray,
    kept: Kept | None = None,
) -> Consensus:
    """Find labels, confidences and the annotators' tables, starting from `log_pi`.

    With `kept` they go on with the round that was kept last.
    """
    people = ~table.abstains  # [A]
    usual, least, of_models = weight_limits(table, weights)
    most = usual if plan.vectors and people.any() else TEMPERS[-1]
    temper = plan.temper or usual
    shares, pinned = vote_shares(table), table.pinned  # [N, L], [N, L]
    counts = count_votes(shares, table)  # [A, L, B, L]
    labels, text, score = shares.argmax(axis=1), shares, 0.0  # [N], [N, L], []
    history: History = []
    models = 0.0  # how far the votes are those of models
    if kept is not None and (last := kept.read()) is not None:
        history, labels, text = last
        temper, score = history[-1]["temper"], history[-1]["judge"]
    rounds = range(len(history), plan.rounds)
    for r in progress(rounds, "votes: rounds", enabled=plan.verbose):
        if r:
            truth = np.eye(table.n_labels)[labels]  # [N, L]
            counts[people] = count_votes(truth, table)[people]
            log_pi, models = _tables(counts, text, table, weights, plan)
        votes = vote_evidence(log_pi, table, weights)  # [N, L]
        if r and plan.temper is None:
            floor = max(least, hinge(models) * of_models)
            if people.any():
                floor = least_temper(text, votes, table.voted, floor)
            temper, score = choose_temper(text, votes, table.voted, floor, most)
        evidence = temper * votes + pinned  # [N, L]
        model = chains.fit(evidence, plan.later if r else plan.first)
        found, text = model.best(evidence), model.marginals()  # [N], [N, L]
        changed = float((found != labels).mean())
        labels = found
        history.append({"temper": temper, "judge": score, "changed": changed})
        if kept is not None and r + 1 < plan.rounds:  # the last gives the model, too
            kept.write(history, labels, text)
    calm = calm_factor(labels, text, votes, table, weights, plan.scale, models)
    return Consensus(
        labels,
        model.marginals(evidence, calm),
        text,
        evidence,
        log_pi,
        temper,
        calm,
        history,
        model,
    )


def _tables(
    counts: FloatArray,
    text: FloatArray,
    table: VoteTable,
    weights: FloatArray,
    plan: Plan,
) -> tuple[FloatArray, float]:
    """Tables for the counts, [A, L, B, L], and how far votes are those of models."""
    abstains, voted, strength = table.abstains, table.voted, plan.strength
    log_pi = confusion_tables(counts, abstains, strength)
    if table.n_contexts == 1 or not voted.any():
        return log_pi, 0.0
    plain = confusion_tables(counts, abstains, strength, followed=0.0)
    both = (vote_evidence(pi, table, weights)[voted] for pi in (log_pi, plain))
    models = looks_like_models(text[voted], *both, vectors=plan.vectors)
    if hinge(models):
        followed = 1.0 - _ANEW * hinge(models)
        log_pi = confusion_tables(counts, abstains, strength, followed)
    return log_pi, models


def weight_limits(table: VoteTable, weights: FloatArray) -> tuple[float, float, float]:
    """The weight τ before there is any text, the least later, and the least of models.

    Where there are few votes on a token they are worth more each: the text would
    overrule two annotators who agree. Copies count as one.
    """
    people = ~table.abstains  # [A]
    if not people.any():
        return *_SOURCES, _SOURCES[1]
    theirs = people[table.annotator]  # [K]
    voted = table.sum_by_token(theirs) > 0  # [N]
    on_a_token = table.sum_by_token(theirs * weights[table.annotator])[voted]  # [N']
    n = float(on_a_token.mean()) if len(on_a_token) else 1.0
    usual, least = (np.clip(_WORTH / n, limit, _FEW) for limit in _PEOPLE)
    return float(usual), float(least), float(np.clip(_WORTH_OF_MODELS / n, *_OF_MODELS))
