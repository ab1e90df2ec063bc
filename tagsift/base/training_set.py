"""What a fit works on once the input has been checked: arrays, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, Union

import numpy as np

from tagsift.backend import Device
from tagsift.chain import (
    Allowed,
    ChainLayout,
    ChainObjective,
    Checkpoint,
    LinearChain,
    TransitionPrior,
    log_evidence,
)
from tagsift.data import allowed_transitions, place_of, scheme_of_pairs
from tagsift.features import FeatureMatrix
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

if TYPE_CHECKING:
    from tagsift.base.sharded_set import ShardedSet

__all__ = [
    "AnyTrainingSet",
    "TrainingSet",
    "Transduction",
    "drawn",
    "exact_pairs",
    "hold_out",
    "hold_out_last",
    "scheme_constraints",
    "scheme_of",
    "way_through",
]

#: Share of the sentences that is left out.
_HELD_OUT = 0.2
#: Keeps the draw apart from others by the same seed: whoever shuffled the same
#: sentences to choose the exact ones would else find exactly those held out.
_STREAM = 20


#: Sentences in memory, or in shards: what a chain is fitted to.
AnyTrainingSet: TypeAlias = Union["TrainingSet", "ShardedSet"]


class Transduction(NamedTuple):
    """What a fit says of its own training tokens; None where it says nothing."""

    labels: IntArray | None  # [N]  the likeliest candidate of every token
    confidences: FloatArray | None = None  # [N, L]  of every candidate


@dataclass(frozen=True)
class TrainingSet:
    """Features of stacked training tokens, and what is known of their labels.

    The lattices read `log_evidence`; the max-margin and token-wise methods read the
    mask of the labels that have any.
    """

    features: FeatureMatrix
    mask: BoolArray  # [N, L], the candidate set of every token
    classes: tuple[Label, ...]  # the labels, in column order
    scheme: str
    seed: int  # of everything random in the fit
    # Log-likelihood of what is known of a token under every label, up to a constant
    # per token, −inf where the mask is False; None: 0 for every candidate.  [N, L]
    evidence: FloatArray | None = None
    sample_weight: FloatArray | None = None  # [S], how much every sentence counts
    checkpoint: ClassVar[Checkpoint | None] = None  # one of shards may have one

    @property
    def offsets(self) -> IntArray:
        """Where each sentence begins, [S + 1]."""
        return self.features.offsets

    @property
    def n_tokens(self) -> int:
        return self.features.n_tokens

    @property
    def n_labels(self) -> int:
        return len(self.classes)

    @cached_property
    def log_evidence(self) -> FloatArray:
        """Evidence of every label: as given, or 0 in the mask and −inf outside."""
        evidence = self.mask if self.evidence is None else self.evidence  # [N, L]
        return np.asarray(log_evidence(evidence))  # [N, L]

    @cached_property
    def shares(self) -> FloatArray:
        """What a token's evidence says of it alone: rows sum to 1, [N, L]."""
        if self.evidence is None:
            return np.asarray(self.mask / self.mask.sum(axis=1, keepdims=True))
        top = self.evidence.max(axis=1, keepdims=True)  # [N, 1]
        weights = np.exp(self.evidence - top)  # [N, L]
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))  # [N, L]

    @property
    def columns(self) -> tuple[tuple[str, int, bool], ...]:
        """Name and width of every block of features, and whether it is sparse."""
        return self.features.columns

    @property
    def seen(self) -> BoolArray:
        """Labels that are a candidate somewhere, [L]."""
        return np.asarray(self.mask.any(axis=0))  # [L]

    @property
    def has_exact(self) -> bool:
        return bool(self.exact_sequences.any())

    @property
    def first_ambiguous(self) -> tuple[str, int] | None:
        """Place and number of candidates of the first token with several."""
        if self.exact.all():
            return None
        n = int(np.flatnonzero(~self.exact)[0])
        return place_of(n, self.offsets), int(self.mask[n].sum())

    @cached_property
    def layout(self) -> ChainLayout:
        """Packed order of the tokens for the chain recursions."""
        return ChainLayout.from_offsets(self.offsets)

    @cached_property
    def exact(self) -> BoolArray:
        """Whether a token's candidate set is a singleton, [N]."""
        return np.asarray(self.mask.sum(axis=1) == 1)  # [N]

    @cached_property
    def exact_sequences(self) -> BoolArray:
        """Whether every token of a (non-empty) sentence is exact, [S]."""
        ambiguous = np.concatenate([[0], np.cumsum(~self.exact)])  # [N + 1]
        inside = np.diff(ambiguous[self.offsets])  # [S]
        return np.asarray((inside == 0) & (self.features.lengths > 0))  # [S]

    def weighted(self, sample_weight: FloatArray | None) -> TrainingSet:
        return replace(self, sample_weight=sample_weight)

    def close(self) -> None:
        """Do nothing; shards would be let go."""

    def objective(
        self,
        l2: float,
        prior: TransitionPrior,
        *,
        single: bool = False,
        device: Device = "cpu",
    ) -> ChainObjective:
        return ChainObjective(
            self.features,
            self.log_evidence,
            l2,
            prior,
            sample_weight=self.sample_weight,
            single=single,
            device=device,
        )

    def recover(self, chain: LinearChain) -> tuple[IntArray, FloatArray]:
        """Likeliest candidate of every token, [N], and all marginals, [N, L]."""
        return chain.recover(self.features, self.log_evidence)

    def curvature(self, chain: LinearChain) -> FloatArray:
        """As `LinearChain.curvature`, of all sentences, [D, L]."""
        return chain.curvature(self.features)

    def take_sequences(self, indices: Iterable[int]) -> TrainingSet:
        """Keep the chosen sentences, in the order given."""
        chosen = np.asarray(list(indices), dtype=np.int64)  # [S']
        rows = self.features.rows_of(chosen)  # [N']
        weight = self.sample_weight
        return replace(
            self,
            features=self.features.take_sequences(chosen),
            mask=self.mask[rows],
            evidence=None if self.evidence is None else self.evidence[rows],
            sample_weight=None if weight is None else weight[chosen],
        )

    def draw(self, n_tokens: int, *, stream: int) -> TrainingSet:
        """Seeded draw of sentences that hold about `n_tokens` tokens, in their order.

        Where there are no more than that, all of them: the training set itself.
        """
        if self.n_tokens <= n_tokens:
            return self
        lengths = self.features.lengths  # [S]
        return self.take_sequences(drawn(lengths, n_tokens, self.seed, stream))


def drawn(lengths: IntArray, n_tokens: int, seed: int, stream: int) -> IntArray:
    """Sentences that hold about `n_tokens` tokens, in their order, [S']."""
    rng = np.random.default_rng([seed, stream])
    order = rng.permutation(len(lengths))  # [S]
    enough = int(np.searchsorted(np.cumsum(lengths[order]), n_tokens)) + 1
    return np.sort(order[:enough])


def exact_pairs(
    mask: BoolArray, offsets: IntArray, classes: Sequence[Label]
) -> Counter[tuple[str | None, str]]:
    """How often a label follows another in exactly labelled sentences; None: begins."""
    lengths = np.diff(offsets)  # [S]
    ambiguous = np.concatenate([[0], np.cumsum(mask.sum(axis=1) != 1)])  # [N + 1]
    exact = np.repeat(np.diff(ambiguous[offsets]) == 0, lengths)  # [N]
    chosen = mask.argmax(axis=1)  # [N]
    before = np.concatenate([[-1], chosen[:-1]])[: len(chosen)]  # [N]
    before[offsets[:-1][lengths > 0]] = -1
    pairs = np.column_stack([before, chosen])[exact]  # [N', 2]
    distinct, times = np.unique(pairs, axis=0, return_counts=True)
    names = [*map(str, classes), None]  # the last stands at −1
    counted: Counter[tuple[str | None, str]] = Counter()
    for (a, b), n in zip(distinct.tolist(), times.tolist(), strict=True):
        counted[names[a], str(names[b])] += n
    return counted


def scheme_of(train: TrainingSet) -> str:
    """Find the scheme from the label set and exactly labelled sentences only."""
    pairs = exact_pairs(train.mask, train.offsets, train.classes)
    return scheme_of_pairs(pairs, map(str, train.classes))


def scheme_constraints(train: AnyTrainingSet, *, known: bool) -> Allowed:
    """Transitions, first and last labels that the tag scheme allows, if it is known."""
    scheme = train.scheme if known else "plain"
    return way_through(train.classes, scheme, train.seen)


def way_through(classes: Sequence[Label], scheme: str, seen: BoolArray) -> Allowed:
    """What the tag scheme allows; everything where it is plain.

    And everything where the labels `seen` [L] would leave no way through a sentence.
    """
    if scheme != "plain":
        allowed, first, last = allowed_transitions(list(map(str, classes)), scheme)
        inside = allowed[np.ix_(seen, seen)]  # [A, A]
        if first[seen].any() and last[seen].any() and inside.any(axis=1).all():
            return allowed, first, last
    free = np.ones(len(classes), dtype=bool)  # [L]
    return np.ones((len(classes), len(classes)), dtype=bool), free, free.copy()


def hold_out(
    train: TrainingSet,
    *,
    share: float = _HELD_OUT,
    turn: int = 0,
    together: int = 1,
) -> tuple[IntArray, IntArray]:
    """Draw sentences to fit and a share to leave out, in order; none is empty.

    Every turn leaves out others, and neighbours are left out `together`.
    """
    rng = np.random.default_rng([train.seed, _STREAM])
    each = np.flatnonzero(train.features.lengths)  # [S']
    runs = np.split(each, np.arange(together, len(each), together))
    order = np.concatenate([runs[k] for k in rng.permutation(len(runs))])  # [S']
    first, last = (round(share * len(order) * (turn + k)) for k in (0, 1))
    out = order[first:last]  # [S'']
    return np.setdiff1d(order, out), np.sort(out)


def hold_out_last(train: TrainingSet) -> tuple[IntArray, IntArray]:
    """Sentences to fit, and the last third: other documents, where there are some."""
    each = np.arange(train.features.n_sequences)  # [S]
    cut = len(each) - len(each) // 3
    return each[:cut], each[cut:]
