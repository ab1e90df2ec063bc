from __future__ import annotations

import json

import pytest

from experiments.records import Records, is_done
from tagsift.errors import DataError
from tests.experiments.samples import record

FOUND = [
    record("wknn", 0.5),
    record("wknn", 0.6, fold=1),
    record("sgppsl", 0.7, task="ner"),
]
BY_KEY = {one["key"]: one for one in FOUND}


@pytest.mark.parametrize("name", ["records", "records.jsonl"])
def test_records_survive_writing_in_a_folder_and_in_one_file(tmp_path, name: str):
    store = Records(tmp_path / name)
    assert store.load() == {}
    for one in reversed(FOUND):
        store.add(one)
    assert store.load() == BY_KEY
    store.tidy()
    assert store.load() == BY_KEY
    files = sorted(path.name for path in tmp_path.rglob("*.jsonl"))
    assert files == (
        ["records.jsonl"]
        if store.single
        else ["base-np-wknn.jsonl", "ner-sgppsl.jsonl"]
    )
    for path in tmp_path.rglob("*.jsonl"):
        keys = [json.loads(line)["key"] for line in path.read_text().splitlines()]
        assert keys == sorted(keys)


def test_the_later_line_of_a_key_counts_and_is_kept(tmp_path):
    store = Records(tmp_path)
    newer = {**FOUND[0], "scores": {"span_f1": 0.9}}
    for one in (FOUND[0], newer):
        store.add(one)
    store.tidy()
    assert store.load() == {newer["key"]: newer}
    (path,) = tmp_path.rglob("*.jsonl")
    assert len(path.read_text().splitlines()) == 1


def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path):
    store = Records(tmp_path / "all.jsonl")
    for one in FOUND[:2]:
        store.add(one)
    text = store.path.read_text()
    store.path.write_text(text[:-20], encoding="utf-8")
    assert set(store.load()) == {FOUND[0]["key"]}
    store.tidy()
    store.add(FOUND[1])
    assert store.load() == {one["key"]: one for one in FOUND[:2]}


def test_two_runs_cannot_work_on_the_same_records(tmp_path):
    for path in (tmp_path / "folder", tmp_path / "one.jsonl"):
        with (
            Records(path).exclusive(),
            pytest.raises(DataError, match="another run works in this folder"),
            Records(path).exclusive(),
        ):
            pass
        with Records(path).exclusive():  # the end of the first one frees them
            pass


def test_a_cell_is_done_when_its_record_is_about_the_same():
    config = {"task": "ner", "folds": (0, 1)}
    known = {"key": "x", "config": json.loads(json.dumps(config)), "error": "no"}
    assert is_done(known, config)
    assert not is_done(known, config, retry_failed=True)
    assert not is_done(known, {**config, "task": "base-np"})
    assert not is_done(None, config)


@pytest.mark.parametrize("text", ["{", "[]", '{"key": "x"}'])
def test_a_damaged_record_is_named(tmp_path, text: str):
    (tmp_path / "bad.jsonl").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl.*(not valid JSON|expected a rec)"):
        Records(tmp_path).load()
