"""Shards tagged here, on Ray and on Spark, with a kill of the driver in between.

    python -m benchmarks tagging --max-tokens 10000000

The texts are sentences 500 to 2,000 of the CoNLL-2000 training file, over and over; the
model is fitted to them. Every run is killed after some shards and goes on in another
process, which is the one that is measured. CPU seconds are those of the workers.
"""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.benchmark import EngineBenchmark, EngineCell
from experiments.experiment import Option
from experiments.folds import TASKS, training_file
from experiments.measuring import peak_mib, timed
from experiments.records import Found
from experiments.tables import Tables, by_columns
from tagsift.baselines import PartialCRF
from tagsift.engines import RayTagging, SparkTagging, tag_shards
from tagsift.engines.tagging import local_tagging

#: Tokens where not told otherwise, files they lie in, and files before the kill.
TOKENS, FILES, KILLED = 300_000, 20, 5
ENGINES = {"local": local_tagging, "ray": RayTagging(), "spark": SparkTagging()}


def make_shards(data: Path | None, n_tokens: int, folder: Path) -> tuple[Path, Path]:
    """A model, and a folder of Parquet files with ids and texts; made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    model, texts = folder / "model.tagsift", folder / f"texts-{n_tokens}"
    corpus = training_file(data, "chunking").with_columns(1)
    corpus = corpus[500:2000] if len(corpus) > 2000 else corpus
    if not model.exists():
        folder.mkdir(parents=True, exist_ok=True)
        PartialCRF(l2=1.0, max_iter=50).fit(corpus.tokens, corpus.labels).save(model)
    if not texts.exists():
        part = texts.with_suffix(".part")
        part.mkdir(exist_ok=True)
        lines = [" ".join(words) for words in corpus.tokens]
        n_rows = round(n_tokens / corpus.n_tokens * len(lines) / FILES)
        for shard in range(FILES):
            ids = range(shard * n_rows, (shard + 1) * n_rows)
            rows = {"id": ids, "text": [lines[k % len(lines)] for k in ids]}
            pq.write_table(pa.table(rows), part / f"{shard:03}.parquet")
        part.rename(texts)
    return model, texts


def kill_midway(model: Path, texts: Path, out: Path, engine: str) -> int:
    """Tag in a process of its own, kill it after some files, and count them."""
    command = [sys.executable, "-m", "tagsift", "tag", model, texts, out]
    command += ["--engine", engine, "-q"]
    with subprocess.Popen(list(map(str, command))) as driver:
        while driver.poll() is None and len(list(out.glob("[0-9]*"))) < KILLED:
            time.sleep(0.1)
        driver.send_signal(signal.SIGKILL)
    time.sleep(5)  # what workers still do without their driver
    return len(list(out.glob("[0-9]*")))


def contents(out: Path) -> tuple[int, int, str]:
    """Rows, ids that differ, and a digest of what was found, in the order of files."""
    import pyarrow.parquet as pq

    digest, ids, rows = hashlib.sha256(), set(), 0
    for path in sorted(out.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(1000):
            found = batch.to_pydict()
            rows += batch.num_rows
            ids.update(found["id"])
            digest.update(repr((found["id"], found["labels"], found["spans"])).encode())
    return rows, len(ids), digest.hexdigest()[:16]


class Tagging(EngineBenchmark):
    """Tagging of shards by engines."""

    name = "tagging"
    title = "Tagging by engines"
    options = {
        "max_tokens": Option(TOKENS, "tokens of the texts", int),
        "folder": Option("runs/benchmarks/tagging", "the texts and what is made"),
    }

    def cells(self) -> list[EngineCell]:
        return [EngineCell(name, self.max_tokens) for name in ENGINES]

    def files(self, cell: EngineCell) -> tuple[str, ...]:
        return (TASKS["chunking"].path,)

    def run(self, cell: EngineCell) -> dict[str, Any]:
        folder = Path(self.folder)
        model, texts = make_shards(self.data, cell.tokens, folder)
        out = folder / f"{cell.engine}-{cell.tokens}-{time.time_ns()}"
        before = kill_midway(model, texts, out, cell.engine)
        spent = timed(
            lambda: tag_shards(model, texts, out, engine=ENGINES[cell.engine])
        )
        rows, ids, digest = contents(out)
        done = asdict(spent.result)
        busy = done["cpu_s"]  # none where all was done before the kill
        return {
            "data": {"tokens": cell.tokens, "rows": rows, "ids": ids},
            "files": {"all": done["shards"], "killed_after": before},
            "found": digest,
            "measured_tokens": done["tokens"],
            "workers": {"cpu_s": busy, "peak_mib": done["peak_mib"]},
            "rate": round(done["tokens"] / busy) if busy else None,
            "time": {"wall_s": round(spent.wall, 1), "driver_peak_mib": peak_mib()},
        }

    def tables(self, found: Found) -> Tables:
        columns = {
            "tokens|,d": "data.tokens",
            "engine": "config.engine",
            "rows|,d": "data.rows",
            "ids|,d": "data.ids",
            "files before the kill|d": "files.killed_after",
            "tokens per CPU s|,.0f": "rate",
            "peak MiB of a worker|,.0f": "workers.peak_mib",
            "found": "found",
        }
        yield by_columns(found.values(), columns, *self.order)


EXPERIMENT = Tagging
