"""Shards through a model: here, on Ray actors, on Python workers of Spark."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

import tagsift
from tagsift.engines import RayTagging, SparkTagging, tag_dataset, tag_frame, tag_shards
from tagsift.engines import tagging as module
from tagsift.engines.shard_files import find_shards, place, written
from tagsift.engines.tagging import local_tagging
from tagsift.errors import DataError, InputError, MissingExtraError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: make engines")
pq = pytest.importorskip("pyarrow.parquet")

try:
    import pandas  # noqa: F401, Ray Data needs it
    import ray
except ImportError:
    ray = None
try:
    import pyspark
except ImportError:
    pyspark = None

pytestmark = pytest.mark.filterwarnings("default")  # those of the engines
needs_ray = pytest.mark.skipif(ray is None, reason="needs Ray: make engines")
java = shutil.which("java") or os.environ.get("JAVA_HOME")
needs_spark = pytest.mark.skipif(
    pyspark is None or not java, reason="needs Spark and Java: make engines"
)


def on_spark(tagging, shards):
    """Two Python workers, or those of the session that there is."""
    there = pyspark.sql.SparkSession.getActiveSession()
    return SparkTagging(None if there else 2)(tagging, shards)


ENGINES = [
    pytest.param(local_tagging, id="local"),
    pytest.param(RayTagging(2), id="ray", marks=needs_ray),
    pytest.param(on_spark, id="spark", marks=needs_spark),
]
CORPUS = tagsift.data.bundled("ner").with_columns(1)[:60]
TEXTS = [" ".join(words) for words in CORPUS.tokens]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.tagsift"
    tagsift.make("partial-crf").fit(CORPUS.tokens, CORPUS.labels).save(path)
    return path


@pytest.fixture(scope="module", autouse=True)
def engines():
    if ray is not None:
        ray.init(
            num_cpus=3,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=200 * 2**20,
        )
    yield
    if ray is not None:
        ray.shutdown()
    if pyspark is not None:
        session = pyspark.sql.SparkSession.getActiveSession()
        if session is not None:
            session.stop()


@pytest.fixture
def source(tmp_path):
    """A folder of shards: Parquet with texts and tokens, JSONL with nulls, gzipped."""
    folder = tmp_path / "in"
    (folder / "day=1").mkdir(parents=True)
    table = pa.table({"id": range(25), "text": [None, *TEXTS[:24]]})
    pq.write_table(table, folder / "day=1" / "a.parquet")
    tokens = pa.table({"id": ["x", "y"], "tokens": CORPUS.tokens[:2]})
    pq.write_table(tokens, folder / "b.parquet")
    pq.write_table(table.slice(0, 0), folder / "empty.parquet")
    records = [{"when": "2020-01-02", "text": text, "id": k} for k, text in TEXTED]
    lines = "".join(json.dumps(one) + "\n" for one in [*records, {"id": 99}])
    (folder / "c.jsonl").write_text(lines)
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(b'\n{"text": "Denver won."}\n'))
    (folder / "empty.jsonl").write_text("")
    (folder / "_SUCCESS").write_text("")
    return folder


TEXTED = list(enumerate(TEXTS[:12]))
SHARDS = 6


@pytest.mark.parametrize("engine", ENGINES)
def test_shards_are_those_of_tag_table(engine, source, model, tmp_path):
    out, fitted = tmp_path / "out", tagsift.load(model)
    told = tag_shards(model, source, out, engine=engine)
    assert (told.shards, told.there_before) == (SHARDS, 0)
    assert told.rows == 25 + 2 + 13 + 1
    assert told.tokens > told.rows and told.cpu_s > 0
    assert told.workers == (2 if engine is on_spark else told.workers)
    for name in ("day=1/a", "b", "empty"):
        path = f"{name}.parquet"
        given = pq.read_table(source / path, partitioning=None)
        local = tagsift.tag_table(fitted, given)
        found = pq.read_table(out / path, partitioning=None)
        assert found.column_names == local.column_names
        assert found.to_pylist() == local.to_pylist()
    *records, last = map(json.loads, (out / "c.jsonl").read_text().splitlines())
    local = tagsift.tag_table(fitted, pa.table({"text": TEXTS[:12]})).to_pylist()
    same = {"when": "2020-01-02"}
    assert records == [
        same | {"text": one.pop("text"), "id": k} | one for k, one in enumerate(local)
    ]
    assert list(records[0])[:3] == ["when", "text", "id"]
    assert last["id"] == 99 and last["labels"] is None and "text" not in last
    zipped = gzip.decompress((out / "d.jsonl.gz").read_bytes())
    assert json.loads(zipped)["tokens"] == ["Denver", "won", "."]
    assert (out / "empty.jsonl").read_text() == ""


@pytest.mark.parametrize("engine", ENGINES)
def test_only_what_is_missing_is_done(engine, source, model, tmp_path):
    out = tmp_path / "out"
    tag_shards(model, source, out)
    whole = (out / "b.parquet").read_bytes()
    (out / "b.parquet").unlink()
    (out / ".0.part.b.parquet").write_bytes(whole[:100])  # what a kill leaves
    kept = (out / "c.jsonl").stat().st_mtime_ns
    told = tag_shards(model, source, out, engine=engine)
    assert (told.there_before, told.rows) == (SHARDS - 1, 2)
    assert (out / "b.parquet").read_bytes() == whole
    assert (out / "c.jsonl").stat().st_mtime_ns == kept
    assert not list(out.rglob(".*"))
    assert tag_shards(model, source, out, engine=engine).rows == 0


def test_workers_need_not_be_where_the_driver_is(source, model, tmp_path, monkeypatch):
    def elsewhere(tagging, shards):
        monkeypatch.chdir("/")
        return local_tagging(tagging, shards)

    monkeypatch.chdir(tmp_path)
    assert tag_shards(model, "in", "out", engine=elsewhere).shards == SHARDS
    assert (tmp_path / "out" / "b.parquet").exists()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bad_shard_does_not_stop_the_others(engine, source, model, tmp_path):
    (source / "b.parquet").write_bytes(b"PAR1, or not")
    (source / "c.jsonl").write_text('{"text": "Denver won."}\n{"text": "De\n')
    sentence = r"(b.parquet: cannot read|c.jsonl, line 2: expected a JSON object)"
    with pytest.raises(DataError, match=sentence) as caught:
        tag_shards(model, source, tmp_path / "out", engine=engine)
    assert "1 more shards failed. 4 of 6 shards are written" in str(caught.value)
    found = [p.name for p in (tmp_path / "out").rglob("*.*") if p.is_file()]
    assert len(found) == 4 + 1 and not {"b.parquet", "c.jsonl"} & set(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_other_versions_are_refused(engine, source, model, tmp_path, monkeypatch):
    known = module.versions() | {"tagsift": "0.0"}
    by = module.Tagging.by
    monkeypatch.setattr(
        module.Tagging, "by", lambda m, **how: by(m, versions=known, **how)
    )
    with pytest.raises(DataError, match="a worker has tagsift .*, the driver 0.0;"):
        tag_shards(model, source, tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


class TestWhatIsRefused:
    def test_a_column_that_is_missing_or_taken(self, tmp_path, model):
        (tmp_path / "in").mkdir()
        tables = {"a.parquet": {"body": ["Denver won."]}, "b.jsonl": {"body": "x"}}
        pq.write_table(pa.table(tables["a.parquet"]), tmp_path / "in" / "a.parquet")
        (tmp_path / "in" / "b.jsonl").write_text(json.dumps(tables["b.jsonl"]))
        with pytest.raises(DataError, match="a.parquet: expected one column 'text or"):
            tag_shards(model, tmp_path / "in", tmp_path / "out")
        with pytest.raises(DataError, match="b.jsonl: expected one column 'text or"):
            tag_shards(model, tmp_path / "in" / "b.jsonl", tmp_path / "two")
        told = tag_shards(model, tmp_path / "in", tmp_path / "new", column="body")
        assert told.rows == 2
        again = tmp_path / "new"
        with pytest.raises(DataError, match=r"a column 'tokens' already; rename"):
            tag_shards(model, again, tmp_path / "three", column="body")
        with pytest.raises(DataError, match=r"b.jsonl: .*'tokens' already; rename"):
            tag_shards(model, again / "b.jsonl", tmp_path / "four", column="body")
        tag_shards(model, again, tmp_path / "five", column="body", prefix="my_")
        names = pq.read_table(tmp_path / "five" / "a.parquet").column_names
        assert names[:2] == ["body", "tokens"] and "my_labels" in names

    def test_tokens_may_have_any_name(self, tmp_path, model):
        record = {"words": ["Denver", "won"], "labels_of": 3}
        (tmp_path / "a.jsonl").write_text(json.dumps(record))
        tag_shards(model, tmp_path / "a.jsonl", tmp_path / "out", column="words")
        found = json.loads((tmp_path / "out" / "a.jsonl").read_text())
        assert len(found["labels"]) == 2 and "tokens" not in found

    def test_folders(self, tmp_path, model, source):
        with pytest.raises(DataError, match="nowhere: there is no such file"):
            tag_shards(model, tmp_path / "nowhere", tmp_path / "out")
        with pytest.raises(DataError, match="none: expected shards .* found none"):
            (tmp_path / "none").mkdir()
            tag_shards(model, tmp_path / "none", tmp_path / "out")
        with pytest.raises(InputError, match="expected a folder outside of"):
            tag_shards(model, source, source / "out")
        with pytest.raises(InputError, match="day=1: expected a new folder, or"):
            tag_shards(model, source / "b.parquet", source / "day=1")
        tag_shards(model, source, tmp_path / "out")
        with pytest.raises(InputError, match="out: expected a new folder, or one"):
            tag_shards(model, source, tmp_path / "out", prefix="other_")
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match="file/out: cannot"):
            tag_shards(model, source, tmp_path / "file" / "out")
        with pytest.raises(DataError, match="nofs://x: this file system cannot be"):
            find_shards("nofs://x")

    @pytest.mark.skipif(ray is not None, reason="Ray is installed")
    def test_without_ray_it_is_one_sentence(self, source, model, tmp_path):
        with pytest.raises(MissingExtraError, match="needs the package 'ray'"):
            tag_shards(model, source, tmp_path / "out", engine=RayTagging())

    @pytest.mark.skipif(pyspark is not None, reason="Spark is installed")
    def test_without_spark_it_is_one_sentence(self, source, model, tmp_path):
        with pytest.raises(MissingExtraError, match="needs the package 'pyspark'"):
            tag_shards(model, source, tmp_path / "out", engine=SparkTagging())

    @needs_ray
    def test_a_core_is_left_for_reading(self, source, model, tmp_path):
        with pytest.raises(InputError, match="one is left for reading: expected 1 to"):
            tag_shards(model, source, tmp_path / "out", engine=RayTagging(3))
        assert not (tmp_path / "out").exists()

    @needs_spark
    def test_without_java_nothing_is_left(self, source, model, tmp_path):
        command = [sys.executable, "-m", "tagsift", "tag", model, source]
        command += [tmp_path / "out", "--engine", "spark", "-q"]
        lost = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(tmp_path)}
        told = subprocess.run(
            list(map(str, command)), env=os.environ | lost, capture_output=True
        )
        said = told.stderr.decode()
        assert told.returncode == 2 and said.count("\n") == 1, said
        assert "Spark did not start (" in said and "it needs Java" in said
        assert not (tmp_path / "out").exists()


def test_a_file_appears_when_it_is_whole(tmp_path):
    with pytest.raises(KeyboardInterrupt), written(place(f"{tmp_path}/x"), "x") as sink:
        sink.write(b"half")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_other_file_systems(tmp_path, model):
    pytest.importorskip("fsspec")
    home = f"fsspec+local://{tmp_path}"
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": TEXTS[:3]}), tmp_path / "in" / "a.parquet")
    assert tag_shards(model, f"{home}/in", f"{home}/out").rows == 3
    assert tag_shards(model, tmp_path / "in", tmp_path / "out").there_before == 1


@needs_ray
def test_a_dataset_of_ray(model):
    table = pa.table({"id": range(30), "text": TEXTS[:30]})
    found = tag_dataset(model, ray.data.from_arrow(table)).sort("id").take_all()
    local = tagsift.tag_table(tagsift.load(model), table).to_pylist()
    assert [list(one["labels"]) for one in found] == [one["labels"] for one in local]
    with pytest.raises(InputError, match="one column 'body' to label, found id, text"):
        tag_dataset(model, ray.data.from_arrow(table), column="body")


@needs_spark
def test_a_data_frame_of_spark(model):
    spark = SparkTagging().session()
    rows = [(k, text) for k, text in enumerate(TEXTS[:30])]
    frame = spark.createDataFrame(rows, "id int, text string")
    found = tag_frame(model, frame).orderBy("id").collect()
    table = pa.table({"id": range(30), "text": TEXTS[:30]})
    local = tagsift.tag_table(tagsift.load(model), table).to_pylist()
    made = [one.asDict(recursive=True) for one in found]
    for one, other in zip(made, local, strict=True):  # cut otherwise, rounded otherwise
        assert one.pop("confidences") == pytest.approx(other.pop("confidences"))
        scores = [[s.pop("score") for s in row["spans"]] for row in (one, other)]
        assert scores[0] == pytest.approx(scores[1])
    assert made == local
    with pytest.raises(InputError, match="one column 'body' to label, found id, text"):
        tag_frame(model, frame, column="body")
    with pytest.raises(InputError, match="'id' to hold texts, found int32"):
        tag_frame(model, frame, column="id")
    with pytest.raises(InputError, match="has a column 'labels' already; rename it"):
        tag_frame(model, frame.withColumnRenamed("id", "labels"))


#: The command line, killed when a note and two shards are there and the third is not.
DYING = """
import os, signal, sys
from tagsift.cli import main

def keep_or_die(number, keep=os.fsync, seen=[]):
    seen.append(number)
    if len(seen) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    keep(number)

os.fsync = keep_or_die
main(sys.argv[1:])
"""


def test_after_a_kill_every_row_is_there_once(model, tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for shard in range(8):
        table = pa.table({"id": [f"{shard}-{k}" for k in range(300)]})
        table = table.append_column("text", [(TEXTS * 5)[:300]])
        pq.write_table(table, folder / f"{shard}.parquet")
    command = [sys.executable, "-c", DYING, "tag", model, folder, out, "--engine"]
    killed = subprocess.run([*map(str, command), "local", "-q"])
    assert killed.returncode == -signal.SIGKILL
    assert len(list(out.glob("[0-9].parquet"))) == 2
    assert len(list(out.glob(".*.part.*"))) == 1
    told = tag_shards(model, folder, out)
    assert told.there_before == 2
    found = pq.read_table(out).column("id").to_pylist()
    assert sorted(found) == sorted(f"{s}-{k}" for s in range(8) for k in range(300))
