"""WRENCH's JSON, and votes in long form, of crowd-kit too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer
from tagsift.data.exchange import corpus_of
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import OnTokens
from tagsift.errors import DataError, InputError
from tagsift.io.formats import Options, detect, read_documents, write_documents

WRENCH: dict[str, Any] = {
    "0": {
        "label": ["B-PER", "O"],
        "data": {"text": ["Ann", "left"], "url": "x"},
        "weak_labels": [["B-PER", "O"], ["O", "O"]],
        "split": 1,
    },
    "7": {
        "label": ["O"],
        "data": {"text": ["🦉"]},
        "weak_labels": [["O", -1]],
    },
}


def read(path: Path, name: str | None = None, **told: Any) -> list[Document]:
    return list(read_documents(path, name, Options(**told)))


def save(folder: Path, content: Any, name: str = "train.json") -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(text.encode())
    return path


def test_wrench(tmp_path: Path) -> None:
    path = save(tmp_path, WRENCH)
    assert detect(path).name == "wrench"
    docs = read(path)
    assert [one.id for one in docs] == ["0", "7"]
    kinds = [[(x.annotator, x.kind) for x in one.layers] for one in docs]
    gold = ("gold", "gold")
    assert kinds == [
        [("lf0", "rule"), ("lf1", "rule"), gold],
        [("lf0", "rule"), gold],
    ]
    corpus = corpus_of(docs, OnTokens())
    assert all(one.abstains for one in corpus.annotators)
    assert corpus.gold == [["B-PER", "O"], ["O"]]
    options = Options(losses=Losses(strict=True))
    write_documents(docs, tmp_path / "b.json", "wrench", options)
    assert json.loads((tmp_path / "b.json").read_text()) == WRENCH


def test_wrench_with_names_beside_the_file(tmp_path: Path) -> None:
    numbered = json.loads(json.dumps(WRENCH))
    numbered["0"]["label"], numbered["0"]["weak_labels"] = [1, 0], [[1, 0], [0, -1]]
    path = save(tmp_path, numbered)
    with pytest.raises(DataError, match=r"0\.weak_labels\[0\].*--labels"):
        read(path)
    told = read(path, labels=["O", "B-PER"])
    assert told[0].layers[1].tags == ("O", None)
    about = {"entity_types": ["PER"], "lf": ["rules", "words"], "num_lf": 2}
    save(tmp_path, about, "meta.json")
    docs = read(path)
    assert [x.annotator for x in docs[0].layers] == ["rules", "words", "gold"]
    assert docs[0].layers[0].tags == ("B-PER", "O")
    elsewhere = tmp_path / "b"
    elsewhere.mkdir()
    write_documents(docs, elsewhere / "b.json", "wrench")
    assert read(elsewhere / "b.json") == docs


def test_wrench_counts_what_it_cannot_hold(tmp_path: Path) -> None:
    losses = Losses()
    document = Document(
        "1",
        "Ann left",
        (("Ann",), ("left",)),
        ((0, 3), (4, 8)),
        (0, 2),
        (
            Layer("ann", marks=()),
            Layer("bob", tags=(frozenset({"O", "B-X"}), None), scores=(0.5, None)),
        ),
    )
    options = Options(losses=losses)
    write_documents([document, document], tmp_path / "a.json", "wrench", options)
    assert len(losses.counts) == 5
    assert [one.id for one in read(tmp_path / "a.json")] == ["1", "1~2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected '{'"),
        ('{"0": {}', "expected 'data'"),
        ('{"0": 1}', "0: expected a JSON object"),
        ('{"0" {}}', "expected ':'"),
        ('{0: {}}', "no JSON|in quotation marks"),
        ('{"0": {"data": {"text": "a b"}}}', "classified"),
        ('{"0": {"data": {"text": [1]}}}', r"data\.text\[0\]"),
        ('{"0": {"data": {"text": ["a"]}, "label": ["O", "O"]}}', "each of the 1"),
        ('{"0": {"data": {"text": ["a"]}, "weak_labels": [[], []]}}', "one label a"),
        ('{"0": {"data": {"text": ["a"]}}} x', "nothing after"),
        ('{"0": {"data": {"text": ["a"]}},', "no JSON|expected"),
    ],
)  # fmt: skip
def test_bad_wrench(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(save(tmp_path, content), "wrench")


LONG = """\
document,token,word,annotator,label
d1,0,Ann,eve,B-PER
d2,0,left,eve,O
d1,1,Lee,eve,I-PER
d1,10,.,,
d1,2,"said, ""no"" ",bob,O
d1,0,Ann,bob,B-PER
d1,0,Ann,bob,B-ORG
d2,0,left,zoe,?
"""


def test_votes_in_any_order(tmp_path: Path) -> None:
    path = save(tmp_path, LONG, "a.csv")
    assert detect(path).name == "votes-csv"
    one, two = read(path)
    assert (one.id, one.tokens) == ("d1", ("Ann", "Lee", 'said, "no" ', "."))
    both = frozenset({"B-PER", "B-ORG"})
    assert {x.annotator: x.tags for x in one.layers} == {
        "eve": ("B-PER", "I-PER", None, None),
        "bob": (both, None, "O", None),
    }
    assert {x.annotator: x.tags for x in two.layers} == {"eve": ("O",), "zoe": (None,)}
    options = Options(losses=Losses(strict=True))
    write_documents([one, two], tmp_path / "b.tsv", "votes-csv", options)
    assert read(tmp_path / "b.tsv") == [one, two]
    assert "\t" in (tmp_path / "b.tsv").read_text().split("\n")[0]


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_crowd_kit(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    aggregation = pytest.importorskip("crowdkit.aggregation")
    frame = pandas.DataFrame(
        [("t1", "w1", "cat"), ("t2", "w1", "dog"), ("t1", "w2", "cat"),
         ("t1", "w3", "dog"), ("t2", "w3", "dog")],
        columns=["task", "worker", "label"],
    )  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False)
    docs = read(tmp_path / "a.csv")
    corpus = corpus_of(docs, OnTokens(scheme="plain"))
    assert corpus[0].votes == {"w1": ["cat"], "w2": ["cat"], "w3": ["dog"]}
    assert corpus[1].votes == {"w1": ["dog"], "w3": ["dog"]}
    options = Options(shape="crowd-kit")
    write_documents(docs, tmp_path / "b.csv", "votes-csv", options)
    again = pandas.read_csv(tmp_path / "b.csv")
    fitted = aggregation.MajorityVote().fit_predict(again)
    assert fitted.to_dict() == {"t1:0": "cat", "t2:0": "dog"}


@pytest.mark.parametrize(
    ("content", "told", "message"),
    [
        ("document,token,label\n", {}, "named 'annotator'"),
        ("document,annotator,label\n", {}, "at least one vote"),
        ("a,b,c\n1,x,O\n", {"columns": "task,worker"}, "as many as were named"),
        ("task,worker,label\n1,x,a||b\n", {}, "an empty one"),
        ("task,worker,label,kind\n1,x,a,dog\n", {}, "expected a kind"),
        ("task,worker,label,score\n1,x,a,nan\n", {}, "expected a score"),
    ],
)
def test_bad_votes(
    tmp_path: Path, content: str, told: dict[str, Any], message: str
) -> None:
    path = save(tmp_path, content, "a.csv")
    with pytest.raises(DataError, match=message):
        read(path, "votes-csv", **told)
    with pytest.raises(InputError, match="expected shape"):
        write_documents([], tmp_path / "b.csv", "votes-csv", Options(shape="x"))


def test_columns_are_named(tmp_path: Path) -> None:
    path = save(tmp_path, "a,b,c\n1,x,O\n", "a.csv")
    (one,) = read(path, "votes-csv", columns="task,worker,label")
    assert one.id == "1" and one.layers == (Layer("x", tags=("O",)),)
