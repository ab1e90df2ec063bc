"""Growth of fit time with tokens and with labels; resumable.

Tokens come from the head of the CoNLL-2000 training file, labels from its tag set
merged to fewer. Every fit runs in a process of its own. A point that is in the record
is not run again; ``--minutes`` ends the work after a point, ``--fresh`` begins anew.

    python -m benchmarks.growth --max-tokens 20000 --minutes 5
    python -m benchmarks.growth --max-tokens 250000 --methods sgppsl
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import (
    CL,
    RECORDS,
    P,
    command,
    machine,
    read,
    timed,
    write,
)
from benchmarks.methods import peak_mib
from experiments.folds import data_folder
from tagsift import registry
from tagsift.data import Corpus, LabelSet, bundled, corrupt, read_conll
from tagsift.features import SequenceVectorizer

SIZES = (1000, 5000, 20000, 80000, 250000)
LABELS = (3, 6, 12, 22)
METHODS = ("partial-crf", "chain-gp", "sgppsl")
#: Tokens at which the number of labels varies.
_LABEL_TOKENS = 5000
#: ChainGP learns everything, as by default; the others are given what they need.
SETTINGS: dict[str, dict[str, Any]] = {
    "partial-crf": {},
    "chain-gp": {},
    "sgppsl": {"theta": 0.0055, "amplitude": 80.0},
}


def corpus_of(data: Path | None, n_tokens: int) -> Corpus:
    """Return the first sentences with about `n_tokens` tokens, all for the largest."""
    folder = data_folder(data)
    whole = (
        bundled("chunk")
        if folder is None
        else read_conll(folder / "conll2000" / "train.conll").columns(2)
    )
    total = np.cumsum([len(sentence.tokens) for sentence in whole])
    return whole[: int(np.searchsorted(total, n_tokens)) + 1]


def masks(corpus: Corpus, n_labels: int) -> tuple[list[Any], tuple[str, ...]]:
    """Corrupt the labels, the rarest merged so that `n_labels` are left."""
    names, counts = np.unique([x for s in corpus.labels for x in s], return_counts=True)
    kept = names[np.argsort(-counts, kind="stable")[: max(n_labels, 1)]]
    classes = tuple(sorted(str(x) for x in kept))
    partial = corrupt(corpus, cl=CL, p=P, random_state=0)
    everything = LabelSet.union(corpus.labels)
    last = len(classes) - 1
    where = [classes.index(x) if x in classes else last for x in everything]
    merge = np.zeros((len(everything), len(classes)), dtype=bool)
    merge[np.arange(len(everything)), where] = True
    found = [(everything.mask(s).astype(float) @ merge) > 0 for s in partial.candidates]
    return found, classes


def one(data: Path | None, method: str, n_tokens: int, n_labels: int) -> dict[str, Any]:
    """Time one fit in this process."""
    corpus = corpus_of(data, n_tokens)
    y, classes = masks(corpus, n_labels)
    X = SequenceVectorizer().fit_transform(corpus.rows)
    model = registry.make(method, scheme="plain", **SETTINGS[method])
    before = peak_mib()
    warnings.simplefilter("ignore")
    wall, cpu, _ = timed(lambda: model.fit(X, y))
    return {
        "method": method,
        "tokens": X.n_tokens,
        "labels": len(classes),
        "features": X.n_features,
        "fit_s": round(wall, 2),
        "fit_cpu_s": round(cpu, 2),
        "us_per_token": round(1e6 * cpu / X.n_tokens, 1),
        "peak_mib": peak_mib(),
        "baseline_mib": before,
        "steps": model.n_iter_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="corpora; TAGSIFT_DATA by default")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--max-tokens", type=int, default=20000)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--fresh", action="store_true", help="run all points again")
    parser.add_argument("--records", type=Path, default=RECORDS, help="a folder")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        method, n_tokens, n_labels = args.one
        print(json.dumps(one(args.data, method, int(n_tokens), int(n_labels))))
        return
    end = time.monotonic() + 60 * args.minutes
    points = [
        (method, size, LABELS[-1], "tokens")
        for size in SIZES
        if size <= args.max_tokens
        for method in args.methods
    ]
    points += [
        (method, min(_LABEL_TOKENS, args.max_tokens), n, "labels")
        for n in LABELS[:-1]
        for method in args.methods
    ]
    old = None if args.fresh else read("growth", args.records)
    done = {tuple(p["point"]): p for p in (old or {}).get("points", [])}
    for method, size, n_labels, axis in points:
        key = (method, size, n_labels)
        left = end - time.monotonic()
        if key in done or left <= 0:
            continue
        run = [sys.executable, "-m", "benchmarks.growth", "--one"]
        run += [str(part) for part in key]
        if args.data:
            run += ["--data", str(args.data)]
        result = subprocess.run(run, capture_output=True, text=True, env=os.environ)
        if result.returncode:
            print(result.stderr, file=sys.stderr)
            continue
        found = json.loads(result.stdout.splitlines()[-1])
        done[key] = found | {"point": list(key), "axis": axis}
        print(json.dumps(done[key]), flush=True)
        record = {"command": command(), "machine": machine(), "cl": CL, "p": P}
        write("growth", record | {"points": list(done.values())}, args.records)


if __name__ == "__main__":
    main()
