r"""From votes to labels by expectation–maximisation, with a text that judges between.

The m-step counts the annotators' tables under the current labels. The e-step weighs the
votes by τ, fits the text on that evidence, without the sentences it scores, and decodes
text and votes together. Three questions are answered around these rounds.

**Where they begin.** They end near where they begin. MACE knows who is careless but
reads no text; a text fitted on the union of the votes reads, and knows nothing of
annotators. Both have some rounds, and that of MACE goes on where it
makes the votes likelier by some margin (near it, what unites both),

.. math:: \frac{1}{K} \sum_n \log \sum_y q(n, y) \prod_a \pi_a(v_{na} \mid y),

with q the text, which has not seen the K votes on the sentences.

**Whose tables are counted again.** A text learns the habits of a machine, and vouches
for whoever is most consistent. So machines are counted once: sources under the shares
of their votes; models, where people have looked as well, under what people and text
say. Models among themselves are counted in rounds, like people.

**How sure it all is**: `Consensus.marginals`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.special import logsumexp

from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.cross_fit import TextScores
from tagsift.annotators.initialise import first_tables, union_evidence, vote_shares
from tagsift.annotators.kinds import guess_models
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.temperature import confidence_temperature
from tagsift.annotators.vote_table import VoteTable
from tagsift.annotators.vote_weight import WeightLimits, choose_weight, preferred_weight
from tagsift.annotators.whole_spans import settled
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.span_bonus import expected_f1, span_bonus
from tagsift.data import opening_transitions
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Chains",
    "Consensus",
    "History",
    "Kept",
    "Plan",
    "Trail",
    "run_rounds",
    "vote_likelihood",
]

#: τ, the judge's score and the share of changed labels of every round.
History: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """How the rounds are run."""

    rounds: int = 4
    parts: int = 5  # that the sentences are dealt into, by `seed`
    strength: float = 20.0  # pseudo-votes of the pooled table in each annotator's
    weight: float | None = None  # τ of the votes; None: chosen by the text
    vectors: bool = False  # whether the text has word vectors
    scale: float = 1.0  # T of the confidences against that of a partial CRF
    seed: int = 0
    n_jobs: int | None = None  # chains fitted at a time
    verbose: bool = False


@dataclass(frozen=True)
class Trail:
    """Where the rounds from one beginning stand."""

    name: str
    log_pi: FloatArray  # [A, L, B, L]  tables of the annotators
    labels: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [N]
    text: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # [N, L]
    history: History = field(default_factory=list)
    chains: list[FloatArray] = field(default_factory=list)  # their parameters
    model: TextScores | None = None


@dataclass(frozen=True)
class Consensus:
    """What the rounds ended with."""

    table: VoteTable  # with the kinds of annotators that were guessed
    labels: IntArray  # [N]  the best sequences of text and votes
    confidences: FloatArray  # [N, L]  marginals of text and votes together
    text: FloatArray  # [N, L]  marginals of texts fitted without the sentence
    evidence: FloatArray  # [N, L]  weighed; −inf for what exact labels rule out
    log_pi: FloatArray  # [A, L, B, L]  tables of the annotators
    weights: tuple[float, float]  # τ of the two posteriors
    temperature: float  # factor T of all scores in `confidences`
    history: History
    model: TextScores  # the text

    def marginals(self, votes: FloatArray, pinned: FloatArray | float = 0.0) -> Any:
        """Marginals of text and votes together, [N, L]: the mean of two posteriors.

        One has the weight τ of the labels, the other half of it. Each is off in another
        direction: the first takes repeated errors for agreement, the second believes a
        text that has learnt from silence.
        """
        both = [
            self.model.marginals(weight * votes + pinned, self.temperature)
            for weight in self.weights
        ]
        return np.mean(both, axis=0)

    def bonus_of_new_text(self, classes: Any, scheme: str) -> float:
        """Bonus of a span in text without votes; plain tags have none.

        New text is known less well: it follows from the F1 that the confidences, which
        know the votes, promise to the labels of the text alone.
        """
        if scheme == "plain":
            return 0.0
        _, inside = opening_transitions([str(name) for name in classes], scheme)  # [L]
        labels = self.model.best(np.zeros_like(self.evidence))  # [N]
        f1 = expected_f1(labels, self.confidences, inside)
        return span_bonus(f1, 1.0 / self.temperature)


class Chains(Protocol):
    """Text models that are fitted again and again."""

    parameters: list[FloatArray]  # where the next fit begins; empty: at nothing

    def fit(self, evidence: FloatArray, max_iter: int) -> TextScores:
        """Fit every model on the evidence of the sentences it does not score."""

    def whole(self, evidence: FloatArray, max_iter: int) -> LinearChain:
        """Fit a chain like the first to all sentences."""


class Kept(Protocol):
    """Where the rounds are kept, for a fit that is killed."""

    def write(self, trails: list[Trail]) -> None:
        """Keep what is known after a round."""

    def read(self) -> list[Trail]:
        """What was kept."""


def vote_likelihood(text: FloatArray, votes: FloatArray, voted: BoolArray) -> float:
    """Log-likelihood of the votes, their evidence being [N, L]."""
    prior = np.log(text[voted] + 1e-9)  # [N', L]
    return float(logsumexp(prior + votes[voted], axis=1).sum())


def run_rounds(
    chains: Chains,
    table: VoteTable,
    weights: FloatArray,
    plan: Plan,
    tables: FloatArray | None = None,
    kept: Kept | None = None,
) -> Consensus:
    """Find labels, confidences and the annotators' tables.

    `weights` are those of the annotators, [A]. Earlier `tables` are a beginning of
    their own; with `kept` the rounds go on where they were killed.
    """
    rounds = _Rounds(chains, table, weights, plan, kept)
    return rounds.consensus(rounds.all(tables))


class _Rounds:
    def __init__(
        self,
        chains: Chains,
        table: VoteTable,
        weights: FloatArray,
        plan: Plan,
        kept: Kept | None,
    ) -> None:
        self.chains, self.table, self.weights = chains, table, weights
        self.plan, self.kept = plan, kept
        self.limits = WeightLimits.of(table, weights, plan.vectors)
        self.of_sources = count_votes(vote_shares(table), table)  # [A, L, B, L]
        self.trails = {one.name: one for one in (kept.read() if kept else [])}

    def all(self, tables: FloatArray | None) -> Trail:
        """The rounds that the kinds of annotators ask for."""
        table, strength = self.table, self.plan.strength
        if table.abstains.all():
            once = confusion_tables(self.of_sources, table.abstains, strength)
            trail = Trail("sources", log_pi=once if tables is None else tables)
            return self.e_step(trail, table)
        if tables is not None:
            return self.run(Trail("tables", log_pi=tables), table)
        trail = self.trial(table)
        guessed = guess_models(trail, table, vectors=self.plan.vectors)  # [A]
        if guessed.any():
            self.table = table = table.with_models(guessed)
            self.limits = WeightLimits.of(table, self.weights, self.plan.vectors)
        if table.models.any() and table.people_lead:
            by_people = self.people_first()
            likely = [self.likelihood(one, table) for one in (by_people, trail)]
            if likely[0] >= CONSTANTS.people_first * likely[1]:
                return by_people
        self.chains.parameters = trail.chains
        return self.run(trail, table)

    def trial(self, table: VoteTable, prefix: str = "") -> Trail:
        """Some rounds from either beginning; then one of them, or what unites both.

        MACE goes on where it makes the votes likelier by twice the margin, the union
        where it does so by less than the margin.
        """
        if prefix + "both" in self.trails:
            return self.begin(prefix + "both", table)
        n = min(CONSTANTS.trial_rounds, self.plan.rounds)
        by_mace, by_union = ends = [
            self.run(self.begin(prefix + name, table), table, n)
            for name in ("mace", "union")
        ]
        gain = self.likelihood(by_mace, table) - self.likelihood(by_union, table)
        share = gain / (CONSTANTS.margin * max(len(table.token), 1)) - 1  # of MACE
        if not 0 < share < 1 or n == self.plan.rounds:
            best = by_mace if share > 0.5 else by_union
            self.chains.parameters = best.chains
            return best
        parts = list(zip((share, 1 - share), ends, strict=True))
        each = np.eye(table.n_labels)  # [L, L]
        truth = sum(part * each[one.labels] for part, one in parts)  # [N, L]
        text = sum(part * one.text for part, one in parts)  # [N, L]
        log_pi = self.m_step(np.asarray(truth), table)
        begun = Trail(
            prefix + "both", log_pi, by_union.labels, np.asarray(text), by_union.history
        )
        return self.e_step(begun, table)

    def begin(self, name: str, table: VoteTable) -> Trail:
        """Tables or first labels; or where a killed fit was."""
        if name in self.trails:
            trail = self.trails[name]
            self.chains.parameters = trail.chains
            return trail
        self.chains.parameters = []
        if name.endswith("mace"):
            shares, strength = vote_shares(table), self.plan.strength
            tables = first_tables(shares, table, self.weights, strength=strength)
            return Trail(name, tables)
        evidence = union_evidence(table)  # [N, L]
        model = self.chains.fit(evidence, CONSTANTS.first_steps)
        labels = model.best(evidence)  # [N]
        truth = np.eye(table.n_labels)[labels]  # [N, L]
        log_pi = self.m_step(truth, table, CONSTANTS.union_context)
        return Trail(name, log_pi, labels, model.marginals())

    def run(self, trail: Trail, table: VoteTable, n: int | None = None) -> Trail:
        """Rounds until there are `n`, by default as many as are planned."""
        rounds = range(len(trail.history), self.plan.rounds if n is None else n)
        for r in progress(rounds, "votes: rounds", enabled=self.plan.verbose):
            if r:
                truth = np.eye(table.n_labels)[trail.labels]  # [N, L]
                trail = replace(trail, log_pi=self.m_step(truth, table))
            trail = self.e_step(trail, table)
        return trail

    def people_first(self) -> Trail:
        """Models are counted once, under what people and text say of their tokens."""
        table = self.table
        people = table.without(table.models)
        if int((~table.abstains & ~table.models).sum()) == 1:
            trail = self.begin("one person: union", people)
        else:
            trail = self.trial(people, "people: ")
        truth = np.eye(table.n_labels)[trail.labels] * people.voted[:, None]  # [N, L]
        log_pi = self.m_step(truth, table)
        trail = replace(trail, name="people first", log_pi=log_pi, history=[])
        for _ in range(self.plan.rounds):
            trail = self.e_step(trail, table)
        return trail

    def m_step(
        self, truth: FloatArray, table: VoteTable, most: float = 1.0
    ) -> FloatArray:
        """Tables of the annotators under labels, [N, L]; of sources, as ever.

        At `most` a share of them knows the vote before.
        """
        counts = count_votes(truth, table)  # [A, L, B, L]
        counts[table.abstains] = self.of_sources[table.abstains]
        context = np.where(table.models, CONSTANTS.model_context, most)  # [A]
        return confusion_tables(counts, table.abstains, self.plan.strength, context)

    def e_step(self, trail: Trail, table: VoteTable) -> Trail:
        """Labels and text under the tables of a trail."""
        votes = vote_evidence(trail.log_pi, table, self.weights)  # [N, L]
        first, weight, score = not len(trail.text), self.limits.first, 0.0
        if trail.history and not first:
            known = trail.text, votes, table.voted
            weight, score = choose_weight(*known, self.limits)
        elif not first:
            weight = max(weight, CONSTANTS.union_weight)
        weight = self.plan.weight or weight
        evidence = weight * votes + table.pinned  # [N, L]
        steps = CONSTANTS.first_steps if first else CONSTANTS.later_steps
        model = self.chains.fit(evidence, steps)
        labels, text = model.best(evidence), model.marginals()  # [N], [N, L]
        changed = 1.0 if first else float((labels != trail.labels).mean())
        entry = {"temper": weight, "judge": score, "changed": changed}
        history, chains = [*trail.history, entry], self.chains.parameters
        trail = Trail(trail.name, trail.log_pi, labels, text, history, chains, model)
        self.trails[trail.name] = trail
        if self.kept is not None and len(history) < self.plan.rounds:
            self.kept.write(list(self.trails.values()))
        return trail

    def likelihood(self, trail: Trail, table: VoteTable) -> float:
        """`vote_likelihood` of a trail."""
        votes = vote_evidence(trail.log_pi, table, self.weights)  # [N, L]
        return vote_likelihood(trail.text, votes, table.voted)

    def consensus(self, trail: Trail) -> Consensus:
        """Labels whose neighbouring spans are settled, and how sure they are."""
        table, text, model, c = self.table, trail.text, trail.model, CONSTANTS
        assert model is not None
        votes = vote_evidence(trail.log_pi, table, self.weights)  # [N, L]
        weight = trail.history[-1]["temper"]
        evidence = weight * votes + table.pinned  # [N, L]
        labels = settled(model, evidence, table)  # [N]
        preferred = preferred_weight(text[table.voted], votes[table.voted])
        temperature = confidence_temperature(labels, table, self.weights, preferred)
        weight = min(weight, c.most_worth) if table.abstains.all() else weight
        weights = weight, c.other_posterior * weight
        found = Consensus(
            table,
            labels,
            text,
            text,
            evidence,
            trail.log_pi,
            weights,
            self.plan.scale * temperature,
            trail.history,
            model,
        )
        return replace(found, confidences=found.marginals(votes, table.pinned))
