"""What `VoteTagger` asks of the chain model that reads its text."""

from __future__ import annotations

from typing import Protocol

from tagsift.base import TrainingSet
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainProblem

__all__ = ["TextModel"]


class TextModel(Protocol):
    """A chain model whose chain others fit, on evidence that it does not know."""

    def chain_problem(self, train: TrainingSet) -> ChainProblem:
        """What is fitted: features in its own scale, penalty and prior."""

    def take_chain(
        self, chain: LinearChain, problem: ChainProblem | None, bonus: float
    ) -> None:
        """Predict by a chain fitted to that, or to shards, with a bonus of spans."""
