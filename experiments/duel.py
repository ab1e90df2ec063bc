"""ChainGP against the conditional random field on candidate sets, cell by cell.

Base NP, Chunking and NER of the paper's size, without and with contextual vectors, at
(cl 3, p 0.1), (cl 3, p 0.5) and (r 0.75, p 0.5): 18 settings, five folds each, and two
more seeds for the six settings with cl 3, p 0.1. Both sides get the same folds, the
same candidates and the same features. Hyperparameters of both sides are learnt on the
first training fold of a setting and seed, and used for its other folds.

    python experiments/duel.py --data $TAGSIFT_DATA \
        --out experiments/records/duel.jsonl

A run that was broken off goes on where it stopped; ``--minutes`` and ``--only`` limit
it, ``--jobs`` is the number of processes, ``--redo`` forgets the records that
``--only`` chooses, ``--show`` prints the tables of the records and runs nothing. The
vectors come from the packaged encoder, or from a file that ``--write-vectors`` has made
(half precision either way, so that both give the same figures).
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

import tagsift
from tagsift import registry
from tagsift.errors import TagsiftWarning
from tagsift.experiments.protocol import (
    TASKS,
    Fold,
    Split,
    corrupted,
    make_fold,
    read_head,
)
from tagsift.experiments.tuning import tuner_of
from tagsift.features import ContextualEncoder, SequenceVectorizer
from tagsift.metrics import evaluate, recovery
from tagsift.storage import atomic_write

METHODS = ("partial-crf", "chain-gp")
N_FOLDS = 5
#: (cl, r, p) of the settings; the first has three seeds.
CORRUPTIONS = ((3, None, 0.1), (3, None, 0.5), (None, 0.75, 0.5))
SEEDS = (0, 1, 2)
#: Score, title, factor, digits, and whether more is better.
SCORES = (
    ("span_f1", "span F1", 100, 2, True),
    ("recovery", "recovery", 100, 2, True),
    ("nll", "NLL", 1, 4, False),
    ("ece", "ECE", 100, 2, False),
)


@dataclass(frozen=True)
class Cell:
    """One fit of one method.

    Parameters
    ----------
    task, vectors : str and bool
        The data, and whether contextual vectors are among the features.
    cl, r, p
        How the labels are hidden.
    seed, fold : int
        Of the folds and candidates.
    method : str
        Who is fitted.
    """

    task: str
    vectors: bool
    cl: int | None
    r: float | None
    p: float
    seed: int
    fold: int
    method: str

    @property
    def key(self) -> str:
        """Name of the cell, the same for all runs."""
        hidden = f"cl{self.cl}" if self.cl is not None else f"r{self.r}"
        vectors = "vectors" if self.vectors else "sparse"
        return (
            f"{self.task}/{vectors}/{hidden}-p{self.p}/seed{self.seed}"
            f"/fold{self.fold}/{self.method}"
        )

    @property
    def setting(self) -> tuple[Any, ...]:
        """What the rows of the table are."""
        return self.task, self.vectors, self.cl, self.r, self.p


def all_cells() -> list[Cell]:
    """List the cells: first folds first, since the others need what they learn."""
    found = [
        Cell(task, vectors, cl, r, p, seed, fold, method)
        for fold in range(N_FOLDS)
        for seed in SEEDS
        for cl, r, p in CORRUPTIONS
        for vectors in (False, True)
        for task in ("chunking", "base-np", "ner")
        for method in reversed(METHODS)
        if seed == SEEDS[0] or (cl, r, p) == CORRUPTIONS[0]
    ]
    return sorted(found, key=lambda cell: cell.fold > 0)


class StoredVectors:
    """Word vectors of known sentences, in place of an encoder.

    Parameters
    ----------
    path : Path
        What `write_vectors` has made.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path) as stored:
            cuts, vectors = stored["cuts"], stored["vectors"]  # [K + 1], [N, D]
            self.places = {
                key: slice(lo, hi)
                for key, (lo, hi) in zip(
                    stored["keys"].tolist(), itertools.pairwise(cuts), strict=True
                )
            }
        self.vectors = vectors
        self.n_features = int(vectors.shape[1])

    def encode(self, sentences: Sequence[Sequence[str]]) -> Any:
        """Word vectors of all words, stacked, [N, D]."""
        rows = [self.vectors[self.places[_digest(words)]] for words in sentences]
        return np.concatenate(rows).astype(np.float32)  # [N, D]


def _digest(words: Sequence[str]) -> str:
    """Name of a sentence that does not give its words away."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:24]


def write_vectors(path: Path, data: Path) -> None:
    """Encode the sentences of all tasks, in half precision, each sentence once."""
    sentences = {
        _digest(words): words
        for task in TASKS.values()
        for words in read_head(data, task.name, task.n_sentences).tokens
    }
    vectors = ContextualEncoder.packaged(layer=4).encode(list(sentences.values()))
    cuts = np.cumsum([0, *map(len, sentences.values())])  # [K + 1]
    with atomic_write(path, "wb") as stream:
        np.savez_compressed(
            stream,
            keys=np.array(list(sentences)),
            cuts=cuts,
            vectors=vectors.astype(np.float16),
        )


def features_of(cell: Cell, data: Path, vectors: Path | None) -> tuple[Fold, Split]:
    """One fold with its features, and which fold it is."""
    task = TASKS[cell.task]
    split = Split(cell.task, task.n_sentences, N_FOLDS, cell.fold, cell.seed)
    fold = make_fold(data, split)
    if not cell.vectors or vectors is None:
        return fold, split
    encoder: Any = StoredVectors(vectors)
    vectorizer = SequenceVectorizer(encoder=encoder)
    return (
        replace(
            fold,
            train_features=vectorizer.fit_transform(fold.train.rows),
            test_features=vectorizer.transform(fold.test.rows),
        ),
        split,
    )


def run_cell(
    cell: Cell, data: Path, vectors: Path | None, settings: dict[str, Any] | None
) -> dict[str, Any]:
    """Fit and score one cell.

    Parameters
    ----------
    cell : Cell
        What to run.
    data, vectors : Path
        Folder of the corpora, and file of the vectors.
    settings : dict, optional
        Hyperparameters from the first fold; None to learn them.
    """
    fold, split = features_of(cell, data, vectors)
    partial = corrupted(fold, split, cl=cell.cl, p=cell.p, r=cell.r)
    tuner = tuner_of(cell.method)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TagsiftWarning)
        model: Any = registry.make(
            cell.method,
            **(tuner.ask if settings is None else settings),
            labels=tuple(fold.label_set),
            scheme=fold.train.scheme,
            random_state=cell.seed,
        )
        begin = time.perf_counter()
        model.fit(fold.train_features, partial.candidates)
        seconds = time.perf_counter() - begin
        predicted = model.predict(fold.test_features)
        scores = evaluate(
            fold.test.labels,
            predicted,
            scheme=fold.test.scheme,
            marginals=model.predict_marginals(fold.test_features),
            classes=model.classes_,
        ).headline()
    recovered = recovery(partial.gold or [], model.recovered_, partial.candidates)
    found = {name: scores[name] for name in ("span_f1", "nll", "ece")}
    found["recovery"] = recovered.ambiguous
    return {
        "key": cell.key,
        "config": asdict(cell),
        "scores": {name: round(float(value), 6) for name, value in found.items()},
        "settings": tuner.read(model),
        "learnt": settings is None,
        "temperature": round(float(getattr(model, "temperature_", 1.0)), 4),
        "n_iter": int(model.n_iter_),
        "seconds": round(seconds, 2),
        "warnings": sorted({type(one.message).__name__ for one in caught}),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """Versions that the figures hang on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "tagsift": tagsift.__version__,
    }


class Records:
    """The records of a run: one JSON line a cell, rewritten whole at every change.

    Parameters
    ----------
    path : Path
        The file; there need be none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                record = json.loads(line)
                self.found[record["key"]] = record

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record, on disk too."""
        self.found[record["key"]] = record
        self.write()

    def write(self) -> None:
        """Write the file, sorted by keys."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path) as stream:
            for key in sorted(self.found):
                stream.write(json.dumps(self.found[key], ensure_ascii=False) + "\n")

    def settings(self, cell: Cell) -> dict[str, Any] | None:
        """Hyperparameters of the first fold, or None where it has not been run."""
        first = self.found.get(replace(cell, fold=0).key)
        return None if first is None else dict(first["settings"])


def run(options: argparse.Namespace, cells: list[Cell]) -> None:
    """Run the cells that have no record yet; first folds before the others."""
    records = Records(options.out)
    if options.redo:
        for cell in cells:
            records.found.pop(cell.key, None)
    vectors = options.vectors
    if vectors is None and any(cell.vectors for cell in cells):
        vectors = Path(tempfile.mkdtemp()) / "vectors.npz"
        write_vectors(vectors, options.data)
    begin = time.monotonic()
    todo = [cell for cell in cells if cell.key not in records.found]
    total, done = len(todo), 0
    limit = 60 * options.minutes if options.minutes else np.inf
    with ProcessPoolExecutor(options.jobs) as pool:
        running: dict[Any, Cell] = {}
        while todo or running:
            late = time.monotonic() - begin > limit
            ready = [] if late else _ready(todo, records)
            for cell in ready[: options.jobs - len(running)]:
                todo.remove(cell)
                settings = None if cell.fold == 0 else records.settings(cell)
                future = pool.submit(run_cell, cell, options.data, vectors, settings)
                running[future] = cell
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                del running[future]
                record = future.result()
                records.add(record)
                done += 1
                print(_progress(record, done, total, begin), flush=True)
    if todo:
        print(f"{len(todo)} cells are left; run the same command again.")


def _ready(todo: list[Cell], records: Records) -> list[Cell]:
    """Cells that can be run now: first folds, and those whose first fold is done."""
    return [
        cell for cell in todo if cell.fold == 0 or records.settings(cell) is not None
    ]


def _progress(record: dict[str, Any], done: int, total: int, begin: float) -> str:
    """One line about a finished cell."""
    scores = ", ".join(
        f"{title} {factor * record['scores'][name]:.{digits}f}"
        for name, title, factor, digits, _ in SCORES
    )
    minutes = (time.monotonic() - begin) / 60
    return (
        f"{done}/{total} {minutes:.1f} min: {record['key']}: {scores}, "
        f"{record['seconds']:.0f} s"
    )


@dataclass(frozen=True)
class Row:
    """Both sides of one setting, over folds and seeds run by both."""

    setting: tuple[Any, ...]
    values: dict[str, dict[str, Any]]
    n: int

    def mean(self, method: str, score: str) -> float:
        """Average of a score over the cells."""
        return float(np.mean(self.values[method][score]))

    def error(self, method: str, score: str) -> float:
        """Standard error of that average."""
        values = self.values[method][score]
        return float(np.std(values, ddof=1) / np.sqrt(self.n)) if self.n > 1 else 0.0

    def lead(self, score: str, *, more: bool) -> tuple[float, float]:
        """By how much ChainGP is better on average, and its standard error."""
        ours, theirs = (np.array(self.values[m][score]) for m in METHODS[::-1])
        gap = (ours - theirs) * (1 if more else -1)  # [n]
        spread = np.std(gap, ddof=1) / np.sqrt(self.n) if self.n > 1 else 0.0
        return float(gap.mean()), float(spread)


def rows_of(
    records: dict[str, dict[str, Any]], seeds: Sequence[int] = SEEDS
) -> list[Row]:
    """Collect the settings of which both sides have cells in common."""
    found = []
    cells = [cell for cell in all_cells() if cell.seed in seeds]
    for setting in dict.fromkeys(cell.setting for cell in cells):
        mine = [cell for cell in cells if cell.setting == setting]
        names = [*(name for name, *_ in SCORES), "seconds"]
        values: dict[str, dict[str, list[float]]] = {
            method: {name: [] for name in names} for method in METHODS
        }
        n = 0
        for cell in mine:
            both = [records.get(replace(cell, method=m).key) for m in METHODS]
            if cell.method != METHODS[0] or None in both:
                continue
            n += 1
            for method, record in zip(METHODS, both, strict=True):
                assert record is not None
                for name, *_ in SCORES:
                    values[method][name].append(record["scores"][name])
                if not record["learnt"]:
                    values[method]["seconds"].append(record["seconds"])
        if n:
            found.append(Row(setting, values, n))
    return found


def tables(records: dict[str, dict[str, Any]]) -> str:
    """Lay out the records as Markdown: who wins how often, and every setting."""
    rows = rows_of(records)
    if not rows:
        return "No setting has been run by both sides yet.\n"
    lines = [
        "ChainGP against the partial CRF: mean ± standard error over folds and seeds.",
        "",
        *_counts(rows),
    ]
    fresh = rows_of(records, SEEDS[1:])
    if fresh:
        lines += [
            "",
            "The second and third seed alone: folds and candidates that were not "
            "looked at while the method was made, of the same sentences.",
            "",
            *_counts(fresh),
        ]
    for name, title, factor, digits, more in SCORES:
        lines += [
            "",
            f"| data | features | hidden by | fits | {title}: partial CRF | ChainGP "
            "| lead |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            crf, gp = (
                f"{factor * row.mean(m, name):.{digits}f} ± "
                f"{factor * row.error(m, name):.{digits}f}"
                for m in METHODS
            )
            lead, spread = row.lead(name, more=more)
            lines.append(
                f"| {_titles(row.setting)} | {row.n} | {crf} | {gp} "
                f"| {factor * lead:+.{digits}f} ± {factor * spread:.{digits}f} |"
            )
    lines += ["", *_times(rows, records)]
    return "\n".join(lines) + "\n"


def _counts(rows: list[Row]) -> list[str]:
    """Who wins how often, by how much."""
    lines = [
        "| score | settings | ChainGP ahead | mean lead | smallest lead |",
        "|---|---|---|---|---|",
    ]
    for name, title, factor, digits, more in SCORES:
        leads = [factor * row.lead(name, more=more)[0] for row in rows]
        ahead = sum(lead > 0 for lead in leads)
        lines.append(
            f"| {title} | {len(rows)} | {ahead} | {np.mean(leads):+.{digits}f} "
            f"| {min(leads):+.{digits}f} |"
        )
    return lines


def _titles(setting: tuple[Any, ...]) -> str:
    task, vectors, cl, r, p = setting
    hidden = f"cl {cl}" if cl is not None else f"r {r}"
    kind = "with vectors" if vectors else "sparse"
    return f"{TASKS[task].title} | {kind} | {hidden}, p {p}"


def _times(rows: list[Row], records: dict[str, dict[str, Any]]) -> list[str]:
    """Seconds of a fit, hyperparameters given and learnt."""
    lines = [
        "| data | features | hidden by | s, given: partial CRF | ChainGP "
        "| s, learnt: partial CRF | ChainGP |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"{np.mean(row.values[m]['seconds']):.0f}"
            if row.values[m]["seconds"]
            else "–"
            for m in METHODS
        ]
        for method in METHODS:
            learnt = [
                record["seconds"]
                for record in records.values()
                if record["learnt"]
                and record["config"]["method"] == method
                and Cell(**record["config"]).setting == row.setting
            ]
            cells.append(f"{np.mean(learnt):.0f}" if learnt else "–")
        lines.append(f"| {_titles(row.setting)} | " + " | ".join(cells) + " |")
    return lines


def choose(cells: list[Cell], conditions: list[str]) -> list[Cell]:
    """Keep the cells that meet all conditions, such as ``task=ner`` or ``fold=0,1``."""
    for condition in conditions:
        name, _, values = condition.partition("=")
        wanted = values.lower().split(",")
        cells = [cell for cell in cells if str(getattr(cell, name)).lower() in wanted]
    return cells


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="the records (JSON lines)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--minutes", type=float, help="begin no cell after this time")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="task=ner,base-np; vectors=true; cl=3; p=0.1; seed=0; fold=0; method=…",
    )
    parser.add_argument("--redo", action="store_true", help="forget those records")
    parser.add_argument("--vectors", type=Path, help="vectors made beforehand (npz)")
    parser.add_argument("--write-vectors", type=Path, help="make that file, and stop")
    parser.add_argument("--show", action="store_true", help="print the tables only")
    options = parser.parse_args(arguments)
    if options.write_vectors is not None:
        if options.data is None:
            parser.error("--write-vectors needs --data, the folder of the corpora")
        write_vectors(options.write_vectors, options.data)
        return 0
    if options.out is None or (options.data is None and not options.show):
        parser.error("give --data (folder of the corpora) and --out (the records)")
    if not options.show:
        run(options, choose(all_cells(), options.only))
    text = tables(Records(options.out).found)
    print(text)
    if not options.show:
        with atomic_write(options.out.with_suffix(".md")) as stream:
            stream.write(text)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
