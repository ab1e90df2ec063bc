import numpy as np
import pytest

import tagsift
from tagsift.base.tagging import batches
from tagsift.data.documents import Document
from tagsift.errors import InputError

TEXTS = [["Ann", "lives", "in", "Rome", "."], ["Bob", "Ross", "left", "Oslo", "."]]
LABELS = [["B-PER", "O", "O", "B-LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"]]


@pytest.fixture(scope="module")
def model():
    return tagsift.make("partial-crf").fit(TEXTS * 3, LABELS * 3)


def test_raw_text(model):
    text = "Ann lives in Rome. Bob Ross\tleft Oslo. \U0001f469\u200d\U0001f467 Ann."
    found = model.tag(text)
    assert found.text == text and found.id == "1"
    assert found.sentences == (0, 5, 10, 13)
    assert [text[a:b] for a, b in found.offsets] == list(found.tokens)
    said = [(text[m.start : m.end], *m.labels) for m in found.spans]
    assert said[:4] == [
        ("Ann", "PER"),
        ("Rome", "LOC"),
        ("Bob Ross", "PER"),
        ("Oslo", "LOC"),
    ]
    rows = [[(w,) for w in found.tokens[a:b]] for a, b in found.bounds()]
    assert list(found.layers[-1].tags) == sum(model.predict(rows), [])
    top = np.concatenate(model.predict_proba(rows))
    column = [model.classes_.index(tag) for tag in found.layers[-1].tags]
    assert found.layers[-1].scores == pytest.approx(top[np.arange(13), column])
    assert found.spans[2].score == min(found.layers[-1].scores[5:7])


def test_several_texts_and_documents(model):
    given = Document("x", rows=(("Ann",), ("left",)), sentences=(0, 2))
    first, second, third = model.tag(["Ann left.", given, ""])
    assert (first.id, second.id, third.id) == ("1", "x", "3")
    assert second.rows == given.rows and second.text is None
    assert [(m.start, m.end) for m in second.spans] == [(0, 3)]
    assert third.tokens == () and third.spans == ()
    assert model.tag([]) == []
    with pytest.raises(InputError, match="document 2: expected a text or a Document"):
        model.tag(["a", 3])


def test_documents_stream_in_batches(model):
    asked = []

    def texts():
        for number in range(10**9):
            asked.append(number)
            yield "Ann left Oslo and Rome. " * 50

    tagged = tagsift.tag_documents(model, texts())
    assert len(next(tagged).tokens) == 300
    assert len(asked) < 50
    sizes = [1] * 25 + [7, 30]
    docs = (Document("d", rows=(("a",),) * n, sentences=(0, n)) for n in sizes)
    assert [sum(len(d.rows) for d in part) for part in batches(docs, 10)] == [
        10, 10, 12, 30,
    ]  # fmt: skip


def test_no_confidences_where_the_method_has_none():
    plain = tagsift.make("naive").fit(TEXTS * 3, LABELS * 3)
    found = plain.tag("Ann left.")
    assert found.layers[-1].scores is None
    assert all(mark.score is None for mark in found.spans)


def test_a_model_of_more_columns_says_so():
    rows = [[(w, "X") for w in s] for s in TEXTS]
    model = tagsift.make("partial-crf").fit(rows, LABELS)
    with pytest.raises(InputError, match="2 columns that the model was trained on"):
        model.tag("Ann left.")
    wide = [(*row, "O") for row in rows[0]]  # a vote behind the part of speech, say
    document = tagsift.Document("7", rows=wide, sentences=(0, len(wide)))
    with pytest.raises(InputError, match="found 3 and cannot tell which"):
        list(tagsift.tag_documents(model, [document]))


def test_a_model_remembers_how_text_is_cut(model, tmp_path):
    def letters(text):
        return [(k, k + 1) for k, sign in enumerate(text) if sign != " "]

    path = tmp_path / "m.tagsift"
    for told, tokens in (
        (None, ("Ann", "'s", "cat", ".")),
        ("words", ("Ann", "'s", "cat", ".")),
        ("spaces", ("Ann's", "cat.")),
    ):
        model.set_params(tokenizer=told)
        assert model.tag("Ann's cat.").tokens == tokens
        model.save(path)
        loaded = tagsift.load(path)
        assert loaded.tokenizer == told
        assert loaded.tag("Ann's cat.") == model.tag("Ann's cat.")
    model.set_params(tokenizer=letters)
    assert model.tag("a b").tokens == ("a", "b")
    model.save(path)
    model.set_params(tokenizer=None)
    loaded = tagsift.load(path)
    with pytest.raises(InputError, match="text cut by .*function:.*tokenizer="):
        loaded.tag("a b")
    assert loaded.tag("a b", tokenizer=letters).tokens == ("a", "b")
    assert loaded.set_params(tokenizer=letters).tag("ab").tokens == ("a", "b")
    with pytest.raises(InputError, match="expected a tokenizer to be"):
        model.tag("a", tokenizer="letters")


def test_features_of_the_user_see_words():
    def ends(sentence):
        return [{"end": word[-2:], "capital": word.istitle()} for word in sentence]

    model = tagsift.make("partial-crf", features=ends).fit(TEXTS * 3, LABELS * 3)
    document = model.tag("Bob Ross left Oslo.")
    assert list(document.layers[-1].tags) == model.predict([list(document.tokens)])[0]
