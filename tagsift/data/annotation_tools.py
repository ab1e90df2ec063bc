"""Exports of annotation tools: chunks as character spans of a running text.

Two forms are read and written: doccano's JSON lines (one labelling of each text, a
`Corpus`) and Label Studio's JSON (several annotators, a `VoteCorpus`). The text is cut
into tokens here, and a token belongs to a span that covers any of its characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from tagsift.data.columns import PathName, decode_line, open_bytes
from tagsift.data.exchange import iter_json_lines, parse_json, write_json_lines
from tagsift.data.rows import Row
from tagsift.data.schemes import Span, check_scheme, spans, tags
from tagsift.data.sentence import Corpus, Sentence
from tagsift.data.votes import Vote, VoteCorpus
from tagsift.errors import DataError, InputError
from tagsift.storage import atomic_write

__all__ = [
    "read_doccano",
    "read_label_studio",
    "write_doccano",
    "write_label_studio",
]

#: How text is cut: by name, or a function from a text to (start, end) pairs.
Tokenizer: TypeAlias = str | Callable[[str], Sequence[tuple[int, int]]]
_PATTERNS = {"words": re.compile(r"\w+|[^\w\s]"), "spaces": re.compile(r"\S+")}


class _Mark(NamedTuple):
    """A labelled stretch of characters, end exclusive."""

    start: int
    end: int
    type: str


def read_doccano(
    path: PathName, *, scheme: str = "iob2", tokenize: Tokenizer = "words"
) -> Corpus:
    """Read doccano's JSON lines.

    Parameters
    ----------
    path : path-like
        The file: objects with ``text`` and ``label`` (or ``labels``), a list of
        ``[start, end, type]``, or ``entities``, a list of objects with
        ``start_offset``, ``end_offset`` and ``label``.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        How the labels of the corpus shall be written.
    tokenize : {"words", "spaces"} or callable
        Cut the text into words and punctuation, at white space, or by a function that
        returns the (start, end) of every token.

    Returns
    -------
    Corpus
        One sentence per text.
    """
    check_scheme(scheme)
    sentences = []
    for line, record in iter_json_lines(path):
        text = record.get("text")
        if not isinstance(text, str):
            raise DataError(f"expected 'text', found {_keys(record)}.", path, line)
        offsets = _cut(text, tokenize)
        try:
            labels = _labels(text, _doccano_marks(record), offsets, scheme)
        except _MarkError as error:
            raise DataError(str(error), path, line) from None
        sentences.append(Sentence(_rows(text, offsets), tuple(labels)))
    return Corpus(tuple(sentences), scheme)


def write_doccano(path: PathName, corpus: Corpus) -> None:
    """Write a corpus as doccano's JSON lines, tokens joined by spaces.

    Parameters
    ----------
    path : path-like
        The file, written whole or not at all.
    corpus : Corpus
        Read back with ``tokenize="spaces"``, tokens without white space and their
        chunks come back; other columns are not kept.
    """
    write_json_lines(
        path,
        (
            {
                "text": " ".join(tokens),
                "label": [[m.start, m.end, m.type] for m in _marks(tokens, chunks)],
            }
            for tokens, chunks in zip(
                corpus.tokens,
                (spans(labels, corpus.scheme) for labels in corpus.labels),
                strict=True,
            )
        ),
    )


def read_label_studio(
    path: PathName,
    *,
    scheme: str = "iob2",
    tokenize: Tokenizer = "words",
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
            offsets = _cut(words, tokenize)
            votes: dict[str, list[str]] = {}
            truth = None
            for annotation in task["annotations"]:
                if annotation.get("was_cancelled"):
                    continue
                labels = _labels(words, _studio_marks(annotation), offsets, scheme)
                if annotation.get("ground_truth"):
                    truth = labels
                else:
                    votes[_annotator(annotation)] = labels
        except _MarkError as error:
            raise DataError(f"task {number}: {error}", path) from None
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"task {number}: expected 'data' with {text!r} and 'annotations', each "
                f"with 'completed_by' and 'result', found something else ({error}).",
                path,
            ) from None
        rows.append(list(_rows(words, offsets)))
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


class _MarkError(ValueError):
    """What is wrong with a span; the caller knows where."""


def _cut(text: str, tokenize: Tokenizer) -> list[tuple[int, int]]:
    if not isinstance(tokenize, str):
        return list(tokenize(text))
    if tokenize not in _PATTERNS:
        raise InputError(
            f"expected tokenize to be one of {', '.join(_PATTERNS)} or a function, "
            f"found {tokenize!r}."
        )
    return [match.span() for match in _PATTERNS[tokenize].finditer(text)]


def _rows(text: str, offsets: list[tuple[int, int]]) -> tuple[Row, ...]:
    return tuple((text[start:end],) for start, end in offsets)


def _labels(
    text: str, marks: list[_Mark], offsets: list[tuple[int, int]], scheme: str
) -> list[str]:
    """Tags of tokens under character spans."""
    owner: list[_Mark | None] = [None] * len(offsets)
    chunks = []
    for mark in sorted(marks):
        covered = [
            i for i, (a, b) in enumerate(offsets) if a < mark.end and mark.start < b
        ]
        if not (0 <= mark.start < mark.end <= len(text) and covered):
            raise _MarkError(
                f"expected a span over at least one token of the {len(text)} "
                f"characters, found {mark.type!r} at {mark.start}:{mark.end}."
            )
        for i in covered:
            other = owner[i]
            if other is not None:
                raise _MarkError(
                    f"expected spans that do not overlap, found {other.type!r} at "
                    f"{other.start}:{other.end} and {mark.type!r} at "
                    f"{mark.start}:{mark.end}."
                )
            owner[i] = mark
        if scheme == "plain":
            chunks += [Span(mark.type, i, i + 1) for i in covered]
        else:
            chunks.append(Span(mark.type, covered[0], covered[-1] + 1))
    return tags(chunks, len(offsets), scheme)


def _marks(tokens: Sequence[str], chunks: Sequence[Span]) -> Iterator[_Mark]:
    """Character spans of chunks in the tokens joined by spaces."""
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    for chunk in chunks:
        yield _Mark(starts[chunk.start], starts[chunk.end] - 1, chunk.type)


def _mark(start: object, end: object, type_: object) -> _Mark:
    if (
        isinstance(start, int)
        and isinstance(end, int)
        and isinstance(type_, str)
        and type_
        and "|" not in type_
    ):
        return _Mark(start, end, type_)
    raise _MarkError(
        "expected a span of two numbers and a type without '|', found "
        f"{[start, end, type_]!r}."
    )


def _doccano_marks(record: dict[str, Any]) -> list[_Mark]:
    key = next((k for k in ("entities", "label", "labels") if k in record), "label")
    found = record.get(key)
    if found is None and key == "entities":
        found = []
    if not isinstance(found, list):
        have = type(found).__name__ if key in record else _keys(record)
        raise _MarkError(f"expected {key!r} with a list, found {have}.")
    fields = ("start_offset", "end_offset", "label")
    marks = []
    for entry in found:
        if isinstance(entry, dict):
            entry = [entry.get(name) for name in fields]
        fits = isinstance(entry, list) and len(entry) == 3
        marks.append(_mark(*entry) if fits else _mark(None, None, entry))
    return marks


def _studio_marks(annotation: dict[str, Any]) -> list[_Mark]:
    marks = []
    for result in annotation["result"]:
        if result.get("type") != "labels":
            continue
        value = result["value"]
        if len(value["labels"]) != 1:
            raise _MarkError(
                f"expected one label per span, found {value['labels']!r}; an annotator "
                "gives one label."
            )
        marks.append(_mark(value["start"], value["end"], value["labels"][0]))
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
            for mark in _marks(tokens, spans(labels, corpus.scheme))
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


def _keys(record: dict[str, Any]) -> str:
    return f"the keys {sorted(record)}"
