"""Files as people and tools write them too: what is no vote is named, none mixed up."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.data import Losses, cut_text
from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import DataError, InputError
from tagsift.io.formats import detect
from tests.io.formats.files import read, write

TITLE, BODY = "Ann wins", "Yesterday Ann Lee won in Rome."


def save(path: Path, *records: Any) -> Path:
    text = json.dumps(records, ensure_ascii=False)
    if path.suffix == ".jsonl":
        text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records)
    path.write_text(text, encoding="utf-8")
    return path


def said(document: Document, layer: int = -1) -> list[tuple[str, ...]]:
    """Words and labels of the spans of one annotator."""
    marks = document.layers[layer].marks or ()
    text = document.text or ""
    return [(text[mark.start : mark.end], *mark.labels) for mark in marks]


def span(text: str, quote: str, label: str, aim: str) -> dict[str, Any]:
    start = text.index(quote)
    value = {"start": start, "end": start + len(quote), "text": quote}
    names = {"from_name": "ner", "to_name": aim, "type": "labels"}
    return {"value": {**value, "labels": [label]}, **names}


def task(*results: Any, **more: Any) -> dict[str, Any]:
    annotation = {"id": 1, "completed_by": 3, "result": list(results)}
    data = {"title": TITLE, "body": BODY}
    return {"id": 7, "data": data, "annotations": [annotation], **more}


@pytest.mark.parametrize("aims", [("title", "body"), ("upper", "lower")])
def test_label_studio_with_two_texts(tmp_path: Path, aims: tuple[str, str]) -> None:
    record = task(
        span(BODY, "Rome", "LOC", aims[1]),
        span(TITLE, "Ann", "PER", aims[0]),
        predictions=[],
    )
    path = save(tmp_path / "a.json", record)
    lower = read(path, text_key="body")
    assert said(lower[0]) == [("Rome", "LOC")]
    assert dict(lower.losses.counts) == {
        "span of another text of the task, kept and no vote": 1
    }
    write(lower, tmp_path / "b.json", "label-studio")
    assert json.loads((tmp_path / "b.json").read_text()) == [record]
    assert said(read(path, text_key="title")[0]) == [("Ann", "PER")]


def test_label_studio_with_html_and_numbers_of_predictions(tmp_path: Path) -> None:
    found = span(BODY, "Rome", "LOC", "body")
    place = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0}
    html = {**found, "value": {**found["value"], **place, "endOffset": 4}}
    documents = read(
        save(tmp_path / "a.json", task(found, html, predictions=[55, 56])),
        text_key="body",
    )
    assert [layer.annotator for layer in documents[0].layers] == ["3"]
    assert said(documents[0]) == [("Rome", "LOC")]
    assert list(documents.losses.counts) == [
        "prediction of which the file has the number alone",
        "result of type labels, kept and no span",
    ]


def test_label_studio_may_write_null_for_no_results(tmp_path: Path) -> None:
    empty = [{"id": 1, "completed_by": 3, "result": None}]
    path = save(tmp_path / "a.json", {"data": {"text": BODY}, "annotations": empty})
    (document,) = read(path)
    assert said(document) == [] and document.layers[0].annotator == "3"


def test_answers_of_json_min_stay_with_their_annotators(tmp_path: Path) -> None:
    values = [span(BODY, "Rome", "LOC", "")["value"]], [span(BODY, "Ann", "P", "")]
    one = {"id": 1, "text": BODY, "source": "x", "label": values[0], "topic": "news"}
    two = {"id": 1, "text": BODY, "source": "x", "label": [], "other": "sport"}
    two["persons"] = [values[1][0]["value"]]
    records = [
        one | {"annotator": 1, "annotation_id": 11, "lead_time": 1.5},
        two | {"annotator": 2, "annotation_id": 12, "lead_time": 2.5},
    ]
    documents = read(save(tmp_path / "a.json", *records), "label-studio")
    assert documents[0].meta["source"] == "x" and "topic" not in documents[0].meta
    assert said(documents[0], 0) == [("Rome", "LOC")]
    assert said(documents[0], 1) == [("Ann", "P")]
    write(documents, tmp_path / "b.json", "label-studio")
    found = json.loads((tmp_path / "b.json").read_text())
    assert [{"label": [], **record} for record in found] == records


def test_annotations_made_anew_are_counted(tmp_path: Path) -> None:
    record = task(span(BODY, "Rome", "LOC", "body"))
    again = {**record["annotations"][0], "result": [span(BODY, "Ann", "PER", "body")]}
    record["annotations"].append(again)
    path = save(tmp_path / "a.json", record)
    losses = Losses()
    corpus = tagsift.read(path, text_key="body", losses=losses)
    assert set(corpus.label_set) == {"O", "B-PER"}
    kind = "annotation made anew by its annotator, of which the last counts"
    assert losses.cases[f"{kind}; see --again"] == ["7, 3"]
    first = tagsift.read(path, text_key="body", again="first")
    assert set(first.label_set) == {"O", "B-LOC"}
    with pytest.raises(DataError, match="7, 3: expected one annotation by each"):
        tagsift.read(path, text_key="body", again="error")


@pytest.mark.parametrize("name", ["conll", "csv", "conllu", "hf", "votes-csv", "brat"])
def test_tables_hold_one_annotation_of_each(tmp_path: Path, name: str) -> None:
    layers = tuple(Layer("ann", marks=(Mark(*x, ("X",)),)) for x in ((0, 1), (2, 3)))
    documents = [Document("1", "a b", layers=layers)]
    for again, place in (("first", 0), ("last", 1)):
        path = tmp_path / f"{again}.{name}" if name != "brat" else tmp_path / again
        losses = write(documents, path, name, again=again)
        kind = f"annotation made anew by its annotator, of which the {again} counts"
        assert losses.counts[f"{kind}; see --again"] == 1
        (one,) = read(path, name, label_key="NER" if name == "conllu" else None)
        assert [mark.start for mark in one.cut(cut_text).spans] == [(0, 2)[place]]
    with pytest.raises(DataError, match="--again last or first"):
        write(documents, tmp_path / "x", name, again="error")


EMPTY = {
    "ann": [[[0, 1, "X"]], [[2, 3, "X"]], [], [[0, 1, "Y"]]],
    "eve": [[[0, 1, "X"]], [], [], []],
}


def users(folder: Path, name: str) -> Path:
    """Four documents of two people, of whom one has looked at the first alone."""
    made = folder / name
    for who, documents in EMPTY.items():
        (made / who).mkdir(parents=True)
        for number, label in enumerate(documents):
            (made / who / f"{number}.txt").write_text("a b")
            rows = [f"T1\t{x} {a} {b}\t{'a b'[a:b]}\n" for a, b, x in label]
            (made / who / f"{number}.ann").write_text("".join(rows))
    if name == "doccano":
        for who, documents in EMPTY.items():
            lines = [
                {"id": n, "text": "a b", "label": label}
                for n, label in enumerate(documents)
            ]
            save(made / f"{who}.jsonl", *lines)
    return made


@pytest.mark.parametrize("name", ["doccano", "brat"])
def test_documents_that_nobody_touched(tmp_path: Path, name: str) -> None:
    """These tools write them as they write documents in which there is nothing."""
    path = users(tmp_path, name)
    documents = read(path, name)
    assert documents.losses.lines() == [
        "2 times: document in which eve marked nothing and others did, taken as looked "
        "at; else say --empty skipped (first: 1, eve)",
        "1 time: document in which nobody marked anything, taken as looked at; else "
        "say --empty skipped (first: 2)",
    ]
    strict = Losses(strict=True)
    assert list(read(path, name, losses=strict)) == list(documents)
    told = read(path, name, empty="nothing")
    assert list(told) == list(documents) and not told.losses.counts
    skipped = read(path, name, empty="skipped")
    assert not skipped.losses.counts
    who = [[layer.annotator for layer in one.layers] for one in skipped]
    assert who == [["ann", "eve"], ["ann"], [], ["ann"]]
    with pytest.raises(InputError, match="nothing, skipped, found 'x'"):
        read(path, name, empty="x")


def test_prodigy_keeps_who_it_was(tmp_path: Path) -> None:
    records = [
        {"text": BODY, "spans": [], "answer": "accept"},
        {
            "text": TITLE,
            "spans": [],
            "answer": "accept",
            "_annotator_id": "db-ann",
            "_session_id": "db-ann",
        },
    ]
    documents = read(save(tmp_path / "a.jsonl", *records))
    assert documents.annotators == ("prodigy", "db-ann")
    write(documents, tmp_path / "b.jsonl")
    lines = (tmp_path / "b.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == records


def test_argilla_keeps_both_ids_and_lets_choose_a_question(tmp_path: Path) -> None:
    def answer(label: str) -> list[dict[str, Any]]:
        place = {"start": 10, "end": 17, "label": label}
        return [{"value": [place], "user_id": "u", "status": "submitted"}]

    record = {
        "id": "inner",
        "external_id": "outer",
        "fields": {"text": BODY},
        "metadata": {},
        "suggestions": {},
        "responses": {"ner": answer("PER"), "chunk": answer("NP")},
    }
    path = save(tmp_path / "a.json", record)
    documents = read(path, spans_key="ner")
    assert [layer.marks[0].labels for layer in documents[0].layers] == [("PER",)]
    write(documents, tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == [record]
    assert read(tmp_path / "b.json")[0].id == documents[0].id == "outer"


def test_zip_of_a_mac_and_users_of_one_name(tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "text": BODY, "label": [[25, 29, "LOC"]]}) + "\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for name in ("ann.jsonl", "x/bob.jsonl", "y/bob.jsonl"):
            packed.writestr(name, line)
        packed.writestr("__MACOSX/._ann.jsonl", b"\0\1")
        packed.writestr(".DS_Store", b"\0\1")
    documents = read(tmp_path / "a.zip")
    assert sorted(documents.annotators) == ["ann", "x/bob", "y/bob"]


@pytest.mark.parametrize("row", ['"\tO', '""""\tO', '"\tO\r'])
def test_quotation_marks_of_tsv_are_signs(tmp_path: Path, row: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f'token\tlabel\n{row}\nhi\tB-X\n{row}\n"say\tO\n', newline="")
    (document,) = read(path, "csv")
    assert document.tokens == ('"', "hi", '"', '"say')
    write([document], tmp_path / "b.tsv", "csv")
    assert read(tmp_path / "b.tsv", "csv")[0].tokens == document.tokens


def test_lines_inside_cells_of_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('token\tlabel\n"a\nb"\tO\nc\tO\n')
    assert read(path, "csv")[0].tokens == ("a\nb", "c")


def test_quotes_in_other_signs(tmp_path: Path) -> None:
    text = "He saw “New  York’s” mayor, 1990–95."
    quotes = ['"new york\'s"', "1990-95"]
    answers = {"a": [{"label": "X", "quote": quote} for quote in quotes]}
    documents = read(save(tmp_path / "a.jsonl", {"text": text, "models": answers}))
    assert said(documents[0]) == [("“New  York’s”", "X"), ("1990–95", "X")]


def test_a_line_a_model_needs_no_id(tmp_path: Path) -> None:
    answer = [{"label": "LOC", "quote": "Rome"}]
    lines = [{"text": BODY, "model": name, "labels": answer} for name in "ab"]
    documents = read(save(tmp_path / "a.jsonl", *lines), "llm")
    assert [[layer.annotator for layer in one.layers] for one in documents] == [
        ["a", "b"]
    ]


def test_a_label_key_that_no_word_has(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tNER=O\n\n")
    documents = read(path, label_key="Nix")
    assert list(documents.losses.counts) == ["file in which no word has the label Nix"]
    assert read(path, label_key="upos")[0].layers[0].tags == ("VERB",)


def test_brat_by_annotators_is_told_and_its_settings_are_named(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        folder = tmp_path / "all" / name
        folder.mkdir(parents=True)
        (folder / "1.txt").write_text(BODY)
        (folder / "1.ann").write_text("T1\tLOC 25 29\tRome\n")
    assert detect(tmp_path / "all").name == "brat"
    (tmp_path / "all" / "annotation.conf").write_text("[relations]\nIn A:PER\n")
    documents = read(tmp_path / "all")
    assert documents.annotators == ("ann", "bob")
    kind = "brat's configuration, of which labels in use are kept"
    assert documents.losses.counts[kind] == 1
    write(documents, tmp_path / "out", "brat")
    assert not read(tmp_path / "out").losses.counts


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("label-studio", {"was_cancelled": 5}),
        ("label-studio", {"other_results": None}),
        ("prodigy", {"answers": ["x"]}),
        ("argilla", {"fields": [1]}),
        ("brat", {"lines": [1]}),
        ("wrench", {"data": 1.5}),
        ("conllu", [1]),
    ],
)
def test_data_under_the_name_of_a_format(tmp_path: Path, name: str, kept: Any) -> None:
    layer = {"annotator": "a", "spans": [], "meta": {name: kept}}
    record = {"id": "b-1", "text": BODY, "layers": [layer], "meta": {name: kept}}
    documents = read(save(tmp_path / "a.jsonl", record), "jsonl")
    with pytest.raises(DataError, match=f"'b-1': expected under '{name}' in its data"):
        write(documents, tmp_path / "out", name)
    assert not (tmp_path / "out").exists()


def test_a_fault_of_a_reader_is_not_blamed_on_data(tmp_path: Path) -> None:
    def faulty() -> Iterator[Document]:
        yield Document("1", BODY, meta={"doccano": {}})
        raise TypeError("of the reader")

    with pytest.raises(TypeError, match="of the reader"):
        write(faulty(), tmp_path / "out.jsonl", "doccano")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_columns_of_hugging_face_keep_their_names(tmp_path: Path, ending: str) -> None:
    row = {"id": "1", "words": ["Ann"], "ner_tags": ["B-PER"], "pos_tags": ["NNP"]}
    path = save(tmp_path / "a.jsonl", row)
    documents = read(path, "hf", label_key="pos_tags")
    assert documents[0].layers[0].tags == ("NNP",)
    target = tmp_path / f"b.{ending}"
    losses = write(documents, target, "hf")
    assert not losses.counts
    (again,) = read(target, "hf", label_key="pos_tags")
    assert again == documents[0]
    assert read(target, "hf")[0].layers[0].tags == ("B-PER",)


def test_columns_of_tables_keep_their_names(tmp_path: Path) -> None:
    head, rows = "Sentence #,Word,POS,Tag", ["S 1,Ann,NNP,B-PER", "S 2,left,VBD,O"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    documents = read(path)
    assert [one.id for one in documents] == ["S 1", "S 2"]
    write(documents, tmp_path / "b.csv", "csv")
    assert (tmp_path / "b.csv").read_text().split() == path.read_text().split()
    assert list(read(tmp_path / "b.csv")) == list(documents)
    odd = Document("1", rows=(("a",),), meta={"csv": {"called": 5, "columns": 7}})
    write([odd], tmp_path / "c.csv", "csv")
    assert (tmp_path / "c.csv").read_text().startswith("sentence,token\n")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_empty_texts_come_back_from_hugging_face(tmp_path: Path, ending: str) -> None:
    documents = [Document("1", ""), Document("2", " \n "), Document("3", BODY)]
    write(documents, tmp_path / f"a.{ending}", "hf")
    found = read(tmp_path / f"a.{ending}", "hf")
    assert [one.text for one in found] == ["", " \n ", BODY]


SMILE = "😀 Ann left"


def test_tokens_say_how_prodigy_counts(tmp_path: Path) -> None:
    words = [("😀", 0, 2), ("Ann", 3, 6), ("left", 7, 11)]
    tokens = [{"text": w, "start": a, "end": b} for w, a, b in words]
    spans = [{"start": 3, "end": 6, "label": "PER"}]
    record = {"text": SMILE, "tokens": tokens, "spans": spans, "answer": "accept"}
    documents = read(save(tmp_path / "a.jsonl", record), "prodigy")
    assert said(documents[0]) == [("Ann", "PER")] and not documents.losses.counts
    assert documents[0].offsets == ((0, 1), (2, 5), (6, 10))


@pytest.mark.parametrize("form", ["prodigy", "jsonl"])
def test_tokens_that_are_not_in_the_text_are_counted(tmp_path: Path, form: str) -> None:
    tokens: list[Any] = [("Ann", 0, 3), ("rode", 4, 8)]
    record: dict[str, Any] = {"text": "Ann left", "tokens": [w for w, _, _ in tokens]}
    record["offsets"] = [[a, b] for _, a, b in tokens]
    if form == "prodigy":
        record = {"text": "Ann left", "answer": "accept", "spans": []}
        record["tokens"] = [{"text": w, "start": a, "end": b} for w, a, b in tokens]
    documents = read(save(tmp_path / "a.jsonl", record), form)
    kind = "token that is not what the text has at its offsets; see --offsets"
    assert documents.losses.cases == {kind: ["1, 'rode' at 4:8"]}


@pytest.mark.parametrize(
    ("name", "form", "text", "message"),
    [
        (
            "a.jsonl",
            "prodigy",
            '{"text": "a", "spans": [], "answer": "maybe"}',
            "answer: expected accept, reject or ignore, found 'maybe'",
        ),
        (
            "a.jsonl",
            "jsonl",
            '{"text": "a", "layers": [{"annotator": "", "spans": []}]}',
            r"layers\[0\].annotator: expected a name, found an empty one",
        ),
        (
            "a.csv",
            "votes-csv",
            "document,token,word,annotator,label\nd,0,Ann,a,O\nd,0,Bob,b,O\n",
            "line 3: expected the word 'Ann', .* found 'Bob'",
        ),
        (
            "a.csv",
            "votes-csv",
            "document,word,annotator,label\nd,Ann,a,O\nd,left,a,O\n",
            "line 3: expected the word 'Ann', .* found 'left'",
        ),
    ],
)
def test_what_would_be_mixed_up_is_refused(
    tmp_path: Path, name: str, form: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read(path, form)


def test_spans_of_brat_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann left Rome")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tAnn\nT1\tLOC 9 13\tRome\n")
    with pytest.raises(DataError, match=r"a\.ann, line 2: .*, found T1 again"):
        read(tmp_path, "brat")


def test_rows_of_a_sentence_that_stand_apart_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sentence,token,vote:a\n1,Ann,O\n2,Bob,O\n1,left,O\n")
    documents = read(path, "csv")
    kind = "rows of a sentence or document apart from its others, a new one"
    assert documents.losses.cases == {kind: ["1, line 4"]}
    with pytest.raises(DataError, match="--strict forbids it"):
        read(path, "csv", losses=Losses(strict=True))


@pytest.mark.parametrize("form", ["csv", "prodigy", "spacy", "conllu", "conll"])
def test_an_empty_word_is_not_written(tmp_path: Path, form: str) -> None:
    layer = Layer("ann", tags=("O", "O"))
    document = Document("7", rows=(("a",), ("",)), layers=(layer,))
    with pytest.raises(InputError, match=r"expected (words|cells)"):
        write([document], tmp_path / "out", form)
    assert not [*tmp_path.iterdir()]


def test_names_that_are_no_folders_of_brat_are_counted(tmp_path: Path) -> None:
    layers = tuple(Layer(name, marks=()) for name in ("a/b", "c"))
    losses = write([Document("1", "x", layers=layers)], tmp_path / "o", "brat")
    kind = "annotator's name, which is no name of a file, changed"
    assert losses.cases == {kind: ["a/b"]}
