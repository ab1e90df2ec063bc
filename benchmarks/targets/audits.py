"""What an audit of a million tokens costs: drawing, answers, and all statements.

The corpus is generated, its labels are those of one annotator, and their chances of
being wrong are drawn at random; answers are the truth.

    python -m benchmarks audits --tokens 1000000 --records FILE
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from experiments.experiment import KeyedCell, Option
from experiments.measuring import peak_mib, timed
from experiments.records import Found
from experiments.tables import Tables, by_columns
from tagsift.cleaned.auditing.labels import AuditedLabels
from tagsift.cleaned.auditing.plan import drawn_plan
from tagsift.data import generate

#: Seconds and MiB that drawing and stating may take.
SECONDS, MEBIBYTES = 5.0, 1024.0
LOOKS = 200


@dataclass(frozen=True)
class AuditsCell(KeyedCell):
    """An audit of so many tokens."""

    form = "{tokens}"
    tokens: int


@dataclass(frozen=True)
class Audits(Benchmark):
    """A draw, its answers, and everything that can be stated."""

    name = "audits"
    title = "What an audit costs"
    separate = True
    options = {"tokens": Option(100_000, "of the corpus, about", int)}
    tokens: int

    def cells(self) -> list[AuditsCell]:
        return [AuditsCell(self.tokens)]

    def run(self, cell: AuditsCell) -> dict[str, Any]:
        labels, truth = generated(cell.tokens)
        before = peak_mib()

        def audit() -> None:
            plan = drawn_plan(labels, LOOKS, 0)
            names, bounds = labels.names, labels.corpus.bounds
            for s in plan.sentences:
                right = truth[slice(*bounds[s : s + 2])]
                plan.answer(s, [names[code] for code in right])
            stated = plan.result()
            _ = stated.errors, stated.span_f1, stated.precision, stated.recall
            _ = stated.by("label"), stated.by("annotator"), stated.calibration
            stated.looks_until(0.9 * stated.errors.high)

        spent = timed(audit)
        data = {"tokens": len(truth), "sentences": len(labels.corpus)}
        more = round(peak_mib() - before, 1)
        within = spent.cpu <= SECONDS and more <= MEBIBYTES
        time = {"audit_cpu_s": round(spent.cpu, 2), "audit_mib": more}
        return {"data": data, "looks": LOOKS, "within": within, "time": time}

    def falls_short(self, found: Found) -> list[str]:
        return [key for key, one in found.items() if not one.get("within", True)]

    def tables(self, found: Found) -> Tables:
        columns = {
            "tokens|,d": "data.tokens",
            "sentences|,d": "data.sentences",
            "looks|d": "looks",
            "CPU s|.2f": "time.audit_cpu_s",
            "memory besides, MiB|,.0f": "time.audit_mib",
        }
        yield by_columns(found.values(), columns, "data.tokens")


def generated(tokens: int) -> tuple[AuditedLabels, Any]:
    """Labels of a generated corpus, some of them wrong, and the true ones."""
    rng = np.random.default_rng(0)
    some = generate(2_000, random_state=0, task="ner").with_columns(1)
    times = -(-tokens // some.n_tokens)
    corpus = some.take(np.tile(np.arange(len(some)), times))
    truth = np.asarray(corpus.candidate_codes)
    wrong = rng.beta(0.2, 8.0, len(truth))
    width = len(corpus.label_set)
    codes = np.where(rng.random(len(truth)) < wrong, (truth + 1) % width, truth)
    chances = np.tile((wrong / (width - 1))[:, None], (1, width))
    chances[np.arange(len(truth)), codes] = 1 - wrong
    steps = np.round(65535 * chances).astype(np.int64)
    settled = np.zeros(len(truth), dtype=bool)
    return AuditedLabels(corpus.as_votes(), codes, settled, wrong, steps), truth


EXPERIMENT = Audits
