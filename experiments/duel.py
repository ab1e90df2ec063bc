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
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from _duel_cells import N_FOLDS, SCORES, Cell, all_cells
from _duel_tables import tables
from _records import Records, carry_out
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


def first_settings(records: Records, cell: Cell) -> dict[str, Any] | None:
    """Hyperparameters of the first fold, or None where it has not been run."""
    first = records.found.get(replace(cell, fold=0).key)
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
                settings = None if cell.fold == 0 else first_settings(records, cell)
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
        cell
        for cell in todo
        if cell.fold == 0 or first_settings(records, cell) is not None
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
    return carry_out(parser, options, all_cells(), run, tables)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
