"""Span scores against the rules of the CoNLL scoring script.

The oracle is an independent writing of those rules. It makes one pass over all tokens,
as the script does: it keeps whether a chunk is open on both sides, and never builds a
list of chunks. ``S`` (single) is read as in the script's later versions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from tagsift.metrics import Tally, span_scores

PREFIXES = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


@dataclass
class Script:
    correct: Counter = field(default_factory=Counter)
    gold: Counter = field(default_factory=Counter)
    guessed: Counter = field(default_factory=Counter)

    def totals(self) -> tuple[int, int, int]:
        return self.gold.total(), self.guessed.total(), self.correct.total()


def split(tag: str) -> tuple[str, str]:
    prefix, _, kind = tag.partition("-")
    return prefix, kind


def chunk_ends(before: str, now: str, type_before: str, type_now: str) -> bool:
    if before in ("E", "S"):
        return True
    if before in ("B", "I") and now in ("B", "S", "O"):
        return True
    return before != "O" and type_before != type_now


def chunk_starts(before: str, now: str, type_before: str, type_now: str) -> bool:
    if now in ("B", "S"):
        return True
    if before in ("E", "S", "O") and now in ("E", "I"):
        return True
    return now != "O" and type_before != type_now


def count(gold: list[list[str]], guessed: list[list[str]], raw: bool = False) -> Script:
    """Count chunks as the script does; `raw` is its option for plain tags."""
    counts = Script()
    in_correct = False
    gold_before = guess_before = ("O", "")
    pairs = []
    for true_sentence, guess_sentence in zip(gold, guessed, strict=True):
        pairs += list(zip(true_sentence, guess_sentence, strict=True))
        pairs.append(("O", "O"))  # the blank line between sentences
    for true_tag, guess_tag in pairs:
        if raw:
            true_tag = true_tag if true_tag == "O" else f"B-{true_tag}"
            guess_tag = guess_tag if guess_tag == "O" else f"B-{guess_tag}"
        now_gold, now_guess = split(true_tag), split(guess_tag)
        between_gold = (gold_before[0], now_gold[0], gold_before[1], now_gold[1])
        between_guess = (guess_before[0], now_guess[0], guess_before[1], now_guess[1])
        if in_correct:
            gold_done, guess_done = (
                chunk_ends(*between_gold),
                chunk_ends(*between_guess),
            )
            if gold_done and guess_done and gold_before[1] == guess_before[1]:
                in_correct = False
                counts.correct[gold_before[1]] += 1
            elif gold_done != guess_done or now_gold[1] != now_guess[1]:
                in_correct = False
        gold_new, guess_new = chunk_starts(*between_gold), chunk_starts(*between_guess)
        if gold_new and guess_new and now_gold[1] == now_guess[1]:
            in_correct = True
        counts.gold[now_gold[1]] += gold_new
        counts.guessed[now_guess[1]] += guess_new
        gold_before, guess_before = now_gold, now_guess
    if in_correct:
        counts.correct[gold_before[1]] += 1
    return counts


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


# gold, predicted, scheme, (gold, predicted, correct) worked out by hand, per type.
STORED = [
    pytest.param(
        # I-NP after O opens a chunk all the same: NP[1:2] on both sides.
        "O B-NP O",
        "O I-NP O",
        "iob2",
        {"NP": (1, 1, 1)},
        id="an I after O is a chunk",
    ),
    pytest.param(
        # predicted I-VP after B-NP changes type: NP[0:1], VP[1:2]; gold NP[0:2].
        "B-NP I-NP",
        "B-NP I-VP",
        "iob2",
        {"NP": (1, 1, 0), "VP": (0, 1, 0)},
        id="a change of type ends a chunk",
    ),
    pytest.param(
        # gold NP[0:2] PP[2:3] NP[3:6]; predicted NP[0:2] PP[2:3] NP[3:4] and, as E ends
        # a chunk and the next E opens one, NP[4:5] NP[5:6].
        "B-NP E-NP S-PP B-NP I-NP E-NP",
        "B-NP E-NP S-PP S-NP E-NP E-NP",
        "iobes",
        {"NP": (2, 4, 1), "PP": (1, 1, 1)},
        id="iobes",
    ),
    pytest.param(
        # Tags without a type: gold [0:2] [2:4]; predicted [0:2] [2:3].
        "B I B I O",
        "B I B O O",
        "iob2",
        {"": (2, 2, 1)},
        id="no types",
    ),
    pytest.param(
        # The type is all that follows the first dash.
        "B-A-x I-A-x B-A-y",
        "B-A-x I-A-x B-A-x",
        "iob2",
        {"A-x": (1, 2, 1), "A-y": (1, 0, 0)},
        id="dashes in types",
    ),
]


@pytest.mark.parametrize(("gold", "predicted", "scheme", "expected"), STORED)
def test_hand_worked_counts(gold, predicted, scheme, expected):
    scores = span_scores(words(gold), words(predicted), scheme=scheme)
    assert scores.per_type == {k: Tally(*v) for k, v in sorted(expected.items())}
    counts = count(words(gold), words(predicted))
    assert counts.totals() == tuple(np.sum(list(expected.values()), axis=0))


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes"])
def test_equals_the_rules_on_50_random_files(scheme):
    tags = ["O"] + [f"{p}-{kind}" for p in PREFIXES[scheme] for kind in ("x", "y", "z")]
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 15, size=12)
        gold = [rng.choice(tags, size=size).tolist() for size in sizes]
        predicted = [
            [t if rng.random() < 0.7 else str(rng.choice(tags)) for t in sentence]
            for sentence in gold
        ]
        scores = span_scores(gold, predicted, scheme=scheme)
        script = count(gold, predicted)
        micro = scores.micro
        assert (micro.n_gold, micro.n_predicted, micro.n_correct) == script.totals()
        for kind, score in scores.per_type.items():
            assert score.n_gold == script.gold[kind]
            assert score.n_predicted == script.guessed[kind]
            assert score.n_correct == script.correct[kind]


def test_plain_tags_equal_the_raw_option_of_the_script():
    rng = np.random.default_rng(0)
    for _ in range(50):
        gold = [rng.choice(["NN", "VB", "O", "B-x"], size=9).tolist()]
        predicted = [rng.choice(["NN", "VB", "O", "B-x"], size=9).tolist()]
        micro = span_scores(gold, predicted, scheme="plain").micro
        script = count(gold, predicted, raw=True)
        assert (micro.n_gold, micro.n_predicted, micro.n_correct) == script.totals()
