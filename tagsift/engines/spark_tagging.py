"""Tagging on Spark: `mapInArrow`, with one model per Python worker."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagsift.engines.tagging import Shard, Tagging
from tagsift.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger

__all__ = ["SparkTagging", "tag_frame"]

_RESULT = (
    "source string, rows bigint, tokens bigint, cpu_s double, peak_mib double, "
    "worker string, error string"
)
#: What is wrong is said by us, and so is progress.
_QUIET = {
    "spark.log.level": "FATAL",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
#: Seconds between two looks at how far a job has come.
_PAUSE = 1.0


@dataclass(frozen=True)
class SparkTagging:
    """Tag shards on the Python workers of Spark; see `tagsift.engines.tag_shards`.

    Parameters
    ----------
    n_workers : int, optional
        Workers where Spark is started on this machine: by default all cores but one,
        which is left for Spark itself. A session that is there, or a master that the
        configuration names, has its own number.
    """

    n_workers: int | None = None

    def session(self) -> Any:
        try:
            from pyspark import SparkConf
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError(
                "the engine 'spark' needs the package 'pyspark', which is not "
                "installed; install it with: pip install pyspark, and Java beside it."
            ) from None
        if SparkSession.getActiveSession() or SparkConf().contains("spark.master"):
            if self.n_workers is not None:
                raise InputError(
                    "the number of workers is that of the Spark session or its "
                    "configuration; leave it out here."
                )
            return SparkSession.builder.getOrCreate()
        n_workers = self.n_workers or max(1, len(os.sched_getaffinity(0)) - 1)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        conf = SparkConf().setMaster(f"local[{n_workers}]").setAppName("tagsift")
        conf.setAll(list(_QUIET.items()))
        with tempfile.TemporaryFile() as said, _without_advice():
            try:
                _start_java(conf, said)
                return SparkSession.builder.config(conf=conf).getOrCreate()
            except (PySparkException, FileNotFoundError) as error:
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                lines = [line for line in lines if not line.startswith("WARNING")]
                reason = lines[0][:200] if lines else _line(error)
                raise InputError(
                    f"Spark did not start ({reason}); it needs Java (17 or later), in "
                    "the PATH or where JAVA_HOME says."
                ) from error

    def __call__(
        self, tagging: Tagging, shards: Sequence[Shard]
    ) -> Iterator[dict[str, Any]]:
        """One result per shard, as they come; what is refused is refused at once."""
        return self._results(self.session(), tagging, shards)

    def _results(
        self, spark: Any, tagging: Tagging, shards: Sequence[Shard]
    ) -> Iterator[dict[str, Any]]:
        sent = spark.sparkContext.broadcast((tagging, tuple(shards)))
        arrived = spark.sparkContext.accumulator([], _Lists())

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            held, all_shards = sent.value
            for batch in batches:
                results = [
                    held.shard(all_shards[k]) for k in batch.column(0).to_pylist()
                ]
                arrived.add(results)
                yield pa.RecordBatch.from_pylist(results)

        numbers = spark.range(0, len(shards), 1, len(shards))  # a shard a task
        frame = _mapped(numbers, work, _RESULT)
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(_collected, frame)
            yield from _as_they_come(job, arrived)


def tag_frame(
    model: SequenceTagger | str | os.PathLike[str],
    frame: Any,
    *,
    column: str | None = None,
    prefix: str = "",
    tokenizer: Any = None,
) -> Any:
    """Tag a data frame of Spark, with the columns of `tagsift.tag_table`.

    Parameters
    ----------
    model : SequenceTagger or path-like
        A fitted estimator, or its file.
    frame : pyspark.sql.DataFrame
        With a column of texts, or of lists of tokens.
    column, prefix, tokenizer
        As in `tagsift.engines.tag_shards`.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as what it is made from.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    tagging = Tagging.by(model, column=column, prefix=prefix, tokenizer=tokenizer)
    made = tagging.new_columns(to_arrow_schema(frame.schema))
    sent = frame.sparkSession.sparkContext.broadcast(tagging)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield sent.value.table(batch)

    whole = [f"`{n}` {kind}" for n, kind in frame.dtypes]
    whole += [f"`{one.name}` {_ddl(one.type)}" for one in made]
    return _mapped(frame, work, ", ".join(whole))


def _start_java(conf: Any, said: Any) -> None:
    """Start Java, if it does not run; what it says goes into a file."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is None:
        java = launch_gateway(conf, {"stdout": said, "stderr": said})
        SparkContext._ensure_initialized(gateway=java)


def _mapped(frame: Any, work: Callable[[Iterator[Any]], Any], schema: str) -> Any:
    with _without_advice():
        return frame.mapInArrow(work, schema)


@contextlib.contextmanager
def _without_advice() -> Iterator[None]:
    """Spark warns of versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _ddl(kind: Any) -> str:
    import pyarrow.types as kinds

    if kinds.is_list(kind):
        return f"array<{_ddl(kind.value_type)}>"
    if kinds.is_struct(kind):
        return f"struct<{','.join(f'{one.name}:{_ddl(one.type)}' for one in kind)}>"
    return {"string": "string", "int64": "bigint", "double": "double"}[str(kind)]


class _Lists:
    """How Spark adds up what tasks report: one list after the other."""

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, one: list[Any], other: list[Any]) -> list[Any]:  # noqa: N802
        return one + other


def _as_they_come(job: Future[list[Any]], arrived: Any) -> Iterator[dict[str, Any]]:
    """Results while the job runs, then those that are left, each once."""
    seen: set[str] = set()
    while True:
        ended = bool(wait([job], timeout=_PAUSE).done)
        for one in [*arrived.value, *(job.result() if ended else ())]:
            if one["source"] not in seen:
                seen.add(one["source"])
                yield one
        if ended:
            return


def _collected(frame: Any) -> list[dict[str, Any]]:
    from pyspark.errors import PySparkException

    try:
        return [row.asDict() for row in frame.collect()]
    except PySparkException as error:
        raise InputError(
            f"Spark gave up ({_line(error)}); the shards that are written stay, and "
            "the same command does the rest."
        ) from error


def _line(error: BaseException) -> str:
    """The last line of what went wrong, where Python says it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [
        line for line in lines if "Error: " in line and not line.startswith("at ")
    ]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0][:200]
