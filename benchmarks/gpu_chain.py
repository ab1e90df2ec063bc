"""ChainGP on a GPU: the same fits by NumPy and by PyTorch, CoNLL-2000 in two sizes.

First the objective at one point: value and gradient on both sides, and the time of an
evaluation. Then whole fits, with hyperparameters given (those that learning starts at)
and learnt; the fits on the GPU come first, those by NumPy after them. The record is
written after every result, and what was in it before stays.
"""

from __future__ import annotations

import argparse
import json
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.clock import Clock, Parts, say
from benchmarks.common import CL, P, Workload, load, machine, save
from experiments.folds import data_folder
from tagsift.backend import asarray, to_numpy
from tagsift.base import TrainingSet
from tagsift.base.constraints import scheme_constraints
from tagsift.chain.objective import ChainObjective
from tagsift.chain_gp import ChainGP, estimator, mode
from tagsift.data import LabelSet, bundled, corrupt, read_conll
from tagsift.features import SequenceVectorizer
from tagsift.gp.groups import GroupKernel, InducingColumns
from tagsift.storage import atomic_write

SIZES, KERNELS, DEVICES = ("9400", "whole"), ("given", "learnt"), ("cuda", "cpu")
RESULTS = ("evaluations", "fits", "agreement")
#: Largest relative difference of an evaluation (its columns are in single precision),
#: and of the log-posterior of fits that stop at the same tolerance.
_EVALUATION, _POSTERIOR = 1e-5, 1e-3
#: Smallest share of equal test labels.
_EQUAL = 0.995


def workload(size: str, data: Path | None) -> Workload:
    """Training file → test file; of the former the head, or all of it."""
    folder = data_folder(data)
    if folder is None:
        corpus = bundled("chunk")
        train, test = corpus[: 4 * len(corpus) // 5], corpus[4 * len(corpus) // 5 :]
    else:
        path = folder / "conll2000"
        train = read_conll(path / "train.conll").columns(2)
        test = read_conll(path / "test.conll", scheme=train.scheme).columns(2)
    if size != "whole":
        total = np.cumsum([len(sentence.tokens) for sentence in train])
        train = train[: int(np.searchsorted(total, int(size))) + 1]
    labels = LabelSet.union([*train.labels, *test.labels])
    where = {name: k for k, name in enumerate(labels)}
    partial = corrupt(train, cl=CL, p=P, random_state=0)
    vectorizer = SequenceVectorizer().fit(train.rows)
    return Workload(
        size,
        vectorizer.transform(train.rows),
        vectorizer.transform(test.rows),
        np.concatenate([labels.mask(s) for s in partial.candidates]),
        np.array([where[x] for s in train.labels for x in s]),
        np.array([where[x] for s in test.labels for x in s]),
        tuple(labels),
        train.scheme,
        "bundled corpus" if folder is None else "corpus",
    )


def start_kernel(work: Workload) -> dict[str, Any]:
    """Hyperparameters to give: where learning starts."""
    return GroupKernel.start(work.train, 0).as_dict()


# One evaluation -----------------------------------------------------------------


def evaluation(work: Workload, clock: Clock, repeat: int = 5) -> dict[str, Any]:
    """Value and gradient of the objective on both sides, and what one costs."""
    train = TrainingSet(work.train, work.mask, work.classes, work.scheme, 0)
    found: dict[str, Any] = {}
    ends: dict[str, tuple[float, Any]] = {}
    for device in DEVICES:
        clock.forget_peak()
        with clock.pretend(estimator):
            model = ChainGP(kernel=start_kernel(work), device=device)
            model.allowed_ = scheme_constraints(train, known=True)
            kernel = GroupKernel.from_dict(model.kernel or {})
            begin = clock.now()
            finder = model._finder()
            _, phi = finder.whiten(train, kernel)
            found[f"columns_s, {device}"] = round(clock.now() - begin, 3)
            begin = clock.now()
            objective = finder.objective(replace(train, features=phi), kernel)
            found[f"prepare_s, {device}"] = round(clock.now() - begin, 3)
        w = 0.1 * np.random.default_rng(0).standard_normal(objective.n_parameters)
        point = asarray(w, device=objective.device)  # [P]
        ends[device] = objective(point)  # warm
        seconds = []
        for _ in range(repeat):
            begin = clock.now()
            objective(point)
            seconds.append(clock.now() - begin)
        found[f"evaluation_ms, {device}"] = round(1e3 * min(seconds), 2)
        found["parameters"] = objective.n_parameters
        if device == "cuda":
            found |= clock.peak()
    (value, slope), (other, twin) = ends["cpu"], ends["cuda"]
    gap = np.abs(to_numpy(twin) - slope).max() / np.abs(slope).max()
    found["value_relative"] = abs(other - value) / abs(value)
    found["gradient_relative"] = float(gap)
    found["tolerance"] = _EVALUATION
    worst = max(found["value_relative"], found["gradient_relative"])
    found["agree"] = bool(worst <= _EVALUATION)
    return found


# Whole fits ---------------------------------------------------------------------


def fit(
    work: Workload, kernel: str, device: str, clock: Clock, limit: float
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Fit and tag once: what it cost, and its answers (None if it was stopped)."""
    parts = Parts(clock)

    class Watched(ChainObjective):  # the evidence has objectives of its own
        __init__ = parts.around("objective: prepare", ChainObjective.__init__)
        __call__ = parts.around("objective: evaluate", ChainObjective.__call__)

    model = ChainGP(
        kernel=start_kernel(work) if kernel == "given" else None,
        labels=work.classes,
        scheme=work.scheme,
        device=device,
    )
    facts: dict[str, Any] = {}
    answers: dict[str, Any] | None = None
    clock.forget_peak()
    with (
        clock.pretend(estimator),
        mock.patch.object(mode, "ChainObjective", Watched),
        parts.watch(
            (estimator, "learn_kernels", "evidence"),
            (InducingColumns, "columns", "RBF columns"),
        ),
        warnings.catch_warnings(record=True) as heard,
    ):
        warnings.simplefilter("always")
        begin = clock.now()
        try:
            with clock.limit(limit):
                model.fit(work.train, work.candidates)
                facts["fit_s"] = round(clock.now() - begin, 3)
                facts["parts"] = parts.facts()
                begin = clock.now()
                predicted = model.predict(work.test)
                facts["tag_s"] = round(clock.now() - begin, 3)
                begin = clock.now()
                marginals = model.predict_marginals(work.test)
                facts["marginals_s"] = round(clock.now() - begin, 3)
        except TimeoutError:
            facts["stopped_after_s"] = round(clock.now() - begin, 1)
            facts["parts"] = parts.facts()
        else:
            facts |= work.scores(model, predicted)
            facts |= {
                "steps": model.n_iter_,
                "log_posterior": model.lower_bound_,
                "temperature": model.temperature_,
                "kernel": model.kernel_.as_dict(),
            }
            answers = {
                "labels": np.concatenate([np.array(s) for s in predicted]),
                "recovered": np.concatenate([np.array(s) for s in model.recovered_]),
                "marginals": np.vstack(marginals),
                "log_posterior": model.lower_bound_,
            }
    facts["warnings"] = sorted({str(w.message) for w in heard})
    return facts | (clock.peak() if device == "cuda" else {}), answers


def agreement(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Compare the answers of two fits of the same model."""
    gaps = np.abs(one["marginals"] - other["marginals"])  # [M, L]
    bound = one["log_posterior"]
    found: dict[str, Any] = {
        "equal_labels": float((one["labels"] == other["labels"]).mean()),
        "equal_recovered": float((one["recovered"] == other["recovered"]).mean()),
        "marginals_largest_gap": float(gaps.max()),
        "marginals_mean_gap": float(gaps.mean()),
        "log_posterior_relative": abs(other["log_posterior"] - bound) / abs(bound),
    }
    found["agree"] = bool(
        found["equal_labels"] >= _EQUAL
        and found["log_posterior_relative"] <= _POSTERIOR
    )
    return found


# Run ----------------------------------------------------------------------------


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for, as long as there is time."""
    clock = Clock(args.device, args.seconds)
    before = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    record: dict[str, Any] = {
        "command": "python -m benchmarks.gpu --part chain-gp",
        "machine": machine(),
        "device": args.device,
        **clock.facts(),
        **{name: before.get(name, {}) for name in RESULTS},
    }
    say("machine", **record["machine"], **clock.facts())
    works = workloads(args)
    evaluation(next(iter(works.values())).first(300), clock)  # warm up

    def keep(kind: str, key: str, facts: dict[str, Any]) -> None:
        record[kind][key] = facts
        say(kind, what=key, **facts)
        if args.out:
            args.out.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(args.out) as stream:
                stream.write(json.dumps(record, indent=1) + "\n")

    for size, work in works.items():
        with reported(keep, "evaluations", size), clock.limit(min(60.0, clock.left())):
            keep("evaluations", size, work.facts() | evaluation(work, clock))
    answers: dict[tuple[str, str, str], dict[str, Any]] = {}
    for device in (d for d in DEVICES if d in args.devices):
        for size, work in works.items():
            for kernel in args.kernels:
                key = f"{size}, {kernel}, {device}"
                if clock.left() < 10.0:
                    keep("fits", key, {"error": "no time left"})
                    continue
                with reported(keep, "fits", key):
                    limit = min(args.limit, clock.left() - 5.0)
                    facts, found = fit(work, kernel, device, clock, limit)
                    keep("fits", key, work.facts() | facts)
                    if found is None:
                        continue
                    answers[size, kernel, device] = found
                    twin = answers.get((size, kernel, "cuda"))
                    if device == "cpu" and twin is not None:
                        keep("agreement", f"{size}, {kernel}", agreement(found, twin))
    return record


@contextmanager
def reported(
    keep: Callable[[str, str, dict[str, Any]], None], kind: str, key: str
) -> Iterator[None]:
    """Report an error and go on: time is dear where there is a GPU."""
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        keep(kind, key, {"error": f"{type(error).__name__}: {error}"})


def workloads(args: argparse.Namespace) -> dict[str, Workload]:
    """Read the sizes asked for, as numbers or from the corpus."""
    if args.folds:
        found = {work.name: work for work in load(args.folds)}
    else:
        found = {size: workload(size, args.data) for size in args.sizes}
    works = {size: found[size] for size in args.sizes}
    if args.tokens:
        works = {size: work.first(args.tokens) for size, work in works.items()}
    return works


def export(args: argparse.Namespace) -> None:
    """Write the sizes asked for as numbers."""
    save(args.export, [workload(size, args.data) for size in args.sizes])
