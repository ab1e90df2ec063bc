"""Our own JSON lines: documents, and the candidate sets of old."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagsift
from tagsift.data import Losses
from tagsift.data.annotators import Annotator
from tagsift.errors import DataError, InputError
from tagsift.io.formats import CorpusInfo
from tests.io.formats.files import read, write
from tests.io.test_arrow import FULL

GOOD = '{"tokens": ["a", "b"], "candidates": [["B-X", "O"], "O"]}\n'


def save(folder: Path, content: str) -> Path:
    path = folder / "file.jsonl"
    path.write_text(content, encoding="utf-8")
    return path


def test_it_holds_everything(tmp_path: Path) -> None:
    losses = write([FULL], tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl")) == [FULL]
    assert not losses.counts


def test_candidates(tmp_path: Path) -> None:
    path = save(
        tmp_path,
        GOOD
        + '\n{"tokens": [["c", "NN"]], "candidates": [null], "id": 7, "by": "me"}\n'
        '{"tokens": ["d"], "candidates": ["?"]}\n'
        '{"tokens": [], "candidates": []}',
    )
    documents = read(path)
    assert documents[1].id == "7" and documents[1].meta == {"by": "me"}
    path = save(tmp_path, path.read_text().replace('[["c", "NN"]]', '["c"]'))
    corpus = tagsift.read(path)
    assert corpus.rows == [[("a",), ("b",)], [("c",)], [("d",)]]
    full = frozenset({"B-X", "O"})
    assert corpus.candidates == [[full, {"O"}], [full], [full]]
    assert (corpus.scheme, corpus.gold) == ("iob2", None)
    wide = tagsift.read(path, scheme="iob1", labels=["O", "B-X", "I-X"])
    assert (wide.label_set.names, wide.scheme) == (("O", "B-X", "I-X"), "iob1")


ANN = '{"text": "a", "layers": [{"annotator": "b"%s}]}'
SPAN = ', "spans": [{"start": 0, "end": 2, "label": "X"}]'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + "{", "expected one JSON object per line"),
        (GOOD + "[1]", "expected a JSON object, found a list"),
        (GOOD + "3", "expected a JSON object, found a whole number"),
        ('{"candidates": []}', "expected 'text' or 'tokens', found candidates"),
        ('{"tokens": "a"}', "tokens: expected a list, found a tex"),
        ('{"tokens": [1]}', "tokens[0]: expected a word or a"),
        ('{"tokens": [[]]}', "a word or a list of columns"),
        ('{"tokens": ["a"], "candidates": []}', "each of the 1 tokens, found 0"),
        ('{"tokens": ["a"], "candidates": [[]]}', "any, found []"),
        ('{"tokens": ["a"], "candidates": [3]}', "candidates[0]: expected one label"),
        ('{"tokens": ["a\\ud800"]}', "half of a character"),
        ('{"tokens": ["a"], "gold": []}', "each of the 1 tokens, found 0"),
        ('{"text": 3}', "text: expected a text, found a whole number"),
        ('{"text": "a", "id": [1]}', "id: expected a name or a number"),
        ('{"text": "a", "layers": [{}]}', "layers[0]: expected 'annotator'"),
        (ANN % "", "expected marks or tags, found neither"),
        (ANN % ', "kind": "x", "spans": []', "layers[0].kind: expected one of person"),
        (ANN % SPAN, "expected spans in the 1 characters of text, found 0:2 of b"),
        (
            '{"text": "ab", "tokens": ["b", "a"], "offsets": [[1, 2], [0, 1]]}',
            "expected offsets of the 2 tokens, in order",
        ),
        ('{"tokens": ["a"], "sentences": [0, 2]}', "in order from 0 to 1"),
    ],
)
def test_refused_files(tmp_path: Path, content: str, message: str) -> None:
    path = save(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read(path, "jsonl")
    assert message in str(caught.value)
    line = 1 + content.startswith(GOOD)
    assert (caught.value.line, caught.value.path) == (line, str(path))


def test_refused_labels(tmp_path: Path) -> None:
    good = save(tmp_path, GOOD)
    with pytest.raises(InputError, match="from the label set, found"):
        tagsift.read(good, labels=["O"])
    bad = save(tmp_path, GOOD.replace("B-X", "NN"))
    with pytest.raises(DataError, match="expected a tag of the scheme iob2"):
        tagsift.read(bad, scheme="iob2")
    for label in ("A|B", "?", " A"):
        odd = save(tmp_path, GOOD.replace("B-X", label))
        with pytest.raises(DataError, match="expected"):
            tagsift.read(odd)
    with pytest.raises(InputError, match="found 'bio'"):
        read(bad, scheme="bio")
    with pytest.raises(InputError, match="misaligned to be one of"):
        read(bad, misaligned="x")
    with pytest.raises(InputError, match="found colour"):
        read(bad, colour="x")
    nothing = save(tmp_path, '{"tokens": ["a"], "candidates": [null]}')
    with pytest.raises(DataError, match=r"--labels \(in Python labels="):
        tagsift.read(nothing)


def test_truth_of_some_documents_is_left_out_and_counted(tmp_path: Path) -> None:
    more = '{"tokens": ["a"], "candidates": ["O"], "gold": ["O"]}'
    losses = Losses()
    corpus = tagsift.read(save(tmp_path, GOOD + more), losses=losses)
    assert corpus.gold is None and "truth" in losses.lines()[0]


def test_what_is_true_of_all_documents(tmp_path: Path) -> None:
    """In a first line, which files may lack and which may be put together."""
    info = CorpusInfo(
        (Annotator("eve", "source", abstains=True), Annotator("zoë")), ("O",), "iobes"
    )
    write([FULL], tmp_path / "a.jsonl", info=info)
    first, second = (tmp_path / "a.jsonl").read_text().splitlines()
    again = read(save(tmp_path, f"{first}\n{second}\n{first}"))
    assert again == [FULL] and again.info == info
    for bad, message in (
        ('{"annotators": [{}]}', "corpus.annotators[0]: expected 'name'"),
        ('{"annotators": [{"name": "a", "kind": 3}]}', "kind: expected one of person"),
        ('{"scheme": "bio"}', "corpus.scheme: expected one of iob1"),
        ('{"labels": [3]}', "corpus.labels[0]: expected a text"),
    ):
        with pytest.raises(DataError) as caught:
            read(save(tmp_path, f'{{"corpus": {bad}}}\n{second}'), "jsonl")
        assert message in str(caught.value) and caught.value.line == 1
