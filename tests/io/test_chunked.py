"""A column file in pieces: the sentences of the whole, in order."""

from __future__ import annotations

import pytest

import tagsift
from tagsift.errors import DataError
from tagsift.io import cut_partial

LINES = "a\tX\nb\tX|Y\n\nc\t?\n\n\nd\tY\ne\tX\nf\tY\n\ng\tX\n"


def read(pieces):
    rows, sets = [], []
    for piece in pieces:
        some, candidates = piece.read()
        rows += some
        sets += candidates
    return rows, sets


@pytest.mark.parametrize("n_tokens", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["", "\n", "\n\n \n"])
def test_pieces_are_the_whole(tmp_path, n_tokens, end):
    path = tmp_path / "a.tsv"
    path.write_text(LINES + end)
    whole = tagsift.io.read_partial(path)
    pieces = cut_partial(path, n_tokens=n_tokens)
    rows, sets = read(pieces)
    assert rows == whole.rows
    full = whole.label_set.full
    assert [[full if c is None else c for c in row] for row in sets] == whole.candidates
    assert len(pieces) == {1: 4, 2: 3, 3: 3, 100: 1}[n_tokens]


def test_a_header_is_that_of_the_file(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("token\tlabel\n" + LINES)
    rows, _ = read(cut_partial(path, n_tokens=1, header=True))
    assert rows == tagsift.io.read_partial(path, header=True).rows


def test_a_bad_line_is_named_by_its_number_in_the_file(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(LINES + "\nh\tX\textra\n")
    with pytest.raises(DataError, match="line 13: expected 2 columns"):
        read(cut_partial(path, n_tokens=3))
    path.write_text(LINES.replace("f\tY", "f\tY|"))
    with pytest.raises(DataError, match="line 9: expected labels joined by"):
        read(cut_partial(path, n_tokens=1))


def test_what_cannot_be_cut_is_one_sentence(tmp_path):
    (tmp_path / "empty.tsv").write_text("\n\n")
    with pytest.raises(DataError, match="found an empty file"):
        cut_partial(tmp_path / "empty.tsv")
    with pytest.raises(DataError, match="unpack it first"):
        cut_partial(tmp_path / "a.tsv.gz")
    with pytest.raises(DataError, match="found none of this name"):
        cut_partial(tmp_path / "none.tsv")


def test_who_reads_need_not_be_where_the_file_was_named(tmp_path, monkeypatch):
    (tmp_path / "a.tsv").write_text("one\tA\n\ntwo\tA|B\n")
    monkeypatch.chdir(tmp_path)
    pieces = cut_partial("a.tsv", n_tokens=1)
    monkeypatch.chdir("/")
    assert [piece.read()[0] for piece in pieces] == [[[("one",)]], [[("two",)]]]
