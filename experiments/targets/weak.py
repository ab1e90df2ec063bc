"""Labels from votes of all kinds: people, models, rules, dictionaries.

The protocol is that of WRENCH (Zhang et al., NeurIPS 2021): the votes of a set alone,
no gold label for any choice, exact span F1 against gold. Counting is its majority vote
(votes on types, ``O`` of a source no vote, neighbours of one type joined). Twenty sets
show how far the errors that are expected are the true ones. A draw above 0 is four
fifths of the sentences, and the seed of what is random.

    python -m experiments weak --records experiments/records/weak.jsonl
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.metrics import average_precision_score

from experiments.aggregators import AGGREGATORS, Aggregated
from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import rounded
from experiments.measuring import measured, versions
from experiments.records import Found, Record, pick
from experiments.tables import Tables, table
from experiments.vote_sets import SETS, SUBSETS, TWENTY
from tagsift.cleaned import Cleaned, clean
from tagsift.data import spans
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.metrics import CLIP, calibration_scores
from tagsift.report import Table
from tagsift.typing import BoolArray, FloatArray, IntArray

#: Records by the fields of their cells.
Whole: TypeAlias = Mapping[tuple[Any, ...], Record]
OURS = "vote-tagger"
#: Whom a claim of being ahead is tested against.
RIVALS = ("majority", "dawid-skene", "mace")
#: Draws of sentences beside the whole set, and who is run on them.
DRAWS, DRAWN = 3, (OURS, "majority", "dawid-skene")
RESAMPLES = 2000
#: Where the wrong labels of a ranking are looked for: shares of the tokens.
FIRST = (0.01, 0.05, 0.1)
#: Added to shares that have none, so that counting never is certain.
FLOOR = 1e-3
#: Expected errors are near enough within this factor.
NEAR = 1.5

COLUMNS = {
    "span F1|.1f|100": "scores.span_f1",
    "precision|.1f|100": "scores.precision",
    "recall|.1f|100": "scores.recall",
    "log-loss|.3f": "scores.nll",
    "ECE %|.2f|100": "scores.ece",
    "wrong, expected|.0f": "scores.expected",
    "true|.0f": "scores.wrong",
}


@dataclass(frozen=True)
class WeakCell(KeyedCell):
    """One method on one set of votes, or on a draw of its sentences."""

    form = "{votes}/{method}/draw{draw}"
    votes: str
    method: str
    draw: int = 0


class Weak(Experiment):
    """All methods on all sets of votes."""

    name = "weak"
    title = "Labels from votes of all kinds"
    summary = (
        "Exact span F1 of labels from votes alone, as in WRENCH; no gold is seen. "
        "Counting is on types, an abstaining source's O no vote, neighbours joined."
    )
    separate = True
    needs_corpora = True

    def cells(self) -> list[WeakCell]:
        whole = [WeakCell(name, OURS) for name in (*SETS, *SUBSETS)]
        whole += [WeakCell(votes, name) for votes in SETS for name in AGGREGATORS]
        drawn = range(1, DRAWS + 1)
        return whole + [
            WeakCell(votes, name, k) for k in drawn for votes in SETS for name in DRAWN
        ]

    def config(self, cell: WeakCell) -> dict[str, Any]:
        return asdict(cell)

    def files(self, cell: WeakCell) -> tuple[str, ...]:
        file = (SETS | SUBSETS)[cell.votes].file
        return (file,) if file else ()

    def run(self, cell: WeakCell) -> dict[str, Any]:
        assert self.data is not None
        votes = (SETS | SUBSETS)[cell.votes].read(self.data)
        if cell.draw:
            rng = np.random.default_rng(cell.draw)
            drawn = rng.permutation(len(votes))[: 4 * len(votes) // 5]
            votes = votes.take(np.sort(drawn))
        about: dict[str, Any] = {"votes": _sizes(votes)}
        if cell.method == OURS:
            with measured() as cost:
                cleaned = clean(votes, random_state=cell.draw)
            labels = Aggregated(cleaned.codes, cleaned.confidences)
            votes = cleaned.corpus  # whose first labels are those of the tagger
            said = cleaned.outlook()
            about["range"] = np.round([said.left, *said.left_range], 1).tolist()
            about["ahead"] = ahead(votes, labels.codes)
            about["ranking"] = rankings(votes, cleaned)
        else:
            with measured() as cost:
                labels = AGGREGATORS[cell.method](votes)
        scores = score(votes, labels)
        if cell.method == "majority":
            scores["nll_tempered"] = tempered(votes, labels)
        packages = versions("crowd-kit", "cleanlab", "skweak")
        return {"scores": rounded(scores), **about, "versions": packages, "time": cost}

    def tables(self, found: Found) -> Tables:
        done = list(self.finished(found))
        whole = {(c.votes, c.method): record for c, record in done if not c.draw}
        head = ("votes", "method", *COLUMNS, "nine in ten|>", "CPU s|.1f")
        rows = [
            (*key, *pick(x, *COLUMNS.values()), _range(x), x["time"]["cpu"])
            for key, x in whole.items()
            if key[0] in SETS
        ]
        yield table(head, rows, title="All methods")
        yield _leads(whole, {(c.votes, c.method, c.draw): x for c, x in done})
        yield _expected(whole)
        yield _ranked(whole)


def _sizes(votes: Corpus) -> dict[str, int]:
    names = ("sentences", "tokens", "annotators", "cast")
    sizes = len(votes), votes.n_tokens, len(votes.annotators), int(votes.speaks.sum())
    return dict(zip(names, sizes, strict=True))


# Scores ---------------------------------------------------------------------------


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


def score(votes: Corpus, labels: Aggregated) -> dict[str, float]:
    """Scores of labels, and of their probabilities where there are some."""
    truth, codes = truth_of(votes), labels.codes  # [N], [N]
    sums = tallies(votes, codes).sum(axis=0)  # [3]
    right, proposed, true = sums.tolist()
    scores = {
        "span_f1": float(f1_of(sums)),
        "precision": right / max(proposed, 1),
        "recall": right / max(true, 1),
        "wrong": float((codes != truth).sum()),
    }
    if labels.shares is not None:
        made = calibration_scores(labels.shares, truth)
        sure = labels.shares[np.arange(len(codes)), codes]  # [N]
        scores |= {"nll": made.nll, "ece": made.ece}
        scores |= {"expected": float((1 - sure).sum())}
    return scores


def tempered(votes: Corpus, labels: Aggregated, folds: int = 5) -> float:
    """Log-loss of shares after one temperature, fitted by gold on the other folds."""
    assert labels.shares is not None
    truth, logs = truth_of(votes), np.log(labels.shares + FLOOR)  # [N], [N, L]
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


def rankings(votes: Corpus, cleaned: Cleaned) -> dict[str, Any]:
    """How early wrong labels stand, in our order and in cleanlab's."""
    from cleanlab.token_classification.rank import get_label_quality_scores

    wrong = cleaned.codes != truth_of(votes)  # [N]
    given = split_at(cleaned.codes.tolist(), votes.bounds)
    found = {OURS: _ranking(votes, wrong, cleaned.chance_wrong)}
    for name, shares in (("posteriors", cleaned.confidences), ("text", cleaned.text)):
        rows = split_at(shares, votes.bounds)
        by_sentence, by_token = get_label_quality_scores(given, rows)
        doubts = -np.concatenate([np.asarray(x) for x in by_token])  # [N]
        found[f"cleanlab, {name}"] = _ranking(votes, wrong, doubts, -by_sentence)
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


# Tables ---------------------------------------------------------------------------


def _range(record: Record) -> str:
    low, high = record.get("range", (0, None, None))[1:]
    return "" if low is None else f"{low:.0f}–{high:.0f}"


def _lead(lead: list[float]) -> str:
    value, low, high = (100 * lead[k] for k in range(3))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def _leads(whole: Whole, drawn: Whole) -> Table:
    """By how much we are ahead of counting, and of rivals beyond chance."""
    rows = []
    for name in SETS:
        ours, counting = (whole.get((name, method)) for method in (OURS, "majority"))
        if ours is None or counting is None:
            continue
        pairs = [
            (drawn.get((name, OURS, k)), drawn.get((name, "majority", k)))
            for k in range(1, DRAWS + 1)
        ]
        leads = [_apart(a, b) for a, b in pairs if a and b]
        over = [_lead(ours["ahead"][rival]) for rival in RIVALS]
        losses = ours["scores"]["nll"], counting["scores"]["nll_tempered"]
        least = min(leads, default=None)
        rows.append((name, _apart(ours, counting), least, *over, *losses))
    over = [f"over {rival}, 95 %|>" for rival in RIVALS]
    return table(
        (
            *("votes", "over counting|+.1f|100", f"least of {DRAWS} draws|+.1f|100"),
            *(*over, "log-loss|.3f", "of counting, one temperature|.3f"),
        ),
        rows,
        title="Ahead of whom",
        note="Ranges are of a paired bootstrap over sentences.",
    )


def _apart(ours: Record, rival: Record) -> float:
    return float(ours["scores"]["span_f1"] - rival["scores"]["span_f1"])


def _expected(whole: Whole) -> Table:
    """Expected and true errors on the twenty sets."""
    rows, ratios, errors = list[tuple[Any, ...]](), [], []
    for name in TWENTY:
        if record := whole.get((name, OURS)):
            wrong, ece = pick(record, "scores.wrong", "scores.ece")
            left, low, high = record["range"]
            factor = max(left, 1) / max(wrong, 1)
            near, holds = 1 / NEAR <= factor <= NEAR, low <= wrong <= high
            ratios.append(high / max(low, 1e-9))
            errors.append(ece)
            about = (name, left, wrong, factor, near, _range(record), holds)
            rows.append((*about, ratios[-1], ece))
    if rows:
        near, holds = (f"{sum(x[k] for x in rows)} of {len(rows)}" for k in (4, 6))
        last = float(np.median(ratios)), float(np.mean(errors))
        rows = [tuple(_said(x) for x in row) for row in rows]
        rows.append(("all", None, None, None, near, "", holds, *last))
    return table(
        (
            *("votes", "wrong, expected|.0f", "true|.0f", "factor|.2f"),
            *(f"within {NEAR}", "nine in ten|>", "holds", "ratio of its ends|.1f"),
            "ECE %|.2f|100",
        ),
        rows,
        title="Expected and true errors",
    )


def _said(value: Any) -> Any:
    return ("no", "yes")[value] if isinstance(value, bool) else value


def _ranked(whole: Whole) -> Table:
    rows = []
    for (name, method), record in whole.items():
        if method == OURS and name in SETS:
            rows += [(name, by, *x.values()) for by, x in record["ranking"].items()]
    first = [f"wrong in the first {share:.0%}|.1f|100" for share in FIRST]
    head = ("votes", "order", *first, "AUPRC, tokens|.3f", "sentences|.3f")
    return table(head, rows, title="Where the wrong labels stand")


EXPERIMENT = Weak
