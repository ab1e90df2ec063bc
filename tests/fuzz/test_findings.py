"""What fuzzing has found, each as a test of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tagsift import FeatureMatrix, read
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.cli import main
from tagsift.errors import DataError, ModelFileError, TagsiftError
from tagsift.features import checked
from tagsift.io import iter_text
from tagsift.storage.state import array, read_state


@pytest.mark.parametrize("text", ["a,b\rc\nd\n\ne f\n", 'a\tB\n"' + "x" * 200_000])
def test_a_file_that_no_table_reader_can_read(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(DataError, match="expected"):
        read(path, "conll")


def test_votes_in_the_first_column(tmp_path):
    path = tmp_path / "votes.tsv"
    path.write_text("B\tthe\nO\tdog\nO\tbarks\n\n", encoding="utf-8")
    (sentence,) = read(path, votes="1").rows
    assert [row[0] for row in sentence] == ["the", "dog", "barks"]
    with pytest.raises(TagsiftError):
        read(path, votes="1:2")


def test_a_last_column_that_is_left_out(tmp_path):
    path = tmp_path / "text"
    path.write_text("the\tDT\ndog\tNN\n\nbarks\tVBZ\n", encoding="utf-8")
    rows = list(iter_text(path, columns="token,-"))
    assert [[row[0] for row in rows_] for rows_ in rows] == [["the", "dog"], ["barks"]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_short_numbers_are_compared_with_the_limit_without_overflow(kind):
    good, bad = np.ones((2, 1), dtype=kind), np.full((2, 1), np.inf, dtype=kind)
    offsets = np.array([0, 2])
    checked(FeatureMatrix(("a",), (good,), offsets))
    with pytest.raises(TagsiftError, match="is inf"):
        checked(FeatureMatrix(("a",), (bad,), offsets))
    table = {"weights_": array("N M")}
    read_state(table, {}, {"weights": good}, {})
    with pytest.raises(ModelFileError, match="finite"):
        read_state(table, {}, {"weights": bad}, {})


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e15, 1e18, 1e25])
def test_probabilities_of_huge_scores_sum_to_one(scale):
    rng = np.random.default_rng(0)
    W, T = scale * rng.normal(size=(7, 3)), scale * rng.normal(size=(3, 3))
    layout = ChainLayout.from_offsets(np.array([0, 3, 7]))
    found = forward_backward(W, T, layout)
    assert np.isfinite(found.log_z).all()
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
    assert found.pairs.sum() <= 5.0 + 1e-9  # two pairs and three


def test_a_candidate_that_is_no_tag_is_refused(tmp_path, capsys):
    path, out = tmp_path / "file.jsonl", tmp_path / "out.tsv"
    record = {
        "tokens": ["the", "dog", "barks"],
        "candidates": [["B-NP"], ["dog", "I-NP"], ["B-VP"]],
        "gold": ["B-NP", "I-NP", "B-VP"],
    }
    path.write_text(f"{json.dumps(record)}\n" * 3, encoding="utf-8")
    options = ("--from", "jsonl", "-o", str(out), "-m", "partial-crf")
    assert main(["rank", str(path), *options]) == 2
    assert "found 'dog' among them" in capsys.readouterr().err
    assert main(["rank", str(path), *options, "--scheme", "plain"]) == 0


def test_nothing_is_written_before_all_is_known(tmp_path, capsys):
    path, out = tmp_path / "file.conll", tmp_path / "out.tsv"
    path.write_text("a\tB-NP\nb\tI-NP\nc\tB-VP\nd\tO\n\n" * 3, encoding="utf-8")
    options = ("-o", str(out), "-m", "partial-crf", "--labels", "B-NP,B-VP,I-NP,O,X")
    status = main(["rank", str(path), "--scheme", "iob2", *options])
    assert (status == 2) == (not out.exists())
