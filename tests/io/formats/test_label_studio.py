"""Label Studio: its documented shapes, its two ways to count, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.data import Document, Layer, Mark
from tagsift.errors import DataError, InputError
from tests.io.formats.files import found_in, read, write

TEXT = "Ms. May left New York."


def result(
    start: int, end: int, text: str, *labels: str, **more: Any
) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": text, "labels": list(labels)}
    names = {"from_name": "ner", "to_name": "body", "type": "labels"}
    return {"value": value, "id": f"r{start}", "origin": "manual", **names, **more}


CHOICE = {
    "value": {"choices": ["news"]},
    "id": "c",
    "from_name": "kind",
    "to_name": "body",
    "type": "choices",
}
#: An export as the tool documents it: three people, one of whom skipped, and a model.
EXPORT = [
    {
        "id": 41,
        "annotations": [
            {
                "id": 1001,
                "completed_by": 3,
                "result": [
                    result(4, 7, "May", "PER"),
                    result(13, 21, "New York", "LOC"),
                    CHOICE,
                ],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2024-03-09T22:16:08.728353Z",
                "lead_time": 4.288,
                "result_count": 3,
            },
            {
                "id": 1002,
                "completed_by": {"id": 9, "email": "ann@b.org", "first_name": "Ann"},
                "result": [result(0, 7, "Ms. May", "PER", "ORG")],
                "was_cancelled": False,
            },
            {"id": 1003, "completed_by": 5, "result": [], "was_cancelled": True},
            {
                "id": 1004,
                "completed_by": 7,
                "result": [result(4, 7, "May", "PER")],
                "ground_truth": True,
            },
        ],
        "predictions": [
            {
                "id": 5,
                "model_version": "v1",
                "score": 0.7,
                "result": [result(13, 21, "New York", "LOC", score=0.25)],
            }
        ],
        "file_upload": "a.json",
        "drafts": [],
        "data": {"body": TEXT, "url": "https://example.org", "n": 3},
        "meta": {},
        "inner_id": 1,
        "project": 8,
    },
    {
        "id": 42,
        "annotations": [
            {"id": 1005, "completed_by": 3, "result": [result(0, 3, "May", "PER")]}
        ],
        "predictions": [],
        "data": {"body": "May fell", "url": "https://example.org", "n": 4},
    },
]


def save(folder: Path, content: Any, name: str = "a.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def load(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))


def by_id(tasks: list[dict[str, Any]]) -> list[Any]:
    """Tasks whose lists are in an order of their own."""
    for task in tasks:
        for key in ("annotations", "predictions"):
            task[key] = sorted(task.get(key, []), key=lambda one: one["id"])
    return tasks


def test_an_export_comes_back_as_it_was(tmp_path: Path) -> None:
    documents = read(save(tmp_path, EXPORT))
    write(documents, tmp_path / "b.json")
    written = load(tmp_path / "b.json")
    assert by_id(written) == by_id(json.loads(json.dumps(EXPORT)))
    strict = tagsift.data.Losses(strict=True)  # nothing is lost
    again = read(tmp_path / "a.json", losses=strict)
    write(again, tmp_path / "c.json", losses=strict)
    assert documents.losses.lines() == [
        "1 time: skipped annotation, no vote (first: [0].annotations[2])"
    ]


def test_what_is_read(tmp_path: Path) -> None:
    documents = read(save(tmp_path, EXPORT))
    first = documents[0]
    assert (first.id, first.text) == ("41", TEXT)
    assert (first.meta["url"], first.meta["n"]) == ("https://example.org", 3)
    named = [(layer.annotator, layer.kind) for layer in first.layers]
    assert named == [
        ("3", "person"),
        ("ann@b.org", "person"),
        ("7", "gold"),
        ("v1", "model"),
    ]
    corpus = tagsift.read(tmp_path / "a.json")
    assert [one.name for one in corpus.annotators] == ["3", "ann@b.org", "v1"]
    votes = corpus[0].votes
    may = corpus.tokens[0].index("May")
    both = frozenset({"I-ORG", "I-PER"})
    assert [votes[x][may] for x in votes] == ["B-PER", both, "O"]
    assert set(corpus[1].votes) == {"3"} and corpus.gold is None  # of one document


def test_predictions_keep_ids_and_offsets(tmp_path: Path) -> None:
    documents = read(save(tmp_path, EXPORT))
    rows = [one.tokens for one in documents.cut()]
    labels = [["B-PER" if word == "May" else "O" for word in row] for row in rows]
    found = found_in(documents, labels, [[0.5] * len(row) for row in rows])
    losses = write(found, tmp_path / "b.json", added=True)
    assert "1 time: task of a project, which an import makes anew" in losses.lines()[-1]
    tasks = load(tmp_path / "b.json")
    assert [task["id"] for task in tasks] == [41, 42]
    assert tasks[0]["data"] == EXPORT[0]["data"]
    assert {*tasks[0]} == {"id", "data", "meta", "annotations", "predictions"}
    (made,) = tasks[0]["predictions"]  # without what others said
    assert tasks[0]["annotations"] == []
    assert {*made} == {"model_version", "score", "result"}
    assert made["model_version"] == "tagsift"
    assert made["result"] == [
        {
            "from_name": "ner",
            "to_name": "body",
            "type": "labels",
            "value": {"start": 4, "end": 7, "text": "May", "labels": ["PER"]},
            "score": 0.5,
        }
    ]
    write(found, tmp_path / "full.json", "label-studio", shape="full")
    full = load(tmp_path / "full.json")
    assert [one.pop("predictions")[-1] for one in full][0] == made
    before = json.loads(json.dumps(EXPORT))
    assert by_id(full) == by_id([{**one, "predictions": []} for one in before])


@pytest.mark.parametrize("shape", ["annotations", "predictions"])
def test_shapes_to_import(tmp_path: Path, shape: str) -> None:
    documents = read(save(tmp_path, EXPORT))
    losses = write(documents, tmp_path / "b.json", shape=shape)
    tasks = load(tmp_path / "b.json")
    other = {"annotations": "predictions", "predictions": "annotations"}[shape]
    assert len(tasks[0][shape]) == 4 and tasks[0][other] == []
    assert not [one for one in tasks[0][shape] if "completed_by" in one]
    if shape == "annotations":
        truths = [one["ground_truth"] for one in tasks[0][shape]]
        assert truths == [False, False, True, False]
    assert any("kind" in kind for kind in losses.counts)
    named = {o.annotator for o in read(tmp_path / "b.json")[0].layers}
    assert named == {"3", "ann@b.org", "7", "v1"}
    with pytest.raises(InputError, match="the shape full, annotations, predictions"):
        write(documents, tmp_path / "c.json", shape="x")


def test_labels_of_people_that_were_added_are_annotations(tmp_path: Path) -> None:
    documents = read(save(tmp_path, EXPORT))
    layer = Layer("labels", marks=(Mark(4, 7, ("PER",)),))
    checked = [one.with_layers([layer]) for one in documents]
    write(checked, tmp_path / "b.json", "label-studio", added=True)
    (made,) = load(tmp_path / "b.json")[0]["annotations"]
    assert made == {
        "annotator": "labels",
        "ground_truth": False,
        "result": [
            {
                "from_name": "ner",
                "to_name": "body",
                "type": "labels",
                "value": {"start": 4, "end": 7, "text": "May", "labels": ["PER"]},
            }
        ],
    }


def test_people_are_members_by_number_or_address_else_a_name(tmp_path: Path) -> None:
    """An import refuses other addresses, and takes no word for the ground truth."""
    names = ("3", "ann@b.org", "eve")
    layers = [Layer(name, marks=(Mark(4, 7, ("PER",)),)) for name in names]
    written = [Document("1", TEXT, layers=tuple(layers))]
    losses = write(written, tmp_path / "a.json", "label-studio")
    (task,) = load(tmp_path / "a.json")
    people = [
        {key: one[key] for key in one if key != "result"} for one in task["annotations"]
    ]
    assert people == [
        {"completed_by": 3, "ground_truth": False},
        {"completed_by": {"email": "ann@b.org"}, "ground_truth": False},
        {"annotator": "eve", "ground_truth": False},
    ]
    assert list(read(tmp_path / "a.json")) == written
    assert losses.lines() == []
    losses = write(written, tmp_path / "b.json", "label-studio", shape="min")
    assert [one["annotator"] for one in load(tmp_path / "b.json")] == [3, *names[1:]]
    assert read(tmp_path / "b.json", "label-studio").annotators == names
    assert losses.lines() == []
    losses = write(written, tmp_path / "c.json", "label-studio", shape="annotations")
    assert "all of whom an import takes for the one who imports" in losses.lines()[0]
    assert read(tmp_path / "c.json").annotators == names


def test_labels_found_stand_in_the_tags_of_the_project(tmp_path: Path) -> None:
    """Also where nobody marked anything before, and in the tag that has the label."""
    said = [
        result(4, 7, "May", "PER"),
        result(13, 21, "New York", "LOC", from_name="places"),
    ]
    silent = {"completed_by": 3, "result": []}
    tasks = [
        {"id": 1, "data": {"body": TEXT}, "annotations": [silent], "project": 8},
        {"id": 2, "data": {"body": TEXT}, "annotations": [{**silent, "result": said}]},
    ]
    documents = read(save(tmp_path, tasks))
    labels = {"May": "B-PER", "New": "B-LOC", "York": "I-LOC"}
    rows = [[labels.get(word, "O") for word in one.tokens] for one in documents.cut()]
    write(found_in(documents, rows), tmp_path / "b.json", added=True)
    for task in load(tmp_path / "b.json"):
        (made,) = task["predictions"]
        assert [
            (one["value"]["text"], one["from_name"], one["to_name"])
            for one in made["result"]
        ] == [("May", "ner", "body"), ("New York", "places", "body")]


#: As `convert_to_json_min` of Label Studio's own converter writes it.
MIN = [
    {
        "body": TEXT,
        "url": "u",
        "id": 41,
        "ner": [
            {"start": 4, "end": 7, "text": "May", "labels": ["PER"]},
            {"start": 13, "end": 21, "text": "New York", "labels": ["LOC"]},
        ],
        "annotator": 3,
        "annotation_id": 1001,
        "created_at": "2024",
        "updated_at": "2025",
        "lead_time": 4.2,
    },
    {
        "body": TEXT,
        "url": "u",
        "id": 41,
        "annotator": "ann@b.org",
        "annotation_id": 1002,
        "created_at": "2024",
        "updated_at": "2025",
        "lead_time": None,
    },
]


def test_json_min(tmp_path: Path) -> None:
    path = save(tmp_path, MIN)
    documents = read(path)  # the quotes stand in one text only
    (document,) = documents
    assert [layer.annotator for layer in document.layers] == ["3", "ann@b.org"]
    assert [mark.labels for mark in document.layers[0].marks] == [("PER",), ("LOC",)]
    assert document.layers[1].marks == ()
    write(documents, tmp_path / "b.json")
    again = load(tmp_path / "b.json")
    assert again == [MIN[0], {**MIN[1], "label": []}]
    write(documents, tmp_path / "c.json", shape="full")
    (task,) = load(tmp_path / "c.json")
    assert [one["completed_by"] for one in task["annotations"]] == [
        3,
        {"email": "ann@b.org"},
    ]
    assert [one["ground_truth"] for one in task["annotations"]] == [False, False]


OWL = "🦉 says 𝒽𝒾 to Ann"


@pytest.mark.parametrize(
    ("start", "end", "unit"), [(13, 16, "characters"), (16, 19, "utf-16")]
)
def test_the_quote_tells_how_offsets_count(
    tmp_path: Path, start: int, end: int, unit: str
) -> None:
    task = {"id": 1, "data": {"text": OWL}, "annotations": []}
    one = {"completed_by": 1, "result": [result(start, end, "Ann", "PER")]}
    path = save(tmp_path, [{**task, "annotations": [one]}])
    documents = read(path)
    (mark,) = documents[0].layers[0].marks
    assert OWL[mark.start : mark.end] == "Ann"
    labels = [["B-PER" if w == "Ann" else "O" for w in documents.cut()[0].tokens]]
    write(documents, tmp_path / "b.json")
    assert load(tmp_path / "b.json")[0]["annotations"][0]["result"] == one["result"]
    write(found_in(documents, labels), tmp_path / "b.json", added=True)
    (again,) = load(tmp_path / "b.json")
    assert again["annotations"] == []
    new = again["predictions"][0]["result"][0]["value"]  # counted as its neighbours
    assert (new["start"], new["end"], new["text"]) == (start, end, "Ann")


def test_offsets_can_be_told(tmp_path: Path) -> None:
    one = result(16, 19, "", "PER")
    del one["value"]["text"]
    annotation = {"completed_by": 1, "result": [one]}
    path = save(tmp_path, [{"data": {"text": OWL}, "annotations": [annotation]}])
    with pytest.raises(DataError, match=r"result\[0\].value: .*16:19; see --offsets"):
        read(path)
    (mark,) = read(path, offsets="utf-16")[0].layers[0].marks
    assert OWL[mark.start : mark.end] == "Ann"
    one["value"] |= {"start": len(OWL[:13].encode()), "end": len(OWL.encode())}
    save(tmp_path, [{"data": {"text": OWL}, "annotations": [annotation]}])
    (mark,) = read(path, offsets="bytes")[0].layers[0].marks
    assert OWL[mark.start : mark.end] == "Ann"


def test_which_key_has_the_text(tmp_path: Path) -> None:
    one = {"completed_by": 1, "result": [result(4, 7, "May", "PER", to_name="x")]}
    task = {"data": {"url": "u", "review": TEXT}, "annotations": [one]}
    assert read(save(tmp_path, [task]))[0].text == TEXT
    both = {"data": {"a": TEXT, "b": TEXT}, "annotations": [one]}
    path = save(tmp_path, [both])
    with pytest.raises(
        DataError, match="one key with the text, found a, b; say --text"
    ):
        read(path)
    assert read(path, text_key="b")[0].meta["a"] == TEXT


def test_a_quote_from_elsewhere_is_counted(tmp_path: Path) -> None:
    one = {"completed_by": 1, "result": [result(0, 3, "Bob", "PER")]}
    documents = read(save(tmp_path, [{"data": {"text": TEXT}, "annotations": [one]}]))
    assert "quoted text stands elsewhere" in documents.losses.lines()[0]
    assert documents[0].layers[0].marks[0].meta["label-studio"]["quote"] == "Bob"


@pytest.mark.parametrize(
    ("data", "annotations", "message"),
    [
        ({}, [], r"\[0\].data: expected one key with the te"),
        (3, [], r"\[0\].data: expected an object, found a w"),
        ({"text": "a"}, {}, "annotations: expected a list"),
        ({"text": "a"}, [{}], "expected 'result' with a list"),
        ({"text": "a"}, [{"completed_by": [], "result": []}], "expected a number, a n"),
        ({"a": "a", "b": "b"}, [], "found a, b; say --text-key"),
    ],
)
def test_refused(tmp_path: Path, data: Any, annotations: Any, message: str) -> None:
    path = save(tmp_path, [{"data": data, "annotations": annotations}])
    with pytest.raises(DataError, match=message) as caught:
        read(path, "label-studio")
    assert caught.value.path == str(path)


def test_marks_without_labels_are_kept_apart(tmp_path: Path) -> None:
    one = {"completed_by": 1, "result": [result(0, 3, "Ms.")]}
    path = save(tmp_path, [{"data": {"text": TEXT}, "annotations": [one]}])
    documents = read(path)
    assert list(documents.losses.counts) == ["result of type labels, kept and no span"]
    layer = documents[0].layers[0]
    assert layer.marks == () and layer.meta["label-studio"]["other_results"]
