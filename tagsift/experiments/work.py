"""One cell: corrupt, fit, tag, score; the record is all that comes out."""

from __future__ import annotations

import math
import platform
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from tagsift import registry
from tagsift._version import __version__
from tagsift.base import SequenceTagger
from tagsift.data import PartialCorpus
from tagsift.errors import TagsiftWarning
from tagsift.experiments import records
from tagsift.experiments.grid import Cell, config_of
from tagsift.experiments.protocol import Fold, Split, corrupted, make_fold
from tagsift.experiments.records import Record
from tagsift.experiments.suite import Suite
from tagsift.experiments.tuning import tuner_of
from tagsift.experiments.watched import WATCHED, Watched, find
from tagsift.metrics import evaluate, recovery

__all__ = ["Place", "run_cell"]

#: Digits kept of every score: enough for tables, few enough for small files.
_DIGITS = 6
_PROC = Path("/proc/self")


@dataclass(frozen=True)
class Place:
    """Where a run reads and writes.

    Parameters
    ----------
    data : Path or None
        Folder of the corpora; None for the bundled corpus.
    out : Path
        Folder of the records.
    """

    data: Path | None
    out: Path

    @property
    def corpus(self) -> str:
        """What the sentences are from, as records say it."""
        return "bundled" if self.data is None else "conll"


def run_cell(cell: Cell, suite: Suite, place: Place) -> Record:
    """Run one cell and return its record; an error becomes part of it.

    Parameters
    ----------
    cell : Cell
        What to run.
    suite : Suite
        Where it stands.
    place : Place
        Where to read corpora from, and tuned settings from and to.
    """
    record: Record = {
        "key": cell.key,
        "suite": suite.name,
        "config": config_of(cell, suite, place.corpus),
        "versions": _versions(),
    }
    with warnings.catch_warnings(record=True) as caught, _measured() as cost:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TagsiftWarning)
        try:
            record |= _results(cell, suite, place, cost)
        except Exception as error:  # the rest of the grid shall go on
            record["error"] = f"{type(error).__name__}: {error}"
    record["warnings"] = sorted({type(one.message).__name__ for one in caught})
    record["time"] = cost
    return record


def _results(
    cell: Cell, suite: Suite, place: Place, cost: dict[str, float]
) -> dict[str, Any]:
    """Everything a finished cell says."""
    if cell.watch:
        return _evolution(cell, suite, place, cost)
    split = cell.split(suite)
    fold = make_fold(place.data, split)
    settings = _settings(cell, suite, place)
    partial = _candidates(cell, fold, split)
    model = _model(cell, suite, fold, settings)
    start = time.perf_counter()
    model.fit(fold.train_features, partial.candidates)
    cost["fit"] = time.perf_counter() - start
    start = time.perf_counter()
    predicted = model.predict(fold.test_features)
    cost["predict"] = time.perf_counter() - start
    marginals = None
    if model.method.probabilities:
        marginals = model.predict_marginals(fold.test_features)
    scores = evaluate(
        fold.test.labels,
        predicted,
        scheme=fold.test.scheme,
        marginals=marginals,
        classes=model.classes_,
    ).headline()
    found: dict[str, Any] = {"settings": settings or _tuned(cell, suite, model)}
    found["scores"] = _rounded(scores)
    if not model.method.exact_only:
        one = recovery(partial.gold or [], model.recovered_, partial.candidates)
        found["recovery"] = {
            **_rounded({"ambiguous": one.ambiguous, "overall": one.overall}),
            "n_ambiguous": one.n_ambiguous,
            "n_tokens": one.n_tokens,
        }
    decoders = _decoders(cell, suite, fold, model)
    if decoders:
        found["decoders"] = decoders
    if hasattr(model, "n_iter_"):
        found["n_iter"] = int(model.n_iter_)
    return found


def _candidates(cell: Cell, fold: Fold, split: Split) -> PartialCorpus:
    """The corrupted training part, or the gold labels for a method that needs them."""
    if cell.p is not None:
        return corrupted(fold, split, cl=cell.cl, p=cell.p, r=cell.r)
    return corrupted(fold, split, cl=1, p=1.0, r=None)


def _model(
    cell: Cell, suite: Suite, fold: Fold, settings: Mapping[str, Any]
) -> SequenceTagger:
    plan = suite.methods.get(cell.method)
    params = {} if plan is None else dict(plan.params)
    if plan is not None and plan.tuning == "each fit":
        params |= tuner_of(cell.method).ask
    return registry.make(
        cell.method,
        **(params | dict(settings)),
        labels=tuple(fold.label_set),
        scheme=fold.train.scheme,
        random_state=cell.seed,
    )


def _settings(cell: Cell, suite: Suite, place: Place) -> dict[str, Any]:
    """Settings tuned on the first fold of the same setting: read, or found now."""
    plan = suite.methods.get(cell.method)
    if plan is None or plan.tuning != "first fold":
        return {}
    first = replace(cell, fold=0)
    key = f"{first.task}/{first.method}/tuning-{first.key.rpartition('/')[2]}"
    config = {**config_of(first, suite, place.corpus), "decoders": []}
    known = records.find(place.out, key)
    if known is not None and records.is_done(known, config):
        return dict(known["settings"])
    tuner = tuner_of(cell.method)
    with warnings.catch_warnings(), _measured() as cost:
        # A tuning belongs to no cell, so its warnings must not stand in a record.
        warnings.simplefilter("ignore")
        split = first.split(suite)
        fold = make_fold(place.data, split)
        model = _model(first, suite, fold, {**tuner.ask, **tuner.hurry})
        model.fit(fold.train_features, _candidates(first, fold, split).candidates)
    settings = tuner.read(model)
    records.write(
        place.out,
        {
            "key": key,
            "suite": suite.name,
            "config": config,
            "versions": _versions(),
            "settings": settings,
            "time": cost,
        },
    )
    return settings


def _tuned(cell: Cell, suite: Suite, model: Any) -> dict[str, Any]:
    """What a fit that tuned itself found."""
    plan = suite.methods.get(cell.method)
    if plan is None or plan.tuning != "each fit":
        return {}
    return tuner_of(cell.method).read(model)


def _decoders(
    cell: Cell, suite: Suite, fold: Fold, model: SequenceTagger
) -> dict[str, dict[str, float | None]]:
    """Scores of the same fit under other decoders (Table III)."""
    plan = suite.methods.get(cell.method)
    found = {}
    for decoder in () if plan is None else plan.decoders:
        predicted = model.set_params(decoder=decoder).predict(fold.test_features)
        scores = evaluate(fold.test.labels, predicted, scheme=fold.test.scheme)
        found[decoder] = _rounded(scores.headline())
    return found


def _evolution(
    cell: Cell, suite: Suite, place: Place, cost: dict[str, float]
) -> dict[str, Any]:
    """Follow the confidences of a watched word (Figure 5)."""
    watched = WATCHED[cell.watch]
    split, fold, (s, t) = _fold_with(watched, cell.split(suite), place.data)
    partial = _candidates(cell, fold, split)
    candidates = [list(sentence) for sentence in partial.candidates]
    candidates[s][t] = frozenset(watched.candidates)
    model = _model(cell, suite, fold, {"watch": [(s, t)]})
    start = time.perf_counter()
    model.fit(fold.train_features, candidates)
    cost["fit"] = time.perf_counter() - start
    columns = [model.classes_.index(name) for name in watched.candidates]
    steps = [np.asarray(step["watched"])[0, columns] for step in model.history_]
    return {
        "fold_used": split.fold,
        "truth": fold.train.labels[s][t],
        "labels": list(watched.candidates),
        "evolution": np.round(steps, _DIGITS).tolist(),
    }


def _fold_with(
    watched: Watched, split: Split, data: Path | None
) -> tuple[Split, Fold, tuple[int, int]]:
    """The first fold whose training part has the watched word."""
    for number in range(split.n_folds):
        one = replace(split, fold=number)
        fold = make_fold(data, one)
        try:
            return one, fold, find(fold.train, watched)
        except ValueError:
            if number == split.n_folds - 1:
                raise
    raise ValueError("a split has at least two folds")


def _rounded(scores: Mapping[str, float]) -> dict[str, float | None]:
    """Scores with a fixed number of digits; None where there is no number."""
    return {
        name: round(float(value), _DIGITS) if math.isfinite(value) else None
        for name, value in scores.items()
    }


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "tagsift": __version__,
    }


@contextmanager
def _measured() -> Iterator[dict[str, float]]:
    """Measure wall time and, where the system tells it, the peak of the memory."""
    cost: dict[str, float] = {}
    try:
        (_PROC / "clear_refs").write_text("5")  # begin a new peak
        reset = True
    except OSError:
        reset = False
    start, busy = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost["total"] = time.perf_counter() - start
        cost["cpu"] = time.process_time() - busy
        peak = _peak_mib() if reset else None
        if peak is not None:
            cost["peak_mib"] = peak
        for name, value in cost.items():
            cost[name] = round(value, 3)


def _peak_mib() -> float | None:
    try:
        lines = (_PROC / "status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return None
