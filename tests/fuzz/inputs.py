"""Small valid inputs, which the cases then damage."""

from __future__ import annotations

import functools
import json
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


def json_lines(dice: Dice) -> list[Any]:
    """Candidates as JSON lines."""
    return [
        {
            "tokens": [row[0] for row in sentence],
            "candidates": [[row[-1]] for row in sentence],
            "gold": [row[-1] for row in sentence],
        }
        for sentence in dice.choices(SENTENCES, k=2)
    ]


def doccano(dice: Dice) -> list[Any]:
    """Spans over characters, in both keys that the tool has used."""
    key = dice.choice(("label", "entities", "labels"))
    spans: list[Any] = [[0, 3, "NP"], [4, 7, "NP"]]
    if key == "entities":
        spans = [{"start_offset": 0, "end_offset": 3, "label": "NP", "id": 1}]
    return [{"id": 1, "text": "the dog barks", key: spans, "relations": []}]


def label_studio(dice: Dice) -> list[Any]:
    """Two annotators of one text."""

    def result(start: int, end: int, name: str) -> dict[str, Any]:
        where = {"start": start, "end": end, "text": "x", "labels": [name]}
        return {
            "type": "labels",
            "value": where,
            "from_name": "label",
            "to_name": "text",
        }

    people = [
        {"completed_by": who, "result": [result(0, 3, "NP"), result(4, 7, "VP")]}
        for who in (1, {"id": 2, "email": "b@c"})
    ]
    task = {"id": 1, "data": {"text": "the dog barks"}, "annotations": people}
    other = {"id": 2, "data": {"text": "dogs bark."}, "annotations": people[:1]}
    return [task, other]


def prodigy(dice: Dice) -> list[Any]:
    """Answers of two annotators, with tokens."""
    words = [("the", 0, 3), ("dog", 4, 7), ("barks", 8, 13)]
    tokens = [
        {"text": word, "start": a, "end": b, "id": n, "ws": n < 2}
        for n, (word, a, b) in enumerate(words)
    ]
    span = {"start": 4, "end": 7, "token_start": 1, "token_end": 1, "label": "NP"}
    task = {
        "text": "the dog barks",
        "_input_hash": 1,
        "tokens": tokens,
        "spans": [span],
    }
    answers = ("accept", "accept", "reject", "ignore")
    return [
        {**task, "_annotator_id": who, "answer": dice.choice(answers), "meta": {"n": 1}}
        for who in ("ann", "bob")
    ]


def argilla(dice: Dice) -> list[Any]:
    """A record with responses and a suggestion, in one of two shapes."""
    spans = [{"start": 4, "end": 7, "label": "NP"}]
    record: dict[str, Any] = {"id": "a", "fields": {"text": "the dog barks"}}
    if dice.often():
        record["responses"] = {"q": [{"value": spans, "user_id": "u"}]}
        record["suggestions"] = {"q": {"value": spans, "score": [0.5], "agent": "m"}}
    else:
        values = {"q": {"value": spans}}
        record["responses"] = [{"user_id": 1, "status": "submitted", "values": values}]
        record["suggestions"] = [{"question_name": "q", "value": spans, "score": 1}]
    return [record]


def llm(dice: Dice) -> list[Any]:
    """Quotes of two models, or of LangExtract."""
    if dice.often():
        said: Any = [{"label": "NP", "quote": "The Dog", "score": 0.5}]
        said = dice.choice((said, {"NP": ["dog"]}, f"So:\n```json\n{json.dumps(said)}"))
        return [{"id": 1, "text": "the dog barks", "models": {"a": said, "b": []}}]
    one = {"extraction_class": "NP", "extraction_text": "dog"}
    where = dice.choice((None, {"start_pos": 4, "end_pos": 7}))
    found = [{**one, "char_interval": where, "attributes": None}]
    return [{"document_id": "d", "text": "the dog barks", "extractions": found}]


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


def write_lines(path: Path, records: list[Any], dice: Dice) -> Path:
    """Write JSON lines, the texts as `Dice.json_text` writes them."""
    text = "\n".join(dice.json_text(record) for record in records)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def write_json(path: Path, value: Any, dice: Dice) -> Path:
    """Write one JSON value."""
    path.write_bytes(dice.json_text(value).encode("utf-8", "surrogatepass"))
    return path
