"""Block-coordinate Frank–Wolfe for all max-margin steps over label sequences.

Every convex step of the structured baselines is

    min_w  λ/2 |w|² + Σ_b c_b max(0, max_{y ∈ G_b} [Δ_b(y) − <w, R_b − Ψ(x_b, y)>])

with one or two blocks b per sentence, a fixed reward R_b and a set G_b that a decoder
serves. Its dual holds, for every block, weights a_b over *atoms*: the reward (the zero
atom, the positive part) and label sequences that were decoded.

    w = Σ_b w_b,   w_b = (c_b / λ) (R_b − Σ_k a_bk Ψ_bk),
    dual = −λ/2 |w|² + Σ_b c_b Σ_k a_bk Δ_bk.

A visit of a block decodes one new atom and moves weight by exact line search, so that
no step lowers the dual. *Plain* passes, the textbook method, move from the current mean
towards the new atom; they average. *Corrective* passes keep the atoms of a block and
move weight from its worst to its best one as long as that pays, so that old mistakes
are taken back at once: far fewer passes where λ is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tagsift.baselines._atoms import (
    Atoms,
    Batch,
    Reward,
    SentenceRows,
    Term,
    indicators,
)
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["BlockFrankWolfe", "MarginSolution"]

#: A block is left alone while its gap is below this share of what it may have.
_SHARE = 0.2
#: A plain pass decodes in about so many batches, so that few answers are stale.
_PLAIN_BATCHES = 50


@dataclass(frozen=True)
class MarginSolution:
    """What a solve ended with."""

    primal: float  # objective at the final w
    dual: float  # the optimum lies between both
    passes: int  # over all sentences
    converged: bool  # whether the gap fell below the tolerance
    duals: list[float]  # after every pass; never falls


#: Best competitors of the sentences of a batch [N'], and their gaps [B].
_Answer: TypeAlias = tuple[IntArray, FloatArray]


class BlockFrankWolfe:
    """The dual of one max-margin problem; `solve` may be called again and again.

    Between calls reward, weights and task losses may change: the atoms stay, the best
    start for the next. Scores of tokens are ``X @ E``, those of transitions are A.
    """

    def __init__(
        self,
        X: Any,
        offsets: IntArray,
        mask: BoolArray,
        lam: float,
        rng: np.random.Generator,
        *,
        plain_passes: int = 0,
    ) -> None:
        self.X, self.lam, self.rng, self.plain_passes = X, lam, rng, plain_passes
        self.n_labels = mask.shape[1]
        self.E = np.zeros((X.shape[1], self.n_labels))  # [D, L]
        self.A = np.zeros((self.n_labels, self.n_labels))  # [L, L]
        lengths = np.diff(offsets)  # [S]
        order = np.argsort(-lengths, kind="stable")  # [S]
        order = order[lengths[order] > 0]  # [S']
        self.sentences = {
            int(s): SentenceRows(X, slice(offsets[s], offsets[s + 1])) for s in order
        }
        self.everything = Batch(offsets, mask, np.sort(order))
        size = max(1, len(order) // _PLAIN_BATCHES)
        self.batches = [
            Batch(offsets, mask, order[first : first + size])
            for first in range(0, len(order) if plain_passes else 0, size)
        ]
        self.blocks: list[dict[int, Atoms]] = []
        self.means: list[Reward] = []  # weighted means of the atoms, by term

    def solve(
        self,
        terms: Sequence[Term],
        reward: Reward,
        *,
        tol: float = 2e-3,
        max_passes: int = 1000,
    ) -> MarginSolution:
        """Minimise, starting from the atoms and weights there are.

        Stops when primal − dual is below the share `tol` of the primal. The hinges must
        be as many, and with the same decoders, at every call.
        """
        self._prepare(terms, reward)
        if self._dual(terms) < 0:  # worse than no weights at all: begin with those
            for blocks in self.blocks:
                for block in blocks.values():
                    block.reset()
            self._prepare(terms, reward)
        duals: list[float] = []
        while True:
            answers = self._answers(self.everything, terms)
            gap = sum(float(gaps.sum()) for _, gaps in answers)
            duals.append(self._dual(terms))
            primal = duals[-1] + gap
            converged = gap <= tol * primal
            if converged or len(duals) > max_passes:
                passes = len(duals) - 1
                return MarginSolution(primal, duals[-1], passes, converged, duals)
            if self.plain_passes > 0:
                self._plain_pass(terms)
            else:
                share = _SHARE * tol * primal / (len(self.sentences) * len(terms))
                self._corrective_pass(terms, answers, share)

    def scores(self) -> FloatArray:
        """Unary scores of all tokens at the current weights, [N, L]."""
        return np.asarray(self.X @ self.E)

    def objective(self, terms: Sequence[Term], reward: Reward) -> float:
        batch, U = self.everything, self.scores()  # [N, L]
        rewarded = self._rewarded(batch, U, reward)  # [S']
        total = 0.5 * self.lam * self._norm()
        for term in terms:
            if term.weight > 0:
                _, best = batch.decode(term, U, self.A)  # [S']
                hinges = np.maximum(best - rewarded, 0.0)  # [S']
                total += term.weight * float(hinges.sum())
        return total

    def _norm(self) -> float:
        """|w|²."""
        return float((self.E**2).sum() + (self.A**2).sum())

    def _dual(self, terms: Sequence[Term]) -> float:
        gained = sum(
            term.weight * float((mean.unary * term.loss).sum())
            for term, mean in zip(terms, self.means, strict=True)
        )
        return gained - 0.5 * self.lam * self._norm()

    def _prepare(self, terms: Sequence[Term], reward: Reward) -> None:
        """Set rewards and losses, and sum w afresh from the weights of all atoms."""
        self.reward = reward
        if not self.blocks:
            for _ in terms:
                unary, pairs = np.zeros_like(reward.unary), np.zeros_like(reward.pairs)
                self.means.append(Reward(unary, pairs))
                self.blocks.append(
                    {
                        s: Atoms(own, unary[own.rows], pairs[s].ravel())
                        for s, own in self.sentences.items()
                    }
                )
        residue = np.zeros_like(reward.unary)  # [N, L]
        self.A = np.zeros_like(self.A)  # [L, L]
        for term, blocks, mean in zip(terms, self.blocks, self.means, strict=True):
            for s, block in blocks.items():
                rows = block.sentence.rows
                block.set(reward.unary[rows], reward.pairs[s], term.loss[rows])
            rate = term.weight / self.lam
            residue += rate * (reward.unary - mean.unary)  # [N, L]
            self.A += rate * (reward.pairs.sum(axis=0) - mean.pairs.sum(axis=0))
        self.E = np.asarray(self.X.T @ residue)  # [D, L]

    def _answers(self, batch: Batch, terms: Sequence[Term]) -> list[_Answer]:
        """Decode a batch for every term, all at the same w."""
        U = np.asarray(self.X[batch.tokens] @ self.E)  # [N', L]
        rewarded = self._rewarded(batch, U, self.reward)  # [B]
        answers: list[_Answer] = []
        for term, mean in zip(terms, self.means, strict=True):
            if term.weight == 0:
                nobody = np.zeros(0, dtype=np.int64)
                answers.append((nobody, np.zeros(len(batch.sentences))))
                continue
            labels, best = batch.decode(term, U, self.A)  # [N'], [B]
            current = self._rewarded(batch, U + term.loss[batch.tokens], mean)  # [B]
            gaps = term.weight * (np.maximum(best, rewarded) - current)  # [B]
            answers.append((labels, np.maximum(gaps, 0.0)))
        return answers

    def _rewarded(self, batch: Batch, U: FloatArray, reward: Reward) -> FloatArray:
        """<w, R_b> of the sentences of a batch with unary scores `U` [N', L], [B]."""
        unary = batch.sum((U * reward.unary[batch.tokens]).sum(axis=1))  # [B]
        pairs = reward.pairs[batch.sentences]  # [B, L, L]
        return np.asarray(unary + np.einsum("sab,ab->s", pairs, self.A))

    def _plain_pass(self, terms: Sequence[Term]) -> None:
        """Decode a few sentences at a time and step towards the answers."""
        for b in self.rng.permutation(len(self.batches)):
            batch = self.batches[b]
            answers = self._answers(batch, terms)
            for i in self.rng.permutation(len(batch.sentences)):
                s, own = int(batch.sentences[i]), batch.part(i)
                for k, (labels, gaps) in enumerate(answers):
                    if gaps[i] > 0:
                        self._step(terms[k], self.blocks[k][s], labels[own])
        self.plain_passes -= 1
        if self.plain_passes == 0:
            for term, blocks in zip(terms, self.blocks, strict=True):
                for block in blocks.values():
                    block.restart(term.loss[block.sentence.rows])

    def _corrective_pass(
        self, terms: Sequence[Term], answers: Sequence[_Answer], share: float
    ) -> None:
        """Add the answers of all sentences to their atoms, and correct the weights."""
        batch = self.everything
        for i in self.rng.permutation(len(batch.sentences)):
            s, own = int(batch.sentences[i]), batch.part(i)
            for k, (labels, gaps) in enumerate(answers):
                if gaps[i] > share:
                    block = self.blocks[k][s]
                    block.add(labels[own], terms[k].loss[block.sentence.rows])
                    self._correct(terms[k], block, share)
        # Once more over all blocks that have a choice, without decoding.
        for term, blocks in zip(terms, self.blocks, strict=True):
            if term.weight > 0:
                busy = [s for s, block in blocks.items() if block.size > 1]
                for s in self.rng.permutation(np.asarray(busy, dtype=np.int64)):
                    self._correct(term, blocks[int(s)], share)

    def _correct(self, term: Term, block: Atoms, share: float) -> None:
        """Move weight between the atoms of a block, at the newest w."""
        rate, atoms = term.weight / self.lam, block.atoms[: block.size]
        U = block.sentence.x @ self.E  # [T, L]
        scores = atoms[:, : U.size] @ U.ravel()  # [K]
        scores += atoms[:, U.size :] @ self.A.ravel()  # [K]
        scores += block.delta[: block.size]  # [K]
        change = block.shift(scores, rate, share / term.weight)
        if change is not None:
            moved = change @ atoms  # [T·L + L·L]
            unary, pairs = moved[: U.size].reshape(U.shape), moved[U.size :]
            self._apply(block, rate, unary, pairs)

    def _step(self, term: Term, block: Atoms, labels: IntArray) -> None:
        """Move a block towards a label sequence or, if better, the zero atom."""
        sentence, rate = block.sentence, term.weight / self.lam
        U = sentence.x @ self.E + term.loss[sentence.rows]  # [T, L]
        unary, pairs = indicators(labels, self.n_labels)  # [T, L], [L·L]
        rewarded, joined = np.split(block.atoms[0], [U.size])  # [T·L], [L·L]
        above = (unary.ravel() - rewarded) @ U.ravel()
        if above + (pairs - joined) @ self.A.ravel() <= 0:
            unary, pairs = rewarded.reshape(U.shape), joined  # [T, L], [L·L]
        unary, pairs = unary - block.unary, pairs - block.pairs
        gain = unary.ravel() @ U.ravel() + pairs @ self.A.ravel()
        if gain <= 0:
            return
        bend = (unary * (sentence.gram @ unary)).sum() + pairs @ pairs
        size = 1.0 if gain >= rate * bend else gain / (rate * bend)
        self._apply(block, rate, size * unary, size * pairs)

    def _apply(
        self, block: Atoms, rate: float, unary: FloatArray, pairs: FloatArray
    ) -> None:
        """Add to the mean of a block, and subtract its features from w."""
        block.unary += unary
        block.pairs += pairs
        sentence = block.sentence
        self.E[sentence.columns] -= sentence.transposed @ (rate * unary)  # [D', L]
        self.A -= rate * pairs.reshape(self.A.shape)  # [L, L]
