"""Fit time, tagging time and peak memory of every method on two folds of the paper.

Each method runs in a process of its own, so that the peak memory is its own. A memory
figure counts the interpreter and the libraries too (`baseline_mib`).

    python -m benchmarks.methods
    python -m benchmarks.methods --tasks base-np --methods sgppsl partial-crf
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.common import command, fold, load, machine, read, save, timed, write
from tagsift import registry


def peak_mib() -> float:
    """Return the most memory that this process has held, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def one(path: Path, task: str, method: str) -> dict[str, Any]:
    """Fit and tag once, in this process."""
    work = next(w for w in load(path) if w.name == task)
    model = registry.make(method, labels=work.classes, scheme=work.scheme)
    y = work.exact if model.method.exact_only else work.candidates
    before = peak_mib()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fit_wall, fit_cpu, _ = timed(lambda: model.fit(work.train, y))
        tag_wall, tag_cpu, predicted = timed(lambda: model.predict(work.test))
    return {
        "method": method,
        "title": model.method.title,
        "fit_s": round(fit_wall, 3),
        "fit_cpu_s": round(fit_cpu, 3),
        "tag_s": round(tag_wall, 3),
        "tag_tokens_per_cpu_s": round(work.test.n_tokens / max(tag_cpu, 1e-3)),
        "peak_mib": peak_mib(),
        "baseline_mib": before,
        **work.scores(model, predicted),
        "warnings": sorted({str(w.message) for w in heard}),
    }


def separately(path: Path, task: str, method: str, limit: float) -> dict[str, Any]:
    """Run `one` in a fresh process."""
    run = [sys.executable, "-m", "benchmarks.methods", "--one", str(path), task, method]
    try:
        done = subprocess.run(
            run, capture_output=True, text=True, timeout=limit, env=os.environ
        )
    except subprocess.TimeoutExpired:
        return {"method": method, "error": f"stopped after {limit:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return {"method": method, "error": " ".join(last)}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="corpora; TAGSIFT_DATA by default")
    parser.add_argument("--tasks", nargs="+", default=["base-np", "chunking"])
    parser.add_argument("--methods", nargs="+", default=list(registry.names()))
    parser.add_argument("--limit", type=float, default=900.0, help="seconds a method")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        path, task, method = args.one
        print(json.dumps(one(Path(path), task, method)))
        return
    works = [fold(task, args.data) for task in args.tasks]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "folds.npz"
        save(path, works)
        for work in works:
            name = f"methods-{work.name}"
            old = read(name) or {}
            rows = {row["method"]: row for row in old.get("methods", [])}
            for method in args.methods:
                row = separately(path, work.name, method, args.limit)
                rows[method] = row | {"load": os.getloadavg()[0]}
                print(json.dumps(rows[method]), flush=True)
                record = {
                    "command": command(),
                    "machine": machine(),
                    **work.facts(),
                    "methods": [rows[m] for m in registry.names() if m in rows],
                }
                write(name, record)


if __name__ == "__main__":
    main()
