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
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.aggregators import AGGREGATORS
from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import rounded
from experiments.measuring import measured, versions
from experiments.records import Found, Record, pick
from experiments.tables import Tables, table
from experiments.vote_scores import FIRST, RIVALS, ahead, rankings, score, tempered
from experiments.vote_sets import SETS, SUBSETS, TWENTY
from tagsift.cleaned import clean
from tagsift.data.corpus import Corpus
from tagsift.report import Table

#: Records by the fields of their cells.
Whole: TypeAlias = Mapping[tuple[Any, ...], Record]
OURS = "vote-tagger"
#: Draws of sentences beside the whole set, and who is run on them.
DRAWS, DRAWN = 3, (OURS, "majority", "dawid-skene")
#: Whose span F1 stands beside ours, set by set.
BESIDE = {
    "majority": "counting",
    "dawid-skene": "Dawid–Skene",
    "mace": "MACE",
    "skweak-hmm": "HMM",
    OURS: "tagsift",
}
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
        votes = _read(self.data, cell.votes)
        if cell.draw:
            rng = np.random.default_rng(cell.draw)
            drawn = rng.permutation(len(votes))[: 4 * len(votes) // 5]
            votes = votes.take(np.sort(drawn))
        about: dict[str, Any] = {"votes": _sizes(votes)}
        if cell.method == OURS:
            with measured() as cost:
                cleaned = clean(votes, random_state=cell.draw)
            votes, codes = cleaned.corpus, cleaned.codes
            scores, said = score(votes, codes, cleaned.confidences), cleaned.outlook()
            about["range"] = np.round([said.left, *said.left_range], 1).tolist()
            about["ahead"] = ahead(votes, codes)
            about["ranking"] = rankings(cleaned)
        else:
            with measured() as cost:
                codes, shares = AGGREGATORS[cell.method](votes)
            scores = score(votes, codes, shares)
            if cell.method == "majority" and shares is not None:
                scores["nll_tempered"] = tempered(votes, shares)
        packages = versions("crowd-kit", "cleanlab", "skweak")
        return {"scores": rounded(scores), **about, "versions": packages, "time": cost}

    def tables(self, found: Found) -> Tables:
        done = list(self.finished(found))
        whole = {(c.votes, c.method): record for c, record in done if not c.draw}
        yield _sets(whole)
        yield _leads(whole, {(c.votes, c.method, c.draw): x for c, x in done})
        yield _expected(whole)
        yield _ranked(whole)
        head = ("votes", "method", *COLUMNS, "nine in ten|>", "CPU s|.1f")
        rows = [
            (*key, *pick(x, *COLUMNS.values()), _range(x), x["time"]["cpu"])
            for key, x in whole.items()
            if key[0] in SETS
        ]
        yield table(head, rows, title="All methods")


@lru_cache(maxsize=1)
def _read(data: Path, name: str) -> Corpus:
    return (SETS | SUBSETS)[name].read(data)


def _sizes(votes: Corpus) -> dict[str, int]:
    names = ("sentences", "tokens", "annotators", "cast")
    sizes = len(votes), votes.n_tokens, len(votes.annotators), int(votes.speaks.sum())
    return dict(zip(names, sizes, strict=True))


# Tables ---------------------------------------------------------------------------


def _range(record: Record) -> str:
    low, high = record.get("range", (0, None, None))[1:]
    return "" if low is None else f"{low:.0f}–{high:.0f}"


def _lead(lead: list[float]) -> str:
    value, low, high = (100 * lead[k] for k in range(3))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def _sets(whole: Whole) -> Table:
    """Set by set: span F1 of all, and how sure we are."""
    rows = []
    for name in SETS:
        ours, counting = (whole.get((name, method)) for method in (OURS, "majority"))
        if ours and counting:
            f1 = [pick(whole.get((name, x), {}), "scores.span_f1")[0] for x in BESIDE]
            lead = _lead(ours["ahead"]["majority"])
            losses = ours["scores"]["nll"], counting["scores"]["nll_tempered"]
            expected, true = pick(ours, "scores.expected", "scores.wrong")
            wrong = expected, _range(ours), true
            rows.append((name, *f1, lead, *losses, *wrong))
    titles = (f"{title}|.1f|100" for title in BESIDE.values())
    return table(
        (
            *("votes", *titles, "over counting, 95 %|>", "log-loss|.3f"),
            *("counting's|.3f", "wrong, expected|.0f", "nine in ten|>", "true|.0f"),
        ),
        rows,
        title="Set by set",
        note="The log-loss of counting is after one temperature, fitted by gold.",
    )


def _leads(whole: Whole, drawn: Whole) -> Table:
    """Leads over rivals, beyond chance and in draws of sentences."""
    rows = []
    for (name, method), ours in whole.items():
        if method == OURS and name in SETS:
            pairs = [
                (drawn.get((name, OURS, k)), drawn.get((name, "majority", k)))
                for k in range(1, DRAWS + 1)
            ]
            leads = [_apart(x, y) for x, y in pairs if x and y]
            over = [_lead(ours["ahead"][rival]) for rival in RIVALS]
            rows.append((name, *over, *(leads + [None] * DRAWS)[:DRAWS]))
    over = [f"over {BESIDE[rival]}|>" for rival in RIVALS]
    drawn_heads = [f"over counting, draw {k}|+.1f|100" for k in range(1, DRAWS + 1)]
    note = "Ranges of leads, 95 %, are of a paired bootstrap over sentences."
    return table(("votes", *over, *drawn_heads), rows, title="Leads", note=note)


def _apart(ours: Record, rival: Record) -> float:
    return float(ours["scores"]["span_f1"] - rival["scores"]["span_f1"])


def _expected(whole: Whole) -> Table:
    """Errors that the confidences expect, the printed range, and the true ones."""
    rows, ratios, errors = list[tuple[Any, ...]](), [], []
    for name in TWENTY:
        if record := whole.get((name, OURS)):
            places = ("scores.expected", "scores.wrong", "scores.ece")
            expected, wrong, ece = pick(record, *places)
            _, low, high = record["range"]
            factor = max(expected, 1) / max(wrong, 1)
            near, holds = 1 / NEAR <= factor <= NEAR, low <= wrong <= high
            ratios.append(high / max(low, 1e-9))
            errors.append(ece)
            about = (name, expected, wrong, factor, near, _range(record), holds)
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
