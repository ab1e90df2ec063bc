"""Spans become tags and back; layers become votes, candidates and labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Cut, Document, Layer, Mark
from tagsift.data.exchange import corpus_of
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import (
    OnTokens,
    layer_marks,
    layer_tags,
    with_labels,
)
from tagsift.errors import DataError, InputError

TEXT = "Ann lives in New York. Bob too."
WORDS = ("Ann", "lives", "in", "New", "York", ".", "Bob", "too", ".")
OFFSETS = (
    (0, 3), (4, 9), (10, 12), (13, 16), (17, 21), (21, 22), (23, 26), (27, 30),
    (30, 31),
)  # fmt: skip
DOCUMENT = Document("d", TEXT, tuple((w,) for w in WORDS), OFFSETS, (0, 6, 9))


def tagged(*marks: Mark, **how: Any) -> tuple[list[Any], Losses]:
    losses = Losses()
    layer = Layer("ann", marks=marks)
    return layer_tags(DOCUMENT, layer, OnTokens(losses=losses, **how)), losses


@pytest.mark.parametrize(
    ("scheme", "found"),
    [
        ("auto", ["B-P", "O", "O", "B-L", "I-L", "O", "O", "O", "O"]),
        ("iob1", ["I-P", "O", "O", "I-L", "I-L", "O", "O", "O", "O"]),
        ("iobes", ["S-P", "O", "O", "B-L", "E-L", "O", "O", "O", "O"]),
    ],
)
def test_spans_on_tokens(scheme: str, found: list[str]) -> None:
    tags, losses = tagged(Mark(0, 3, ("P",)), Mark(13, 21, ("L",)), scheme=scheme)
    assert tags == found and not losses.counts


def test_labels_of_spans_that_are_tags_are_counted() -> None:
    tags, losses = tagged(Mark(0, 3, ("B-PER",)), Mark(13, 16, ("LOC",)))
    assert tags[0] == "B-B-PER"
    kind = "span whose label is a tag, taken for the name of a type"
    assert losses.cases == {kind: ["d, ann, B-PER"]}


def test_neighbours_of_one_type_stay_apart() -> None:
    marks = Mark(13, 16, ("L",)), Mark(17, 21, ("L",))
    assert tagged(*marks, scheme="iob1")[0][3:5] == ["I-L", "B-L"]
    assert tagged(*marks, scheme="iob2")[0][3:5] == ["B-L", "B-L"]


@pytest.mark.parametrize(
    ("how", "places"), [("expand", [3, 4]), ("contract", [4]), ("drop", [])]
)
def test_spans_off_the_tokens(how: str, places: list[int]) -> None:
    tags, losses = tagged(Mark(14, 21, ("L",)), misaligned=how)
    assert [t for t, tag in enumerate(tags) if tag != "O"] == places
    assert sum(losses.counts.values()) == 1
    with pytest.raises(DataError, match="--misaligned"):
        tagged(Mark(14, 21, ("L",)), misaligned="error")
    assert tagged(Mark(3, 4, ("L",)))[1].lines() == [
        "1 time: span over no token, left out (first: d, ann, 3:4)"
    ]


@pytest.mark.parametrize(
    ("how", "found"),
    [("longest", ["O", "B-B", "I-B", "I-B"]), ("first", ["B-A", "I-A", "O", "O"])],
)
def test_spans_that_overlap(how: str, found: list[str]) -> None:
    marks = Mark(0, 9, ("A",)), Mark(4, 16, ("B",))
    tags, losses = tagged(*marks, overlap=how)
    assert tags[:4] == found and sum(losses.counts.values()) == 1
    with pytest.raises(DataError, match="do not overlap"):
        tagged(*marks, overlap="error")


@pytest.mark.parametrize(
    ("how", "places"), [("longest", [3, 4]), ("first", [0]), ("error", None)]
)
def test_spans_in_pieces(how: str, places: list[int] | None) -> None:
    mark = Mark(0, 21, ("A",), pieces=((0, 3), (13, 21)))
    if places is None:
        with pytest.raises(DataError, match="in one piece"):
            tagged(mark, overlap=how)
        return
    tags, losses = tagged(mark, overlap=how)
    assert [t for t, tag in enumerate(tags) if tag != "O"] == places
    assert sum(losses.counts.values()) == 1


def test_two_labels_of_one_span_are_candidates() -> None:
    both = [frozenset({"B-A", "B-B"})]
    assert tagged(Mark(0, 3, ("A", "B")))[0][:1] == both
    tags, losses = tagged(Mark(0, 3, ("A",)), Mark(0, 3, ("B",)))
    assert tags[:1] == both and not losses.counts


def test_a_span_over_the_end_of_a_sentence_is_cut_there() -> None:
    tags, _ = tagged(Mark(17, 26, ("A",)))
    assert tags[4:7] == ["B-A", "I-A", "B-A"]


spans_of_tokens = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 3), st.sampled_from("ABC")), max_size=6
)


@given(spans_of_tokens, st.sampled_from(["iob1", "iob2", "iobes"]))
def test_there_and_back(found: list[tuple[int, int, str]], scheme: str) -> None:
    """Spans inside sentences that do not overlap survive as tags of any scheme."""
    marks, end = [], 0
    for first, size, label in sorted(found):
        last = first + size
        if first >= end and last <= 9 and (last <= 6 or first >= 6):
            marks.append(Mark(OFFSETS[first][0], OFFSETS[last - 1][1], (label,)))
            end = last
    how = OnTokens(scheme, losses=Losses(strict=True))
    tags = layer_tags(DOCUMENT, Layer("a", marks=tuple(marks)), how)
    layer = Layer("a", tags=tuple(tags), scheme=scheme)
    assert layer_marks(DOCUMENT, layer, Losses(strict=True)) == tuple(marks)


def test_spans_of_tags_with_scores_and_candidates() -> None:
    both = frozenset({"B-A", "B-B"})
    layer = Layer(
        "m", tags=(both, None, "O", "B-L", "I-L", *"OOOO"), scheme="iob2",
        scores=(0.5, None, None, 0.9, 0.8, None, None, None, None),
    )  # fmt: skip
    losses = Losses()
    assert layer_marks(DOCUMENT, layer, losses) == (
        Mark(0, 3, ("A", "B"), 0.5),
        Mark(13, 21, ("L",), 0.8),
    )
    assert sum(losses.counts.values()) == 1  # the token without a label


def test_layers_become_votes() -> None:
    layers = (
        Layer("ann", marks=(Mark(0, 3, ("P",)),)),
        Layer("lf", "rule", tags=("B-P", *"OOOOOOOO")),
        Layer("gold", "gold", marks=(Mark(0, 3, ("P",)),)),
        Layer("exact", "exact", tags=("B-P", *[None] * 8)),
    )
    document = replace(DOCUMENT, layers=layers)
    other = replace(DOCUMENT, id="e", layers=(*layers[2:3], Layer("bob", marks=())))
    votes = corpus_of([document, other], OnTokens())
    assert votes.annotators == (
        Annotator("ann", "person"),
        Annotator("lf", "source", abstains=True),
        Annotator("bob", "person"),
    )
    assert len(votes) == 4
    assert {name: row[0] for name, row in votes[0].votes.items()} == {
        "ann": "B-P",
        "lf": "B-P",
    }
    assert votes[2].votes == {"bob": ["O"] * 6}
    assert votes.gold is not None and votes.gold[0][0] == "B-P"
    assert votes.exact is not None and votes.exact[0][:2] == ["B-P", None]
    with pytest.raises(DataError, match="found none"):
        corpus_of([DOCUMENT], OnTokens())


def test_layers_become_candidates() -> None:
    layer = Layer("candidates", tags=(frozenset({"B-P", "O"}), None, *"OOOOOOO"))
    documents = [replace(DOCUMENT, layers=(layer,))]
    partial = corpus_of(documents, OnTokens())
    assert partial.candidates[0][:3] == [{"B-P", "O"}, {"B-P", "O"}, {"O"}]
    assert partial.annotators == ()
    wide = corpus_of(documents, OnTokens(), labels=["O", "B-P", "I-P"])
    assert wide.candidates[0][1] == {"O", "B-P", "I-P"}


def test_labels_go_back_to_their_documents() -> None:
    labels = [["O"] * 6, ["B-P", "O", "O"]]
    sure = [[0.5] * 6, [0.9, 1.0, 1.0]]
    (found,) = with_labels([DOCUMENT], labels, "iob2", confidences=sure)
    layer = found.layers[-1]
    assert layer.tags == ("O",) * 6 + ("B-P", "O", "O")
    assert layer.scores == (0.5,) * 6 + (0.9, 1.0, 1.0)
    assert (layer.annotator, layer.kind) == ("tagsift", "model")


def test_documents() -> None:
    with pytest.raises(InputError, match="expected text or tokens"):
        Document("x")
    with pytest.raises(InputError, match="found neither"):
        Layer("x")
    with pytest.raises(InputError, match="found both"):
        Layer("x", marks=(), tags=())
    bare = Document("x", rows=DOCUMENT.rows, sentences=(0, 6, 9)).with_text()
    assert bare.text == "Ann lives in New York .\nBob too ."
    assert bare.offsets is not None
    assert tuple(bare.text[a:b] for a, b in bare.offsets) == WORDS
    cut = Document("x", "a b").cut(lambda text: Cut(((0, 1), (2, 3)), (0, 1, 2)))
    assert cut.tokens == ("a", "b") and cut.bounds() == [(0, 1), (1, 2)]
    found = replace(DOCUMENT, offsets=None).aligned()
    assert found.offsets == OFFSETS


def test_losses() -> None:
    losses = Losses()
    for number in range(30):
        losses.note("thing, left out", f"d{number}")
    assert losses.lines() == ["30 times: thing, left out (first: d0)"]
    assert len(losses.cases["thing, left out"]) < 30
    with pytest.raises(DataError, match="d: thing; --strict forbids it"):
        Losses(strict=True).note("thing", "d")
