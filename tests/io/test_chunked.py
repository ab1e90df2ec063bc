"""A column file in chunks: the sentences of the whole, in order."""

from __future__ import annotations

import pytest

import tagsift
from tagsift.errors import DataError
from tagsift.io import read_chunks

LINES = "a\tX\nb\tX|Y\n\nc\t?\n\n\nd\tY\ne\tX\nf\tY\n\ng\tX\n"


def read(chunks):
    corpora = list(chunks)
    assert len({(one.label_set, one.scheme) for one in corpora}) == 1
    rows = [row for one in corpora for row in one.rows]
    return rows, [sets for one in corpora for sets in one.candidates]


@pytest.mark.parametrize("n_tokens", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["", "\n", "\n\n \n"])
def test_chunks_are_the_whole(tmp_path, n_tokens, end):
    path = tmp_path / "a.tsv"
    path.write_text(LINES + end)
    whole = tagsift.read(path, "conll")
    chunks = read_chunks(path, n_tokens=n_tokens)
    assert read(chunks) == read(chunks) == (whole.rows, whole.candidates)
    assert (chunks.label_set, chunks.scheme) == (whole.label_set, whole.scheme)
    assert len(chunks) == {1: 4, 2: 3, 3: 3, 100: 1}[n_tokens]


def test_a_header_is_that_of_the_file(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("token\tlabel\n" + LINES)
    rows, _ = read(read_chunks(path, n_tokens=1, header=True))
    assert rows == tagsift.read(path, "conll", header=True).rows


def test_a_bad_line_is_named_by_its_number_in_the_file(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(LINES + "\nh\tX\textra\n")
    with pytest.raises(DataError, match="line 13: expected 2 columns"):
        read(read_chunks(path, n_tokens=3))
    path.write_text(LINES.replace("f\tY", "f\tY|"))
    with pytest.raises(DataError, match="line 9: expected labels joined by"):
        read(read_chunks(path, n_tokens=1))


def test_what_cannot_be_cut_is_one_sentence(tmp_path):
    (tmp_path / "empty.tsv").write_text("\n\n")
    with pytest.raises(DataError, match="found an empty file"):
        read_chunks(tmp_path / "empty.tsv")
    with pytest.raises(DataError, match="unpack it first"):
        read_chunks(tmp_path / "a.tsv.gz")
    with pytest.raises(DataError, match="found none of this name"):
        read_chunks(tmp_path / "none.tsv")


def test_who_reads_need_not_be_where_the_file_was_named(tmp_path, monkeypatch):
    (tmp_path / "a.tsv").write_text("one\tA\n\ntwo\tA|B\n")
    monkeypatch.chdir(tmp_path)
    chunks = read_chunks("a.tsv", n_tokens=1)
    monkeypatch.chdir("/")
    assert [one.rows for one in chunks] == [[[("one",)]], [[("two",)]]]
