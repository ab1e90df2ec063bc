"""Spans come back character by character, whatever the words and sentences are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import tagsift as package
from tests.io import marked_texts
from tests.io.formats.files import read as read_documents
from tests.io.marked_texts import Marked, Span

FORMS: dict[str, tuple[str, Callable[[Sequence[Marked], Path], Path], str]] = {
    "label-studio": ("export.json", marked_texts.write_tasks, "back.json"),
    "doccano": ("export", marked_texts.write_doccano, "back"),
    "doccano zip": ("export.zip", marked_texts.write_doccano, "back.zip"),
    "brat": ("export", marked_texts.write_brat, "back"),
}
KINDS = {
    "mails": marked_texts.mails,
    "recipes": marked_texts.recipes,
    "laws": marked_texts.laws,
}
EACH = pytest.mark.parametrize("form", FORMS)


def marks(path: Path, name: str) -> dict[str, dict[str, set[Span]]]:
    """Spans of every document (by its id) and annotator in a file or folder."""
    return {
        one.id: {
            layer.annotator: {
                (mark.start, mark.end, mark.labels[0]) for mark in layer.marks or ()
            }
            for layer in one.layers
        }
        for one in read_documents(path, name)
    }


@EACH
def test_converted_to_the_same_form(tagsift: Any, form: str, tmp_path: Path) -> None:
    texts = [one for make in KINDS.values() for one in make()]
    name, (file, put, target) = form.split()[0], FORMS[form]
    path, out = put(texts, tmp_path / file), tmp_path / target
    outcome = tagsift("convert", path, out, "--from", name, "--to", name, "--strict")
    assert outcome.status == 0 and outcome.err == "", outcome.err
    found = marks(out, name)
    for one in texts:
        said = dict(zip(marked_texts.ANNOTATORS, map(set, one.said), strict=True))
        assert found[one.id] == said


def f1(found: set[Any], truth: set[Any]) -> float:
    return 200 * len(found & truth) / (len(found) + len(truth))


def check_cleaned(
    tagsift: Any, texts: Sequence[Marked], form: str, tmp_path: Path
) -> None:
    name, (file, put, target) = form.split()[0], FORMS[form]
    path, out = put(texts, tmp_path / file), tmp_path / target
    options = ("--from", name, "--to", name, "-o", out, "--json", "--quiet")
    outcome = tagsift("clean", path, *options)
    assert outcome.status == 0, outcome.err
    found = marks(out, name)
    mine = {one.id: found[one.id]["tagsift"] for one in texts}
    unanimous = [(one.id, span) for one in texts for span in one.unanimous]
    lost = [(text, span) for text, span in unanimous if span not in mine[text]]
    assert len(lost) <= 0.01 * len(unanimous), lost
    exact = f1(
        {(n, span) for n in mine for span in mine[n]},
        {(one.id, span) for one in texts for span in one.truth},
    )
    documents = read_documents(path, name).cut()
    on_tokens = f1(
        {(one.id, span) for one in documents for span in touched(one, mine[one.id])},
        {
            (one.id, span)
            for one, text in zip(documents, texts, strict=True)
            for span in touched(one, set(text.truth))
        },
    )
    assert exact >= on_tokens - 0.5, (exact, on_tokens)


def touched(document: package.Document, spans: set[Span]) -> set[Span]:
    """Spans as the tokens that they touch."""
    tokens = list(enumerate(document.offsets or ()))
    found = set()
    for a, b, label in spans:
        here = [t for t, (x, y) in tokens if x < b and a < y]
        found.add((here[0], here[-1] + 1, label))
    return found


@pytest.mark.parametrize(
    ("form", "kind", "size"),
    [
        ("label-studio", "mails", 25),
        ("doccano", "recipes", 15),
        ("doccano zip", "laws", 15),
        ("brat", "mails", 25),
    ],
)
def test_cleaned_in_the_same_form(
    tagsift: Any, form: str, kind: str, size: int, tmp_path: Path
) -> None:
    check_cleaned(tagsift, KINDS[kind](size), form, tmp_path)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("kind", KINDS)
def test_all_cleaned_in_the_same_form(
    tagsift: Any, form: str, kind: str, tmp_path: Path
) -> None:
    check_cleaned(tagsift, KINDS[kind](), form, tmp_path)


VERBS = ["convert", "clean", "rank", "agree", "report", "review", "fit", "tag", "score"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_reads_text_takes_sentences(tagsift: Any, verb: str) -> None:
    assert "--sentences" in tagsift(verb, "--help").out


def test_sentences_of_text_on_the_command_line(tagsift: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "a.txt", tmp_path / "b.conll"
    path.write_text("Ann left. Bob\nstayed.\n\nEve went. So did Joe.")
    counts = {"auto": 4, "lines": 3, "none": 1}
    for how, count in counts.items():
        options = ("--from-shape", "file", "--sentences", how)
        assert tagsift("convert", path, out, *options).status == 0
        assert out.read_text().count("\n\n") == count
    refused = tagsift("convert", path, out, "--sentences", "words")
    assert refused.status == 2
    assert "expected sentences to be 'auto', 'lines', 'none'" in refused.err


def test_a_model_remembers_how_sentences_were_found(
    tagsift: Any, tmp_path: Path
) -> None:
    path = marked_texts.write_tasks(marked_texts.mails(10), tmp_path / "a.json")
    model, raw = tmp_path / "m.tagsift", tmp_path / "a.txt"
    told = ("-m", "dawid-skene", "--sentences", "none", "-q")
    assert tagsift("fit", path, "-o", model, *told).status == 0
    assert "its sentences by none" in tagsift("info", model).out
    raw.write_text("Uwe war da. Maria kam.")
    assert tagsift("tag", model, raw).out.count("\n\n") == 1
    assert tagsift("tag", model, raw, "--sentences", "auto").out.count("\n\n") == 2
    tagged = package.load(model).tag("Uwe war da. Maria kam.")
    assert tagged.sentences == (0, len(tagged.tokens))
    auto = package.load(model).tag("Uwe war da. Maria kam.", sentences="auto")
    assert len(auto.bounds()) == 2


def test_text_of_a_task_is_tagged_as_told(tagsift: Any, tmp_path: Path) -> None:
    path = marked_texts.write_tasks(marked_texts.mails(5), tmp_path / "a.json")
    model = tmp_path / "m.tagsift"
    assert tagsift("fit", path, "-m", "dawid-skene", "-o", model, "-q").status == 0
    options = ("--from", "label-studio", "--sentences", "none")
    assert tagsift("tag", model, path, *options).out.count("\n\n") == 5
    assert tagsift("tag", model, path, *options[:2]).out.count("\n\n") > 20


def test_a_trimmed_blank_is_counted_and_strict_refuses_it(
    tagsift: Any, tmp_path: Path
) -> None:
    one = Marked("1", "Am 3. Mai kam er.", ((3, 9, "DATE"),), (((3, 10, "DATE"),),) * 3)
    path, out = (
        marked_texts.write_tasks([one], tmp_path / "a.json"),
        tmp_path / "b.json",
    )
    cleaned = tagsift("clean", path, "-o", out, "-m", "majority")
    assert cleaned.status == 0
    kind = "3 times: span with blanks at its ends, which are trimmed"
    assert kind in cleaned.err and "widened" not in cleaned.err
    assert marks(out, "label-studio")["1"]["tagsift"] == {(3, 9, "DATE")}
    refused = tagsift("clean", path, "-o", out, "-m", "majority", "--strict")
    assert refused.status == 2 and "--strict forbids it" in refused.err
