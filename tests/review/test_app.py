"""What the page asks, and hostile text and requests."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the extra 'review' is absent")

import tagsift
from tagsift import read
from tagsift.errors import DataError
from tagsift.io import FORMATS, Options
from tagsift.review.corpus_view import CorpusView
from tagsift.review.session import Desk
from tagsift.review.store import Store
from tests.review.conftest import SAID, corpus_of, fitted
from tests.review.test_guard import body, client_of

BEARER = {"Authorization": "Bearer secret-token"}


@pytest.fixture
def ask(desk):
    return asking(desk)


def asking(desk):
    client = client_of(desk)
    client.headers.update(BEARER)
    return client


def test_the_corpus_in_short(ask):
    told = ask.get("/api/corpus").json()
    assert told["labels"] == ["PER", "LOC"] and told["spans"] and told["outside"]
    assert [one["name"] for one in told["annotators"]] == ["ann", "bob", "eve"]
    assert told["annotators"][0]["tokens"] == 16
    split = {"name": "split", "title": "annotators are split", "items": 4}
    assert told["kinds"] == [split]
    assert {"conll", "jsonl", "label-studio"} <= {
        one["name"] for one in told["formats"]
    }


def test_a_decision_brings_what_comes_next(ask):
    item = ask.get("/api/items?reviewer=ann&count=2").json()["items"][0]
    told = {"item": item["id"], "count": 2, "filters": {"label": ["LOC", "PER"]}}
    answer = ask.post("/api/decisions", json=body(**told)).json()
    assert answer["decision"] == 1 and answer["version"] == 1
    assert len(answer["items"]) == 2 and answer["left"] == 4
    assert answer["progress"]["decisions"] == 1 and not answer["refitting"]
    assert answer["progress"]["reviewers"] == [
        {"name": "ann", "decisions": 1, "now": True}
    ]
    again = ask.post("/api/decisions", json=body(**told)).json()
    assert again["decision"] == 1 and again["progress"]["decisions"] == 1
    undone = ask.post("/api/undo", json={"reviewer": "ann", "key": "u" * 8}).json()
    assert undone["undone"] == 1 and undone["item"]["id"] == item["id"]
    assert ask.get("/api/progress").json()["decisions"] == 0
    assert ask.post("/api/release", json={"reviewer": "ann"}).json()["released"] >= 1
    assert ask.post("/api/refit", json={"reviewer": "ann"}).status_code == 409


def test_a_stale_decision_is_refused_politely_and_goes_on(ask):
    ask.post("/api/decisions", json=body())
    told = body(key="another key", item="0:3-5", count=1)
    answer = ask.post("/api/decisions", json=told)
    assert answer.status_code == 409
    told = answer.json()
    assert told["error"] == "stale" and told["by"] == "ann" and len(told["items"]) == 1
    assert "changed since" in told["message"]


def test_a_search_lends_nothing(ask):
    rows = ask.get("/api/search?reviewer=ann&q=york&label=LOC").json()
    assert rows["found"] == 1 and rows["rows"][0]["words"] == "New York"
    assert rows["rows"][0]["left"] == "In"
    assert ask.get("/api/item/0:1-3?reviewer=bob").status_code == 200
    assert ask.get("/api/item/0:1-3?reviewer=ann").status_code == 409
    assert ask.get("/api/search?reviewer=ann&page=7").json()["rows"] == []


@pytest.mark.parametrize(
    "told",
    [
        {"reviewer": ""},
        {"reviewer": "x" * 81},
        {"reviewer": "a\nb"},
        {"reviewer": "\ud800"},
        {"reviewer": None},
        {"reviewer": ["ann"]},
        {"key": "short"},
        {"key": 12345678},
        {"item": "x"},
        {"item": "99999999999999999999:0-1"},
        {"version": "x"},
        {"version": True},
        {"version": 2**60},
        {"action": "delete"},
        {"action": "undo"},
        {"spans": "LOC"},
        {"spans": [1]},
        {"spans": [{"start": 1}]},
        {"spans": [{"start": 1, "end": 3, "label": "<script>"}]},
        {"spans": [{"start": -1, "end": 3, "label": "LOC"}]},
        {"spans": [{"start": 1, "end": 3, "label": "LOC"}] * 2},
        {"start": 0, "end": 10**12},
        {"note": "x" * 501},
        {"have": [1]},
        {"count": 11},
        {"filters": {"state": "x"}},
        {"filters": ["x"]},
    ],
)
def test_bad_decisions_are_one_sentence(ask, desk, told):
    text = json.dumps(body(**told))
    headers = {"Content-Type": "application/json"}
    answer = ask.post("/api/decisions", content=text, headers=headers)
    assert answer.status_code in (400, 404), answer.text
    assert answer.json()["message"].endswith(".")
    assert not list(desk.store.decisions())


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"nul", b"\xff", b"[" * 100_000, b"1e999"]
)
def test_bodies_that_are_no_object(ask, text):
    headers = {"Content-Type": "application/json"}
    assert ask.post("/api/decisions", content=text, headers=headers).status_code == 400


@pytest.mark.parametrize(
    "query", ["", "reviewer=", *(f"reviewer=a&{x}" for x in ("count=0", "count=x"))]
)
def test_bad_queries(ask, query):
    assert ask.get(f"/api/items?{query}").status_code == 400
    assert ask.get("/api/items?reviewer=a&have=zzz").status_code == 400
    assert ask.get("/api/items?reviewer=a&state=no").status_code == 400


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["start", "end", "label", "q"]), inner)
    ),
    max_leaves=6,
)
KEYS = [
    *body(),
    "spans",
    "start",
    "end",
    "note",
    "have",
    "count",
    "filters",
    "decision",
]


@settings(
    max_examples=60,
)
@given(
    verb=st.sampled_from(["decisions", "undo", "release", "refit"]),
    told=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
)
def test_no_request_is_a_fault(ask, verb, told):
    text = json.dumps(body() | told)
    headers = {"Content-Type": "application/json"}
    answer = ask.post(f"/api/{verb}", content=text, headers=headers)
    assert answer.status_code in (200, 400, 404, 409), answer.text
    asked = {name: str(value) for name, value in told.items()}
    for name in ("items", "search", "item/0:1-3"):
        answer = ask.get(f"/api/{name}", params={"reviewer": "ann", **asked})
        assert answer.status_code in (200, 400, 404, 409), answer.text


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\u202egnihton",
    "{{ 7*7 }}",
    "\x1b[2J",
    "a\u0000b",
    "x" * 1_000_000,
    "\ud83d\ude00",
]


@pytest.fixture
def hostile(tmp_path):
    rows = [HOSTILE, [f"w{n}" for n in range(10_000)]]
    said = [[["B-X"] * 8] * 3, [["O"] * 5000 + ["B-X"] + ["O"] * 4999] * 3]
    view = CorpusView(corpus_of(rows, said), title="<b>votes</b>")
    store = Store.open(tmp_path / "h.db", view.fingerprint)
    yield Desk(view, store, every=0)
    store.close()


def test_hostile_text_stays_text(hostile):
    ask = asking(hostile)
    answer = ask.get("/api/item/0:0-1?reviewer=ann")
    assert answer.headers["content-type"] == "application/json"
    item = answer.json()["item"]
    assert item["tokens"][:6] == HOSTILE[:6]
    assert len(item["tokens"][6]) == 501 and item["tokens"][6].endswith("…")
    page = ask.get("/").text
    assert "<b>votes" not in page and "&lt;b&gt;votes" in page
    assert len(answer.content) < 20_000


def test_a_sentence_of_ten_thousand_tokens_is_sent_in_part(hostile):
    ask = asking(hostile)
    item = ask.get("/api/item/1:5000-5001?reviewer=ann").json()["item"]
    assert item["n_tokens"] == 10_000 and item["from"] == 4800
    assert len(item["tokens"]) == 401 and item["tokens"][200] == "w5000"
    assert item["spans"][0]["start"] == 5000
    told = body(item="1:5000-5001", action="bounds", start=4000, end=6000)
    told |= {"spans": [{"start": 4000, "end": 6000, "label": "X"}]}
    assert ask.post("/api/decisions", json=told).status_code == 200
    wide = ask.get("/api/item/1:5000-5001?reviewer=ann").json()["item"]
    assert (wide["start"], wide["end"]) == (4000, 6000)
    assert len(wide["tokens"]) < 2500


def test_a_fault_is_one_sentence(desk, monkeypatch):
    def broken(*told):
        raise RuntimeError("a secret")

    monkeypatch.setattr(desk, "progress", broken)
    answer = asking(desk).get("/api/progress")
    assert answer.status_code == 500 and answer.json()["error"] == "fault"
    assert "secret" not in answer.text


def test_a_full_disk_is_said(desk, ask, monkeypatch):
    def full(**told):
        raise DataError("cannot use the store (database or disk is full).", "review.db")

    monkeypatch.setattr(desk.store, "add", full)
    answer = ask.post("/api/decisions", json=body())
    assert answer.status_code == 507
    assert answer.json()["message"].startswith("nothing was stored: cannot use")
    assert ask.get("/api/progress").json()["decisions"] == 0


# Exports ---------------------------------------------------------------------------


@pytest.fixture
def decided(ask, desk):
    """New York is no place, and Ann Lee is checked."""
    fitted(desk)
    told = body(action="none", start=1, end=3, spans=[])
    assert ask.post("/api/decisions", json=told).status_code == 200
    told = body(key="k" * 9, item="0:3-5", version=1, revision=1)
    assert ask.post("/api/decisions", json=told).status_code == 200
    return ask


def test_the_checked_corpus_in_columns(decided, tmp_path):
    answer = decided.get("/export/corpus?format=conll")
    assert 'filename="checked.conll"' in answer.headers["content-disposition"]
    file = tmp_path / "checked.conll"
    file.write_bytes(answer.content)
    corpus = read(file)
    assert list(corpus.labels[0]) == "O O O B-PER I-PER O O".split()
    assert corpus.tokens[0][1] == "New"


def test_everything_goes_back_into_a_fit(decided, tmp_path):
    file = tmp_path / "checked.jsonl"
    file.write_bytes(decided.get("/export/corpus?format=jsonl&layers=votes").content)
    votes = read(file)
    assert [one.name for one in votes.annotators] == ["ann", "bob", "eve"]
    assert votes.exact[0] == [None, "O", "O", "B-PER", "I-PER", None, None]
    for sentence, said in zip(votes, SAID, strict=True):
        assert list(sentence.votes.values()) == said


@pytest.mark.parametrize("name", [n for n, one in FORMATS.items() if one.write])
def test_every_format_can_be_saved(decided, name, tmp_path):
    answer = decided.get("/export/corpus", params={"format": name})
    if answer.status_code == 400:  # a package that is not installed
        assert "pip install" in answer.json()["message"], answer.text
        return
    file = answer.headers["content-disposition"].split('"')[1]
    path = tmp_path / file
    path.write_bytes(answer.content)
    if file.endswith(".zip"):
        path = tmp_path / "folder"
        with zipfile.ZipFile(BytesIO(answer.content)) as archive:
            archive.extractall(path)
    documents = list(FORMATS[name].read(path, Options()))
    cut = (one.cut(tagsift.data.cut_text) for one in documents)
    marks = [m.labels[0] for one in cut for m in one.spans]
    assert "PER" in marks or name == "conllu"


def test_decisions_line_by_line(decided):
    lines = decided.get("/export/decisions").text.splitlines()
    first, second = map(json.loads, lines)
    assert first["action"] == "none" and first["before"][0]["type"] == "LOC"
    assert first["after"] == [] and first["words"] == ["New", "York"]
    assert second["reviewer"] == "ann" and second["time"].startswith("20")
    assert "key" not in first


def test_label_studio_gets_predictions(decided):
    tasks = decided.get("/export/label-studio").json()
    assert [len(task["annotations"]) for task in tasks] == [0, 0, 0]
    (prediction,) = tasks[0]["predictions"]
    (result,) = prediction["result"]
    assert result["value"]["text"] == "Ann Lee" and result["score"] == 1.0


def test_a_project_of_label_studio_gets_what_was_decided_alone(tmp_path):
    """An import refuses the people of another one; tags have the project's names."""
    value = {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}
    tags = {"from_name": "ner", "to_name": "body", "type": "labels"}
    said = [{"value": value, "id": "r", **tags}]
    people = [{"id": n, "completed_by": 3 + n, "result": said} for n in (1, 2)]
    file = tmp_path / "in.json"
    task = {"id": 7, "data": {"text": "Ann left."}, "annotations": people}
    file.write_text(json.dumps([task | {"inner_id": 1}]))
    view = CorpusView(read(file))
    store = Store.open(tmp_path / "d.db", view.fingerprint)
    ask = asking(fitted(Desk(view, store, every=0)))
    (task,) = ask.get("/export/label-studio").json()
    (prediction,) = task["predictions"]
    assert task["annotations"] == []
    assert prediction["result"][0] | tags == prediction["result"][0]
    (task,) = ask.get("/export/corpus?format=label-studio").json()
    (annotation,) = task["annotations"]
    assert task["predictions"] == [] and "completed_by" not in annotation
    assert annotation["result"][0] | tags == annotation["result"][0]
    (line,) = ask.get("/export/corpus?format=jsonl").text.splitlines()
    assert [one["annotator"] for one in json.loads(line)["layers"]] == ["labels"]


def test_documents_keep_their_text_and_their_spaces(tmp_path):
    text = "Ann met Bob.\n\nNobody came (in Paris)."
    file = tmp_path / "in.jsonl"
    mark = {"start": 0, "end": 3, "label": "PER"}
    layers = [{"annotator": "a", "spans": [mark]}, {"annotator": "b", "spans": []}]
    name = "d1\r\nX-Evil: 1\u202e"
    file.write_text(json.dumps({"id": name, "text": text, "layers": layers}) + "\n")
    view = CorpusView(read(file))
    store = Store.open(tmp_path / "d.db", view.fingerprint)
    ask = asking(fitted(Desk(view, store, every=0)))
    first = ask.get("/api/item/0:0-1?reviewer=ann").json()["item"]
    assert first["document"] == name and first["before"] is None
    assert first["tokens"] == ["Ann", "met", "Bob", "."]
    assert first["spaces"] == [True, True, False, True]
    assert first["after"] == "Nobody came (in Paris)."
    saved = tmp_path / "out.jsonl"
    saved.write_bytes(ask.get("/export/corpus?format=jsonl").content)
    (saved_document,) = read(saved).sources
    assert saved_document.text == text
    answer = ask.get("/export/corpus?format=conll")
    assert "\\u000a" in answer.headers["x-tagsift-losses"]
    assert "x-evil" not in answer.headers
    store.close()
