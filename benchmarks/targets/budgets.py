"""The budgets of the design, as ratios to a partial CRF in the same run.

Fits are repeated in turn (ours, the CRF, ours, …) and the median of the ratios of CPU
seconds is taken: on a shared machine elapsed time says little. Import and command line
are timed in fresh processes.

    python -m benchmarks budgets --records benchmarks/records/budgets.jsonl
    python -m benchmarks budgets --repeat 1 --only task=base-np
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, percent
from experiments.experiment import KeyedCell, Option
from experiments.fitting import fit, tuner_of
from experiments.folds import paper_fold
from experiments.measuring import timed
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.typing import FloatArray

#: Largest ratio to the partial CRF, hyperparameters given, by task.
GIVEN = {"base-np": 2.0, "chunking": 3.0}
#: The same with hyperparameters learnt, against a tuned CRF.
LEARNT = 1.0
#: Tokens a second.
TAGGING = {"partial-crf": 20000, "sgppsl": 1000, "chain-gp": 20000}
#: Seconds to start, and what is started.
START_UP = {
    "import": (1.0, ["-c", "import tagsift"]),
    "help": (1.5, ["-m", "tagsift", "--help"]),
}
#: The budgets hold for SGPPSL with inducing points (Reading R9).
SPARSE = {"posterior": "inducing"}
#: What makes fits quick of which only the tagging is timed.
QUICK: dict[str, dict[str, Any]] = {
    "partial-crf": {},
    "sgppsl": {"hyperparameters": "fixed", **SPARSE},
    "chain-gp": {"temperature": 1.0, "span_bonus": 0.0},
}


@dataclass(frozen=True)
class BudgetCell(KeyedCell):
    """What is timed: start-up (of no task), fits or tagging."""

    form = "{task}/{what}"
    what: str
    task: str
    repeat: int


@dataclass(frozen=True)
class Budgets(Benchmark):
    """Start-up, fits and tagging beside what the design allows."""

    name = "budgets"
    title = "Budgets"
    options = {"repeat": Option(3, "rounds of the fits", int)}
    repeat: int

    def cells(self) -> list[BudgetCell]:
        pairs = [(what, task) for task in GIVEN for what in ("fits", "tagging")]
        pairs = [("start-up", "none"), *pairs]
        return [BudgetCell(*pair, self.repeat) for pair in pairs]

    def run(self, cell: BudgetCell) -> dict[str, Any]:
        work = {"start-up": self.start_up, "fits": self.fits, "tagging": self.tagging}
        return {"rows": work[cell.what](cell)}

    def start_up(self, cell: BudgetCell) -> list[dict[str, Any]]:
        """Seconds of ``import tagsift`` and of ``tagsift --help``, best of five."""
        rows = []
        for name, (budget, call) in START_UP.items():
            run = partial(subprocess.run, [sys.executable, *call], check=True)
            best = min(timed(partial(run, capture_output=True)).wall for _ in range(5))
            row = {"name": name, "best_s": round(best, 3), "budget_s": budget}
            rows.append({**row, "within": best <= budget})
        return rows

    def fits(self, cell: BudgetCell) -> list[dict[str, Any]]:
        """Ratios of SGPPSL and ChainGP to the partial CRF, learnt and then given."""
        fold, candidates = paper_fold(self.data, cell.task)
        rows, known = [], {name: tuner_of(name).ask for name in TAGGING}
        known["sgppsl"] = SPARSE
        for kind, budget in (("learnt", LEARNT), ("given", GIVEN[cell.task])):
            rounds = [
                {name: fit(name, fold, candidates, known[name]) for name in known}
                for _ in range(cell.repeat)
            ]
            walls, cpus = (
                {name: np.array([r[name].fitting[k] for r in rounds]) for name in known}
                for k in (0, 1)
            )  # [rounds]
            for name in known:
                row = {
                    "hyperparameters": kind,
                    "method": name,
                    "fit_cpu_s": _median(cpus[name], 3),
                    "fit_s": _median(walls[name], 3),
                    "ratio": _median(cpus[name] / cpus["partial-crf"], 2),
                    "ratio_elapsed": _median(walls[name] / walls["partial-crf"], 2),
                    **percent(rounds[-1][name]),
                }
                # The design has no budget for ChainGP with hyperparameters given.
                if name == "sgppsl" or (name, kind) == ("chain-gp", "learnt"):
                    row |= {"budget": budget, "within": row["ratio"] <= budget}
                rows.append(row)
            models = {name: one.model for name, one in rounds[-1].items()}
            known = {name: tuner_of(name).read(one) for name, one in models.items()}
            known["sgppsl"] |= SPARSE
            ours = models["chain-gp"]
            learnt = {"temperature": ours.temperature_, "span_bonus": ours.span_bonus_}
            known["chain-gp"] |= learnt
        return rows

    def tagging(self, cell: BudgetCell) -> list[dict[str, Any]]:
        """Tokens tagged a second, best of three, features computed before."""
        fold, candidates = paper_fold(self.data, cell.task)
        test, rows = fold.test_features, []
        for name, budget in TAGGING.items():
            model = fit(name, fold, candidates, QUICK[name]).model
            best = min(timed(partial(model.predict, test)).cpu for _ in range(3))
            rate = test.n_tokens / best
            row = {"method": name, "tokens_per_cpu_s": round(rate), "budget": budget}
            rows.append(row | {"within": rate >= budget})
        return rows

    def tables(self, found: Found) -> Tables:
        fits, rest = [], []
        for cell, record in self.finished(found):
            for row in record["rows"]:
                kept = {True: "yes", False: "NO", None: ""}[row.get("within")]
                if cell.what == "fits":
                    told = f"{cell.task}, {row['method']}, {row['hyperparameters']}"
                    facts = pick(row, "fit_cpu_s", "ratio", "ratio_elapsed")
                    budget = f"{row['budget']:.0f}" if "budget" in row else ""
                    fits.append((told, *facts, budget, kept))
                elif cell.what == "start-up":
                    seconds = f"{row['best_s']:.2f} s", f"{row['budget_s']} s"
                    rest.append((f"`{row['name']}`", *seconds, kept))
                else:
                    told = f"tagging, {cell.task}, {row['method']}"
                    rate = f"{row['tokens_per_cpu_s']:,} tokens/s"
                    rest.append((told, rate, f"{row['budget']:,}", kept))
        head = ("fit", "CPU s|.2f", "ratio to partial CRF|.2f", "elapsed ratio|.2f")
        yield table((*head, "budget|>", "kept|>"), fits)
        yield table(("what", "measured|>", "budget|>", "kept|>"), rest)


def _median(values: FloatArray, digits: int) -> float:
    return round(float(np.median(values)), digits)


EXPERIMENT = Budgets
