"""The one result: its figures, stored and opened again."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tagsift
from tagsift.annotators import held_out_annotators
from tagsift.cleaned import Cleaned, clean
from tagsift.data import Document, Layer
from tagsift.data.corpus import Corpus
from tagsift.errors import ModelFileError
from tagsift.storage import read_container, write_container
from tests.reference.annotators import careful, corpus_of

SHARES = {"ann": 0.1, "bob": 0.3, "cat": 0.5}
MODELS = {
    "vote-tagger": {"rounds": 1, "folds": 2},
    "majority": {},
    "dawid-skene": {},
}


def votes(n: int = 30) -> Corpus:
    return corpus_of({name: careful(share) for name, share in SHARES.items()}, n=n)


def checked(corpus: Corpus) -> Corpus:
    exact = [[k if s < 4 else None for k in row] for s, row in enumerate(corpus.gold)]
    return corpus.with_exact(exact)


def candidates() -> Corpus:
    return tagsift.corrupt(tagsift.bundled("ner")[:30], cl=3, p=0.2, random_state=0)


def from_documents(corpus: Corpus) -> Corpus:
    """The same votes, as if they had been read from documents."""
    sources = tuple(
        Document(
            f"d{n}",
            rows=tuple(one.rows),
            sentences=(0, len(one)),
            layers=tuple(
                Layer(name, tags=tuple(said), scheme=corpus.scheme)
                for name, said in one.votes.items()
            ),
            meta={"n": n},
        )
        for n, one in enumerate(corpus)
    )
    return replace(corpus, sources=sources)


CASES = {
    **{name: (votes, name, more) for name, more in MODELS.items()},
    "checked": (lambda: checked(votes()), "vote-tagger", MODELS["vote-tagger"]),
    "documents": (lambda: from_documents(votes()), "majority", {}),
    "candidates": (candidates, "partial-crf", {}),
    "no confidences": (candidates, "pl-svm", {}),
}


@pytest.fixture(scope="module", autouse=True)
def one_forest():
    """Most of the time would go into trees."""
    with pytest.MonkeyPatch.context() as patch:
        few = replace(held_out_annotators.CONSTANTS, forests=1)
        patch.setattr(held_out_annotators, "CONSTANTS", few)
        yield


@pytest.fixture(scope="module", params=CASES)
def cleaned(request) -> Cleaned:
    make, method, settings = CASES[request.param]
    return clean(make(), tagsift.make(method, **settings))


def figures(cleaned: Cleaned) -> dict:
    """Everything that is said about a result, as it is written."""
    made = {
        "labels": cleaned.labels.tolist(),
        "changed": cleaned.changed.tolist(),
        "annotators": [one.as_dict() for one in cleaned.annotators],
        "scores": cleaned.scores().headline(),
        "recovery": vars(cleaned.recovery()),
        "title": cleaned.title,
    }
    if cleaned.marginals is not None:
        made |= {
            "confidences": cleaned.confidences.tolist(),
            "text": cleaned.text.tolist(),
            "chance": cleaned.chance_wrong.tolist(),
            "outlook": vars(cleaned.outlook()),
            "ranking": [vars(one) for one in cleaned.ranking()],
            "alternatives": cleaned.alternatives(0),
            "calibration": cleaned.calibration and cleaned.calibration[1].ece,
        }
    return json.loads(json.dumps(made, default=str))


def test_opened_again_it_says_the_same(cleaned, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # the numbers are enough
    path = tmp_path / "result.tagsift"
    cleaned.save(path)
    again = tagsift.load(path)
    assert isinstance(again, Cleaned)
    assert again.corpus == cleaned.corpus
    assert again.corpus.sources == cleaned.corpus.sources
    assert figures(again) == figures(cleaned)
    rows = cleaned.corpus.rows[:3]
    assert again.tagger.predict(rows) == cleaned.tagger.predict(rows)
    assert render(again) == render(cleaned)


def render(cleaned: Cleaned) -> list[str]:
    """What a report shows, but for how the fit went, which a file does not know."""
    made = cleaned.report()
    shown = [repr(one) for one in made.sections if one.title != "How the fit went"]
    return [made.summary, repr(made.stats), *shown]


def test_alternatives_are_of_the_confidences(cleaned):
    if cleaned.marginals is None:
        pytest.skip("this method gives no confidences")
    for s in range(len(cleaned.corpus)):
        places = cleaned.alternatives(s)
        for place in places:
            assert sum(one.share for one in place) == pytest.approx(1.0)
        shown = {one[:3] for place in places for one in place}
        assert {tuple(one) for one in cleaned.spans[s]} <= shown


def test_labels_that_a_model_does_not_know_have_no_chance():
    cleaned = clean(votes(), tagsift.make("majority"))
    told = [cleaned.corpus, cleaned.tagger, cleaned.sentences]
    sure = np.split(cleaned.confidences, cleaned.corpus.bounds[1:-1])
    wide = tagsift.cleaned.cleaned_by(*told, sure, [*cleaned.classes, "B-NEW"])
    assert wide.classes == (*cleaned.classes, "B-NEW")
    assert not wide.confidences[:, -1].any()
    assert wide.labels.tolist() == cleaned.labels.tolist()
    assert wide.chance_wrong == pytest.approx(cleaned.chance_wrong)


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "result.tagsift"
    clean(votes(12), tagsift.make("majority")).save(path)
    return path


def entries(meta: dict, where: tuple = ()) -> list[tuple]:
    """The places of all values in nested tables."""
    if not isinstance(meta, dict):
        return [where]
    return [x for key in meta for x in entries(meta[key], (*where, key))]


def test_altered_files_are_refused_in_one_sentence(stored: Path, tmp_path: Path):
    """Every array and every value of the result, taken away or made another."""
    bad = tmp_path / "bad.tagsift"
    meta, arrays = read_container(stored)
    del meta["sha256"]
    spoilt = []
    for name in (one for one in arrays if one.startswith("result/")):
        others = {k: v for k, v in arrays.items() if k != name}
        spoilt.append((meta, others))
        for value in (arrays[name][:-1], arrays[name].astype(float) - 1e9):
            spoilt.append((meta, others | {name: value}))
    for *where, last in entries(meta["result"]):
        for value in (None, -1, "x", [1e300]):
            copy = json.loads(json.dumps(meta))
            table = copy["result"]
            for key in where:
                table = table[key]
            if table[last] != value:
                table[last] = value
                spoilt.append((copy, arrays))
    spoilt.append((meta | {"classes": [1]}, arrays))
    spoilt.append((meta | {"classes": ["B-X"]}, arrays))
    spoilt.append((meta | {"tagger": []}, arrays))
    accepted = 0
    for header, parts in spoilt:
        write_container(bad, header, parts)
        try:
            tagsift.load(bad)
        except ModelFileError as error:
            assert str(error).startswith(str(bad)) and "\n" not in str(error)
        else:
            accepted += 1
    assert accepted <= 40  # names of annotators, and texts, may be others


def test_a_result_is_no_code(stored: Path):
    assert b"pickle" not in stored.read_bytes()
    with pytest.raises(ModelFileError, match="checksum|whole safetensors"):
        damaged = stored.with_name("damaged.tagsift")
        content = bytearray(stored.read_bytes())
        content[-3] ^= 255
        damaged.write_bytes(content)
        tagsift.load(damaged)
