from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from tagsift.errors import (
    InputError,
    ModelFileError,
    TagsiftWarning,
)
from tagsift.features import (
    SequenceVectorizer,
    Template,
    column_templates,
    default_templates,
)
from tagsift.features.templates import DEFAULT_GROUPS, attribute
from tagsift.features.vectorizer_state import read_vectorizer, write_vectorizer
from tagsift.storage import read_container, write_container

TRAIN = [
    [("The", "DT"), ("U.S.", "NNP"), ("cut", "VBD"), ("10,000", "CD"), ("jobs", "NNS")],
    [],
    [("A", "DT"), ("cut", "NN"), ("hurts", "VBZ")],
    [("the", "DT")],
]
NEW = [
    [("The", "DT"), ("cut", "NN"), ("zigzags", "XX"), ("jobs", "NNS")],
    [],
    [("hurts", "VBZ")],
]
WORDS = st.one_of(
    st.sampled_from(["the", "The", "A", "IBM", "10", "3.5", "eBay", "x|y", "a=b", ""]),
    st.text(max_size=6),
)
ROWS = st.tuples(WORDS, st.sampled_from(["NN", "DT", "VB"]))
SENTENCES = st.lists(st.lists(ROWS, max_size=5), min_size=1, max_size=5)


# The templates once more, as a loop over tokens that builds strings.


def token_features(rows, t, templates):
    """Names of the features of token t of a sentence of column tuples, by group."""
    found = []
    for template in templates:
        values = []
        for name, place in template.parts:
            at = t + place
            if not 0 <= at < len(rows):
                break
            if name in ("begin", "end"):
                if at != (0 if name == "begin" else len(rows) - 1):
                    break
                values.append("yes")
                continue
            known = attribute(name)
            if known.column >= len(rows[at]):
                break
            value = known.value(rows[at][known.column])
            if value is None:
                break
            values.append(value)
        else:
            found.append((template.group, f"{template.name}={'|'.join(values)}"))
    return found


def corpus_features(sentences, templates):
    """The same for every token of every sentence, stacked."""
    return [
        token_features(rows, t, templates)
        for rows in sentences
        for t in range(len(rows))
    ]


def known_features(sentences, templates, min_count):
    """Features seen at `min_count` training tokens or more."""
    counts = Counter(
        feature
        for features in corpus_features(sentences, templates)
        for feature in features
    )
    return {feature for feature, count in counts.items() if count >= min_count}


def parse(groups: dict[str, str]) -> list[Template]:
    """Templates from group name to text."""
    return [Template.parse(g, t) for g, text in groups.items() for t in text.split()]


def active(matrix, names):
    """The names of the non-zero features of every token."""
    stacked = sp.csr_matrix(matrix.stacked())
    assert set(np.unique(stacked.data)) <= {1.0}
    assert stacked.has_canonical_format
    return [
        sorted(names[stacked.indices[stacked.indptr[n] : stacked.indptr[n + 1]]])
        for n in range(stacked.shape[0])
    ]


def expected(train, new, templates, min_count=1):
    known = known_features(train, templates, min_count)
    return [
        sorted(f"{group}: {name}" for group, name in features if (group, name) in known)
        for features in corpus_features(new, templates)
    ]


@settings(max_examples=60, derandomize=True)
@given(train=SENTENCES, new=SENTENCES, min_count=st.integers(1, 3))
def test_equals_the_loop_on_any_sentences(train, new, min_count):
    if not any(train):
        train = [*train, [("word", "NN")]]
    vectorizer = SequenceVectorizer(min_count=min_count)
    fitted = vectorizer.fit_transform(train)
    names = vectorizer.get_feature_names_out()
    templates = default_templates()
    assert active(fitted, names) == expected(train, train, templates, min_count)
    found = vectorizer.transform(new)
    assert active(found, names) == expected(train, new, templates, min_count)
    restored = read_vectorizer(*write_vectorizer(vectorizer))
    same_features(restored.transform(new), found)


def same_features(one, other):
    assert one.names == other.names
    assert one.offsets.tolist() == other.offsets.tolist()
    for a, b in zip(one.blocks, other.blocks, strict=True):
        assert sp.issparse(a) == sp.issparse(b)
        assert a.shape == b.shape
        if sp.issparse(a):
            assert a.indices.tolist() == b.indices.tolist()
            assert a.indptr.tolist() == b.indptr.tolist()
            a, b = a.data, b.data
        np.testing.assert_array_equal(a, b)


def test_groups():
    with_pos = SequenceVectorizer().fit_transform(TRAIN)
    assert with_pos.names == tuple(DEFAULT_GROUPS)
    assert all(isinstance(block, sp.csr_matrix) for block in with_pos.blocks)
    assert all(block.dtype == np.float64 for block in with_pos.blocks)
    words = [[row[0] for row in sentence] for sentence in TRAIN]
    without = SequenceVectorizer().fit_transform(words)
    assert without.names == tuple(g for g in DEFAULT_GROUPS if g != "pos")
    chosen = SequenceVectorizer(templates=("pos", "word")).fit_transform(TRAIN)
    assert chosen.names == ("pos", "word")
    same_features(
        SequenceVectorizer(templates=("word",)).fit_transform(TRAIN),
        SequenceVectorizer(templates=("word",)).fit_transform(words),
    )


def test_groups_without_a_feature_are_left_out():
    features = SequenceVectorizer(min_count=3).fit_transform(TRAIN)
    assert "word" not in features.names
    assert "position" in features.names
    nothing = SequenceVectorizer(min_count=99).fit_transform(TRAIN)
    assert nothing.n_features == 0
    assert nothing.stacked().shape == (9, 0)


def test_one_column_per_template_and_value():
    templates = parse({"g": "lower[-1]|lower[0] begin[1]|lower[0] end[0]"})
    vectorizer = SequenceVectorizer(templates=templates).fit([["a", "b"], ["A", "b"]])
    names = vectorizer.get_feature_names_out()
    assert names.tolist() == ["g: lower[-1]|lower[0]=a|b", "g: end[0]=yes"]


def test_further_columns_only_when_asked_for():
    three = [[(*row, str(t)) for t, row in enumerate(rows)] for rows in TRAIN]
    same_features(
        SequenceVectorizer().fit_transform(three),
        SequenceVectorizer().fit_transform(TRAIN),
    )
    templates = (*default_templates(["word"]), *column_templates(2))
    vectorizer = SequenceVectorizer(templates=templates)
    features = vectorizer.fit_transform(three)
    assert features.names == ("word", "column2")
    found = active(features, vectorizer.get_feature_names_out())
    assert found == expected(three, three, templates)


def test_unseen_words_have_no_features_of_their_own():
    with pytest.warns(TagsiftWarning, match="had 2 columns, these have 1"):
        quiet = SequenceVectorizer().fit(TRAIN).transform([["qqqq"]])
    assert quiet.block("word").nnz == quiet.block("affix").nnz == 0
    assert quiet.block("pos").nnz == 0
    assert quiet.block("position").nnz == 2


DICTS = [
    [{"w": "a", "n": 2.5, "flag": True, "off": False}, {"w": "b", "zero": 0}],
    [],
    [{"tags": ["x", "y"], "w": "a", "int": np.int64(3)}],
]


def test_dicts_equal_dict_vectorizer():
    ours = SequenceVectorizer()
    features = ours.fit_transform(DICTS)
    assert features.names == ("dict",)
    flat = [token for sentence in DICTS for token in sentence]
    theirs = DictVectorizer()
    matrix = theirs.fit_transform(flat).toarray()
    used = matrix.any(axis=0)
    names = [name.removeprefix("dict: ") for name in ours.get_feature_names_out()]
    assert names == theirs.get_feature_names_out()[used].tolist()
    np.testing.assert_array_equal(features.block("dict").toarray(), matrix[:, used])
    new = [[{"w": "a", "unknown": 4, "n": -1}, {}]]
    np.testing.assert_array_equal(
        ours.transform(new).block("dict").toarray(),
        theirs.transform(new[0]).toarray()[:, used],
    )
    assert ours.transform([]).block("dict").shape == (0, len(names))


@pytest.mark.parametrize("value", [None, np.nan, {"x": 1}, [1, 2], b"x"])
def test_dict_values(value):
    with pytest.raises(InputError, match="sentence 2, token 1: the feature 'f' has"):
        SequenceVectorizer().fit([[{}], [], [{"f": 1}, {"f": value}]])


def test_arrays():
    X = [np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), np.ones((1, 3))]
    vectorizer = SequenceVectorizer()
    features = vectorizer.fit_transform(X)
    assert features.names == ("array",)
    np.testing.assert_array_equal(features.block("array"), np.concatenate(X))
    np.testing.assert_array_equal(features.stacked(), np.concatenate(X))
    assert vectorizer.transform([]).block("array").shape == (0, 3)
    assert vectorizer.get_feature_names_out().tolist() == [
        "array: 0",
        "array: 1",
        "array: 2",
    ]
    with pytest.raises(InputError, match="had 3 features, found 2"):
        vectorizer.transform([np.ones((1, 2))])


def lengths(sentence):
    return [{"length": len(word), "first": word[:1]} for word in sentence]


def test_own_function():
    X = [["a", "bcd"], [], ["ab"]]
    vectorizer = SequenceVectorizer(templates=lengths)
    features = vectorizer.fit_transform(X)
    same_features(features, SequenceVectorizer().fit_transform(map(lengths, X)))
    same_features(clone(vectorizer).fit_transform(X), features)
    array = SequenceVectorizer(templates=lambda s: np.ones((len(s), 2)))
    assert array.fit_transform(X).block("array").shape == (3, 2)
    restored = read_vectorizer(*write_vectorizer(vectorizer))
    same_features(restored.transform(list(map(lengths, X))), features)
    restored.templates = lengths
    same_features(restored.transform(X), features)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda s: [{}], "sentence 0: .* features of 1 tokens, the sentence has 2"),
        (lambda s: None, "sentence 0: .* features of no tokens"),
        (lambda s: s, "returned strings"),
    ],
)
def test_own_function_that_errs(function, sentence):
    with pytest.raises(InputError, match=sentence):
        SequenceVectorizer(templates=function).fit([["a", "b"]])


@pytest.mark.parametrize(
    ("settings", "X", "sentence"),
    [
        ({"min_count": 0}, TRAIN, "min_count must be an integer of at least 1"),
        ({"min_count": 1.5}, TRAIN, "min_count must be an integer"),
        ({"templates": "word"}, TRAIN, "templates must be 'default'"),
        ({"templates": ("wrd",)}, TRAIN, "no group of feature templates called 'wrd'"),
        ({"templates": ()}, TRAIN, "neither templates nor an encoder"),
        ({"templates": ("pos",)}, [["a"]], "columns that the tokens do not have"),
        ({}, [], "the training sentences have no tokens"),
        ({}, [[], []], "the training sentences have no tokens"),
    ],
)
def test_bad_settings(settings, X, sentence):
    with pytest.raises(InputError, match=sentence):
        SequenceVectorizer(**settings).fit(X)


def test_too_many_combinations():
    template = Template("g", (("word", 0),) * 30)
    words = [[str(n) for n in range(100)]]
    with pytest.raises(InputError, match="more combinations of values"):
        SequenceVectorizer(templates=(template,)).fit(words)


def test_kind_must_stay_the_same():
    with pytest.raises(InputError, match="learnt from strings .*, found feature dicts"):
        SequenceVectorizer().fit(TRAIN).transform(DICTS)
    with pytest.raises(InputError, match="learnt from feature dicts, found strings"):
        SequenceVectorizer().fit(DICTS).transform(TRAIN)


@pytest.mark.parametrize(
    ("vectorizer", "train", "new"),
    [
        (SequenceVectorizer(), TRAIN, NEW),
        (SequenceVectorizer(templates=("affix", "window"), min_count=2), TRAIN, NEW),
        (SequenceVectorizer(templates=parse({"g": "lower[3] pos[-9]"})), TRAIN, NEW),
        (SequenceVectorizer(), [["a\n", "\ud800", "\0"]], [["\ud800", "\0", "a\n"]]),
        (SequenceVectorizer(), DICTS, [[{"w": "b"}]]),
        (SequenceVectorizer(), [np.ones((2, 3))], [np.zeros((4, 3))]),
    ],
)
def test_saved_and_restored(vectorizer, train, new, tmp_path):
    vectorizer.fit(train)
    meta, arrays = write_vectorizer(vectorizer)
    assert json.loads(json.dumps(meta)) == meta
    write_container(tmp_path / "features", {"features": meta}, arrays)
    read, arrays = read_container(tmp_path / "features")
    restored = read_vectorizer(read["features"], arrays)
    for X in (train, new, []):
        same_features(restored.transform(X), vectorizer.transform(X))
    again, arrays_again = write_vectorizer(restored)
    assert again == meta
    assert {k: v.tolist() for k, v in arrays.items()} == {
        k: v.tolist() for k, v in arrays_again.items()
    }
    np.testing.assert_array_equal(
        restored.get_feature_names_out(), vectorizer.get_feature_names_out()
    )
    same_features(
        pickle.loads(pickle.dumps(vectorizer)).transform(new), vectorizer.transform(new)
    )


def test_damaged_state():
    meta, arrays = write_vectorizer(SequenceVectorizer().fit(TRAIN))
    with pytest.raises(ModelFileError, match="'indicators/template_texts' is missing"):
        read_vectorizer(meta, {})
    with pytest.raises(ModelFileError, match="the value 'kind' is missing"):
        read_vectorizer({}, arrays)
    meta, arrays = write_vectorizer(SequenceVectorizer().fit(DICTS))
    with pytest.raises(ModelFileError, match="the array 'dicts/names' is missing"):
        read_vectorizer(meta, {})
