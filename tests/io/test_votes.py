"""Votes: reading, candidate sets, majority, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.errors import DataError, InputError
from tagsift.io import (
    VoteCorpus,
    parse_columns,
    read_votes,
    write_votes,
)

TEXT = (
    "Jordan\tNNP\tB-PER\tB-LOC\t?\tB-PER\n"
    "rose\tVBD\tO\tO\tO\tO\n"
    "\n"
    "May\tNNP\t?\t?\t?\tO\n"
    "\n"
    "Ford\tNNP\tB-ORG\tB-ORG\tB-PER\tB-ORG\n"
)


def save(folder: Path, content: str) -> Path:
    path = folder / "votes.tsv"
    path.write_text(content)
    return path


@pytest.fixture
def votes(tmp_path: Path) -> VoteCorpus:
    return read_votes(save(tmp_path, TEXT), columns="3:5", gold=6)


def test_reading(votes: VoteCorpus, tmp_path: Path) -> None:
    assert votes.tokens == [["Jordan", "rose"], ["May"], ["Ford"]]
    assert votes.rows[0] == [("Jordan", "NNP"), ("rose", "VBD")]
    assert votes.votes[0] == [("B-PER", "B-LOC", None), ("O", "O", "O")]
    assert votes.gold == [["B-PER", "O"], ["O"], ["B-ORG"]]
    assert votes.annotators == ("w00", "w01", "w02")
    assert votes.label_set.names == ("B-LOC", "B-ORG", "B-PER", "O")
    assert votes.scheme == "iob2"
    assert (len(votes), votes.n_tokens, votes.n_annotations) == (3, 4, 6)
    path = tmp_path / "votes.tsv"
    assert read_votes(path, columns=range(3, 6), gold=-1) == votes
    named = read_votes(path, columns=[3, 4, 5], gold=6, annotators=["x", "y", "z"])
    assert named.annotators == ("x", "y", "z")
    with pytest.raises(DataError, match=r"column 6 .* say --gold \(in Python gold=6"):
        read_votes(path, columns="3:5")
    blind = read_votes(path, columns="token,pos,vote,vote,vote,-")
    assert blind.gold is None
    assert blind.rows[0][0] == ("Jordan", "NNP")


def test_candidates(votes: VoteCorpus) -> None:
    partial = votes.candidates()
    full = frozenset(votes.label_set)
    assert partial.candidates == [
        [{"B-PER", "B-LOC"}, {"O"}],
        [full],
        [{"B-ORG", "B-PER"}],
    ]
    assert partial.gold == votes.gold
    assert partial.annotators == votes.annotators
    assert partial.scheme == votes.scheme
    twice = votes.candidates(min_votes=2)
    assert twice.candidates == [[{"B-PER", "B-LOC"}, {"O"}], [full], [{"B-ORG"}]]
    with pytest.raises(InputError, match="at least 1, found 0"):
        votes.candidates(min_votes=0)


def test_majority(votes: VoteCorpus) -> None:
    """A tie goes to the first annotator; an unlabelled token to the usual label."""
    assert votes.majority().labels == [["B-PER", "O"], ["O"], ["B-ORG"]]
    swapped = votes.without(["w00"])
    assert swapped.annotators == ("w01", "w02")
    assert swapped.majority().labels[0] == ["B-LOC", "O"]
    with pytest.raises(InputError, match="found 'w09'"):
        votes.without(["w09"])


def test_parts(votes: VoteCorpus) -> None:
    assert votes[1:].tokens == [["May"], ["Ford"]]
    assert votes.take([2]).gold == [["B-ORG"]]
    assert votes.columns(1).rows[2] == [("Ford",)]
    assert "3 annotators" in repr(votes)
    silent = votes.take([1])
    for call in (silent.majority, silent.candidates):
        with pytest.raises(InputError, match="expected at least one vote"):
            call()


def test_round_trip(votes: VoteCorpus, tmp_path: Path) -> None:
    write_votes(tmp_path / "again.tsv", votes, gold=True)
    assert (tmp_path / "again.tsv").read_text() == TEXT + "\n"
    write_votes(tmp_path / "blind.tsv", votes)
    blind = read_votes(tmp_path / "blind.tsv", columns="3:5")
    assert blind.votes == votes.votes
    with pytest.raises(InputError, match="expected votes with gold"):
        write_votes(tmp_path / "gold.tsv", blind, gold=True)
    bad = VoteCorpus([[("a",)]], [[("B|I",)]], ("x",), None, "plain")
    with pytest.raises(InputError, match=r"found 'B\|I'"):
        write_votes(tmp_path / "bad.tsv", bad)


def test_column_numbers() -> None:
    assert parse_columns("2:48") == tuple(range(2, 49))
    assert parse_columns("2, 4,6:7") == (2, 4, 6, 7)
    for text in ("", "0:3", "4:2", "a", "2:", "-1"):
        with pytest.raises(InputError, match="counted from 1"):
            parse_columns(text)


@pytest.mark.parametrize(
    ("columns", "gold", "message"),
    [
        ("3:9", None, "expected the column numbers to lie in 1:6"),
        ([0, 3], None, "found 0"),
        ("3:5", 9, "found 9"),
        ("3:5", 5, "expected each column to be named once"),
        ([3, 3], None, "expected each column to be named once"),
        ([], None, "at least one of votes"),
        ("1:5", 6, "expected one column for the token, found all 6 taken"),
    ],
)
def test_refused_columns(
    tmp_path: Path, columns: str | list[int], gold: int | None, message: str
) -> None:
    path = save(tmp_path, TEXT)
    with pytest.raises(DataError, match=message) as caught:
        read_votes(path, columns=columns, gold=gold)
    assert caught.value.line == 1


def test_refused_cells(tmp_path: Path) -> None:
    path = save(tmp_path, "a\tO\tO\nb\tO|\tO\n")
    with pytest.raises(DataError, match="line 2: expected a label"):
        read_votes(path, columns="2", gold=3)
    path = save(tmp_path, "a\tO\tO\nb\tO\t?\n")
    with pytest.raises(DataError, match="line 2: expected a label"):
        read_votes(path, columns="2", gold=3)
    path = save(tmp_path, "a\tNN\n")
    with pytest.raises(DataError, match="line 1: expected a tag of the scheme iob1"):
        read_votes(path, columns="2", scheme="iob1")
    with pytest.raises(InputError, match="expected a name for each of the 1"):
        read_votes(path, columns="2", annotators=["x", "y"])
    with pytest.raises(InputError, match="found 'bio'"):
        read_votes(path, columns="2", scheme="bio")


@pytest.mark.parametrize(
    ("said", "scheme"),
    [
        ("DT DT ? NN ? NN ? VB VB", "plain"),
        ("B-X B-X ? E-X E-X ? O ? O", "iobes"),
        ("? O O I-X I-X ? I-X ? I-X", "iob1"),
        ("O O ? B-X ? B-X I-X ? I-X", "iob2"),
        ("? ? O I-X I-X B-X O O I-X", "iob2"),  # what I-X follows is not known
        ("DT|NN DT DT|NN NN|VB VB NN|VB NN|VB VB NN|VB", "plain"),
    ],
)
def test_the_scheme_of_sentences_labelled_in_part(
    tmp_path: Path, said: str, scheme: str
) -> None:
    cells = said.split()
    rows = [[f"word{t}", *cells[3 * t : 3 * t + 3]] for t in range(3)]
    text = "".join("\t".join(row) + "\n" for row in rows)
    assert read_votes(save(tmp_path, text), columns="2:4").scheme == scheme


def test_an_annotator_may_leave_a_set(tmp_path: Path) -> None:
    text = "a\tO\tO\nb\tB-X|O\tO\n"
    votes = read_votes(save(tmp_path, text), columns="2:3", o_means="abstain")
    assert votes.votes[0][1] == (frozenset({"O", "B-X"}), "O")
    assert votes.label_set.names == ("B-X", "O")
    assert votes.abstaining == votes.annotators
    assert votes.without(["w00"]).abstaining == ("w01",)
    write_votes(tmp_path / "again.tsv", votes)
    assert (tmp_path / "again.tsv").read_text().strip() == text.strip()
    with pytest.raises(InputError, match="'outside' or 'abstain', found 'silence'"):
        read_votes(tmp_path / "again.tsv", columns="2:3", o_means="silence")
    with pytest.raises(InputError, match="in abstaining, found 'eve'"):
        read_votes(tmp_path / "again.tsv", columns="2:3", abstaining=["eve"])


def test_one_name_or_number_where_many_are_due(
    votes: VoteCorpus, tmp_path: Path
) -> None:
    path = save(tmp_path, "token\tann\tann\nRome\tB-X\tO\n")
    with pytest.raises(DataError, match="found 'ann' twice; name them in the header"):
        read_votes(path, columns="2:3", header=True)
    with pytest.raises(InputError, match=r"found 2; give \[2\] for one column"):
        read_votes(path, columns=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"found a text; give \['ann'\]"):
        read_votes(path, columns="2:3", abstaining="ann")
    with pytest.raises(InputError, match=r"found a text; give \['w00'\]"):
        votes.without("w00")


def test_refused_records() -> None:
    rows = [[("a",)]]
    with pytest.raises(InputError, match="different names"):
        VoteCorpus(rows, [[("O", "O")]], ("x", "x"), None, "iob2")
    with pytest.raises(InputError, match="each of the 2 annotators, found 1"):
        VoteCorpus(rows, [[("O",)]], ("x", "y"), None, "iob2")
    with pytest.raises(InputError, match="1 tokens and 2 votes"):
        VoteCorpus(rows, [[("O",), ("O",)]], ("x",), None, "iob2")
    with pytest.raises(InputError, match="1 sentences and 0 sequences of votes"):
        VoteCorpus(rows, [], ("x",), None, "iob2")
    with pytest.raises(InputError, match="1 tokens and 2 gold labels"):
        VoteCorpus(rows, [[("O",)]], ("x",), [["O", "O"]], "iob2")
