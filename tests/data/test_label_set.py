"""Label sets: order, positions, masks, and what they refuse."""

from __future__ import annotations

import pytest

from tagsift.data import LabelSet
from tagsift.errors import InputError


def test_order_is_kept_and_union_sorts() -> None:
    labels = LabelSet(("O", "B-NP", "I-NP"))
    assert list(labels) == ["O", "B-NP", "I-NP"]
    assert [labels.index(name) for name in labels] == [0, 1, 2]
    assert len(labels) == 3
    assert "B-NP" in labels
    assert "B-VP" not in labels
    union = LabelSet.union([["O", "I-NP"], {"B-NP"}])
    assert union.names == ("B-NP", "I-NP", "O")


def test_mask_and_encode() -> None:
    labels = LabelSet(("B", "I", "O"))
    mask = labels.mask([{"O", "B"}, "I", labels.full])
    assert mask.tolist() == [[True, False, True], [False, True, False], [True] * 3]
    assert labels.encode(["O", "B"]).tolist() == [2, 0]
    assert labels.mask([]).shape == (0, 3)
    assert labels.encode([]).shape == (0,)


def test_equal_sets_are_equal() -> None:
    first, second = LabelSet(("B", "O")), LabelSet(("B", "O"))
    assert first.full == {"B", "O"}  # fills a cache, which is no part of equality
    assert first == second
    assert hash(first) == hash(second)
    assert first != LabelSet(("O", "B"))


@pytest.mark.parametrize(
    ("names", "message"),
    [((), "at least one label"), (("B", "O", "B"), "'B' stands twice")],
)
def test_refused_sets(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LabelSet(names)


def test_unknown_labels_and_empty_candidates_are_named() -> None:
    labels = LabelSet(("B", "O"))
    with pytest.raises(InputError, match=r"found 'X'"):
        labels.index("X")
    with pytest.raises(InputError, match=r"token 1: expected one of the 2 labels"):
        labels.encode(["B", "X"])
    with pytest.raises(InputError, match=r"token 1: .*found 'X'"):
        labels.mask(["B", {"B", "X"}])
    with pytest.raises(InputError, match=r"token 0: the candidate set is empty"):
        labels.mask([set()])
