"""Whole corpora, from the training file to the test file.

CoNLL-2000 (chunking), CoNLL-2003 (named entities) and Base NP; the training labels are
hidden at cl 3, p 0.1. `chain-gp` learns everything. `partial-crf` tunes its penalty on
a held-out fifth of all training sentences, and all six fits are counted. `crf` is tuned
in the same way on the gold labels: the ceiling. All sides get the same candidates and
the same features, words and parts of speech.

    python experiments/whole.py --data $TAGSIFT_DATA \
        --out experiments/records/whole.jsonl

Every cell runs in a process of its own, so that the peak of the memory is its own. A
run that was broken off goes on where it stopped; ``--only`` limits it (``--only
task=ner --only method=crf,chain-gp``), ``--redo`` forgets the records that ``--only``
chooses, ``--show`` prints the tables of the records and runs nothing.

The label set is that of the training file. CoNLL-2000 has two test tokens with a label
outside it (I-LST); they are wrong for all methods, and add 0.0015 to every log loss.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _duel_cells import SCORES
from _records import Records, carry_out
from threadpoolctl import threadpool_limits

import tagsift
from tagsift import registry
from tagsift.data import read_conll
from tagsift.errors import TagsiftWarning
from tagsift.experiments.protocol import TASKS, Fold, Split, corrupted
from tagsift.experiments.tuning import tuner_of
from tagsift.metrics import evaluate, recovery

#: Task → title of its corpus; in the order of the runs.
CORPORA = {"chunking": "CoNLL-2000", "ner": "CoNLL-2003", "base-np": "Base NP"}
#: In the order of the runs.
METHODS = ("partial-crf", "crf", "chain-gp")
CL, P = 3, 0.1


@dataclass(frozen=True)
class Cell:
    """One fit of one method on one corpus.

    Parameters
    ----------
    task, method : str
        The data, and who is fitted.
    seed : int
        Of the candidates, and of the method.
    """

    task: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Name of the cell, the same for all runs."""
        return f"{self.task}/{self.method}/cl{CL}-p{P}/seed{self.seed}"

    @property
    def exact(self) -> bool:
        """Whether the method is given the gold labels."""
        return registry.estimator(self.method).method.exact_only


def all_cells(seed: int) -> list[Cell]:
    """List the cells in the order of the runs."""
    return [Cell(task, method, seed) for task in CORPORA for method in METHODS]


def read_whole(data: Path, task: str) -> Fold:
    """Read training and test file of a task, and compute the features.

    Parameters
    ----------
    data : Path
        Folder of the corpora.
    task : str
        Its name.
    """
    path = data / TASKS[task].path
    train = read_conll(path).columns(2)
    test = read_conll(path.with_name("test.conll"), scheme=train.scheme).columns(2)
    return Fold.of(train, test, train.label_set)


def run_cell(cell: Cell, data: Path) -> dict[str, Any]:
    """Fit and score one cell in this process.

    Parameters
    ----------
    cell : Cell
        What to run.
    data : Path
        Folder of the corpora.
    """
    fold = read_whole(data, cell.task)
    split = Split(cell.task, len(fold.train), 1, 0, cell.seed, "whole")
    cl, p = (1, 1.0) if cell.exact else (CL, P)
    partial = corrupted(fold, split, cl=cl, p=p, r=None)
    tuner = tuner_of(cell.method)
    model: Any = registry.make(
        cell.method,
        **tuner.ask,
        labels=tuple(fold.label_set),
        scheme=fold.train.scheme,
        random_state=cell.seed,
    )
    before = peak_mib()
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TagsiftWarning)
        fit = timed(lambda: model.fit(fold.train_features, partial.candidates))
        tag = timed(lambda: model.predict(fold.test_features))
        peak = peak_mib()
        scores = evaluate(
            fold.test.labels,
            tag.result,
            scheme=fold.test.scheme,
            marginals=model.predict_marginals(fold.test_features),
            classes=model.classes_,
            unknown="wrong",
        ).headline()
    found = {name: scores[name] for name in ("span_f1", "nll", "ece")}
    if not cell.exact:
        found["recovery"] = recovery(
            partial.gold or [], model.recovered_, partial.candidates
        ).ambiguous
    return {
        "key": cell.key,
        "config": asdict(cell),
        "data": {
            "sentences": len(fold.train),
            "tokens": fold.train_features.n_tokens,
            "test_tokens": fold.test_features.n_tokens,
            "labels": len(fold.label_set),
            "features": fold.train_features.n_features,
        },
        "scores": {name: round(float(value), 6) for name, value in found.items()},
        "settings": tuner.read(model),
        "tuning": _trials(model),
        "temperature": round(float(getattr(model, "temperature_", 1.0)), 4),
        "n_iter": int(model.n_iter_),
        "time": {
            "fit_cpu_s": round(fit.cpu, 2),
            "fit_s": round(fit.wall, 2),
            "tag_tokens_per_cpu_s": round(
                fold.test_features.n_tokens / max(tag.cpu, 1e-3)
            ),
            "tag_tokens_per_s": round(
                fold.test_features.n_tokens / max(tag.wall, 1e-3)
            ),
            "peak_mib": peak,
            "before_fit_mib": before,
            "load": round(os.getloadavg()[0], 1),
        },
        "warnings": sorted({str(one.message) for one in caught}),
        "versions": _versions(),
        "command": _command(cell),
    }


def _trials(model: Any) -> dict[str, Any] | None:
    """How a conditional random field chose its penalty."""
    tuning = getattr(model, "tuning_", None)
    if tuning is None:
        return None
    return {
        "criterion": tuning.criterion,
        "n_exact": tuning.n_exact,
        "trials": [
            trial.settings | {"score": round(trial.score, 6)} for trial in tuning.trials
        ],
    }


def _versions() -> dict[str, str]:
    """Versions that the figures hang on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    own = {"python": platform.python_version(), "tagsift": tagsift.__version__}
    return own | packages


def _command(cell: Cell) -> str:
    """The command that makes this record again."""
    return (
        "python experiments/whole.py --data $TAGSIFT_DATA "
        f"--out experiments/records/whole.jsonl --seed {cell.seed} --redo "
        f"--only task={cell.task} --only method={cell.method}"
    )


@dataclass(frozen=True)
class Timed:
    """Elapsed and CPU seconds of some work, and what came out."""

    wall: float
    cpu: float
    result: Any


def timed(work: Callable[[], Any]) -> Timed:
    """Run `work`; on a busy machine its CPU seconds are the steadier figure."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu, result)


def peak_mib() -> float:
    """Return the most memory that this process has held, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def run(options: argparse.Namespace, cells: list[Cell]) -> None:
    """Run the cells that have no record yet, one after the other."""
    records = Records(options.out)
    if options.redo:
        for cell in cells:
            records.found.pop(cell.key, None)
    todo = [cell for cell in cells if cell.key not in records.found]
    for number, cell in enumerate(todo, start=1):
        records.add(separately(cell, options.data))
        print(f"{number}/{len(todo)}: {_line(records.found[cell.key])}", flush=True)


def separately(cell: Cell, data: Path) -> dict[str, Any]:
    """Run a cell in a fresh process with one thread; an error there ends the run."""
    call = [sys.executable, __file__, "--data", str(data), "--seed", str(cell.seed)]
    done = subprocess.run(
        [*call, "--one", cell.task, cell.method],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _line(record: dict[str, Any]) -> str:
    """One line about a finished cell."""
    scores = ", ".join(
        f"{title} {_figure(record, name, factor, digits)}"
        for name, title, factor, digits, _ in SCORES
    )
    return f"{record['key']}: {scores}, {record['time']['fit_cpu_s']:.0f} CPU s"


def _figure(record: dict[str, Any], name: str, factor: int, digits: int) -> str:
    value = record["scores"].get(name)
    return "–" if value is None else f"{factor * value:.{digits}f}"


def tables(records: dict[str, dict[str, Any]]) -> str:
    """Lay out the records as Markdown: every cell, and the gaps between methods."""
    found = [
        (cell, records[cell.key])
        for seed in sorted({record["config"]["seed"] for record in records.values()})
        for cell in all_cells(seed)
        if cell.key in records
    ]
    if not found:
        return "No cell has been run yet.\n"
    titles = " | ".join(title for _, title, *_ in SCORES)
    lines = [
        f"Training file → test file, cl {CL}, p {P} ({METHODS[1]}: gold labels). CPU "
        "seconds are of the whole fit, the choice of hyperparameters included.",
        "",
        f"| data | seed | method | {titles} | fit, CPU s | tagging, tokens/CPU s "
        "| peak MiB | steps | found |",
        "|---|---|---|" + "---:|" * (len(SCORES) + 4) + "---|",
    ]
    for cell, record in found:
        scores = " | ".join(
            _figure(record, name, factor, digits)
            for name, _, factor, digits, _ in SCORES
        )
        cost = record["time"]
        lines.append(
            f"| {CORPORA[cell.task]} | {cell.seed} "
            f"| {registry.estimator(cell.method).method.title} | {scores} "
            f"| {cost['fit_cpu_s']:,.0f} | {cost['tag_tokens_per_cpu_s']:,} "
            f"| {cost['peak_mib']:,.0f} | {record['n_iter']} | {_found(record)} |"
        )
    gaps = [gap for cell, _ in found if (gap := _gaps(cell, records))]
    if gaps:
        lines += [
            "",
            f"| data | seed | ChainGP's lead over the partial CRF: {titles} "
            "| span F1 behind the CRF on gold |",
            "|---|---|" + "---:|" * (len(SCORES) + 1),
            *gaps,
        ]
    return "\n".join(lines) + "\n"


def _found(record: dict[str, Any]) -> str:
    """The hyperparameters in few words."""
    settings = record["settings"]
    if "l2" in settings:
        return f"l2 {settings['l2']:g}"
    return f"temperature {record['temperature']:.2f}"


def _gaps(cell: Cell, records: dict[str, dict[str, Any]]) -> str:
    """One row for a ChainGP cell whose rival has been run; empty for all others."""
    rival = records.get(replace(cell, method="partial-crf").key)
    ceiling = records.get(replace(cell, method="crf").key)
    if cell.method != "chain-gp" or rival is None:
        return ""
    ours, theirs = records[cell.key]["scores"], rival["scores"]
    leads = [
        f"{factor * (1 if more else -1) * (ours[name] - theirs[name]):+.{digits}f}"
        for name, _, factor, digits, more in SCORES
    ]
    behind = "–"
    if ceiling is not None:
        behind = f"{100 * (ceiling['scores']['span_f1'] - ours['span_f1']):.2f}"
    row = " | ".join([*leads, behind])
    return f"| {CORPORA[cell.task]} | {cell.seed} | {row} |"


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="the records (JSON lines)")
    parser.add_argument("--seed", type=int, default=0, help="of the candidates")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="task=chunking,ner; method=partial-crf",
    )
    parser.add_argument("--redo", action="store_true", help="forget those records")
    parser.add_argument("--show", action="store_true", help="print the tables only")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(run_cell(Cell(*options.one, options.seed), options.data)))
        return 0
    return carry_out(parser, options, all_cells(options.seed), run, tables)


if __name__ == "__main__":
    sys.exit(main())
