"""The column-file reader and writer: what they accept, refuse and give back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.errors import DataError, InputError
from tagsift.io import (
    Corpus,
    Sentence,
    iter_conll,
    read_conll,
    read_text,
    write_conll,
)
from tagsift.io.column_file import write_blocks

GOOD = "Rates\tNNS\tB-NP\nfell\tVBD\tB-VP\n\nOil\tNN\tB-NP\n\n"


def save(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.conll"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_rows_labels_and_scheme(tmp_path: Path) -> None:
    corpus = read_conll(save(tmp_path, GOOD))
    assert corpus.rows == [[("Rates", "NNS"), ("fell", "VBD")], [("Oil", "NN")]]
    assert corpus.labels == [["B-NP", "B-VP"], ["B-NP"]]
    assert corpus.scheme == "iob2"
    assert read_conll(tmp_path / "file.conll", scheme="iob1").scheme == "iob1"


@pytest.mark.parametrize(
    "content",
    [
        GOOD.rstrip("\n"),
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "\n\n" + GOOD.replace("\n\n", "\n\n \n\n"),
        GOOD.replace("\t", " "),
        "  " + GOOD.replace("\t", "   "),
        "-DOCSTART-\t-X-\tO\n\n" + GOOD,
        GOOD.replace("\n\n", "\n-DOCSTART-\n"),
    ],
    ids=[
        "no final newline",
        "CRLF",
        "BOM",
        "more blank lines",
        "spaces",
        "runs of spaces",
        "document mark",
        "document marks between sentences",
    ],
)
def test_accepted_forms_read_the_same(tmp_path: Path, content: str) -> None:
    wanted = [[("Rates", "NNS"), ("fell", "VBD")], [("Oil", "NN")]]
    corpus = read_conll(save(tmp_path, content))
    assert corpus.rows == wanted
    assert corpus.labels == [["B-NP", "B-VP"], ["B-NP"]]


def test_one_tab_anywhere_makes_it_a_tab_file(tmp_path: Path) -> None:
    """Spaces then belong to the tokens."""
    corpus = read_conll(save(tmp_path, "New York\tO\n\n10 000\tO\n"))
    assert corpus.tokens == [["New York"], ["10 000"]]
    late = save(tmp_path, "a b\n" * 300_000 + "c\td\n")
    with pytest.raises(DataError, match=r"line 1: expected at least 2 columns"):
        read_conll(late)


def test_number_sign_is_a_token(tmp_path: Path) -> None:
    path = save(tmp_path, "#\t#\tB-NP\n# note\n5\tCD\tI-NP\n")
    assert read_conll(path, comments=True).tokens == [["#", "5"]]
    with pytest.raises(DataError, match=r"line 2: expected 3 columns .*found 1"):
        read_conll(path)
    text = save(tmp_path, "#\n5\n")
    assert read_text(text) == [[("#",), ("5",)]]
    assert read_text(text, comments=True) == [[("5",)]]


def test_odd_characters_are_text(tmp_path: Path) -> None:
    """No line end but LF, no normalisation, no splitting at other white space."""
    words = ["a\u2028b", "e\u0301", "\u00e9", "\u00a0", "x\x0cy", "\x85", "🦉"]
    path = save(tmp_path, "".join(f"{word}\tO\n" for word in words))
    assert read_conll(path).tokens == [words]
    spaced = save(tmp_path, "".join(f"{word} O\n" for word in words))
    assert read_conll(spaced).tokens == [words]


def test_very_long_lines_and_sentences(tmp_path: Path) -> None:
    word = "x" * 100_000
    path = save(tmp_path, f"{word}\tO\n" + "y\tO\n" * 4_999)
    corpus = read_conll(path)
    assert len(corpus) == 1
    assert corpus.n_tokens == 5_000
    assert corpus.tokens[0][0] == word
    write_conll(tmp_path / "again.conll", corpus)
    assert read_conll(tmp_path / "again.conll") == corpus


def test_streaming_gives_sentences_before_the_bad_line(tmp_path: Path) -> None:
    sentences = iter_conll(save(tmp_path, GOOD + "bad\n"))
    assert next(sentences).tokens == ("Rates", "fell")
    assert next(sentences).tokens == ("Oil",)
    with pytest.raises(DataError, match="line 6"):
        next(sentences)


def test_text_may_be_empty(tmp_path: Path) -> None:
    assert read_text(save(tmp_path, "")) == []
    assert read_text(save(tmp_path, "\n \n")) == []
    assert read_text(save(tmp_path, "one\ntwo\n\nthree")) == [
        [("one",), ("two",)],
        [("three",)],
    ]
    assert read_text(save(tmp_path, "one A\n")) == [[("one", "A")]]


def test_pipes_are_read_too() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as stream:
        stream.write(GOOD.encode())
    try:
        assert len(read_conll(f"/dev/fd/{read}")) == 2
    finally:
        os.close(read)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "expected at least one token, found an empty file"),
        ("\n\n", None, "found an empty file"),
        ("-DOCSTART- O\n\n", None, "found an empty file"),
        ("a\tO\nb\tNN\tO\n", 2, "expected 2 columns as in line 1, found 3"),
        ("a\tNN\tO\n\nb\tO\n", 3, "expected 3 columns as in line 1, found 2"),
        ("a O\nb\n", 2, "found 1; columns are separated by spaces"),
        ("a\n", 1, "expected at least 2 columns, found 1"),
        ("a\tO\n\tO\n", 2, "found column 1 empty"),
        ("a\tNN\t\n", 1, "found column 3 empty"),
        ("a\tO\nb\0\tO\n", 2, "found a NUL byte"),
        ("a\tO\rb\tO\r\r", 1, "found a CR inside"),
        (b"a\tO\n\ncaf\xe9\tO\n", 3, "found the byte 0xe9 at position 4"),
        ("a\tO\n".encode("utf-16"), 1, "save the file as"),
        ("a\tB-NP|I-NP\n", 1, "expected one label without '|', found 'B-NP|I-NP'"),
        ("a\tO\nb\t?\n", 2, "stands for any label"),
        ("a\tO\nb\tO \n", 2, "without white space around it, found 'O '"),
    ],
)
def test_refused_files(
    tmp_path: Path, content: str | bytes, line: int | None, message: str
) -> None:
    path = save(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_conll(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path == str(path)
    where = str(path) if line is None else f"{path}, line {line}"
    assert str(caught.value).startswith(f"{where}: ")


def test_refused_labels_of_another_scheme(tmp_path: Path) -> None:
    path = save(tmp_path, "a\tO\nb\tNN\n")
    with pytest.raises(DataError, match="line 2: expected a tag of the scheme iob2"):
        read_conll(path, scheme="iob2")
    with pytest.raises(InputError, match="found 'bio'"):
        read_conll(path, scheme="bio")


def test_refused_paths(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a file, found a directory"):
        read_conll(tmp_path)
    with pytest.raises(DataError, match="found none of this name"):
        read_conll(tmp_path / "nothing.conll")
    path = save(tmp_path, GOOD)
    with pytest.raises(DataError, match="expected a file, found none|cannot read"):
        read_conll(path / "below-a-file.conll")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD)
    path.chmod(0)
    with pytest.raises(DataError, match="cannot read the file .permission denied."):
        read_conll(path)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ([[("a\tb",)]], [["O"]], "without TAB, line end or NUL"),
        ([[("a\nb",)]], [["O"]], "without TAB, line end or NUL"),
        ([[("a\r",)]], [["O"]], "without TAB, line end or NUL"),
        ([[("",)]], [["O"]], "without TAB, line end or NUL"),
        ([[("a\ud800",)]], [["O"]], "text that UTF-8 can hold"),
        ([[("a",)], [("b", "c")]], [["O"], ["O"]], "sentence 1, token 0: expected 2"),
        ([[("-DOCSTART-",)]], [["O"]], "which readers skip"),
        ([[("a",)], []], [["O"], []], "sentence 1 is empty"),
        ([[("a",)]], [["B|I"]], "sentence 0, token 0: expected one label"),
        ([[("a",)]], [["?"]], "stands for any label"),
        ([[("a",)]], [[" "]], "without white space"),
        ([[("a",)]], [[""]], "expected a label, found ''"),
        ([], [], "found none"),
    ],
)
def test_refused_writes_leave_nothing(
    tmp_path: Path,
    rows: list[list[tuple[str, ...]]],
    labels: list[list[str]],
    message: str,
) -> None:
    corpus = Corpus.from_lists(rows, labels, "plain")
    with pytest.raises(InputError, match=message):
        write_conll(tmp_path / "out.conll", corpus)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD)
    with pytest.raises(InputError):
        write_blocks(path, [[["a", "O"]], [["b", "\n"]]])
    assert path.read_text() == GOOD
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_written_text(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD)
    write_conll(tmp_path / "out.conll", read_conll(path))
    assert (tmp_path / "out.conll").read_bytes() == GOOD.encode()


def test_a_byte_order_mark_can_be_text(tmp_path: Path) -> None:
    corpus = Corpus.from_lists([["\ufeffa"]], [["O"]])
    write_conll(tmp_path / "out.conll", corpus)
    assert read_conll(tmp_path / "out.conll") == corpus


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"),
    min_size=1,
    max_size=6,
).filter(lambda cell: cell != "-DOCSTART-")
names = st.sampled_from(["O", "B-NP", "I-NP", "NN", "é", "x y"])


@settings(
    max_examples=100,
    derandomize=True,
)
@given(data=st.data(), width=st.integers(1, 3))
def test_round_trip(tmp_path: Path, data: st.DataObject, width: int) -> None:
    row = st.tuples(st.tuples(*[cells] * width), names)
    sentence = st.lists(row, min_size=1, max_size=5)
    drawn = data.draw(st.lists(sentence, min_size=1, max_size=4))
    corpus = Corpus(
        tuple(Sentence(tuple(r for r, _ in s), tuple(n for _, n in s)) for s in drawn),
        "plain",
    )
    write_conll(tmp_path / "trip.conll", corpus)
    assert read_conll(tmp_path / "trip.conll", scheme="plain") == corpus
