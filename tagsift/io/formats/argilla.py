"""Argilla's records: responses of people, and a suggestion of a model.

Both shapes are read: of version 2, with the questions as keys, and the older lists.
Responses that were discarded or are drafts are kept, counted, and written back; so are
the answers to questions about other things than spans. The truth is a response whose
``kind`` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tagsift.data.documents import Document, Kind, Layer
from tagsift.io.column_file import PathName
from tagsift.io.formats import _spans
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records, write_array
from tagsift.io.formats._layers import MODELS, only_layer
from tagsift.io.formats._spans import Counted, as_own, own, without

__all__ = ["FORMAT"]

_NAME = "argilla"
_QUESTION = "spans"
_OPEN = ("discarded", "draft", "missing", "pending")
_KEYS = ("id", "external_id", "fields", "metadata", "responses", "suggestions")


def _read_argilla(path: PathName, options: Options) -> Iterator[Document]:
    for number, (place, record) in enumerate(iter_records(path), 1):
        yield _argilla_document(record, place, options, str(number))


def _argilla_document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    fields = place.need(record, "fields", dict)
    key = _field(fields, options, place.at("fields"))
    counted = Counted.of(fields[key], options)
    layers, others = [], dict[str, Any]()
    for side in ("responses", "suggestions"):
        rest: list[Any] = []
        for question, answer, here in _answers(record.get(side), place.at(side)):
            spans = _are_spans(answer.get("value"))
            if not spans or options.spans_key not in (None, question):
                rest.append([question, answer])
            elif side == "responses" and answer.get("status") in _OPEN:
                what = f"response {answer['status']}, no vote"
                options.losses.note(what, here.path, lost=False)
                rest.append([question, answer])
            else:
                kind: Kind = "person" if side == "responses" else "model"
                layers.append(_argilla_layer(question, answer, kind, counted, here))
        if rest:
            others[side] = rest
    outer = record.get("external_id") is not None
    more = without(record, *_KEYS)
    more |= {"id": record["id"]} if outer and "id" in record else {}
    parts = ("others", others), ("fields", without(fields, key))
    more |= {name: part for name, part in parts if part}
    more |= {"text_key": key} if key != "text" else {}
    return Document(
        place.identity(record, "external_id" if outer else "id", number),
        fields[key],
        layers=tuple(layers),
        meta=dict(place.take(record, "metadata", dict, {})) | as_own(_NAME, more),
    )


def _field(fields: dict[str, Any], options: Options, place: Place) -> str:
    if options.text_key is not None:
        place.need(fields, options.text_key, str)
        return options.text_key
    texts = [key for key, value in fields.items() if isinstance(value, str)]
    if len(texts) == 1 or "text" in texts:
        return "text" if "text" in texts else texts[0]
    names = ", ".join(texts)[:200] or "none"
    raise place.error(f"expected one field with text, found {names}; say --text-key.")


def _answers(sides: Any, place: Place) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """Questions, and what was answered; each answer has a ``value``."""
    if isinstance(sides, dict):  # by question: a list of responses, one suggestion
        for question, answers in sides.items():
            here = place.at(str(question)[:80])
            listed = answers if isinstance(answers, list) else [answers]
            for there, answer in here.items(listed, dict):
                yield question, dict(answer), there
        return
    for here, answer in place.items(place.be(sides or [], list), dict):
        if "values" in answer:  # of one user, by question
            for question, value in here.take(answer, "values", dict, {}).items():
                inner = value if isinstance(value, dict) else {"value": value}
                at = here.at("values").at(question[:80])
                yield question, {**without(answer, "values"), **inner}, at
        else:
            question = here.take(answer, "question_name", str, _QUESTION)
            yield question, without(answer, "question_name"), here


def _are_spans(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and "start" in one for one in value
    )


def _argilla_layer(
    question: str, answer: dict[str, Any], usual: Kind, counted: Counted, place: Place
) -> Layer:
    kind = _spans.kind_in(answer, "kind", usual)
    key = "user_id" if usual == "person" else "agent"
    name = "unknown" if usual == "person" else "model"
    spans, scores = answer["value"], answer.get("score")
    listed = isinstance(scores, list) and len(scores) == len(spans) > 0
    each: Any = scores if listed else [None] * len(spans)
    pairs = zip(place.at("value").items(spans, dict), each, strict=True)
    marks = tuple(
        _spans.mark_in(span, counted, here, _NAME, score=score)
        for (here, span), score in pairs
    )
    dropped = "score" if listed or scores is None else None
    keys = without(answer, "value", key, dropped)
    if keys.get("status") == "submitted":
        del keys["status"]
    if question != _QUESTION:
        keys["question"] = question
    who = place.identity(answer, key, name)
    return Layer(who, kind, marks, meta=as_own(_NAME, keys))


def _write_argilla(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    write_array(path, (_argilla_record(one, options) for one in documents))


def _argilla_record(document: Document, options: Options) -> dict[str, Any]:
    document = _spans.text_of(document, _NAME, options.losses)
    more = own(document.meta, _NAME)
    others, key = more.pop("others", {}), more.pop("text_key", "text")
    fields = {key: document.text, **more.pop("fields", {})}
    responses: dict[str, list[Any]] = {}
    suggestions: dict[str, Any] = {}
    usual = _QUESTION  # a model answers the question that people answered
    for layer in document.layers:
        usual = own(layer.meta, _NAME).get("question", usual)
    counted = Counted.of(document.text, options)
    for layer in _argilla_layers(document, usual, options):
        keys = own(layer.meta, _NAME)
        question = keys.pop("question", usual)
        marks = _spans.spanned(document, layer, _NAME, options.losses)
        spans = [x for mark in marks for x in _spans.spans_of(mark, counted, _NAME)]
        if layer.kind not in ("person", "model"):
            keys["kind"] = layer.kind
        if layer.kind in MODELS:
            whole = all("score" in span for span in spans) and spans
            scores = [span.pop("score") for span in spans] if whole else None
            entry = {"value": spans, "score": scores, "agent": layer.annotator}
            suggestions[question] = {**entry, **keys}
        else:
            entry = {"value": spans, "user_id": layer.annotator, "status": "submitted"}
            responses.setdefault(question, []).append({**entry, **keys})
    for question, answer in others.get("responses", []):
        responses.setdefault(question, []).append(answer)
    for question, answer in others.get("suggestions", []):
        suggestions.setdefault(question, answer)
    return {
        "id": document.id,
        **({"external_id": document.id} if "id" in more else {}),
        "fields": fields,
        "metadata": _spans.users(document, _NAME),
        "suggestions": suggestions,
        "responses": responses,
        **more,
    }


def _argilla_layers(document: Document, usual: str, options: Options) -> list[Layer]:
    """What people said, and of models one for each question."""
    models: dict[str, list[Layer]] = {}
    for layer in document.layers:
        if layer.kind in MODELS:
            question = own(layer.meta, _NAME).get("question", usual)
            models.setdefault(question, []).append(layer)
    ours = [
        only_layer(replace(document, layers=tuple(group)), "a suggestion", options)
        for group in models.values()
    ]
    return [x for x in document.layers if x.kind not in MODELS or x in ours]


def _tells(head: str) -> bool:
    record = first_record(head)
    answers = {"responses", "suggestions"} & set(record)
    return isinstance(record.get("fields"), dict) and bool(answers)


FORMAT = Format(
    _NAME,
    "Argilla's records (JSON)",
    _read_argilla,
    _write_argilla,
    endings=(".json", ".jsonl"),
    tells=_tells,
    tokens=False,
    spans=True,
    order="people",
)
