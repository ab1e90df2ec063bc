from __future__ import annotations

import json

import pytest

from tagsift.errors import DataError
from tagsift.experiments import records
from tests.experiments.samples import record

FOUND = [
    record("wknn", 0.5),
    record("wknn", 0.6, fold=1),
    record("sgppsl", 0.7, task="ner"),
]


def test_records_survive_writing_and_compacting(tmp_path):
    for one in FOUND:
        records.write(tmp_path / "single", one)
    single = records.load(tmp_path / "single")
    assert single == {one["key"]: one for one in FOUND}
    paths = records.compact(single.values(), tmp_path / "joined")
    names = [path.name for path in paths]
    assert names == ["base-np-wknn.jsonl", "ner-sgppsl.jsonl"]
    assert records.load(tmp_path / "joined") == single
    for one in FOUND:
        for folder in ("single", "joined"):
            assert records.find(tmp_path / folder, one["key"]) == one
    assert records.find(tmp_path / "joined", "base-np/wknn/other") is None


def test_a_folder_without_records_is_empty(tmp_path):
    assert records.load(tmp_path / "none") == {}


def test_a_single_file_wins_over_a_line(tmp_path):
    records.compact([FOUND[0]], tmp_path)
    newer = {**FOUND[0], "scores": {"span_f1": 0.9}}
    records.write(tmp_path, newer)
    assert records.load(tmp_path)[FOUND[0]["key"]] == newer


def test_time_is_the_only_part_left_out():
    assert records.timeless(FOUND[0]).keys() == FOUND[0].keys() - {"time"}


def test_a_cell_is_done_when_its_record_is_about_the_same():
    config = {"task": "ner", "folds": (0, 1)}
    known = {"key": "x", "config": json.loads(json.dumps(config)), "error": "no"}
    assert records.is_done(known, config)
    assert not records.is_done(known, config, retry_failed=True)
    assert not records.is_done(known, {**config, "task": "base-np"})
    assert not records.is_done(None, config)


@pytest.mark.parametrize("text", ["{", "[]", '{"key": "x"}'])
def test_a_damaged_record_is_named(tmp_path, text: str):
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.json: (not valid JSON|expected a rec)"):
        records.load(tmp_path)
