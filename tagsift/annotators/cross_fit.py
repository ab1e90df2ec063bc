"""Text models that never saw the votes on the sentences they help to judge.

The sentences are dealt into parts; the chains that score a part, one for every view of
the text, were fitted on the others, and their scores are averaged. A chain fitted on
all sentences would repeat the votes it was fed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, ChainProblem
from tagsift.chain.potentials import Allowed
from tagsift.chain.viterbi import viterbi
from tagsift.data.stacking import offsets_of
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "CrossFit",
    "Part",
    "ScoredPart",
    "TOL",
    "TextScores",
    "WarmChain",
    "part_of",
    "scored",
]

#: Score of a label that cannot be in any of the sentences a chain was fitted on.
_UNSEEN = -50.0
#: Score of what the tag scheme forbids. It is finite: labels that somebody has checked
#: may break the scheme, and are right all the same.
_FORBIDDEN = -50.0
#: When a step changes the objective by less than this share, a fit ends.
TOL = 1e-5


class WarmChain:
    """A chain that is fitted again and again, each time from where it stands."""

    def __init__(self, problem: ChainProblem) -> None:
        self._problem = problem
        self._objective: ChainObjective | None = None
        self.w: FloatArray | None = None  # [P]  where the next fit begins

    def fit(self, evidence: FloatArray, max_iter: int) -> LinearChain:
        """Take at most `max_iter` quasi-Newton steps for this evidence, [N, L]."""
        if self._objective is None:
            self._objective = self._problem.objective(evidence)
        else:
            self._objective = self._objective.with_evidence(evidence)
        n_parameters = self._objective.n_parameters
        if self.w is None or len(self.w) != n_parameters:
            self.w = np.zeros(n_parameters)  # [P]
        self.w = minimise(self._objective, self.w, max_iter=max_iter, tol=TOL).x
        return self._objective.weights(self.w)


@dataclass(frozen=True)
class ScoredPart:
    """Scores of sentences that belong together."""

    rows: IntArray  # [N'']  their stacked tokens
    U: FloatArray  # [N'', L]  of the labels of every token
    T: FloatArray  # [L, L]  of transitions
    start: FloatArray  # [L]
    layout: ChainLayout

    def marginals(self, evidence: FloatArray | None, factor: float) -> FloatArray:
        """Marginals of all scores times `factor`, with or without evidence."""
        found = forward_backward(
            factor * self.U,
            factor * self.T,
            self.layout,
            start=factor * self.start,
            evidence=None if evidence is None else factor * evidence[self.rows],
        )
        return np.asarray(found.marginals)

    def best(self, evidence: FloatArray) -> IntArray:
        """The best label sequences, [N'']."""
        U = self.U + evidence[self.rows]  # [N'', L]
        return np.asarray(viterbi(U, self.T, self.layout, start=self.start))


@dataclass(frozen=True)
class TextScores:
    """What text says of sentences that its models have not seen."""

    parts: list[ScoredPart]
    n_tokens: int
    n_jobs: int | None = None

    def marginals(
        self, evidence: FloatArray | None = None, factor: float = 1.0
    ) -> FloatArray:
        """Marginals of every token of all scores times `factor`, [N, L]."""
        return self._gather(lambda part: part.marginals(evidence, factor))

    def best(self, evidence: FloatArray) -> IntArray:
        """The best label sequences of text and evidence, [N]."""
        return self._gather(lambda part: part.best(evidence))

    def _gather(self, of_part: Callable[[ScoredPart], np.ndarray]) -> np.ndarray:
        pieces = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(of_part)(part) for part in self.parts
        )
        found = np.zeros((self.n_tokens, *pieces[0].shape[1:]), dtype=pieces[0].dtype)
        for part, piece in zip(self.parts, pieces, strict=True):
            found[part.rows] = piece
        return found


@dataclass(frozen=True)
class Part:
    """Sentences that are scored together, and what scores them."""

    rows: IntArray  # stacked tokens of these sentences
    others: IntArray  # those that the chains are fitted on
    views: list[ChainProblem]  # these sentences as every view sees them
    chains: list[WarmChain]  # one per view, over the other sentences

    def fit(self, evidence: FloatArray, max_iter: int) -> ScoredPart:
        """Fit the chains on the other sentences, and score these."""
        known = evidence[self.others]  # [N', L]
        found = [chain.fit(known, max_iter) for chain in self.chains]
        pairs = zip(found, self.views, strict=True)
        U = np.mean([chain.scores(view.features) for chain, view in pairs], axis=0)
        lengths, allowed = self.views[0].features.lengths, self.views[0].allowed
        return scored(self.rows, U, found, lengths, allowed)


def scored(
    rows: IntArray,
    U: FloatArray,
    chains: Sequence[LinearChain],
    lengths: IntArray,
    allowed: Allowed | None,
) -> ScoredPart:
    """Scores of sentences from the mean unary scores of chains, [N'', L]."""
    offsets = offsets_of(lengths)  # [S+1]
    U = np.maximum(U, _UNSEEN)  # [N'', L]
    T = np.mean([chain.transitions for chain in chains], axis=0)  # [L, L]
    start = np.mean([chain.start for chain in chains], axis=0)  # [L]
    if allowed is not None:
        between, first, last = allowed
        T += np.where(between, 0.0, _FORBIDDEN)  # [L, L]
        start += np.where(first, 0.0, _FORBIDDEN)  # [L]
        ends = offsets[1:][np.diff(offsets) > 0] - 1  # [S']
        U[ends] += np.where(last, 0.0, _FORBIDDEN)  # [S', L]
    return ScoredPart(rows, U, T, start, ChainLayout.from_offsets(offsets))


def part_of(n_sentences: int, n_parts: int, seed: int) -> IntArray:
    """The part that every sentence is dealt into, [S]."""
    part = np.empty(n_sentences, dtype=np.int64)  # [S]
    order = np.random.default_rng([seed, 50]).permutation(n_sentences)
    part[order] = np.arange(n_sentences) % n_parts
    return part


class CrossFit:
    """Text models, each fitted without the part of the sentences that it scores."""

    def __init__(
        self,
        views: Sequence[ChainProblem],
        n_parts: int,
        seed: int,
        n_jobs: int | None = None,
    ) -> None:
        self._problem, features = views[0], views[0].features
        offsets, n = features.offsets, features.n_sequences
        self.n_tokens, self.n_jobs = features.n_tokens, n_jobs
        part = part_of(n, n_parts, seed)  # [S]
        of_token = np.repeat(part, np.diff(offsets))  # [N]
        self.parts = []
        for k in range(min(n_parts, n)):
            mine, rows = np.flatnonzero(part == k), np.flatnonzero(of_token == k)
            rest, others = np.flatnonzero(part != k), np.flatnonzero(of_token != k)
            if n_parts == 1 or not len(others):  # a text that has seen the votes
                rest, others = mine, rows
            if not len(rows):
                continue
            chains = [WarmChain(view) for view in _take(views, rest)]
            self.parts.append(Part(rows, others, _take(views, mine), chains))

    @property
    def parameters(self) -> list[FloatArray]:
        """Where the next fit begins, chain by chain; nothing before the first."""
        each = [chain.w for part in self.parts for chain in part.chains]
        return [w for w in each if w is not None]

    @parameters.setter
    def parameters(self, each: list[FloatArray]) -> None:
        left = iter(each)
        for part in self.parts:
            for chain in part.chains:
                chain.w = next(left, None)

    def whole(self, evidence: FloatArray, max_iter: int) -> LinearChain:
        """Fit a chain of the first view to all sentences."""
        return WarmChain(self._problem).fit(evidence, max_iter)

    def fit(self, evidence: FloatArray, max_iter: int) -> TextScores:
        """Fit every chain on the evidence of the sentences it does not score."""
        scored = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(part.fit)(evidence, max_iter) for part in self.parts
        )
        return TextScores(scored, self.n_tokens, self.n_jobs)


def _take(views: Sequence[ChainProblem], sentences: IntArray) -> list[ChainProblem]:
    """Keep the chosen sentences, and features that views share shared."""
    kept = {
        id(view.features): view.features.take_sequences(sentences) for view in views
    }
    return [replace(view, features=kept[id(view.features)]) for view in views]
