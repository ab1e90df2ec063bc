"""Small valid inputs, which the cases then damage."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import tagsift
from tagsift.annotators.from_votes import TaggerFromVotes
from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus
from tagsift.registry import estimator
from tests.fuzz.dice import Dice

SENTENCES = (
    (("the", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VBZ", "B-VP")),
    (("a", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("#", "SYM", "O")),
    (("dogs", "NNS", "B-NP"), ("chase", "VBP", "B-VP"), ("cats", "NNS", "B-NP")),
)
LABELS = ("B-NP", "B-VP", "I-NP", "O")
#: Methods whose fit of a dozen tokens takes less than a tenth of a second.
QUICK = ("word-counts", "wknn", "sure", "pl-svm", "partial-crf")
#: Methods that take votes, and who votes.
FROM_VOTES = ("majority", "dawid-skene", "mace", "vote-tagger")
PEOPLE = ("ann", "bob", "eve")


def methods(dice: Dice) -> str:
    """A method, mostly a quick one."""
    if dice.often(0.97):
        return dice.choice(QUICK)
    return dice.choice([method.name for method in tagsift.methods()])


def columns(dice: Dice, kind: str) -> str:
    """A valid column file: gold labels, candidates or votes last."""
    labels = labels_of_a_scheme(dice)
    if dice.often(0.01):
        labels = tuple(f"B-{k}" for k in range(300))
    lines = []
    for _ in range(dice.randint(1, 8)):
        for _ in range(dice.choice((1, 2, 3, 5, 9, 500 if dice.often(0.05) else 4))):
            truth = dice.choice(labels)
            row = [dice.token(), dice.choice(("DT", "NN", "VB", "|"))]
            if kind == "candidates":
                others = dice.sample(labels, min(len(labels), dice.randint(1, 3)))
                row.append("|".join({truth, *others}) if dice.often(0.95) else "?")
            elif kind == "votes":
                row[1:] = [dice.choice((truth, truth, *labels, "?")) for _ in range(3)]
            if kind != "text":
                row += [truth] if kind in ("gold", "votes") else []
            lines.append("\t".join(row))
        lines.append("")
    return "\n".join(lines) + "\n" * dice.randint(0, 2)


def labels_of_a_scheme(dice: Dice) -> tuple[str, ...]:
    """Some labels that go together."""
    kinds = dice.sample(("NP", "VP", "日本", "a-b", "x" * 300, "é", "B"), 2)
    prefixes = dice.choice(("BI", "BI", "BIES", ""))
    names = [f"{prefix}-{kind}" for prefix in prefixes for kind in kinds]
    return ("O", *(names or kinds))


def votes(dice: Dice) -> Corpus:
    """Votes of three annotators, at times sets, odd ones, or none."""
    names = dice.sample(LABELS, dice.randint(1, 4))
    sentences = dice.choices(SENTENCES, k=dice.randint(1, 5))

    def vote() -> Any:
        if dice.often(0.1):
            return dice.choice((None, frozenset(names[:2]), "Z", "", 7, frozenset()))
        return dice.choice(names)

    rows = [[row[:2] for row in sentence] for sentence in sentences]
    given = [[tuple(vote() for _ in range(3)) for _ in row] for row in rows]
    if dice.often(0.1):
        given[0][0] = ()
    people = [Annotator(name, abstains=dice.often(0.2)) for name in PEOPLE]
    scheme = dice.choice(("iob2", "plain", "iobes", "auto"))
    return Corpus.from_lists(rows, votes=given, annotators=people, scheme=scheme)


@functools.cache
def fitted(name: str, folder: Path, width: int = 2) -> Path:
    """A model file of a method for so many columns, fitted once in each process."""
    path = folder / f"{name}-{width}.tagsift"
    kind = estimator(name)
    rows = [[row[:width] for row in sentence] for sentence in SENTENCES * 2]
    truth = [[row[-1] for row in sentence] for sentence in SENTENCES * 2]
    gold: list[Any] = truth
    if not kind.method.exact_only:
        gold = [[{label, "O"} for label in row] for row in truth[:3]] + truth[3:]
    model = kind(**kind._check_params)
    if issubclass(kind, TaggerFromVotes):
        given = [[(label, label, "O") for label in row] for row in truth]
        model.fit(Corpus.from_lists(rows, votes=given, annotators=PEOPLE))
    else:
        model.fit(rows, gold)
    model.save(path)
    return path
