"""Label Studio's JSON export: the votes of several annotators, a `VoteCorpus`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tagsift.data.columns import PathName, decode_line, open_bytes
from tagsift.data.formats import _marks as chars
from tagsift.data.formats._json_old import parse_json
from tagsift.data.schemes import check_scheme, spans
from tagsift.data.votes import Vote, VoteCorpus
from tagsift.errors import DataError, InputError
from tagsift.storage import atomic_write

__all__ = ["read_label_studio", "write_label_studio"]


def read_label_studio(
    path: PathName,
    *,
    scheme: str = "iob2",
    tokenize: chars.Tokenizer = "words",
    text: str = "text",
) -> VoteCorpus:
    """Read Label Studio's JSON export, with all its annotators.

    Parameters
    ----------
    path : path-like
        The file: a list of tasks with ``data`` and ``annotations``. Cancelled
        annotations are left out; of several by one annotator the last one counts.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        How the labels shall be written.
    tokenize : {"words", "spaces"} or callable
        How to cut the text; see `read_doccano`.
    text : str
        The key of the text in ``data``.

    Returns
    -------
    VoteCorpus
        Where an annotator did not do a task, the votes are None. Annotations marked as
        ground truth are no votes; they are ``gold`` if every task has one.
    """
    check_scheme(scheme)
    rows, labelled, gold = [], [], []
    for number, task in enumerate(_tasks(path)):
        try:
            words = task["data"][text]
            offsets = chars.cut(words, tokenize)
            votes: dict[str, list[str]] = {}
            truth = None
            for annotation in task["annotations"]:
                if annotation.get("was_cancelled"):
                    continue
                labels = chars.labels_under(
                    words, _studio_marks(annotation), offsets, scheme
                )
                if annotation.get("ground_truth"):
                    truth = labels
                else:
                    votes[_annotator(annotation)] = labels
        except chars.MarkError as error:
            raise DataError(f"task {number}: {error}", path) from None
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"task {number}: expected 'data' with {text!r} and 'annotations', each "
                f"with 'completed_by' and 'result', found something else ({error}).",
                path,
            ) from None
        rows.append(list(chars.rows_of(words, offsets)))
        labelled.append(votes)
        if truth is not None:
            gold.append(truth)
    names = tuple(sorted({name for votes in labelled for name in votes}))
    if not names:
        raise DataError("expected at least one annotation, found none.", path)
    entries: list[list[Vote]] = [
        [
            tuple(votes[name][token] if name in votes else None for name in names)
            for token in range(len(sentence))
        ]
        for sentence, votes in zip(rows, labelled, strict=True)
    ]
    complete = gold if len(gold) == len(rows) else None
    return VoteCorpus(rows, entries, names, complete, scheme)


def write_label_studio(path: PathName, corpus: VoteCorpus) -> None:
    """Write votes as Label Studio's JSON, tokens joined by spaces.

    Parameters
    ----------
    path : path-like
        The file, written whole or not at all.
    corpus : VoteCorpus
        An annotator must have labelled all tokens of a sentence or none. Gold labels
        are written as ground truth.
    """
    tasks = []
    for number, (tokens, votes) in enumerate(
        zip(corpus.tokens, corpus.votes, strict=True)
    ):
        annotations = []
        for i, name in enumerate(corpus.annotators):
            labels = [entry[i] for entry in votes]
            given = [label for label in labels if isinstance(label, str)]
            if not given:
                continue
            if len(given) != len(labels):
                raise InputError(
                    f"sentence {number}: expected annotator {name!r} to have labelled "
                    f"all {len(labels)} tokens or none, found {len(given)}."
                )
            annotations.append(
                {"completed_by": {"email": name}, **_result(tokens, given, corpus)}
            )
        if corpus.gold is not None:
            annotations.append(
                {"ground_truth": True, **_result(tokens, corpus.gold[number], corpus)}
            )
        tasks.append(
            {
                "id": number + 1,
                "data": {"text": " ".join(tokens)},
                "annotations": annotations,
            }
        )
    with atomic_write(path) as stream:
        json.dump(tasks, stream, ensure_ascii=False, indent=1)


def _studio_marks(annotation: dict[str, Any]) -> list[chars.Mark]:
    marks = []
    for result in annotation["result"]:
        if result.get("type") != "labels":
            continue
        value = result["value"]
        if len(value["labels"]) != 1:
            raise chars.MarkError(
                f"expected one label per span, found {value['labels']!r}; an annotator "
                "gives one label."
            )
        marks.append(chars.mark(value["start"], value["end"], value["labels"][0]))
    return marks


def _annotator(annotation: dict[str, Any]) -> str:
    person = annotation["completed_by"]
    if isinstance(person, dict):
        person = person.get("email", person.get("id"))
    return str(person)


def _result(
    tokens: Sequence[str], labels: Sequence[str], corpus: VoteCorpus
) -> dict[str, Any]:
    text = " ".join(tokens)
    return {
        "result": [
            {
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {
                    "start": mark.start,
                    "end": mark.end,
                    "text": text[mark.start : mark.end],
                    "labels": [mark.type],
                },
            }
            for mark in chars.marks_of(tokens, spans(labels, corpus.scheme))
        ]
    }


def _tasks(path: PathName) -> list[Any]:
    with open_bytes(path) as stream:
        lines = [decode_line(raw, path, n) for n, raw in enumerate(stream, 1)]
    tasks = parse_json("\n".join(lines), path)
    if not isinstance(tasks, list) or not tasks:
        raise DataError(
            "expected a list of tasks, found something else; export as JSON.", path
        )
    return tasks
