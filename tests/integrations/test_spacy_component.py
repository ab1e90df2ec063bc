"""The spaCy component in real pipelines: entities, confidences, files, batches."""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from pathlib import Path

import pytest

import tagsift
from tagsift.data import spans
from tagsift.errors import (
    InputError,
    MissingExtraError,
    ModelFileError,
    TagsiftWarning,
)
from tests.io.formats.files import read as read_documents

spacy = pytest.importorskip("spacy", reason="the component needs spaCy (extra spacy)")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from tagsift.integrations.spacy_component import TagsiftComponent  # noqa: E402

ROOT = Path(__file__).parents[2]
CORPUS = tagsift.bundled("ner")
WORDS = CORPUS.with_columns(1).tokens
TEXTS = [" ".join(WORDS[s] + WORDS[s + 1]) for s in range(300, 330, 2)]


@pytest.fixture(scope="module")
def model():
    return tagsift.make("partial-crf").fit(WORDS[:150], CORPUS.labels[:150])


@pytest.fixture(scope="module")
def path(model, tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("models") / "ner.tagsift"
    model.save(file)
    return str(file)


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tagsift", config=config)
    return nlp


def said(doc) -> list[tuple[int, int, str, float]]:
    return [(e.start, e.end, e.label_, e._.score) for e in doc.ents]


def test_entities_are_those_of_the_model(model, path):
    doc = pipeline(model=path)(TEXTS[0])
    sents = [[token.text for token in sent] for sent in doc.sents]
    assert len(sents) == 2
    expected, at = [], 0
    labels, tables = model.predict(sents), model.predict_proba(sents)
    sure = []
    for names, table in zip(labels, tables, strict=True):
        chosen = [table[t, model.classes_.index(n)] for t, n in enumerate(names)]
        for type_, a, b in spans(names, "iob2"):
            expected.append((at + a, at + b, type_, pytest.approx(min(chosen[a:b]))))
        at, sure = at + len(names), sure + chosen
    assert expected and said(doc) == expected
    told = doc.user_data["tagsift"]
    assert told["labels"] == [name for names in labels for name in names]
    assert told["confidences"] == pytest.approx(sure)


def test_documents_in_batches_are_as_one_by_one(path):
    nlp = pipeline(model=path)
    alone = [said(nlp(text)) for text in TEXTS]
    assert any(alone)
    for size in (1, 4, 100):
        together = list(nlp.pipe(TEXTS, batch_size=size))
        assert [doc.text for doc in together] == TEXTS
        for found, expected in zip(map(said, together), alone, strict=True):
            assert [one[:3] for one in found] == [one[:3] for one in expected]
            sure = [one[3] for one in expected]
            assert [one[3] for one in found] == pytest.approx(sure)


def test_documents_without_sentences_or_tokens_are_tagged(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagsift", config={"model": path})
    assert nlp("").ents == ()
    (doc,) = nlp.pipe([TEXTS[0]])
    assert doc.ents
    odd = nlp("👩🏽‍🔬 Zoë Łódź\r\n\tשלום 東京 said .")
    for ent in odd.ents:
        assert odd.text[ent.start_char : ent.end_char] == ent.text


def test_spans_go_under_a_key(path):
    nlp = pipeline(model=path, spans_key="found")
    doc = nlp(TEXTS[0])
    plain = pipeline(model=path)(TEXTS[0])
    assert doc.ents == ()
    group = doc.spans["found"]
    assert [(s.start, s.end, s.label_) for s in group] == [x[:3] for x in said(plain)]
    assert group.attrs["scores"] == [ent._.score for ent in plain.ents]
    example = Example(doc, doc.copy())
    assert nlp.get_pipe("tagsift").score([example])["spans_found_f"] == 1.0


def test_entities_that_are_there_can_stay(path):
    plain = pipeline(model=path)(TEXTS[0])
    first = plain.ents[0]
    for overwrite in (True, False):
        nlp = spacy.blank("en")
        ruler = nlp.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "MINE", "pattern": first.text}])
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("tagsift", config={"model": path, "overwrite": overwrite})
        labels = [ent.label_ for ent in nlp(TEXTS[0]).ents]
        others = [ent.label_ for ent in plain.ents[1:]]
        assert labels == [first.label_ if overwrite else "MINE", *others]


def test_columns_are_attributes_of_tokens(tmp_path):
    rows = [[row[:2] for row in sentence] for sentence in CORPUS.rows]
    model = tagsift.make("partial-crf").fit(rows[:100], CORPUS.labels[:100])
    component = TagsiftComponent(model, columns=("text", "tag_"))
    vocab = spacy.blank("en").vocab
    words, tags = zip(*rows[300], strict=True)
    doc = component(Doc(vocab, list(words), tags=list(tags)))
    assert doc.user_data["tagsift"]["labels"] == model.predict([rows[300]])[0]
    with pytest.warns(TagsiftWarning, match="had 2 columns, these have 1"):
        TagsiftComponent(model)(Doc(vocab, list(words)))


def test_methods_without_probabilities_have_no_confidences():
    model = tagsift.make("pl-svm").fit(WORDS[:60], CORPUS.labels[:60])
    nlp = spacy.blank("en")
    nlp.add_pipe("tagsift").tagger = model
    docs = list(nlp.pipe(TEXTS))
    assert any(doc.ents for doc in docs)
    assert {ent._.score for doc in docs for ent in doc.ents} == {None}
    assert docs[0].user_data["tagsift"]["confidences"] is None


def test_a_saved_pipeline_carries_its_model(model, tmp_path):
    file = tmp_path / "ner.tagsift"
    model.save(file)
    nlp = pipeline(model=str(file), overwrite=False)
    expected = [said(doc) for doc in nlp.pipe(TEXTS)]
    nlp.to_disk(tmp_path / "saved")
    told = nlp.to_bytes()
    file.unlink()
    again = spacy.load(tmp_path / "saved")
    assert [said(doc) for doc in again.pipe(TEXTS)] == expected
    assert again.get_pipe("tagsift").overwrite is False
    blank = pipeline(model=None)
    assert blank.get_pipe("tagsift").labels == ()
    blank.from_bytes(told)
    assert [said(doc) for doc in blank.pipe(TEXTS)] == expected
    assert blank.get_pipe("tagsift").labels == nlp.get_pipe("tagsift").labels
    assert json.loads((tmp_path / "saved/tagsift/settings.json").read_text())


def test_documents_keep_the_confidences_in_files(path):
    nlp = pipeline(model=path)
    doc = nlp(TEXTS[0])
    told = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin().from_bytes(told).get_docs(nlp.vocab)
    assert said(again) == said(doc)
    for name, values in doc.user_data["tagsift"].items():
        assert list(again.user_data["tagsift"][name]) == values


def test_files_of_documents_are_read_and_written_by_tagsift(path, tmp_path):
    nlp = pipeline(model=path)
    doc = nlp(TEXTS[0])
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    documents = read_documents(tmp_path / "a.spacy")
    assert [(m.labels[0], m.score) for m in documents[0].spans] == [
        (label, sure) for _, _, label, sure in said(doc)
    ]
    tagsift.write(documents, tmp_path / "b.spacy")
    (again,) = DocBin().from_disk(tmp_path / "b.spacy").get_docs(nlp.vocab)
    assert said(again) == said(doc)


def test_processes_share_the_work(path):
    nlp = pipeline(model=path)
    alone = [said(doc) for doc in nlp.pipe(TEXTS)]
    together = [said(doc) for doc in nlp.pipe(TEXTS, n_process=2, batch_size=8)]
    assert [[x[:3] for x in one] for one in together] == [
        [x[:3] for x in one] for one in alone
    ]


def test_the_config_of_spacy_makes_a_pipeline(path):
    config = {
        "nlp": {"lang": "en", "pipeline": ["tagsift"]},
        "components": {"tagsift": {"factory": "tagsift", "model": path}},
    }
    assert spacy.util.load_model_from_config(config, auto_fill=True)(TEXTS[0]).ents
    config["components"]["tagsift"]["columns"] = 3
    with pytest.raises(Exception, match="columns"):
        spacy.util.load_model_from_config(config, auto_fill=True)
    late = {"nlp": config["nlp"], "components": {"tagsift": {"factory": "tagsift"}}}
    late["initialize"] = {"components": {"tagsift": {"model": path}}}
    nlp = spacy.util.load_model_from_config(late, auto_fill=True)
    nlp.initialize()
    assert nlp(TEXTS[0]).ents


def test_pipelines_are_evaluated_by_spacy(path):
    nlp = pipeline(model=path)
    references = list(nlp.pipe(TEXTS))
    n = sum(len(doc.ents) for doc in references)
    references[0].ents = references[0].ents[1:]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in references]
    scores = nlp.evaluate(examples)
    assert scores["ents_r"] == 1.0
    assert scores["ents_p"] == pytest.approx((n - 1) / n)


def test_what_is_missing_is_said_in_one_sentence(tmp_path):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("tagsift")
    with pytest.raises(InputError, match="'tagsift' has no model"):
        nlp("text")
    with pytest.raises(InputError, match="has no model"):
        component.to_disk(tmp_path / "a")
    nowhere = pipeline(model=str(tmp_path / "nowhere.tagsift"))
    with pytest.raises((ModelFileError, OSError), match="nowhere"):
        nowhere("text")
    (tmp_path / "bad.tagsift").write_bytes(b"no model")
    with pytest.raises(ModelFileError):
        pipeline(model=str(tmp_path / "bad.tagsift"))


def test_errors_go_to_the_handler_of_the_pipeline():
    nlp = spacy.blank("en")
    nlp.add_pipe("tagsift")
    seen = []
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, docs)))
    assert list(nlp.pipe(["a", "b"])) == []
    assert [name for name, _ in seen] == ["tagsift"]


def test_the_entry_point_names_the_factory():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["tagsift"].partition(
        ":"
    )
    assert getattr(importlib.import_module(module), name)
    assert "tagsift" in spacy.registry.factories


def test_without_spacy_the_extra_is_named(monkeypatch):
    name = "tagsift.integrations.spacy_component"
    for key in [key for key in sys.modules if key.split(".")[0] == "spacy"]:
        monkeypatch.setitem(sys.modules, key, None)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r"install '\.\[spacy\]'"):
        importlib.import_module(name)


def test_documents_are_sentences_of_a_fit(model):
    nlp = spacy.blank("en")
    docs = [Doc(nlp.vocab, words) for words in WORDS[:60]]
    fitted = tagsift.make("partial-crf").fit(docs, CORPUS.labels[:60])
    words = tagsift.make("partial-crf").fit(WORDS[:60], CORPUS.labels[:60])
    assert fitted.predict(docs[:5]) == words.predict(WORDS[:5])
    assert model.predict([docs[3][1:4]]) == model.predict([WORDS[3][1:4]])
    assert Span.has_extension("score")
