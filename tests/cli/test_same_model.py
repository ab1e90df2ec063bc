"""The command line and Python fit the same model to the same file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tagsift as package
from tagsift.data.corpus import Corpus
from tagsift.storage import read_container

METHODS = [method.name for method in package.methods()]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """IOB1 labels, so that a guess from gold labels differs from one without."""
    folder = tmp_path_factory.mktemp("files")
    corpus = package.bundled("chunk")[:4]
    labels = [
        package.data.to_scheme(row, corpus.scheme, "iob1") for row in corpus.labels
    ]
    gold = Corpus.from_lists(corpus.rows, labels, scheme="iob1")
    partial = package.corrupt(gold, cl=2, random_state=1)
    assert not any(all(len(c) == 1 for c in row) for row in partial.candidates)
    package.write(partial, folder / "partial.conll")
    package.write(gold, folder / "gold.conll", gold=False)
    return {"partial": folder / "partial.conll", "gold": folder / "gold.conll"}


def same(first: Path, second: Path) -> bool:
    """Whether two model files hold the same settings and arrays."""
    (meta, arrays), (other_meta, other_arrays) = map(read_container, (first, second))
    assert meta == other_meta
    assert arrays.keys() == other_arrays.keys()
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[key], err_msg=key)
    return True


@pytest.mark.parametrize("name", METHODS)
def test_every_method(tagsift, files, tmp_path, name: str):
    method = package.make(name).method
    exact = method.exact_only or method.votes  # labels are one annotator's votes
    quick = type(package.make(name))._check_params
    source = files["gold" if exact else "partial"]
    there, here = tmp_path / "there.tagsift", tmp_path / "here.tagsift"
    options = ["--method", name, "--seed", 3, *([] if exact else ["--gold"])]
    for setting, value in quick.items():
        options += ["--set", f"{setting}={json.dumps(value)}"]
    outcome = tagsift("fit", source, "-o", there, *options, "--quiet")
    assert outcome.status == 0, outcome.err
    data = package.read(source, "conll", gold=not exact)
    model = package.make(name, random_state=3, **quick).fit(data)
    model.save(here)
    assert same(there, here)
    loaded = package.load(there)
    assert loaded.scheme_ == model.scheme_
    assert loaded.predict(data.rows) == model.predict(data.rows)


def test_every_source(tagsift, gold, tmp_path):
    lines = tmp_path / "partial.jsonl"
    corpus = package.io.read_columns(gold)
    package.write(package.corrupt(corpus, cl=2, random_state=0), lines)

    def candidates(path):
        return package.read(path)

    def columns(path, **options):
        return package.read(path, "conll", **options)

    wanted = {
        lines: (["--from", "jsonl"], candidates, {}),
        gold: (["--scheme", "iob1"], columns, {"scheme": "iob1"}),
    }
    for path, (options, read, said) in wanted.items():
        there, here = tmp_path / "there.tagsift", tmp_path / "here.tagsift"
        arguments = ["-m", "partial-crf", "--quiet", *options]
        assert tagsift("fit", path, "-o", there, *arguments).status == 0
        partial = read(path, **said)
        model = package.make("partial-crf", random_state=0, **said)
        model.fit(partial).save(here)
        assert same(there, here)


@pytest.mark.parametrize("name", ["vote-tagger", "word-counts"])
def test_votes(tagsift, votes, tmp_path, name: str):
    there, here = tmp_path / "there.tagsift", tmp_path / "here.tagsift"
    options = ["--votes", "2:4", "--gold", "--quiet", "-m", name]
    assert tagsift("fit", votes, "-o", there, *options).status == 0
    data = package.read(votes, votes="2:4", gold=-1)
    votes = data
    known = votes if name == "vote-tagger" else votes.union()
    package.make(name, random_state=0).fit(known).save(here)
    assert same(there, here)
