"""Spans come back character by character, whatever the words and sentences are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import tagsift as package
from tests.data import marked_texts
from tests.data.marked_texts import Marked, Span

FORMS: dict[str, tuple[str, Callable[[Sequence[Marked], Path], Path], str]] = {
    "label-studio": ("export.json", marked_texts.write_tasks, "back.json"),
    "doccano": ("export", marked_texts.write_doccano, "back"),
    "doccano zip": ("export.zip", marked_texts.write_doccano, "back.zip"),
    "brat": ("export", marked_texts.write_brat, "back"),
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
        for one in package.read(path, name)
    }


@EACH
def test_converted_to_the_same_form(tagsift: Any, form: str, tmp_path: Path) -> None:
    texts = marked_texts.corpus()
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
    documents = package.read(path, name).cut()
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


@EACH
def test_cleaned_in_the_same_form(tagsift: Any, form: str, tmp_path: Path) -> None:
    check_cleaned(tagsift, marked_texts.corpus(12, 6, 4), form, tmp_path)


@pytest.mark.slow
@EACH
def test_all_cleaned_in_the_same_form(tagsift: Any, form: str, tmp_path: Path) -> None:
    check_cleaned(tagsift, marked_texts.corpus(), form, tmp_path)
