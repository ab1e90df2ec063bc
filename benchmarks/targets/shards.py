"""Fits in shards: on one machine, on Ray workers, and out of core.

    python -m benchmarks shards --only engine=local+ray
    python -m benchmarks shards --only engine=disk --max-tokens 20000000

The first compares fits of the CoNLL-2000 training file, once and ten times over, in
this process and on two workers; `engine=ray-killed` kills one of them midway. The
second makes a large file of candidates from the base-NP training file, over and over
with changes, and fits it with the shards on disk. Every fit runs in a process of its
own; the CPU seconds are those of all processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import CL, EngineBenchmark, EngineCell, P, fit_costs
from experiments.experiment import Option
from experiments.folds import training_file
from experiments.measuring import timed
from experiments.records import Found, Record
from experiments.tables import Tables, by_columns
from tagsift.baselines import PartialCRF
from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import LocalEngine, add_up
from tagsift.chain.sharded import ChainData, ShardedObjective
from tagsift.chain.step import Step
from tagsift.data import corrupt
from tagsift.data.corpus import Corpus
from tagsift.features import SequenceVectorizer
from tagsift.features.packed import PackedFeatures
from tagsift.io import read_chunks
from tagsift.storage import atomic_write

#: Tokens of the large file where not told otherwise, and of its shards.
TOKENS, SHARD = 200_000, 200_000
#: Features seen less often in the large file are left out; penalty, and most steps.
MIN_COUNT, L2, STEPS = 5, 1.0, 50
#: Of the words of the large file, how many are another one, and how many a new one.
OTHER, NEW = 0.02, 0.003
#: Megabytes of the shards, noted at every step that is kept.
NOTED: list[float] = []


class ShardCell(EngineCell):
    """An engine: local, ray, ray-killed (a worker, midway) or disk; or what costs."""

    @property
    def task(self) -> str:
        """The task whose training file is fitted."""
        return "base-np" if self.engine in ("disk", "costs-3") else "chunking"


def changed(corpus: Corpus, n_tokens: int, seed: int = 0) -> Iterator[str]:
    """Lines of a file of candidates: the sentences over and over, with changes."""
    rng = np.random.default_rng(seed)
    words = np.array(corpus.columns[0])
    names = list(corpus.label_set)
    done = 0
    while done < n_tokens:
        for tokens, labels in zip(corpus.tokens, corpus.labels, strict=True):
            n, exact = len(tokens), rng.random() < P
            luck, more = rng.random(n), rng.random((n, len(names))) < 0.3
            for t in range(n):
                word = tokens[t]
                if luck[t] < NEW:
                    word = f"{word[:3]}{rng.integers(100_000)}"
                elif luck[t] < NEW + OTHER:
                    word = words[rng.integers(len(words))]
                own = labels[t]
                held = [k for k, m in zip(names, more[t], strict=True) if m or k == own]
                yield f"{word}\t{own if exact else '|'.join(held)}\n"
            yield "\n"
            done += n
            if done >= n_tokens:
                return


@dataclass(frozen=True)
class Noting(Checkpoint):
    """Steps that note how large the shards beside them are."""

    def write(self, step: Step) -> None:
        files = (Path(self.path).parent / "shards").iterdir()
        NOTED.append(sum(file.stat().st_size for file in files) / 1e6)
        super().write(step)


@dataclass(frozen=True)
class Killing(Checkpoint):
    """Steps at one of which a worker of the engine is killed."""

    engine: Any = None

    def write(self, step: Step) -> None:
        if step.n_iter == STEPS // 2:
            import ray

            ray.kill(self.engine._last._workers[1])
        super().write(step)


def on_disk(corpus: Corpus, n_tokens: int, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Fit a large file out of core, and say what it takes; a killed fit goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    path, shards = folder / f"{n_tokens}.tsv", folder / "shards"
    if not path.exists():
        with atomic_write(path) as stream:
            stream.writelines(changed(corpus, n_tokens))
    kept = Noting(folder / f"{n_tokens}.steps", every=5)
    model = PartialCRF(
        l2=L2,
        max_iter=STEPS,
        features=SequenceVectorizer(min_count=MIN_COUNT),
        engine=LocalEngine(folder=shards, checkpoint=kept),
        verbose=1,
    )
    time = fit_costs(lambda: model.fit(read_chunks(path, n_tokens=SHARD)))
    text, most = path.stat().st_size / 1e6, max(NOTED, default=0.0)
    return model, {"time": time, "files": {"text_mb": text, "shards_mb": most}}


def in_memory(
    corpus: Corpus, n_tokens: int, name: str, folder: Path
) -> tuple[Any, dict[str, Any]]:
    """Fit sentences in memory, here or on two workers, one of which may be killed."""
    copies = round(n_tokens / corpus.n_tokens)
    partial = corrupt(corpus, cl=CL, p=P, random_state=0)
    X, y = partial.rows * copies, (partial.candidates or []) * copies
    engine: Any = None
    if name != "local":
        from tagsift.engines import RayEngine

        engine = RayEngine(n_workers=2)
    if name == "ray-killed":
        folder.mkdir(parents=True, exist_ok=True)
        steps = folder / f"{n_tokens}-killed.steps"
        steps.unlink(missing_ok=True)
        engine.checkpoint = Killing(steps, every=STEPS // 2, engine=engine)
    model = PartialCRF(l2=L2, max_iter=STEPS, engine=engine)
    time = fit_costs(lambda: model.fit(X, y))
    found: dict[str, Any] = {"time": time | {"driver_cpu_s": time["fit_cpu_s"]}}
    if engine is not None:
        found["workers"] = engine.usage()
        found["time"]["fit_cpu_s"] += sum(one["cpu_s"] for one in found["workers"])
    labels = model.predict(corpus.rows)
    found["labels"] = hashlib.sha256(repr(labels).encode()).hexdigest()[:16]
    return model, found


def costs(corpus: Corpus) -> tuple[Any, dict[str, Any]]:
    """CPU microseconds a token of everything that a fit and tagging consist of."""
    n_tokens = corpus.n_tokens
    partial = corrupt(corpus, cl=CL, p=P, random_state=0)
    model = PartialCRF(l2=L2, max_iter=1, tol=1.0)
    fresh, vectorizer = SequenceVectorizer(), SequenceVectorizer()
    counted = timed(lambda: vectorizer.learn(fresh.count(corpus.rows)))
    made = timed(lambda: vectorizer.transform(corpus.rows))
    mask = partial.members[partial.candidate_codes]  # [N, L]
    data = ChainData(PackedFeatures.of(made.result), mask)
    shards = LocalEngine().scatter([data])
    ready = timed(lambda: ShardedObjective(shards, L2))
    objective = ready.result
    w = np.zeros(objective.n_parameters)
    step = min(timed(lambda: objective(w)).cpu for _ in range(3))
    add = min(timed(lambda: add_up([w, w])).cpu for _ in range(5))
    model.fit(made.result, partial)
    model.vectorizer_ = vectorizer
    tagged = timed(lambda: model.predict(corpus.rows))
    each = {
        "count": counted.cpu,
        "features": made.cpu,
        "objective": ready.cpu,
        "step": step,
        "tag": tagged.cpu,
    }
    found = {name: round(1e6 * cpu / n_tokens, 2) for name, cpu in each.items()}
    found["add_ns_per_weight"] = round(1e9 * add / len(w), 2)
    return model, {"us_per_token": found, "weights": len(w), "time": {}}


def _worker_peak(record: Record) -> Record:
    """The most memory of a worker, MiB."""
    peaks = (one["peak_mib"] for one in record.get("workers", ()))
    return {"worker_peak": max(peaks, default=None)}


class ShardedFits(EngineBenchmark):
    """Fits in shards against those of one machine."""

    name = "shards"
    title = "Fits in shards"
    options = {
        "max_tokens": Option(TOKENS, "tokens of the large file", int),
        "folder": Option("runs/benchmarks/large", "the large file and its shards"),
    }

    def cells(self) -> list[ShardCell]:
        sizes = (211_727, 2_117_270)
        found = [ShardCell(name, n) for n in sizes for name in ("local", "ray")]
        found += [ShardCell("ray-killed", sizes[0])]
        found += [ShardCell("costs-3", sizes[0]), ShardCell("costs-22", sizes[0])]
        return [*found, ShardCell("disk", self.max_tokens)]

    def run(self, cell: ShardCell) -> dict[str, Any]:
        corpus, folder = training_file(self.data, cell.task), Path(self.folder)
        if cell.engine == "disk":
            model, found = on_disk(corpus, cell.tokens, folder)
        elif cell.engine.startswith("costs"):
            model, found = costs(corpus)
        else:
            model, found = in_memory(corpus, cell.tokens, cell.engine, folder)
        sizes = {"tokens": cell.tokens, "labels": len(model.classes_)}
        return {
            "data": {**sizes, "features": model.n_features_in_},
            "steps": model.n_iter_,
            "objective": model.objective_,
            **found,
        }

    def tables(self, found: Found) -> Tables:
        columns = {
            "tokens|,d": "data.tokens",
            "labels|d": "data.labels",
            "features|,d": "data.features",
            "engine": "config.engine",
            "objective|,.3f": "objective",
            "labels found": "labels",
            "CPU s|,.0f": "time.fit_cpu_s",
            "peak MiB|,.0f": "time.fit_peak_mib",
            "steps|d": "steps",
            "peak MiB of a worker|,.0f": "worker_peak",
        }
        each = {"labels|d": "data.labels"}
        for kind in ("count", "features", "objective", "step", "tag"):
            each[f"{kind}, µs/token|.2f"] = f"us_per_token.{kind}"
        fits, rest = (
            [one for one in found.values() if ("us_per_token" in one) == costs]
            for costs in (False, True)
        )
        yield by_columns(
            [one | _worker_peak(one) for one in fits], columns, *self.order
        )
        yield by_columns(rest, each, *self.order)


EXPERIMENT = ShardedFits
