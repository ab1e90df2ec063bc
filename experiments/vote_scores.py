"""How good labels from votes are: spans, probabilities, leads, and the ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.metrics import average_precision_score

from experiments.aggregators import AGGREGATORS
from experiments.fitting import rounded
from tagsift.annotators import VoteTable
from tagsift.annotators.counting import majority_shares
from tagsift.cleaned import Cleaned
from tagsift.data import spans
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.metrics import CLIP, calibration_scores, entropy
from tagsift.typing import BoolArray, FloatArray, IntArray

#: Whom a claim of being ahead is tested against, and in how many resamples.
RIVALS = ("majority", "dawid-skene", "mace")
RESAMPLES = 2000
#: Where the wrong labels of a ranking are looked for: shares of the tokens.
FIRST = (0.01, 0.05, 0.1)
#: Added to shares, so that counting is never certain.
FLOOR = 1e-3


def truth_of(votes: Corpus) -> IntArray:
    """The code of the true label of every token; −1 where it has none, [N]."""
    place = {name: k for k, name in enumerate(votes.label_set)}
    return np.array([place.get(name, -1) for name in votes.truth or ()])


def tallies(votes: Corpus, codes: IntArray) -> IntArray:
    """Right, proposed and true spans of every sentence, [S, 3]."""
    names = votes.label_set.names
    labels = split_at([names[k] for k in codes.tolist()], votes.bounds)
    counts = []
    for row, gold in zip(labels, votes.gold or [], strict=True):
        mine, true = (set(spans(x, votes.scheme)) for x in (row, gold))
        counts.append((len(mine & true), len(mine), len(true)))
    return np.array(counts)


def f1_of(counts: Any) -> Any:
    """Span F1 of sums of right, proposed and true spans, [..., 3]."""
    return 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)


def score(
    votes: Corpus, codes: IntArray, shares: FloatArray | None = None
) -> dict[str, float]:
    """Scores of labels, and of their probabilities where there are some."""
    truth = truth_of(votes)  # [N]
    sums = tallies(votes, codes).sum(axis=0)  # [3]
    right, proposed, true = sums.tolist()
    scores = {
        "span_f1": float(f1_of(sums)),
        "precision": right / max(proposed, 1),
        "recall": right / max(true, 1),
        "wrong": float((codes != truth).sum()),
    }
    if shares is not None:
        made = calibration_scores(shares, truth)
        sure = shares[np.arange(len(codes)), codes]  # [N]
        scores |= {"nll": made.nll, "ece": made.ece}
        scores |= {"expected": float((1 - sure).sum())}
    return scores


def tempered(votes: Corpus, shares: FloatArray, folds: int = 5) -> float:
    """Log-loss of shares after one temperature, fitted by gold on the other folds."""
    truth, logs = truth_of(votes), np.log(shares + FLOOR)  # [N], [N, L]
    fold = np.repeat(np.arange(len(votes)) % folds, votes.lengths)  # [N]

    def loss(sharpness: float, rows: BoolArray) -> float:
        y, p = truth[rows], log_softmax(sharpness * logs[rows], axis=1)
        right = np.where(y < 0, np.log(CLIP), p[np.arange(len(y)), y])
        return -float(right.mean())

    def of_fold(rows: BoolArray) -> float:
        best = minimize_scalar(loss, bounds=(0.05, 5.0), args=(~rows,))
        return loss(float(best.x), rows) * float(rows.mean())

    return float(sum(of_fold(fold == k) for k in range(folds)))


def ahead(votes: Corpus, codes: IntArray) -> dict[str, list[float]]:
    """Lead in span F1 over rivals, and its range in 95 of 100 paired resamples."""
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(votes), [1 / len(votes)] * len(votes), RESAMPLES)
    mine, found = tallies(votes, codes), {}  # [S, 3]
    for rival in RIVALS:
        theirs = tallies(votes, AGGREGATORS[rival](votes).codes)  # [S, 3]
        apart = f1_of(weights @ mine) - f1_of(weights @ theirs)  # [R]
        lead = f1_of(mine.sum(axis=0)) - f1_of(theirs.sum(axis=0))
        range_ = np.quantile(apart, (0.025, 0.975))
        found[rival] = np.round([lead, *range_], 5).tolist()
    return found


def rankings(cleaned: Cleaned) -> dict[str, Any]:
    """How early wrong labels stand, in our order and in cleanlab's."""
    from cleanlab.token_classification.rank import get_label_quality_scores

    votes = cleaned.corpus
    wrong = cleaned.codes != truth_of(votes)  # [N]
    given = split_at(cleaned.codes.tolist(), votes.bounds)
    found = {"tagsift": _ranking(votes, wrong, cleaned.chance_wrong)}
    for name, shares in (("posteriors", cleaned.confidences), ("text", cleaned.text)):
        rows = split_at(shares, votes.bounds)
        by_sentence, by_token = get_label_quality_scores(given, rows)
        doubts = -np.concatenate([np.asarray(x) for x in by_token])  # [N]
        found[f"cleanlab, {name}"] = _ranking(votes, wrong, doubts, -by_sentence)
    split = entropy(majority_shares(VoteTable(votes)))  # [N]
    found["entropy of votes"] = _ranking(votes, wrong, split)
    return {name: rounded(one) for name, one in found.items()}


def _ranking(
    votes: Corpus, wrong: BoolArray, doubts: FloatArray, whole: Any = None
) -> dict[str, float]:
    """Wrong labels among the first tokens, and areas under precision and recall."""
    order = np.argsort(-doubts, kind="stable")  # [N]
    starts = votes.bounds[:-1]
    if whole is None:
        whole = np.add.reduceat(doubts, starts)  # [S]
    bad = np.maximum.reduceat(wrong, starts)  # [S]
    found = {
        f"first_{share:g}": float(
            wrong[order[: int(share * len(order))]].sum() / max(wrong.sum(), 1)
        )
        for share in FIRST
    }
    return found | {
        "auprc_token": float(average_precision_score(wrong, doubts)),
        "auprc_sentence": float(average_precision_score(bad, whole)),
    }
