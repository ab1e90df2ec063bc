"""Every shape that is written, imported into a real Label Studio and read back.

``make label-studio`` sets the server up aside and runs this file.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.cli import main
from tagsift.data import Document, Layer, Mark
from tests.docs.blocks import ROOT, blocks
from tests.io.formats.files import Read, read, write
from tests.tools.studio import RefusedError, Studio, started

COMMAND = os.environ.get("TAGSIFT_LABEL_STUDIO", "")
pytestmark = pytest.mark.skipif(
    not COMMAND,
    reason="needs Label Studio, which TAGSIFT_LABEL_STUDIO names: make label-studio",
)
PEOPLE = ("ann@example.org", "bob@example.org", "eve@example.org")
#: Two groups of labels, under names of the project's own.
CONFIG = """<View>
  <Labels name="who" toName="page"><Label value="PER"/><Label value="ORG"/></Labels>
  <Labels name="where" toName="page"><Label value="LOC"/><Label value="MISC"/></Labels>
  <Text name="page" value="$body"/>
</View>"""
CONTROL = {"PER": "who", "ORG": "who", "LOC": "where", "MISC": "where"}
#: (annotator, start, end, labels) of every span of a text.
Said = dict[str, Counter[tuple[str, int, int, tuple[str, ...]]]]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with started(Path(COMMAND), tmp_path_factory.mktemp("label-studio")) as one:
        for address in PEOPLE:
            told = {"email": address, "username": address, "password": "of-no-use"}
            one.ask("POST", "/api/users/", told)
        yield one


@pytest.fixture(scope="module")
def numbers(studio: Studio) -> dict[str, str]:
    """From the members' e-mail addresses to their numbers."""
    told = studio.ask("GET", "/api/users/")
    return {one["email"]: str(one["id"]) for one in told}


def letters() -> list[Document]:
    """Names in ten texts, not all of ASCII, marked by three who err; nobody in one."""
    corpus = tagsift.bundled("ner").columns(1)[:10]
    made = []
    for number, (words, labels) in enumerate(
        zip(corpus.tokens, corpus.labels, strict=True)
    ):
        text = f"🦉 {number}: Grüße, " + " ".join(words)
        starts, at = [], len(text) - len(" ".join(words))
        for word in words:
            starts.append(at)
            at += len(word) + 1
        truth = [
            Mark(starts[s.start], starts[s.end - 1] + len(words[s.end - 1]), (s.type,))
            for s in tagsift.data.spans(labels, corpus.scheme)
        ]
        layers = [
            Layer(
                name, marks=tuple(m for k, m in enumerate(truth, number) if k % every)
            )
            for name, every in zip(PEOPLE, (7, 3, 2), strict=True)
        ]
        if number == 0:
            layers = [Layer(name, marks=()) for name in PEOPLE]
        made.append(Document(str(number + 1), text, layers=tuple(layers)))
    return made


def in_project(path: Path, folder: Path) -> Path:
    """A file of tasks whose tags are those of the project."""
    tasks = json.loads(path.read_text("utf-8"))
    for task in tasks:
        task["data"] = {"body": task["data"].pop("text")}
        for result in (r for one in task["annotations"] for r in one["result"]):
            label = result["value"]["labels"][0]
            result |= {"from_name": CONTROL[label], "to_name": "page", "id": "r"}
    saved = folder / "in_project.json"
    saved.write_text(json.dumps(tasks))
    return saved


@pytest.fixture(scope="module")
def project(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A project with three people's annotations, and one that was skipped."""
    folder = tmp_path_factory.mktemp("project")
    write(letters(), folder / "a.json", "label-studio")
    made = studio.project(CONFIG)
    studio.load(made, in_project(folder / "a.json", folder))
    first = studio.ask("GET", f"/api/tasks?project={made}")["tasks"][0]["id"]
    skipped = {"result": [], "was_cancelled": True}
    studio.ask("POST", f"/api/tasks/{first}/annotations/", skipped)
    return made


@pytest.fixture(scope="module")
def export(
    studio: Studio, project: int, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return studio.save(project, tmp_path_factory.mktemp("export") / "export.json")


def said(documents: list[Document], kind: str = "person") -> Said:
    """Who said what of which text."""
    return {
        str(one.text): Counter(
            (layer.annotator, mark.start, mark.end, mark.labels)
            for layer in one.layers
            if layer.kind == kind
            for mark in layer.marks or ()
        )
        for one in documents
    }


def renamed(everything: Said, names: dict[str, str]) -> Said:
    return {
        text: Counter((names[who], *rest) for who, *rest in marks.elements())
        for text, marks in everything.items()
    }


def test_what_people_said_comes_back(export: Path, numbers: dict[str, str]) -> None:
    """No annotation has become ground truth, nobody is lost, offsets are the same."""
    back = read(export)
    assert said(back) == renamed(said(letters()), numbers)
    kinds = Counter(layer.kind for one in back for layer in one.layers)
    assert kinds == {"person": 30}


def imported(
    studio: Studio, file: Path, tasks: int = 10
) -> tuple[Read, list[dict[str, Any]]]:
    """A file in a new project, and what an export of that has."""
    made = studio.project(CONFIG)
    told = studio.load(made, file)
    assert told["task_count"] == tasks
    saved = studio.save(made, file.with_name(f"back-{file.name}"))
    return read(saved), json.loads(saved.read_text("utf-8"))


def test_the_full_shape_comes_back(
    studio: Studio, export: Path, tmp_path: Path
) -> None:
    out = tmp_path / "again.json"
    assert main(["convert", str(export), str(out), "--to", "label-studio"]) == 0
    assert json.loads(out.read_text("utf-8")) == json.loads(export.read_text("utf-8"))
    back, tasks = imported(studio, out)
    assert said(back) == said(read(export))
    assert sum(task["cancelled_annotations"] for task in tasks) == 1


@pytest.mark.parametrize("verb", ["clean", "rank", "tag"])
def test_labels_found_are_imported(
    studio: Studio, export: Path, tmp_path: Path, verb: str, capsys: Any
) -> None:
    out, model = tmp_path / "tasks.json", tmp_path / "m.tagsift"
    command = [verb, str(export), "-m", "dawid-skene"]
    if verb == "tag":
        gold = tagsift.bundled("ner").columns(1)[:200]
        tagsift.make("word-counts").fit(gold.rows, gold.labels).save(model)
        command = [verb, str(model), str(export)]
    assert main([*command, "--to", "label-studio", "-o", str(out)]) == 0
    note = "10 times: task of a project, which an import makes anew"
    assert note in capsys.readouterr().err
    found = read(out)
    assert found.annotators == ("tagsift",)
    back, tasks = imported(studio, out)
    assert [task["annotations"] for task in tasks] == [[]] * 10
    assert [one.spans for one in back] == [one.spans for one in found]  # with scores
    results = [r for task in tasks for r in task["predictions"][0]["result"]]
    assert {r["to_name"] for r in results} == {"page"}
    assert all(r["from_name"] == CONTROL[r["value"]["labels"][0]] for r in results)


def test_people_of_another_organisation(
    studio: Studio, export: Path, tmp_path: Path
) -> None:
    """The full shape is refused, as it has to be; no other shape is."""
    theirs = tmp_path / "theirs.json"
    tasks = json.loads(export.read_text("utf-8"))
    for one in (one for task in tasks for one in task["annotations"]):
        one["completed_by"] = {"id": 900, "email": f"u{one['completed_by']}@b.org"}
    theirs.write_text(json.dumps(tasks))
    out = tmp_path / "out.json"
    command = ["convert", str(theirs), str(out), "--to", "label-studio"]
    assert main(command) == 0
    with pytest.raises(RefusedError, match="Unknown annotator's email"):
        imported(studio, out)
    assert main([*command, "--shape", "predictions"]) == 0
    back, tasks = imported(studio, out)
    assert said(back, "model") == said(read(theirs))
    assert [task["annotations"] for task in tasks] == [[]] * 10
    assert main([*command, "--shape", "annotations"]) == 0
    back, tasks = imported(studio, out)
    (me,) = back.annotators  # whoever imports has said it all
    everybody = dict.fromkeys(read(theirs).annotators, me)
    assert said(back) == renamed(said(read(theirs)), everybody)
    assert [len(task["annotations"]) for task in tasks] == [3] * 10
    clean = ["clean", str(theirs), "-m", "dawid-skene", "--to", "label-studio"]
    assert main([*clean, "-o", str(out)]) == 0
    imported(studio, out)
    assert main([*clean, "--shape", "full", "-o", str(out)]) == 0
    with pytest.raises(RefusedError, match="Unknown annotator's email"):
        imported(studio, out)


def test_files_of_other_tools(studio: Studio, tmp_path: Path) -> None:
    """Nobody is named in them; the annotations are those of the one who imports."""
    ours = [
        Document(one.id, one.text, layers=(Layer("brat", marks=one.layers[0].marks),))
        for one in letters()
    ]
    folder, out = tmp_path / "brat", tmp_path / "out.json"
    write(ours, folder, "brat")
    options = ["--to", "label-studio", "--text-key", "body"]
    assert main(["convert", str(folder), str(out), "--from", "brat", *options]) == 0
    back, _ = imported(studio, out)
    (me,) = back.annotators
    assert said(back) == renamed(said(ours), {"brat": me})


def test_the_short_form_is_data(studio: Studio, export: Path, tmp_path: Path) -> None:
    out = tmp_path / "min.json"
    command = ["convert", str(export), str(out), "--to", "label-studio"]
    assert main([*command, "--shape", "min"]) == 0
    made = studio.project(CONFIG)
    assert studio.load(made, out)["task_count"] == 30
    told = studio.ask("GET", f"/api/tasks?project={made}&fields=all")["tasks"]
    assert {one["data"]["body"] for one in told} == {one.text for one in letters()}


def test_what_a_review_exports(studio: Studio, export: Path, tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra 'review' is absent")
    from tagsift.review.corpus_view import CorpusView
    from tagsift.review.session import Desk
    from tagsift.review.store import Store

    view = CorpusView(tagsift.read(export))
    desk = Desk(view, Store.open(tmp_path / "a.db", view.fingerprint), every=0)
    for kind, where in (("label-studio", "predictions"), ("corpus", "annotations")):
        out = tmp_path / f"{kind}.json"
        out.write_bytes(desk.export(kind, "label-studio").content)
        back, tasks = imported(studio, out)
        assert [len(task[where]) for task in tasks] == [1] * 10
        assert [len(one.layers) for one in back] == [1] * 10
        written = [one.spans for one in read(out)]
        assert [[(m.start, m.end, m.labels) for m in one.spans] for one in back] == [
            [(m.start, m.end, m.labels) for m in marks] for marks in written
        ]


def test_predictions_go_to_the_tasks_that_are_there(
    studio: Studio, project: int, export: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """The lines of the guide, as they stand there but for the first two."""
    monkeypatch.chdir(tmp_path)
    options = ["-m", "dawid-skene", "--to", "label-studio", "-o", "tasks.json"]
    assert main(["clean", str(export), *options]) == 0
    page = ROOT / "docs/guide/label-studio.md"
    (block,) = (one for one in blocks(page) if one.reason and one.language == "python")
    token = studio.ask("POST", "/api/token/")["token"]
    place = f'SERVER, PROJECT = "{studio.url}", {project}\nTOKEN = "{token}"\n'
    code, changed = re.subn(r"^SERVER.*\nTOKEN.*\n", place, block.code, flags=re.M)
    assert changed == 1
    exec(compile(code, str(page), "exec"), {})
    again = studio.save(project, tmp_path / "again.json")
    found, back = read("tasks.json"), read(again)
    assert len(back) == 10 and said(back) == said(read(export))
    assert said(back, "model") == said(found, "model")
