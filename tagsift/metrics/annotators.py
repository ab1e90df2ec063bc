"""Everything about the annotators of one corpus in one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tagsift.errors import InputError
from tagsift.metrics.agreement import (
    dawid_skene,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
    vote_counts,
)
from tagsift.typing import BoolArray, IntArray, Label

__all__ = ["Agreement", "Annotator", "Pair", "annotator_agreement"]


@dataclass(frozen=True)
class Annotator:
    """One annotator.

    Parameters
    ----------
    name : str
        Who.
    tokens : int
        Tokens labelled.
    agrees_with_majority : float
        Share of them with the label that most annotators gave, this one included.
    reliability : float
        Estimated chance of giving the true label of a token (Dawid–Skene).
    reliability_rare : float
        The same over tokens whose true label is not the commonest one.
    accuracy, accuracy_rare : float or None
        The same two, as shares of right labels, where gold labels are known.
    """

    name: str
    tokens: int
    agrees_with_majority: float
    reliability: float
    reliability_rare: float
    accuracy: float | None
    accuracy_rare: float | None


@dataclass(frozen=True)
class Pair:
    """Two annotators who labelled some of the same tokens."""

    first: str
    second: str
    shared: int
    agreement: float
    kappa: float


@dataclass(frozen=True)
class Agreement:
    """Agreement figures of a corpus; NaN where one is not defined.

    Parameters
    ----------
    tokens : int
        Tokens of the corpus.
    votes_per_token : float
        Labels given per token.
    commonest_label : str or int
        The label with the largest estimated share.
    pairwise_agreement : float
        Share of equal labels over all pairs of votes for the same token.
    fleiss_kappa, krippendorff_alpha : float
        Agreement beyond chance.
    converged : bool
        Whether the estimate of the reliabilities has settled.
    annotators : tuple of Annotator
        In the order given.
    pairs : tuple of Pair
        All that share a token.
    """

    tokens: int
    votes_per_token: float
    commonest_label: Label
    pairwise_agreement: float
    fleiss_kappa: float
    krippendorff_alpha: float
    converged: bool
    annotators: tuple[Annotator, ...]
    pairs: tuple[Pair, ...]

    def as_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists and numbers."""
        return asdict(self)


def annotator_agreement(
    votes: IntArray,
    labels: Sequence[Label],
    annotators: Sequence[str],
    gold: IntArray | None = None,
) -> Agreement:
    """Compute all agreement figures of a corpus.

    Parameters
    ----------
    votes : ndarray of shape (n_tokens, n_annotators)
        Label indices, −1 for a missing vote.
    labels : sequence of labels
        What the indices mean.
    annotators : sequence of str
        Names, in the order of the columns.
    gold : ndarray of shape (n_tokens,), optional
        True labels, −1 for one that nobody gave anywhere.

    Returns
    -------
    Agreement
        One frozen record.
    """
    n_labels = len(labels)
    if np.ndim(votes) != 2 or np.shape(votes)[1] != len(annotators):
        raise InputError(
            f"expected one column of votes for each of the {len(annotators)} "
            f"annotators, found an array of shape {np.shape(votes)}."
        )
    pairs = pairwise_agreement(votes, n_labels)
    estimate = dawid_skene(votes, n_labels)
    commonest = int(estimate.prior.argmax())
    rare = np.arange(n_labels) != commonest  # [L]
    reliability = estimate.reliability()  # [A]
    reliability_rare = estimate.reliability(rare)  # [A]
    majority = vote_counts(votes, n_labels).argmax(axis=1)  # [N]
    people = []
    for a, name in enumerate(annotators):
        given = votes[:, a] >= 0  # [N]
        mine = votes[given, a]  # [N']
        right = None if gold is None else mine == gold[given]  # [N']
        seldom = None if gold is None else gold[given] != commonest  # [N']
        people.append(
            Annotator(
                name=name,
                tokens=len(mine),
                agrees_with_majority=_share(mine == majority[given]),
                reliability=float(reliability[a]),
                reliability_rare=float(reliability_rare[a]),
                accuracy=None if right is None else _share(right),
                accuracy_rare=None if right is None else _share(right[seldom]),
            )
        )
    first, second = np.triu_indices(len(annotators), k=1)
    return Agreement(
        tokens=len(votes),
        votes_per_token=float((votes >= 0).sum() / len(votes)),
        commonest_label=labels[commonest],
        pairwise_agreement=pairs.mean_share,
        fleiss_kappa=fleiss_kappa(votes, n_labels),
        krippendorff_alpha=krippendorff_alpha(votes, n_labels),
        converged=estimate.converged,
        annotators=tuple(people),
        pairs=tuple(
            Pair(
                annotators[a],
                annotators[b],
                int(pairs.shared[a, b]),
                float(pairs.share[a, b]),
                float(pairs.kappa[a, b]),
            )
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
            if pairs.shared[a, b]
        ),
    )


def _share(hits: BoolArray) -> float:
    """Mean of booleans, NaN when there are none."""
    return float(hits.mean()) if len(hits) else float("nan")
