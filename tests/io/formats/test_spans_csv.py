"""Tables with lists of spans in their cells, as tools and pandas write them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tagsift.cli import main
from tagsift.data.documents import Document
from tagsift.errors import DataError
from tagsift.io.formats import detect
from tests.io.formats.files import read, write

TEXT = 'May left, "York" stays.\nAnn, too.'
ANN = [{"start": 0, "end": 3, "label": "PER"}, {"start": 11, "end": 15, "label": "LOC"}]
BOB = [{"start": 11, "end": 15, "label": "ORG"}]


def save(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def said(document: Document) -> dict[str, list[tuple[Any, ...]]]:
    return {
        layer.annotator: [(m.start, m.end, *m.labels) for m in layer.marks or ()]
        for layer in document.layers
    }


@pytest.mark.parametrize("spell", [json.dumps, str])  # pandas writes what str gives
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_column_an_annotator(tmp_path: Path, spell: Any, name: str) -> None:
    rows = [
        {"id": 7, "text": TEXT, "ann": spell(ANN), "bob": spell(BOB), "topic": "news"},
        {"id": 8, "text": "Nobody.", "ann": "[]", "bob": "", "topic": ""},
    ]
    path = save(tmp_path / name, rows, "," if name == "a.csv" else "\t")
    assert detect(path).name == "spans-csv"
    first, second = documents = read(path)
    assert said(first) == {
        "ann": [(0, 3, "PER"), (11, 15, "LOC")],
        "bob": [(11, 15, "ORG")],
    }
    assert (first.id, first.text, first.meta) == ("7", TEXT, {"topic": "news"})
    assert said(second) == {"ann": []}
    write(documents, tmp_path / f"b{path.suffix}")
    assert list(read(tmp_path / f"b{path.suffix}")) == list(documents)


@pytest.mark.parametrize(
    "span",
    [
        [0, 3, "PER"],
        {"start": 0, "end": 3, "labels": ["PER"], "text": "May"},
        {"start_offset": 0, "end_offset": 3, "type": "PER", "score": 0.5},
        {"begin": 0, "stop": 3, "entity": "PER", "note": "x"},
    ],
)
def test_spellings_of_spans(tmp_path: Path, span: Any) -> None:
    path = save(tmp_path / "a.csv", [{"content": TEXT, "labels": json.dumps([span])}])
    (document,) = read(path)
    assert said(document) == {"labels": [(0, 3, "PER")]}


def label_studio() -> list[dict[str, Any]]:
    """Rows as Label Studio exports them: one an annotation, the same task together."""
    value = [{"start": 0, "end": 3, "text": "May", "labels": ["PER"]}]
    common = {"created_at": "2024-05-01T10:00:00Z", "id": 3, "lead_time": 9.5}
    return [
        {"annotation_id": 11, "annotator": 1, **common, "label": json.dumps(value)},
        {"annotation_id": 12, "annotator": 2, **common, "label": ""},
        {"annotation_id": 13, "annotator": 1, **common, "label": "[]", "id": 4},
        {"annotation_id": "", "annotator": "", **common, "label": "", "id": 5},
    ]


def test_label_studio_exports_a_row_an_annotation(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", [{**row, "text": TEXT} for row in label_studio()])
    assert detect(path).name == "spans-csv"
    documents = read(path)
    assert [said(one) for one in documents] == [
        {"1": [(0, 3, "PER")], "2": []},
        {"1": []},
        {},
    ]
    assert documents.annotators == ("1", "2")
    assert documents[0].layers[1].meta["spans-csv"]["annotation_id"] == "12"


def test_the_command_line_reads_cleans_and_gives_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"text": TEXT, "ann": json.dumps(ANN), "bob": json.dumps(BOB), "eve": str(ANN)}
        for _ in range(4)
    ]
    path, out = save(tmp_path / "a.csv", rows, ";"), tmp_path / "b.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    options = ["-m", "dawid-skene", "-q", "-o", str(out)]
    assert main(["clean", str(path), *options]) == 0, capsys.readouterr().err
    again = read(out)
    assert detect(out).name == "spans-csv"
    assert out.read_text(encoding="utf-8").startswith("\ufeffid;text;vote:ann;vote:bob")
    assert said(again[0])["tagsift"] == said(again[0])["ann"]
    assert all(mark.score for mark in again[0].layers[-1].marks or ())
    chosen = ["--votes", "2:3", "-q", "-o", str(tmp_path / "c.json")]
    capsys.readouterr()
    assert (
        main(["clean", str(path), "--to", "label-studio", *chosen, *options[:2]]) == 0
    )
    assert "2 annotators" in capsys.readouterr().out
    assert main(["agree", str(path), "--quick"]) == 0
    assert "3 annotators" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "told", "message"),
    [
        ([{"a": "x", "b": "y", "ann": str(BOB)}], {}, "say which with --text-key"),
        (
            [{"text": "ab", "ann": str(ANN)}],
            {},
            r"line 2: ann: expected offsets in the 2",
        ),
        (
            [{"text": TEXT, "ann": "PER", "bob": str(BOB)}],
            {"votes": "2"},
            "a list of sp",
        ),
        ([{"text": TEXT, "ann": str(BOB)}], {"votes": "2:3"}, "among the 2, found 3"),
        (
            [{"text": TEXT, "ann": str(BOB), "eve": ""}] * 200
            + [{"text": TEXT, "ann": str(BOB), "eve": str(ANN)}],
            {},
            "no spans in the column 'eve'.* --votes",
        ),
    ],
)
def test_refused_tables(
    tmp_path: Path, rows: list[dict[str, Any]], told: dict[str, Any], message: str
) -> None:
    path = save(tmp_path / "a.csv", rows)
    with pytest.raises(DataError, match=message):
        read(path, "spans-csv", **told)
