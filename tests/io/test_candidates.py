"""Candidate sets: cells, files, records, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.data import LabelSet
from tagsift.errors import DataError, InputError
from tagsift.io import (
    PartialCorpus,
    format_candidates,
    parse_candidates,
    read_partial,
    write_partial,
)

LABELS = LabelSet(("B-NP", "I-NP", "O"))


def save(folder: Path, content: str) -> Path:
    path = folder / "file.conll"
    path.write_text(content)
    return path


@pytest.fixture
def partial() -> PartialCorpus:
    return PartialCorpus.from_lists(
        [[("the", "DT"), ("lead", "NN"), ("fell", "VBD")], [("Rates", "NNS")]],
        [[{"B-NP"}, {"B-NP", "I-NP"}, LABELS.full], ["B-NP"]],
        gold=[["B-NP", "I-NP", "O"], ["B-NP"]],
    )


def test_cells() -> None:
    assert parse_candidates("B-NP|I-NP") == {"B-NP", "I-NP"}
    assert parse_candidates("O") == {"O"}
    assert parse_candidates("O|O") == {"O"}
    assert parse_candidates("?") is None
    assert format_candidates({"O", "B-NP"}, LABELS) == "B-NP|O"
    for cell, message in [
        ("", "found an empty one"),
        ("|", "found an empty one"),
        ("B-NP|", "found an empty one in 'B-NP|'"),
        ("B-NP||O", "found an empty one"),
        ("?|O", "found it among labels"),
        ("B-NP| O", "without white space around them, found ' O'"),
    ]:
        with pytest.raises(DataError) as caught:
            parse_candidates(cell)
        assert message in str(caught.value)
    for names in (set(), {"A|B"}, {"?"}, {" O"}, {""}):
        with pytest.raises(InputError):
            format_candidates(names, LABELS)


def test_views(partial: PartialCorpus) -> None:
    assert partial.tokens == [["the", "lead", "fell"], ["Rates"]]
    assert partial.label_set == LABELS
    assert partial.scheme == "iob2"
    assert (len(partial), partial.n_tokens, partial.n_ambiguous) == (2, 4, 2)
    assert partial[1:].tokens == [["Rates"]]
    assert partial[1:].label_set == LABELS
    assert partial.take([1, 0]).gold == [["B-NP"], ["B-NP", "I-NP", "O"]]
    assert partial.columns(1).rows[1] == [("Rates",)]
    assert "2 of them ambiguous" in repr(partial)
    assert [len(sets) for _, sets in partial] == [3, 1]


def test_reading(tmp_path: Path) -> None:
    path = save(tmp_path, "a\tB-NP|I-NP\nb\t?\n\nc\tO\n")
    corpus = read_partial(path)
    assert corpus.candidates == [[{"B-NP", "I-NP"}, LABELS.full], [{"O"}]]
    assert corpus.label_set == LABELS
    assert corpus.gold is None
    wide = read_partial(path, labels=("O", "I-NP", "B-NP", "B-VP"))
    assert wide.label_set.names == ("O", "I-NP", "B-NP", "B-VP")
    assert wide.candidates[0][1] == wide.label_set.full


def test_gold_is_one_more_column(tmp_path: Path) -> None:
    path = save(tmp_path, "a\tNN\tB-NP|I-NP\tO\nb\tNN\t?\tI-VP\n")
    corpus = read_partial(path, gold=True)
    assert corpus.gold == [["O", "I-VP"]]
    assert corpus.rows == [[("a", "NN"), ("b", "NN")]]
    assert corpus.label_set.names == ("B-NP", "I-NP")
    with pytest.raises(DataError, match="line 1: expected at least 3 columns"):
        read_partial(save(tmp_path, "a\tO\n"), gold=True)
    with pytest.raises(DataError, match=r"line 1: expected one label without"):
        read_partial(save(tmp_path, "a\tO\tO|B-NP\n"), gold=True)


@pytest.mark.parametrize(
    ("content", "scheme"),
    [
        ("a\tI|O\n\nb\tO\nc\tI\n", "iob1"),  # the exactly labelled sentence decides
        ("a\tI|O\nb\tI\n", "iob1"),  # no label could open a chunk in IOB2
        ("a\tB|I|O\nb\tI\n", "iob2"),  # names alone cannot tell IOB1
        ("a\tB-X|O\n\nb\tB-X\nc\tI-X\n", "iob2"),
        ("a\tS-X|O\nb\tO\n", "iobes"),
        ("a\tNN|VB\nb\t?\n", "plain"),
    ],
)
def test_scheme_without_gold(tmp_path: Path, content: str, scheme: str) -> None:
    assert read_partial(save(tmp_path, content)).scheme == scheme
    assert read_partial(tmp_path / "file.conll", scheme="plain").scheme == "plain"


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "found an empty file"),
        ("a\tO\nb\t|\n", 2, "found an empty one in '|'"),
        ("a\tO\nb\tO|\n", 2, "found an empty one in 'O|'"),
        ("a\tO\nb\t\n", 2, "found column 2 empty"),
        ("a\tO\nb\t?|O\n", 2, "found it among labels"),
        ("a\t?\nb\t?\n", None, "found '?' alone; give labels="),
        ("a\tO\nb\tO\tO\n", 2, "expected 2 columns as in line 1, found 3"),
    ],
)
def test_refused_files(
    tmp_path: Path, content: str, line: int | None, message: str
) -> None:
    path = save(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_partial(path)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.path) == (line, str(path))


def test_refused_labels(tmp_path: Path) -> None:
    path = save(tmp_path, "a\tO\nb\tO|B-VP\n")
    with pytest.raises(DataError, match="line 2: .*3 labels given, found 'B-VP'"):
        read_partial(path, labels=LABELS)
    with pytest.raises(DataError, match="line 2: expected a tag of the scheme iob2"):
        read_partial(save(tmp_path, "a\tO\nb\tO|NN\n"), scheme="iob2")
    with pytest.raises(InputError, match="found 'bio'"):
        read_partial(path, scheme="bio")


def test_refused_records() -> None:
    rows = [[("a",), ("b",)]]
    with pytest.raises(InputError, match=r"token 1 \('b'\): .*an empty set"):
        PartialCorpus.from_lists(rows, [["O", set()]])
    with pytest.raises(InputError, match=r"token 0 \('a'\): .*found 'X'"):
        PartialCorpus.from_lists(rows, [["X", "O"]], labels=["O"])
    with pytest.raises(InputError, match="2 tokens and 1 candidate sets"):
        PartialCorpus.from_lists(rows, [["O"]])
    with pytest.raises(InputError, match="2 tokens and 1 gold labels"):
        PartialCorpus.from_lists(rows, [["O", "O"]], gold=[["O"]])
    with pytest.raises(InputError, match="1 sentences and 0 sequences"):
        PartialCorpus.from_lists(rows, [], labels=["O"])


def test_written_text(tmp_path: Path, partial: PartialCorpus) -> None:
    """The first full set is spelled out, so that the file names every label."""
    doubled = partial.take([0, 0])
    write_partial(tmp_path / "out.conll", doubled)
    text = (tmp_path / "out.conll").read_text()
    head = "the\tDT\tB-NP\nlead\tNN\tB-NP|I-NP\nfell\tVBD\t"
    assert text == f"{head}B-NP|I-NP|O\n\n{head}?\n\n"
    with pytest.raises(InputError, match="expected a partial corpus with gold"):
        write_partial(
            tmp_path / "gold.conll", read_partial(tmp_path / "out.conll"), gold=True
        )
    assert not (tmp_path / "gold.conll").exists()


names = st.lists(
    st.sampled_from(["O", "B-NP", "I-NP", "NN"]), min_size=1, max_size=4, unique=True
)


@settings(
    max_examples=100,
    derandomize=True,
)
@given(data=st.data(), labels=names, gold=st.booleans())
def test_round_trip(
    tmp_path: Path, data: st.DataObject, labels: list[str], gold: bool
) -> None:
    sets = st.frozensets(st.sampled_from(labels), min_size=1)
    token = st.tuples(sets, st.sampled_from(labels))
    drawn = data.draw(
        st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4)
    )
    corpus = PartialCorpus.from_lists(
        [["w"] * len(sentence) for sentence in drawn],
        [[c for c, _ in sentence] for sentence in drawn],
        gold=[[g for _, g in sentence] for sentence in drawn] if gold else None,
    )
    write_partial(tmp_path / "trip.conll", corpus, gold=gold)
    scheme = "plain" if corpus.scheme == "plain" else "auto"  # tags and NN: if told
    assert read_partial(tmp_path / "trip.conll", gold=gold, scheme=scheme) == corpus
    told = {"labels": labels, "gold": gold, "scheme": scheme}
    again = read_partial(tmp_path / "trip.conll", **told)
    assert set(again.label_set) == set(labels)
