"""Argilla's records: responses of people, and a suggestion of a model.

Both shapes are read: of version 2, with the questions as keys, and the older lists.
Responses that were discarded or are drafts are kept, counted, and written back; so are
the answers to questions about other things than spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tagsift.data.documents import Document, Kind, Layer, Mark
from tagsift.io.column_file import PathName
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records, write_array
from tagsift.io.formats._layers import only_layer
from tagsift.io.formats._spans import (
    Counted,
    kept,
    labels_of,
    own,
    spanned,
    text_of,
    users,
)

__all__ = ["FORMAT"]

_NAME = "argilla"
_QUESTION = "spans"
_SPAN = ("start", "end", "label", "score")
_MODELS = ("model", "rule")
_OPEN = ("discarded", "draft", "missing", "pending")


def _read(path: PathName, options: Options) -> Iterator[Document]:
    for number, (place, record) in enumerate(iter_records(path), 1):
        yield _document(record, place, options, str(number))


def _document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    fields = place.need(record, "fields", dict)
    key = _field(fields, options, place.at("fields"))
    unit = "characters" if options.offsets == "auto" else options.offsets
    text = Counted(fields[key], unit)
    layers, others = [], {}
    for side in ("responses", "suggestions"):
        rest: list[Any] = []
        for question, answer, here in _answers(record.get(side), place.at(side)):
            value = answer.get("value")
            if not _are_spans(value) or options.spans_key not in (None, question):
                rest.append([question, answer])
            elif side == "responses" and answer.get("status") in _OPEN:
                what = f"response {answer['status']}, no vote"
                options.losses.note(what, here.path, lost=False)
                rest.append([question, answer])
            else:
                kind: Kind = "person" if side == "responses" else "model"
                layers.append(_layer(question, answer, kind, text, here))
        if rest:
            others[side] = rest
    used = ("id", "external_id", "fields", "metadata", "responses", "suggestions")
    more = {k: v for k, v in record.items() if k not in used}
    outer = record.get("external_id") is not None
    if outer and "id" in record:
        more["id"] = record["id"]
    if others:
        more["others"] = others
    rest_fields = {k: v for k, v in fields.items() if k != key}
    if rest_fields:
        more["fields"] = rest_fields
    if key != "text":
        more["text_key"] = key
    meta = dict(place.take(record, "metadata", dict, {})) | kept(_NAME, more)
    return Document(
        place.identity(record, "external_id" if outer else "id", number),
        fields[key],
        layers=tuple(layers),
        meta=meta,
    )


def _field(fields: dict[str, Any], options: Options, place: Place) -> str:
    told = options.text_key
    if told is not None:
        place.need(fields, told, str)
        return told
    texts = [key for key, value in fields.items() if isinstance(value, str)]
    if len(texts) == 1 or "text" in texts:
        return "text" if "text" in texts else texts[0]
    found = ", ".join(texts)[:200] or "none"
    raise place.error(f"expected one field with text, found {found}; say --text-key.")


def _answers(found: Any, place: Place) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """Questions, and what was answered; each answer has a ``value``."""
    if isinstance(found, dict):  # by question: a list of responses, one suggestion
        for question, answers in found.items():
            here = place.at(str(question)[:80])
            listed = answers if isinstance(answers, list) else [answers]
            for there, answer in here.items(listed, dict):
                yield question, answer, there
        return
    for here, answer in place.items(
        [] if found is None else place.be(found, list), dict
    ):
        if "values" in answer:  # of one user, by question
            more = {k: v for k, v in answer.items() if k != "values"}
            values = here.take(answer, "values", dict, {})
            for question, value in values.items():
                inner = value if isinstance(value, dict) else {"value": value}
                yield question, {**more, **inner}, here.at("values").at(question[:80])
        else:
            question = answer.get("question_name", _QUESTION)
            if not isinstance(question, str):
                raise here.at("question_name").error("expected a text.")
            rest = {k: v for k, v in answer.items() if k != "question_name"}
            yield question, rest, here


def _are_spans(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and "start" in one for one in value
    )


def _layer(
    question: str, answer: dict[str, Any], kind: Kind, text: Counted, place: Place
) -> Layer:
    person = kind == "person"
    who = answer.get("user_id" if person else "agent")
    if who is not None and not isinstance(who, str | int):
        raise place.error(f"expected the name of an annotator, found {str(who)[:40]}.")
    spans = list(place.at("value").items(answer["value"], dict))
    scores = answer.get("score")
    each: list[Any] = scores if isinstance(scores, list) else []
    listed = bool(spans) and len(each) == len(spans)
    each = each if listed else [None] * len(spans)
    marks = []
    for (here, span), score in zip(spans, each, strict=True):
        bounds = text.read(span.get("start"), span.get("end"), here)
        more = {k: v for k, v in span.items() if k not in _SPAN}
        own_score = span.get("score") if score is None else score
        marks.append(
            Mark(
                *bounds,
                labels_of(span.get("label"), here.at("label")),
                here.at("score").score(own_score),
                meta=kept(_NAME, more),
            )
        )
    drop = {"value", "user_id" if person else "agent"}
    drop |= {"score"} if listed or scores is None else set()
    keys = {k: v for k, v in answer.items() if k not in drop}
    if person and keys.get("status") == "submitted":
        del keys["status"]
    if question != _QUESTION:
        keys["question"] = question
    name = str(who) if who is not None else "unknown" if person else "model"
    return Layer(name, kind, marks=tuple(marks), meta=kept(_NAME, keys))


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    write_array(path, (_record(one, options) for one in documents))


def _record(document: Document, options: Options) -> dict[str, Any]:
    losses = options.losses
    document = text_of(document, _NAME, losses)
    more = own(document.meta, _NAME)
    others = more.pop("others", {})
    key = more.pop("text_key", "text")
    fields = {key: document.text, **more.pop("fields", {})}
    responses: dict[str, list[Any]] = {}
    suggestions: dict[str, Any] = {}
    usual = _QUESTION  # a model answers the question that people answered
    for layer in document.layers:
        usual = own(layer.meta, _NAME).get("question", usual)
    for layer in _layers(document, usual, options):
        keys = own(layer.meta, _NAME)
        question = keys.pop("question", usual)
        unit = "characters" if options.offsets == "auto" else options.offsets
        text = Counted(document.text or "", unit)
        kinds = ("person", "model")
        marks = list(spanned(document, layer, _NAME, losses, kinds=kinds))
        spans = [one for mark in marks for one in _spans(mark, text)]
        if layer.kind in _MODELS:
            scores = [span.pop("score", None) for span in spans]
            all_scores = {} if None in scores or not scores else {"score": scores}
            for span, score in zip(spans, scores, strict=True):
                if score is not None and not all_scores:
                    span["score"] = score
            agent = layer.annotator
            suggestions[question] = {
                "value": spans,
                "score": None,
                "agent": agent,
                **all_scores,
                **keys,
            }
        else:
            who = layer.annotator
            answer = {"value": spans, "user_id": who, "status": "submitted", **keys}
            responses.setdefault(question, []).append(answer)
    for question, answer in others.get("responses", []):
        responses.setdefault(question, []).append(answer)
    for question, answer in others.get("suggestions", []):
        suggestions.setdefault(question, answer)
    return {
        "id": document.id,
        **({"external_id": document.id} if "id" in more else {}),
        "fields": fields,
        "metadata": users(document, _NAME),
        "suggestions": suggestions,
        "responses": responses,
        **more,
    }


def _layers(document: Document, usual: str, options: Options) -> list[Layer]:
    """What people said, and of models one for each question."""
    models: dict[str, list[Layer]] = {}
    for layer in document.layers:
        if layer.kind in _MODELS:
            question = own(layer.meta, _NAME).get("question", usual)
            models.setdefault(question, []).append(layer)
    ours = [
        only_layer(replace(document, layers=tuple(group)), "a suggestion", options)
        for group in models.values()
    ]
    return [x for x in document.layers if x.kind not in _MODELS or x in ours]


def _spans(mark: Mark, text: Counted) -> Iterator[dict[str, Any]]:
    start, end = text.write(mark.start, mark.end)
    score = {} if mark.score is None else {"score": mark.score}
    for label in mark.labels:
        span = {"start": start, "end": end, "label": label}
        yield {**span, **score, **own(mark.meta, _NAME)}


def _tells(head: str) -> bool:
    record = first_record(head)
    answers = {"responses", "suggestions"} & set(record)
    return isinstance(record.get("fields"), dict) and bool(answers)


FORMAT = Format(
    _NAME,
    "Argilla's records (JSON)",
    _read,
    _write,
    endings=(".json", ".jsonl"),
    tells=_tells,
    tokens=False,
)
