"""The command line and Python fit the same model to the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tagsift as package
from tagsift.storage import read_container

METHODS = [method.name for method in package.methods()]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """IOB1 labels, so that a guess from gold labels differs from one without."""
    folder = tmp_path_factory.mktemp("files")
    corpus = package.bundled("chunk")[:6]
    labels = [
        package.data.to_scheme(row, corpus.scheme, "iob1") for row in corpus.labels
    ]
    gold = package.Corpus.from_lists(corpus.rows, labels, "iob1")
    partial = package.corrupt(gold, cl=2, random_state=1)
    assert not any(all(len(c) == 1 for c in row) for row in partial.candidates)
    package.write_partial(folder / "partial.conll", partial, gold=True)
    package.write_conll(folder / "gold.conll", gold)
    return {"partial": folder / "partial.conll", "gold": folder / "gold.conll"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method(tagsift, files, tmp_path, name: str):
    exact = package.make(name).method.exact_only
    source = files["gold" if exact else "partial"]
    there, here = tmp_path / "there.tagsift", tmp_path / "here.tagsift"
    options = ["--method", name, "--seed", 3, *([] if exact else ["--gold"])]
    outcome = tagsift("fit", source, "-o", there, *options, "--quiet")
    assert outcome.status == 0, outcome.err
    data = package.read_partial(source, gold=not exact)
    model = package.make(name, random_state=3).fit(data.rows, data.candidates)
    model.save(here)
    (meta, arrays), (other_meta, other_arrays) = map(read_container, (there, here))
    assert meta == other_meta
    assert arrays.keys() == other_arrays.keys()
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[key], err_msg=key)
    loaded = package.load(there)
    assert loaded.scheme_ == model.scheme_
    assert loaded.predict(data.rows) == model.predict(data.rows)
