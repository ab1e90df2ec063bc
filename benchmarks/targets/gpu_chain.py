"""ChainGP on a GPU: the same fits by NumPy and by PyTorch, CoNLL-2000 in two sizes.

First the objective at one point: value and gradient on both sides, and the time of an
evaluation. Then whole fits, with the temperature given and learnt; the fits on the GPU
come first, those by NumPy after them.

    python -m benchmarks gpu_chain --folds folds --minutes 0 --no-page
    python -m benchmarks gpu_chain --folds folds --no-page \\
        --only size=whole,kernel=given+none,device=cuda
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np

from benchmarks.benchmark import CL, P
from benchmarks.device import DeviceBenchmark, Workload
from experiments.experiment import KeyedCell
from experiments.folds import TASKS, whole_fold
from experiments.measuring import limited
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.backend import asarray, to_numpy
from tagsift.base import TrainingSet
from tagsift.base.training_set import scheme_constraints
from tagsift.chain.objective import ChainObjective
from tagsift.chain_gp import ChainGP, estimator
from tagsift.chain_gp.mode import ModeFinder
from tagsift.data import LabelSet, corrupt
from tagsift.features import FeatureMatrix
from tagsift.gp.kernels import GroupKernel, InducingColumns

SIZES: dict[str, int | None] = {"9400": 9400, "whole": None}
KERNELS, DEVICES = ("given", "learnt"), ("cuda", "cpu")
#: Largest relative difference of an evaluation (its columns are in single precision),
#: and of the log-posterior of fits that stop at the same tolerance.
_EVALUATION, _POSTERIOR = 1e-5, 1e-3
#: Smallest share of equal test labels.
_EQUAL = 0.995
#: Fits of this process by their cells, to be compared with their twins.
_FITS: dict[ChainCell, ChainGP] = {}


def evaluation(work: Workload, clock: DeviceBenchmark) -> dict[str, Any]:
    """Value and gradient of the objective on both sides, and what one costs."""
    fold, labels = work.fold, work.fold.label_set
    mask = np.concatenate([labels.mask(s) for s in work.partial.candidates])  # [N, L]
    about = (tuple(labels), fold.train.scheme, 0)
    train = TrainingSet(fold.train_features, mask, *about)
    found: dict[str, Any] = {}
    ends: dict[str, tuple[float, Any]] = {}
    for device in DEVICES:
        clock.forget_peak()
        model = ChainGP(device=device)
        model.allowed_ = scheme_constraints(train, known=True)
        kernel = GroupKernel.default(train.features, 0)
        begin = clock.now()
        finder = model._finder()
        _, whole = finder.whiten(train, kernel)
        found[f"columns_s, {device}"] = round(clock.now() - begin, 3)
        begin = clock.now()
        objective = finder.objective(whole, kernel)
        found[f"prepare_s, {device}"] = round(clock.now() - begin, 3)
        w = 0.1 * np.random.default_rng(0).standard_normal(objective.n_parameters)
        point = asarray(w, device=objective.device)  # [P]
        ends[device] = objective(point)  # warm
        seconds = []
        for _ in range(5):
            begin = clock.now()
            objective(point)
            seconds.append(clock.now() - begin)
        found[f"evaluation_ms, {device}"] = round(1e3 * min(seconds), 2)
        found["parameters"] = objective.n_parameters
        found |= clock.peak() if device == "cuda" else {}
    (value, slope), (other, twin) = ends["cpu"], ends["cuda"]
    gap = np.abs(to_numpy(twin) - slope).max() / np.abs(slope).max()
    gaps = {"value_relative": abs(other - value) / abs(value)}
    gaps["gradient_relative"] = float(gap)
    agree = bool(max(gaps.values()) <= _EVALUATION)
    return {**found, **gaps, "tolerance": _EVALUATION, "agree": agree}


def agreement(a: ChainGP, b: ChainGP, test: FeatureMatrix) -> dict[str, Any]:
    """Compare two fits of the same model."""

    def equal(*sides: Any) -> float:
        left, right = (np.concatenate([np.array(s) for s in side]) for side in sides)
        return float((left == right).mean())

    marginals, others = (np.vstack(one.predict_proba(test)) for one in (a, b))
    gaps = np.abs(marginals - others)  # [M, L]
    same = equal(a.predict(test), b.predict(test))
    relative = abs(b.log_posterior_ - a.log_posterior_) / abs(a.log_posterior_)
    return {
        "equal_labels": same,
        "equal_recovered": equal(a.transduction_, b.transduction_),
        "marginals_largest_gap": float(gaps.max()),
        "marginals_mean_gap": float(gaps.mean()),
        "log_posterior_relative": relative,
        "agree": bool(same >= _EQUAL and relative <= _POSTERIOR),
    }


@dataclass(frozen=True)
class ChainCell(KeyedCell):
    """One evaluation of a size, or one fit."""

    form = "{size}/{kernel}/{device}"
    size: str
    kernel: str
    device: str
    work = property(attrgetter("size"))  # the name of its folds


class GpuChain(DeviceBenchmark):
    """ChainGP on both sides."""

    name = "gpu_chain"
    title = "ChainGP on a GPU"
    module = estimator
    watched = (
        (ChainObjective, "__init__", "objective: prepare"),
        (ChainObjective, "__call__", "objective: evaluate"),
        (ModeFinder, "find", "modes, of held-out fits too"),
        (InducingColumns, "columns", "RBF columns"),
    )

    def files(self, cell: ChainCell) -> tuple[str, ...]:
        return TASKS["chunking"].files

    def workloads(self) -> list[Workload]:
        found = []
        for size, n_tokens in SIZES.items():
            fold = whole_fold(self.data, "chunking", n_tokens)
            everything = LabelSet.union([*fold.train.labels, *fold.test.labels])
            partial = corrupt(fold.train, cl=CL, p=P, random_state=0)
            fold = replace(fold, label_set=everything)
            found.append(Workload.of(size, fold, partial))
        return found

    def cells(self) -> list[ChainCell]:
        found = [ChainCell(size, "none", "both") for size in SIZES]
        fits = product(DEVICES, SIZES, KERNELS)
        return found + [ChainCell(*about, device) for device, *about in fits]

    def measure(self, cell: ChainCell, work: Workload) -> dict[str, Any]:
        if cell.kernel == "none":
            evaluation(work.first(300), self)  # warm up
            with limited(min(60.0, self.limit)):
                return evaluation(work, self)
        params = {"device": cell.device}
        if cell.kernel == "given":
            params |= {"temperature": 1.0, "span_bonus": 0.0}
        facts, model = self.timed_fit("chain-gp", work, params)
        if model is None:
            return facts
        facts |= {
            "steps": model.n_iter_,
            "log_posterior": model.log_posterior_,
            "temperature": model.temperature_,
            "kernel": model.kernel_.as_dict(),
        }
        _FITS[cell] = model
        twin = _FITS.get(replace(cell, device="cuda"))
        if cell.device == "cpu" and twin is not None:
            facts["agreement"] = agreement(model, twin, work.fold.test_features)
        return facts

    def tables(self, found: Found) -> Tables:
        single, fits = [], []
        for cell, one in self.finished(found):
            tokens = one["data"]["tokens"]
            if cell.kernel == "none":
                names = ("parameters", "evaluation_ms, cpu", "evaluation_ms, cuda")
                worst = max(one["value_relative"], one["gradient_relative"])
                agree = "yes" if one["agree"] else "NO"
                single.append((cell.size, tokens, *pick(one, *names), worst, agree))
                continue
            twin = found.get(replace(cell, device="cpu").key, {})
            (same,) = pick(twin, "agreement.equal_labels")
            stopped = f"more than {one.get('stopped_after_s')}, stopped"
            facts = pick(one, "tag_s", "gpu_gib", "steps", "span_f1")
            name = f"{cell.size}, {cell.kernel}, {cell.device}"
            share = "" if same is None else f"{100 * same:.2f} %"
            fits.append((name, tokens, one.get("fit_s", stopped), *facts, share))
        head = ("one evaluation", "tokens|d", "parameters|,d", "NumPy, ms|.2f")
        yield table((*head, "GPU, ms|.2f", "worst relative|.1e", "agree|>"), single)
        head = ("fit", "tokens|d", "fit, s|.3f", "tagging, s|.3f")
        rest = ("GPU GiB|.2f", "steps|d", "span F1|.2f", "labels equal|>")
        yield table((*head, *rest), fits)


EXPERIMENT = GpuChain
