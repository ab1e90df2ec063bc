"""The budgets of the design, as ratios to a partial CRF in the same run.

Fits are repeated in turn (ours, the CRF, ours, …) and the median of the ratios of CPU
seconds is taken: on a shared machine elapsed time says little. Import and command line
are timed in fresh processes.

    python -m benchmarks.budgets
    python -m benchmarks.budgets --repeat 1 --tasks base-np
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.common import (
    RECORDS,
    Workload,
    command,
    fold,
    machine,
    timed,
    write,
)
from tagsift import SGPPSL, ChainGP
from tagsift.baselines import PartialCRF

#: Largest ratio to the partial CRF, hyperparameters given, by task.
GIVEN = {"base-np": 2.0, "chunking": 3.0}
#: The same with hyperparameters learnt, against a tuned CRF.
LEARNT = 1.0
#: Tokens a second.
TAGGING = {"sgppsl": 1000, "chain-gp": 20000, "partial-crf": 20000}


def start_up() -> dict[str, Any]:
    """Seconds of ``import tagsift`` and of ``tagsift --help``, best of five."""
    runs = {
        "import": [sys.executable, "-c", "import tagsift"],
        "help": [sys.executable, "-m", "tagsift", "--help"],
    }
    budgets = {"import": 1.0, "help": 1.5}
    found: dict[str, Any] = {}
    for name, run in runs.items():
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run(run, check=True, capture_output=True, env=os.environ)
            seconds.append(time.perf_counter() - begin)
        found[name] = {
            "best_s": round(min(seconds), 3),
            "budget_s": budgets[name],
            "within": min(seconds) <= budgets[name],
        }
    return found


def settings_of(model: Any) -> dict[str, Any]:
    """Return the hyperparameters that a fitted model learnt, to give to another."""
    if isinstance(model, SGPPSL):
        return {
            "theta": float(model.kernel_.theta[0]),
            "amplitude": float(model.kernel_.amplitude[0]),
        }
    return {"kernel": model.kernel_.as_dict(), "temperature": model.temperature_}


def compare(work: Workload, repeat: int) -> list[dict[str, Any]]:
    """Ratios of SGPPSL and ChainGP to the partial CRF, given and learnt."""
    rows = []
    known: dict[type, dict[str, Any]] = {}
    l2 = 1.0
    for kind in ("learnt", "given"):
        times: dict[str, list[tuple[float, float]]] = {}
        facts: dict[str, dict[str, Any]] = {}
        for _ in range(repeat):
            for cls in (PartialCRF, SGPPSL, ChainGP):
                extra = known.get(cls, {}) if kind == "given" else {}
                if cls is PartialCRF:
                    extra = {"l2": l2} if kind == "given" else {"tune": True}
                model = cls(labels=work.classes, scheme=work.scheme, **extra)
                wall, cpu, _ = timed(lambda: model.fit(work.train, work.candidates))  # noqa: B023
                predicted = model.predict(work.test)
                if cls is PartialCRF:
                    l2 = model.l2_
                else:
                    known[cls] = settings_of(model)
                name = model.method.name
                times.setdefault(name, []).append((wall, cpu))
                facts[name] = work.scores(model, predicted)
        base = times["partial-crf"]
        for name, spent in times.items():
            ratios = [s[1] / b[1] for s, b in zip(spent, base, strict=True)]
            walls = [s[0] / b[0] for s, b in zip(spent, base, strict=True)]
            budget = GIVEN[work.name] if kind == "given" else LEARNT
            row = {
                "task": work.name,
                "hyperparameters": kind,
                "method": name,
                "fit_cpu_s": round(statistics.median(s[1] for s in spent), 3),
                "fit_s": round(statistics.median(s[0] for s in spent), 3),
                "ratio": round(statistics.median(ratios), 2),
                "ratio_elapsed": round(statistics.median(walls), 2),
                **facts[name],
            }
            if name != "partial-crf":
                row |= {"budget": budget, "within": row["ratio"] <= budget}
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def tagging(work: Workload) -> list[dict[str, Any]]:
    """Tokens tagged a second, best of three, features computed before."""
    rows = []
    for cls in (PartialCRF, SGPPSL, ChainGP):
        fixed = {
            PartialCRF: {},
            SGPPSL: {"hyperparameters": "fixed"},
            ChainGP: {"temperature": 1.0},
        }[cls]
        model = cls(labels=work.classes, scheme=work.scheme, **fixed)
        model.fit(work.train, work.candidates)
        model.predict(work.test)
        best = min(timed(lambda: model.predict(work.test))[1] for _ in range(3))  # noqa: B023
        name = model.method.name
        rate = work.test.n_tokens / best
        rows.append(
            {
                "task": work.name,
                "method": name,
                "tokens_per_cpu_s": round(rate),
                "budget": TAGGING[name],
                "within": rate >= TAGGING[name],
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="corpora; TAGSIFT_DATA by default")
    parser.add_argument("--tasks", nargs="+", default=["base-np", "chunking"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--records", type=Path, default=RECORDS, help="a folder")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    record: dict[str, Any] = {"command": command(), "machine": machine()}
    record["start_up"] = start_up()
    print(json.dumps(record), flush=True)
    record["fits"], record["tagging"] = [], []
    for task in args.tasks:
        work = fold(task, args.data)
        record["fits"] += compare(work, args.repeat)
        record["tagging"] += tagging(work)
        write("budgets", record, args.records)


if __name__ == "__main__":
    main()
