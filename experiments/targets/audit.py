"""Audits: whether the statements hold, and how many looks the model saves.

Every corpus of votes is turned into labels once, at default settings. Then looks are
drawn 2,000 times, gold answers them, and the bounds of `tagsift.audit` are compared
with the truth: after all looks, and at every moment from the first statement on, which
is the hardest that stopping at an aim can do. The same for a model that was made wrong
on purpose (its confidences shuffled, or all 0.999), for even draws without a model, and
for labels that were mended in most sentences, so that hardly any error is seen.

Cells ``taught`` fit confidences to 100 looks, twenty times, and score them on the other
sentences.

    python -m experiments audit --records experiments/records/audit.jsonl
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from scipy.stats import binom

import tagsift
from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import rounded
from experiments.folds import stable_seed
from experiments.records import Found
from experiments.tables import Tables, table
from experiments.vote_scores import tempered
from tagsift.annotators import VoteTable
from tagsift.annotators.counting import majority_shares
from tagsift.cleaned import clean
from tagsift.cleaned.auditing.bound import Looks, bounds, increments
from tagsift.cleaned.auditing.drawing import DESIGN, drawn_order, weights_of
from tagsift.cleaned.auditing.labels import AuditedLabels, frozen
from tagsift.cleaned.auditing.recalibration import PRIOR
from tagsift.cleaned.auditing.refitting import lesson, recalibration
from tagsift.cleaned.auditing.shares import Share, Tally, expected, found
from tagsift.data.corpus import Corpus
from tagsift.io import read_columns
from tagsift.metrics import calibration_scores
from tagsift.typing import FloatArray, IntArray

DRAWS, LEVEL = 2_000, 0.95
LOOKS = (50, 100, 200)


class Source(NamedTuple):
    """A corpus of votes with gold labels."""

    path: str
    votes: str
    abstain: bool


SOURCES = {
    "crowd": Source("crowd_ner/train.tsv", "2:48", False),
    "ncbi-train": Source("weak_ncbi/train.tsv", "2:18", True),
    **{
        f"{name}-{part}": Source(f"weak_votes/{name}/{part}.tsv", votes, True)
        for name, votes in {"conll": "2:17", "mit": "2:17", "bc5cdr": "2:10"}.items()
        for part in ("valid", "test")
    },
}
#: What is drawn by, and what it is called in tables.
MODELS = {
    "fitted": "as fitted",
    "shuffled": "confidences shuffled",
    "sure": "all 0.999",
    "none": "no model, even draws",
    "mended": "85 % of sentences mended",
}
#: Confidences that are fitted to looks, and how many times.
TAUGHT, FITS = "taught", 20
#: The share of sentences that somebody has mended, in ``mended``.
MENDED = 0.85
SHARES: tuple[Share, ...] = get_args(Share)


@dataclass(frozen=True)
class AuditCell(KeyedCell):
    """So many looks at one corpus, drawn by one model."""

    form = "{corpus}/{model}/{looks}"
    corpus: str
    model: str
    looks: int


class Audit(Experiment):
    """All corpora, models and numbers of looks."""

    name = "audit"
    title = "Statements after looks drawn by chance"
    summary = (
        f"{DRAWS:,} draws a cell, at {LEVEL:.0%}; coverage at every moment from "
        f"{DESIGN.least_looks} looks on is that of a stop at the hardest aim."
    )
    needs_corpora = True

    def cells(self) -> list[AuditCell]:
        drawn = [AuditCell(*three) for three in product(SOURCES, MODELS, LOOKS)]
        return [*drawn, *(AuditCell(name, TAUGHT, LOOKS[1]) for name in SOURCES)]

    def config(self, cell: AuditCell) -> dict[str, Any]:
        if cell.model == TAUGHT:
            return {**vars(cell), "draws": FITS, **vars(PRIOR)}
        return {**vars(cell), "draws": DRAWS, "level": LEVEL, **vars(DESIGN)}

    def files(self, cell: AuditCell) -> tuple[str, ...]:
        return (SOURCES[cell.corpus].path,)

    def run(self, cell: AuditCell) -> dict[str, Any]:
        assert self.data is not None
        labels, truth = audited(self.data, cell.corpus)
        rng = np.random.default_rng(stable_seed("audit", cell.key))
        if cell.model == TAUGHT:
            return {"scores": taught(labels, truth, cell.looks, rng)}
        labels = made_wrong(labels, truth, cell.model, rng)
        every = np.arange(len(labels.corpus))
        weights = np.ones(len(every))
        if cell.model != "none":
            chance = labels.wrong
            weights = weights_of(labels.by_sentence(chance * (1 - chance)))
        picks = np.array(
            [drawn_order(weights, rng)[: cell.looks] for _ in range(DRAWS)]
        )  # [R, n]
        scores: dict[str, Any] = {}
        for share in SHARES:
            counted = found(labels, share, every, truth)
            model = expected(labels, share) if cell.model != "none" else None
            scores[share] = rounded(simulated(counted, model, weights, picks))
        return {"scores": scores, "sentences": len(every)}

    def tables(self, found: Found) -> Tables:
        finished = dict(self.finished(found))
        done = {cell: one for cell, one in finished.items() if cell.model != TAUGHT}
        yield coverage_table(list(_rows(done)))
        yield saving_table(done)
        yield taught_table(finished)


@lru_cache(maxsize=1)  # the cells of a corpus follow one another
def audited(data: Path, corpus: str) -> tuple[AuditedLabels, IntArray]:
    """The labels that are found at default settings, and the true ones, [N] codes.

    They are kept in the folder of runs, under the state of the code that found them.
    """
    path, votes, abstain = SOURCES[corpus]
    read = read_columns(data / path, votes=votes, gold=-1)
    if abstain:
        silent = tuple(replace(one, abstains=True) for one in read.annotators)
        read = replace(read, annotators=silent)
    kept = Audit.home / Audit.name / "labels" / f"{corpus}-{_code_state()}.npz"
    if not kept.exists():
        made = frozen(clean(read))
        kept.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(made, name) for name in ("codes", "wrong", "settled")}
        steps = np.asarray(made.steps, dtype=np.uint16)
        np.savez(kept, steps=steps, names=np.array(made.names), **arrays)
    with np.load(kept, allow_pickle=False) as arrays:
        wide: Corpus = read.with_labels([str(name) for name in arrays["names"]])
        labels = AuditedLabels(
            wide,
            arrays["codes"],
            arrays["settled"],
            arrays["wrong"],
            arrays["steps"].astype(np.int64),
        )
    place = {name: k for k, name in enumerate(wide.label_set)}
    return labels, np.array([place[name] for name in wide.truth or ()])


def _code_state() -> str:
    """What tells the code that finds labels from other states of it."""
    root = Path(tagsift.__file__).parent
    rooms = ("data", "features", "chain", "base", "annotators", "io")
    made = hashlib.sha256()
    for path in sorted(x for room in rooms for x in (root / room).rglob("*.py")):
        made.update(path.read_bytes())
    return made.hexdigest()[:12]


def made_wrong(
    labels: AuditedLabels, truth: IntArray, model: str, rng: np.random.Generator
) -> AuditedLabels:
    """The same labels with what another model believes; or most of them mended."""
    assert labels.steps is not None
    n = len(labels.codes)
    if model == "shuffled":
        order = rng.permutation(n)
        return replace(labels, wrong=labels.wrong[order], steps=labels.steps[order])
    if model == "sure":
        steps = np.round(0.999 * 65535 * np.eye(labels.steps.shape[1]))[labels.codes]
        return replace(labels, wrong=np.full(n, 0.001), steps=steps.astype(np.int64))
    if model == "mended":
        ready = (rng.random(len(labels.corpus)) < MENDED)[labels.sentence]  # [N]
        return replace(labels, codes=np.where(ready, truth, labels.codes))
    return labels


def simulated(
    counted: Tally, model: Tally | None, weights: FloatArray, picks: IntArray
) -> dict[str, float]:
    """How often bounds hold, and how wide they are; `picks` is [R, n]."""
    truth = counted.errors.sum() / counted.size.sum()
    size = counted.size if model is None else model.size
    control = np.zeros(len(weights))
    if model is not None:
        control = model.errors - model.errors.sum() / size.sum() * size
    total = float(weights.sum())
    (errors, clock), (sizes, _), (controls, _) = (
        increments(column[picks], weights[picks], total)
        for column in (counted.errors, counted.size, control)
    )  # [R, n] each
    looks = Looks(errors, sizes, controls, clock, clock[:, -1], float(size.mean()))
    one, two = (bounds(looks, alpha) for alpha in (1 - LEVEL, (1 - LEVEL) / 2))
    above, below, outside = (
        (one.high < truth),
        (one.low > truth),
        (two.high < truth) | (two.low > truth),
    )  # [R, n] each
    scores = {"truth": truth}
    for name, missed in (("high", above), ("low", below), ("both", outside)):
        scores[f"{name}_at_end"] = 1 - missed[:, -1].mean()
        scores[f"{name}_always"] = 1 - missed.any(axis=1).mean()
    scores["above"] = float((one.high - one.value)[:, -1].mean())
    scores["half_width"] = float((two.high - two.low)[:, -1].mean() / 2)
    scores["bias"] = float(one.value[:, -1].mean() - truth)
    return scores


def taught(
    labels: AuditedLabels, truth: IntArray, looks: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Calibration of the sentences not looked at, before and after."""
    weights = weights_of(labels.by_sentence(labels.wrong * (1 - labels.wrong)))
    marginals, bounds_ = labels.marginals, labels.corpus.bounds
    fits = []
    for _ in range(FITS):
        order = drawn_order(weights, rng)[:looks]
        right = [truth[slice(*bounds_[s : s + 2])] for s in order]
        of = lesson(labels, weights, order, right)
        rest = np.ones(len(truth), dtype=bool)
        rest[of.token] = False
        after = recalibration(labels, of)(marginals[rest])
        both = [
            calibration_scores(part, truth[rest])
            for part in (_summing_to_one(marginals[rest]), after)
        ]
        fits.append([x for one in both for x in (one.ece, one.nll)])
    before_ece, before_nll, ece, nll = np.array(fits).T  # [F] each
    shares = majority_shares(VoteTable(labels.corpus))
    return rounded(
        {
            "ece_before": before_ece.mean(),
            "ece": ece.mean(),
            "ece_worst": ece.max(),
            "ece_rise_worst": (ece - before_ece).max(),
            "nll_before": before_nll.mean(),
            "nll": nll.mean(),
            "nll_worst": nll.max(),
            "nll_counting": tempered(labels.corpus, shares),
        }
    )


def _summing_to_one(marginals: FloatArray) -> FloatArray:
    return np.asarray(marginals / marginals.sum(axis=1, keepdims=True))


def taught_table(done: dict[AuditCell, Any]) -> Any:
    """What looks do to confidences."""
    columns = {
        "ECE %, before|.2f|100": "ece_before",
        "after|.2f|100": "ece",
        "worst draw|.2f|100": "ece_worst",
        "log-loss, before|.3f": "nll_before",
        "after |.3f": "nll",
        "worst draw |.3f": "nll_worst",
        "counting's|.3f": "nll_counting",
    }
    lines = [
        (cell.corpus, *(record["scores"][name] for name in columns.values()))
        for cell, record in done.items()
        if cell.model == TAUGHT
    ]
    return table(
        ("corpus", *columns),
        lines,
        title=f"Confidences fitted to {LOOKS[1]} looks, on the other sentences",
        note="The log-loss of counting is after one temperature, fitted by gold.",
    )


def _rows(done: dict[AuditCell, Any]) -> Iterator[tuple[AuditCell, str, str, float]]:
    """Every statement: its cell, share, name and coverage."""
    for cell, record in done.items():
        for share, scores in record["scores"].items():
            for side, when in product(("high", "low", "both"), ("at_end", "always")):
                yield cell, share, f"{side}_{when}", scores[f"{side}_{when}"]


def too_low(rows: list[tuple[AuditCell, str, str, float]]) -> list[bool]:
    """Whether coverage is below the level, by Holm's procedure over all statements."""
    missed = np.round([(1 - row[-1]) * DRAWS for row in rows])
    chance = binom.sf(missed - 1, DRAWS, 1 - LEVEL)
    order = np.argsort(chance)
    steps = chance[order] * (len(rows) - np.arange(len(rows)))
    held = np.maximum.accumulate(steps) < 0.05
    low = np.zeros(len(rows), dtype=bool)
    low[order] = held
    return [bool(x) for x in low]


def coverage_table(rows: list[tuple[AuditCell, str, str, float]]) -> Any:
    """The lowest coverage of every corpus and model, and how many are too low."""
    low = too_low(rows) if rows else []
    groups: dict[tuple[str, str], list[Any]] = {}
    for row, short in zip(rows, low, strict=True):
        groups.setdefault((row[0].corpus, row[0].model), []).append((row, short))
    lines = []
    for (corpus, model), own in groups.items():
        worst = []
        for name in ("high", "low", "both"):
            for when in ("at_end", "always"):
                worst.append(
                    min(row[-1] for row, _ in own if row[2] == f"{name}_{when}")
                )
        lines.append((corpus, MODELS[model], *worst, sum(short for _, short in own)))
    return table(
        (
            *("corpus", "model"),
            *("upper bound, at the end|.1f|100", "always|.1f|100"),
            *("lower, at the end|.1f|100", "always |.1f|100"),
            *("both, at the end|.1f|100", "always  |.1f|100"),
            "significantly below|d",
        ),
        lines,
        title="Lowest coverage over shares and numbers of looks, %",
    )


def saved(done: dict[AuditCell, Any], corpus: str, model: str, share: str) -> float:
    """Looks saved by a model where even draws without one have 200, a share."""

    def width(of: str, n: int) -> float:
        record = done.get(AuditCell(corpus, of, n))
        return np.nan if record is None else record["scores"][share]["half_width"]

    x = np.log([width(model, n) for n in LOOKS])
    aim = np.log(width("none", LOOKS[-1]))
    # Widths on a straight line between numbers of looks, both as logarithms.
    k = 1 if aim < x[1] else 0
    n = np.log(LOOKS)
    at = n[k] + (aim - x[k]) / (x[k + 1] - x[k]) * (n[k + 1] - n[k])
    return float(1 - np.exp(at - n[-1]))


def saving_table(done: dict[AuditCell, Any]) -> Any:
    """Half widths and looks saved."""
    lines = []
    n = LOOKS[-1]
    for corpus, model, share in product(SOURCES, MODELS, ("errors", "span_f1")):
        record = done.get(AuditCell(corpus, model, n))
        if record is None or model in ("none", "mended"):
            continue
        even = done.get(AuditCell(corpus, "none", n))
        widths = [
            None if one is None else one["scores"][share]["half_width"]
            for one in (even, record)
        ]
        gain = saved(done, corpus, model, share)
        squared = None if widths[0] is None else 1 - (widths[1] / widths[0]) ** 2
        lines.append((corpus, MODELS[model], share, *widths, squared, gain))
    return table(
        (
            *("corpus", "model", "share"),
            *("even draws, ± %|.2f|100", "by the model, ± %|.2f|100"),
            "looks saved, by squared widths, %|+.0f|100",
            "as measured, %|+.0f|100",
        ),
        lines,
        title=f"Half widths after {n} looks, and looks saved for the same width",
    )


EXPERIMENT = Audit
