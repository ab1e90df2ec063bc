"""Text models that never saw the votes on the sentences they help to judge.

The sentences are dealt into parts; the chain that scores a part was fitted on the
others. A chain fitted on all sentences would repeat the votes it was fed. There are two
views, whose scores are averaged since they err differently: with dense features (word
vectors) beside sparse ones a chain on the sparse features and one on all, else two
chains of which one has a larger penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, ChainProblem
from tagsift.chain.viterbi import viterbi
from tagsift.typing import FloatArray, IntArray

__all__ = ["CrossFit", "Part", "WarmChain", "mean_chain", "views"]

#: Score of a label that cannot be in any of the sentences a chain was fitted on.
_UNSEEN = -50.0
#: When a step changes the objective by less than this share, a fit ends.
_TOL = 1e-5
#: Penalty of the second view against that of the first.
_TIGHTER = 10 / 3


def views(problem: ChainProblem) -> list[ChainProblem]:
    """Two text models: without and with dense features, or of two penalties."""
    features = problem.features
    if features.sparse is None or features.dense is None:
        return [problem, replace(problem, l2=_TIGHTER * problem.l2)]
    silent = tuple(
        block if name in features.sparse.names else np.zeros_like(block)
        for name, block in zip(features.names, features.blocks, strict=True)
    )
    sparse = replace(features, blocks=silent)
    return [replace(problem, features=sparse), problem]


def mean_chain(chains: Iterable[LinearChain]) -> LinearChain:
    """Average the scores of chains over the same features."""
    found = list(chains)
    return LinearChain(
        *(
            np.mean([getattr(chain, name) for chain in found], axis=0)
            for name in ("emissions", "bias", "transitions", "start")
        )
    )


class WarmChain:
    """A chain that is fitted again and again, each time from where it stands."""

    def __init__(self, problem: ChainProblem) -> None:
        self._problem = problem
        self._objective: ChainObjective | None = None
        self._w: FloatArray | None = None

    def fit(self, evidence: FloatArray, max_iter: int) -> LinearChain:
        """Take at most `max_iter` quasi-Newton steps for this evidence, [N, L]."""
        if self._objective is None:
            self._objective = self._problem.objective(evidence)
        else:
            self._objective = self._objective.with_evidence(evidence)
        n_parameters = self._objective.n_parameters
        if self._w is None or len(self._w) != n_parameters:
            self._w = np.zeros(n_parameters)  # [P]
        found = minimise(self._objective, self._w, max_iter=max_iter, tol=_TOL)
        self._w = found.x
        return self._objective.weights(found.x)


@dataclass
class Part:
    """Sentences that are scored together, and what scores them."""

    rows: IntArray  # stacked tokens of these sentences
    others: IntArray  # those that the chains are fitted on
    problem: ChainProblem  # features of these sentences
    chains: list[WarmChain]  # one per view, over the other sentences
    chain: LinearChain | None = None

    def __post_init__(self) -> None:
        self.layout = ChainLayout.from_offsets(self.problem.features.offsets)

    def fit(self, evidence: FloatArray, max_iter: int) -> None:
        """Fit the chains on the other sentences, and score these."""
        known = evidence[self.others]  # [N', L]
        self.chain = mean_chain(chain.fit(known, max_iter) for chain in self.chains)
        U = self.chain.scores(self.problem.features)  # [N'', L]
        self.U = np.maximum(U, _UNSEEN)  # labels that no other sentence may have

    def marginals(self, evidence: FloatArray | None, factor: float) -> FloatArray:
        """Marginals of all scores times `factor`, with or without evidence."""
        chain = self.chain
        assert chain is not None
        found = forward_backward(
            factor * self.U,
            factor * chain.transitions,
            self.layout,
            start=factor * chain.start,
            evidence=None if evidence is None else factor * evidence[self.rows],
            allowed=self.problem.allowed,
        )
        return np.asarray(found.marginals)

    def best(self, evidence: FloatArray) -> IntArray:
        """The best label sequences, [N'']."""
        chain = self.chain
        assert chain is not None
        return np.asarray(
            viterbi(
                self.U + evidence[self.rows],
                chain.transitions,
                self.layout,
                start=chain.start,
                allowed=self.problem.allowed,
            )
        )


class CrossFit:
    """Text models, each fitted without the part of the sentences that it scores."""

    def __init__(
        self, problem: ChainProblem, n_parts: int, seed: int, n_jobs: int | None = None
    ) -> None:
        offsets, n = problem.features.offsets, problem.features.n_sequences
        self.n_tokens, self.n_jobs = problem.features.n_tokens, n_jobs
        part = np.empty(n, dtype=np.int64)  # [S]
        order = np.random.default_rng([seed, 50]).permutation(n)
        part[order] = np.arange(n) % n_parts
        of_token = np.repeat(part, np.diff(offsets))  # [N]
        self.parts = []
        for k in range(min(n_parts, n)):
            mine, rows = np.flatnonzero(part == k), np.flatnonzero(of_token == k)
            rest, others = np.flatnonzero(part != k), np.flatnonzero(of_token != k)
            if n_parts == 1 or not len(others):  # a text that has seen the votes
                rest, others = mine, rows
            if not len(rows):
                continue
            chains = [WarmChain(view.take_sequences(rest)) for view in views(problem)]
            self.parts.append(Part(rows, others, problem.take_sequences(mine), chains))

    def fit(self, evidence: FloatArray, max_iter: int) -> None:
        """Fit every chain on the evidence of the sentences it does not score."""
        Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(part.fit)(evidence, max_iter) for part in self.parts
        )

    def marginals(
        self, evidence: FloatArray | None = None, factor: float = 1.0
    ) -> FloatArray:
        """Marginals of every token of all scores times `factor`, [N, L]."""
        return self._gather(lambda part: part.marginals(evidence, factor))

    def best(self, evidence: FloatArray) -> IntArray:
        """The best label sequences of text and evidence, [N]."""
        return self._gather(lambda part: part.best(evidence))

    def _gather(self, of_part: Callable[[Part], np.ndarray]) -> np.ndarray:
        pieces = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(of_part)(part) for part in self.parts
        )
        found = np.zeros((self.n_tokens, *pieces[0].shape[1:]), dtype=pieces[0].dtype)
        for part, piece in zip(self.parts, pieces, strict=True):
            found[part.rows] = piece
        return found
