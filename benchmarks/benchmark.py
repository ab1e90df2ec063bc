"""What the benchmarks share: folds of the paper's size, and how a table was made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, KeyedCell
from experiments.measuring import peak_mib, timed
from experiments.records import Found
from experiments.tables import page
from tagsift.report import Report

#: Candidates of every ambiguous token, and the share of exact sentences.
CL, P = 3, 0.1
#: θ and amplitude that SGPPSL's evidence chooses on these folds.
KERNELS = {"base-np": (0.00556, 10.0), "chunking": (0.00556, 80.0)}


class Benchmark(Experiment):
    """Times something; threads are left as they are, and records say how many."""

    package = "benchmarks"
    home = Path("runs/benchmarks")
    threads = None

    def config(self, cell: Any) -> dict[str, Any]:
        source = "bundled corpus" if self.data is None else "corpus"
        return {**super().config(cell), "source": source}

    def about(self, found: Found) -> str:
        """Say what else the figures hang on."""
        return ""

    def report(self, found: Found) -> Report:
        """Make a page whose prose says how the records were made."""

        def all_of(part: str, name: str) -> str:
            values = sorted({r[part][name] for r in found.values() if name in r[part]})
            return " to ".join(dict.fromkeys(map(str, (*values[:1], *values[-1:]))))

        commands = sorted({f"`{record['command']}`" for record in found.values()})
        ran = (
            f"{self.about(found)}{', '.join(commands)}; Python "
            f"{all_of('versions', 'python')}, {all_of('time', 'cores')} cores, threads "
            f"of the linear algebra: {all_of('time', 'threads')}, load "
            f"{all_of('time', 'load')}."
        )
        return page(self.title, found, self.tables(found), ran)


@dataclass(frozen=True)
class EngineCell(KeyedCell):
    """An engine, or a way to fit or tag without one, at one size."""

    form = "{engine}/{tokens}"
    engine: str
    tokens: int  # of the corpus, about


@dataclass(frozen=True)
class EngineBenchmark(Benchmark):
    """Works in a folder, on as many tokens as are asked for."""

    separate = True
    order = ("data.tokens", "config.engine")  # of rows
    max_tokens: int
    folder: str


def fit_costs(fit: Callable[[], Any]) -> dict[str, float]:
    """Run a fit: its seconds, and the most memory held before it and up to its end."""
    before, spent = peak_mib(), timed(fit)
    times = {"fit_s": round(spent.wall, 2), "fit_cpu_s": round(spent.cpu, 2)}
    return {**times, "fit_peak_mib": peak_mib(), "before_fit_mib": before}


def percent(fitted: Any) -> dict[str, float | None]:
    """Return span F1 and recovery in per cent; no recovery where nothing is hidden."""
    scores = fitted.four_scores()
    names = [name for name in ("span_f1", "recovery") if name in scores]
    return {name: round(100 * scores[name], 2) for name in names}
