"""Methods by name, and the loading of model files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.base import Method
from tagsift.baselines import WordCounts
from tagsift.errors import InputError, MissingExtraError, ModelFileError
from tagsift.registry import estimator, load, make, methods, names
from tagsift.storage import read_container, write_container

TABLE_1 = "naive clpl wknn pl-ecoc pl-svm cllp paloc sure pl-aggd".split()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.tagsift"
    WordCounts().fit([["a", "dog"]], [["D", "N"]]).save(path)
    return path


def test_the_paper_and_its_nine_rivals_are_there():
    assert names()[:2] == ("sgppsl", "chain-gp")
    assert list(names()[2:11]) == TABLE_1
    assert {"partial-crf", "crf", "word-counts"} <= set(names())


def test_make_passes_the_settings_on():
    model = make("word-counts", random_state=3)
    assert isinstance(model, WordCounts)
    assert model.random_state == 3
    assert estimator("word-counts") is WordCounts


def test_an_unknown_method_is_named_with_the_choices():
    with pytest.raises(InputError) as caught:
        make("crff")
    assert str(caught.value) == (
        f"there is no method 'crff'; choose one of {', '.join(names())}."
    )


def test_an_unknown_setting_is_pythons_own_error():
    with pytest.raises(TypeError, match="depth"):
        make("word-counts", depth=3)


def test_methods_are_rows_of_a_table():
    rows = methods()
    assert [row.name for row in rows] == list(names())
    assert all(isinstance(row, Method) for row in rows)
    assert len({row.title for row in rows}) == len(rows)
    for row in rows:
        facts = row.as_dict()
        assert set(map(type, facts.values())) <= {str, bool, int}
        assert facts["settings"], row.name
        assert facts["cost"], row.name
        assert facts["source"], row.name


def test_titles_are_those_of_the_paper():
    titles = {row.name: row.title for row in methods()}
    assert titles["sgppsl"] == "SGPPSL"
    assert titles["pl-svm"] == "PL-SVM"
    assert titles["pl-ecoc"] == "PL-ECOC"


# Loading ---------------------------------------------------------------------------


def test_a_model_is_loaded_by_its_method(saved: Path):
    model = load(saved)
    assert type(model) is WordCounts
    assert model.predict([["a", "cat"]]) == [["D", "D"]]
    assert load(str(saved)).classes_ == ("D", "N")


def altered(path: Path, change) -> str:
    """Write the container again with other metadata, and return the refusal."""
    meta, arrays = read_container(path)
    meta.pop("sha256")
    change(meta, arrays)
    write_container(path, meta, arrays)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_a_method_from_the_future_is_refused(saved: Path):
    message = altered(saved, lambda meta, _: meta.update(method="oracle"))
    assert "'oracle'" in message
    assert "install a newer one" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta.pop("method"),
        lambda meta, arrays: meta.pop("classes"),
        lambda meta, arrays: meta.pop("model"),
        lambda meta, arrays: meta["params"].update(depth=3),
        lambda meta, arrays: meta.update(classes=3),
        lambda meta, arrays: meta.update(vectorizer=[1]),
        lambda meta, arrays: meta["vectorizer"].pop("kind"),
        lambda meta, arrays: arrays.pop("model/prior"),
    ],
    ids=[
        "no method",
        "no classes",
        "no model",
        "unknown setting",
        "classes of another type",
        "features of another type",
        "features without a kind",
        "an array less",
    ],
)
def test_a_container_without_a_model_is_refused(saved: Path, change):
    altered(saved, change)


def test_a_missing_extra_says_so_itself(saved: Path, monkeypatch):
    def needs_torch(*_, **__):
        raise MissingExtraError.for_package("torch", extra="gpu", what="a GPU")

    monkeypatch.setattr(WordCounts, "from_container", needs_torch)
    with pytest.raises(MissingExtraError, match=r"install '\.\[gpu\]'"):
        load(saved)


def test_an_estimator_of_ones_own_is_loaded_by_its_class(saved: Path):
    class Own(WordCounts):
        pass

    assert type(Own.from_container(*read_container(saved))) is Own
