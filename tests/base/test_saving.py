"""Saved estimators: settings, labels and features come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagsift.base import setting
from tagsift.base.saving import pack
from tagsift.baselines import WordCounts
from tagsift.errors import InputError
from tagsift.features import SequenceVectorizer
from tagsift.registry import load

X = [["a", "dog", "runs"], ["the", "cat"]]
Y = [["D", "N", "V"], ["D", "N"]]


def endings(sentence: list[str]) -> list[dict[str, Any]]:
    return [{"ending": word[-1:]} for word in sentence]


class Ends:
    """A transformer of someone else."""

    def fit(self, sentences: list[list[str]]) -> None:
        self.letters = sorted({word[-1] for words in sentences for word in words})

    def transform(self, sentences: list[list[str]]) -> list[Any]:
        return [
            np.array([[word[-1] == k for k in self.letters] for word in words], float)
            for words in sentences
        ]


def test_the_header_says_what_the_file_holds():
    header, arrays = pack(WordCounts(labels=("V", "N", "D"), random_state=4).fit(X, Y))
    assert header["method"] == "word-counts"
    assert header["classes"] == ["V", "N", "D"]
    assert header["scheme"] == "plain"
    assert header["params"] == {
        "features": None,
        "labels": ["V", "N", "D"],
        "scheme": "auto",
        "random_state": 4,
        "verbose": 0,
        "tokenizer": None,
        "sentences": "auto",
    }
    assert {"model/prior", "model/counts"} <= arrays.keys()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (3, 3),
        (np.int64(3), 3),
        (None, None),
        (np.random.default_rng(3), None),
        (np.random.RandomState(3), None),
    ],
    ids=["int", "int64", "None", "Generator", "RandomState"],
)
def test_seeds_are_kept_and_generators_are_not(given: Any, kept: Any, tmp_path: Path):
    path = tmp_path / "model.tagsift"
    WordCounts(random_state=given).fit(X, Y).save(path)
    assert load(path).random_state == kept


def test_numbered_classes_stay_numbers(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    masks = [np.eye(3, dtype=bool), np.ones((2, 3), dtype=bool)]
    model = WordCounts(labels=np.array([2, 0, 1])).fit(X, masks)
    model.save(path)
    loaded = load(path)
    assert loaded.classes_ == (2, 0, 1)
    assert {type(k) for labels in loaded.predict(X) for k in labels} == {int}


def test_a_vectorizer_comes_back_with_its_settings(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    given = SequenceVectorizer(templates=("word", "shape"), min_count=1)
    model = WordCounts(features=given).fit(X, Y)
    model.save(path)
    loaded = load(path)
    assert loaded.predict(X) == model.predict(X)
    # A refit uses the same features again.
    again = loaded.fit(X, Y)
    assert again.n_features_in_ == model.n_features_in_
    assert again.predict(X) == model.predict(X)


def test_a_function_is_not_stored_and_can_be_given_again(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    model = WordCounts(features=endings).fit(X, Y)
    model.save(path)
    loaded = load(path, features=endings)
    assert loaded.predict(X) == model.predict(X)
    bare = load(path)
    assert bare.predict([endings(words) for words in X]) == model.predict(X)
    with pytest.raises(InputError, match="learnt from feature dicts"):
        bare.predict(X)


def test_a_transformer_is_not_stored_and_can_be_given_again(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    model = WordCounts(features=Ends()).fit(X, Y)
    model.save(path)
    loaded = load(path, features=model.vectorizer_)
    assert loaded.predict(X) == model.predict(X)
    with pytest.raises(InputError, match="load the model with features="):
        load(path).predict(X)


def test_settings_of_numpy_are_stored_as_json(tmp_path: Path):
    class Weighted(WordCounts):
        weights: Any = setting(None)

    model = Weighted(weights={"a": (np.float64(0.5), np.arange(2))}).fit(X, Y)
    assert pack(model)[0]["params"]["weights"] == {"a": [0.5, [0, 1]]}


def test_the_training_labels_are_not_stored(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    WordCounts().fit(X, Y).save(path)
    assert not hasattr(load(path), "transduction_")
