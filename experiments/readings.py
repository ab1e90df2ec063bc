"""What each reading of the paper costs on real data: the switches, one at a time.

Base NP and NER of the paper's size (the first 500 sentences, word and POS features,
cl = 3, p = 0.1 unless a row says otherwise), some folds of five. Weighting, confidence
and neighbour floor are compared at one fixed amplitude and width, so that nothing else
differs; the two ways to learn the hyperparameters are compared with each other.

    python experiments/readings.py --data $TAGSIFT_DATA \
        --out experiments/records/readings.json

A run that was broken off goes on where it stopped. ``--show RECORDS`` prints the table
of an earlier run and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.model_selection import KFold

import tagsift
from tagsift.errors import ConvergenceWarning
from tagsift.features import SequenceVectorizer
from tagsift.gp.kernels import median_distance
from tagsift.metrics import evaluate, recovery
from tagsift.models import SGPPSL
from tagsift.storage import atomic_write

#: Task → file and number of sentences.
TASKS = {"Base NP": ("basenp/train.conll", 500), "NER": ("conll2003/train.conll", 500)}
DECODERS = ("weighted", "viterbi", "argmax", "log")
#: θ · median squared distance, and amplitude, of the comparisons at fixed values.
FIXED_THETA, FIXED_AMPLITUDE = 0.3, 20.0


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Parameters
    ----------
    title : str
        What differs from the default.
    params : dict
        Settings of `SGPPSL`.
    fixed : bool
        Whether width and amplitude are the fixed ones.
    cl, p : int, float
        Candidates of a token, and share of exact sentences.
    """

    title: str
    params: dict[str, Any] = field(default_factory=dict)
    fixed: bool = True
    cl: int = 3
    p: float = 0.1


CASES = (
    Case("default readings"),
    Case("R1 literal", {"weighting": "literal"}),
    Case("R2 literal", {"confidence": "literal"}),
    Case("R5 literal", {"neighbour_floor": "literal"}),
    Case(
        "R1, R2, R5 literal",
        {
            "weighting": "literal",
            "confidence": "literal",
            "neighbour_floor": "literal",
        },
    ),
    Case("amplitude 1, as printed", {"amplitude": 1.0}),
    Case("R8: learnt by Laplace's evidence", {"hyperparameters": "laplace"}, False),
    Case("R8 literal: learnt by the bound", {"hyperparameters": "bound"}, False),
    Case("cl 2, p 0.9: default readings", cl=2, p=0.9),
    Case("cl 2, p 0.9: R5 literal", {"neighbour_floor": "literal"}, cl=2, p=0.9),
)


@dataclass(frozen=True)
class Fold:
    """One training and test part, as features and labels."""

    train: Any
    test: Any
    candidates: Any
    hidden: Any
    gold: Any
    labels: tuple[str, ...]
    scheme: str


def make_fold(data: Path, task: str, number: int, cl: int, p: float) -> Fold:
    """Read a task, cut it into five, and hide the labels of the training part."""
    name, size = TASKS[task]
    corpus = tagsift.read_conll(data / name)[:size].columns(2)
    splits = list(KFold(5, shuffle=True, random_state=0).split(range(len(corpus))))
    inside, outside = splits[number]
    test = corpus.take(outside.tolist())
    partial = tagsift.corrupt(
        corpus.take(inside.tolist()),
        cl=cl,
        p=p,
        random_state=0,
        labels=corpus.label_set,
    )
    vectorizer = SequenceVectorizer()
    return Fold(
        vectorizer.fit_transform(partial.rows),
        vectorizer.transform(test.rows),
        partial.candidates,
        partial.gold,
        test.labels,
        tuple(corpus.label_set),
        corpus.scheme,
    )


def run(case: Case, fold: Fold) -> dict[str, Any]:
    """Fit and score one case on one fold."""
    params = dict(case.params)
    if case.fixed:
        width = median_distance(fold.train.stacked(), 0)
        params = {
            "theta": FIXED_THETA / width,
            "amplitude": FIXED_AMPLITUDE,
            **params,
        }
    model = SGPPSL(**params, labels=fold.labels, scheme=fold.scheme)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(fold.train, fold.candidates)
    seconds = time.perf_counter() - begin
    marginals = model.predict_marginals(fold.test)
    found: dict[str, Any] = {}
    for decoder in DECODERS:
        predicted = model.set_params(decoder=decoder).predict(fold.test)
        scores = evaluate(
            fold.gold,
            predicted,
            scheme=fold.scheme,
            marginals=marginals,
            classes=model.classes_,
        )
        found[decoder] = {
            "span_f1": scores.span_f1,
            "token_weighted_f1": scores.tokens.weighted_f1,
        }
    assert scores.calibration is not None
    recovered = recovery(fold.hidden, model.recovered_, fold.candidates)
    kernel, width = model.kernel_, median_distance(fold.train.stacked(), 0)
    return {
        "decoders": found,
        "recovery": recovered.ambiguous,
        "ece": scores.calibration.ece,
        "nll": scores.calibration.nll,
        "amplitude": float(np.median(kernel.amplitude)),
        "theta_times_median": float(np.median(kernel.theta) * width),
        "unseen_pairs": int((model.decoding_.tau_T == 0).sum()),
        "n_iter": model.n_iter_,
        "converged": not caught,
        "seconds": round(seconds, 1),
    }


def versions() -> dict[str, str]:
    """Return the versions that the figures hang on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "tagsift": tagsift.__version__,
    }


def table(records: list[dict[str, Any]]) -> str:
    """Lay the records out as a Markdown table, averaged over folds."""
    lines = [
        "| task | readings | span F1 weighted | viterbi | argmax | log "
        "| token F1 weighted | recovery | ECE | NLL | σ² | θ · median |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for task in TASKS:
        for case in CASES:
            rows = [r for r in records if (r["task"], r["case"]) == (task, case.title)]
            if rows:
                lines.append(_line(task, case.title, rows))
    return "\n".join(lines)


def _line(task: str, title: str, rows: list[dict[str, Any]]) -> str:
    """Average the folds of one case."""

    def mean(*keys: str) -> float:
        values = []
        for row in rows:
            value: Any = row
            for key in keys:
                value = value[key]
            values.append(float(value))
        return float(np.mean(values))

    cells = [f"{100 * mean('decoders', name, 'span_f1'):.1f}" for name in DECODERS]
    cells += [
        f"{100 * mean('decoders', 'weighted', 'token_weighted_f1'):.1f}",
        f"{100 * mean('recovery'):.1f}",
        f"{100 * mean('ece'):.1f}",
        f"{mean('nll'):.3f}",
        f"{mean('amplitude'):.3g}",
        f"{mean('theta_times_median'):.2g}",
    ]
    return " | ".join([f"| {task}", title, *cells]) + " |"


def write(path: Path, records: list[dict[str, Any]]) -> None:
    """Store the records so far."""
    content = {
        "command": "python experiments/readings.py --data $TAGSIFT_DATA "
        "--out experiments/records/readings.json",
        "versions": versions(),
        "records": records,
    }
    with atomic_write(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="where the records go (JSON)")
    parser.add_argument("--folds", type=int, default=2, help="how many of the five")
    parser.add_argument("--show", type=Path, help="print the table of these records")
    options = parser.parse_args(arguments)
    if options.show is not None:
        print(table(json.loads(options.show.read_text(encoding="utf-8"))["records"]))
        return 0
    if options.data is None:
        parser.error("give --data (the folder of the corpora) or --show")
    records: list[dict[str, Any]] = []
    if options.out is not None and options.out.exists():
        records = json.loads(options.out.read_text(encoding="utf-8"))["records"]
    done = {(r["task"], r["case"], r["fold"]) for r in records}
    for number in range(options.folds):
        for task in TASKS:
            for case in CASES:
                key = (task, case.title, number)
                if key in done:
                    continue
                fold = make_fold(options.data, task, number, case.cl, case.p)
                records.append(
                    {
                        "task": task,
                        "case": case.title,
                        "fold": number,
                        "cl": case.cl,
                        "p": case.p,
                        "params": case.params,
                        **run(case, fold),
                    }
                )
                print(table(records[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
                if options.out is not None:
                    write(options.out, records)
    print(table(records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
