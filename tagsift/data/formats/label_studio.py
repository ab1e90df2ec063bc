"""Label Studio: tasks with annotations and predictions, and its short JSON_MIN.

Annotations are people (or the truth, where they are marked so), predictions are models.
Results that are no spans of text (choices, relations), skipped annotations, ids and
times are kept and written back. Offsets were counted in UTF-16 units by some versions
and in characters by others: the quoted text decides, span by span, and a span is
written as it was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsift.data.columns import PathName
from tagsift.data.documents import Document, Kind, Layer, Mark
from tagsift.data.formats._format import Format, Options
from tagsift.data.formats._json import Place, first_record, iter_records, write_array
from tagsift.data.formats._spans import (
    Counted,
    as_number,
    joined,
    kept,
    labels_of,
    own,
    spanned,
    squeezed,
    text_of,
    unit_of,
    users,
)
from tagsift.errors import InputError

__all__ = ["FORMAT"]

_NAME = "label-studio"
_SHAPES = ("annotations", "predictions", "min")
_RESULT = {"from_name": "label", "to_name": "text", "type": "labels"}
#: Keys of JSON_MIN that are neither the task's data nor its labels.
_MIN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_MODELS = {"model", "rule"}
_KINDS = {None: ("person", "model", "gold"), "predictions": ("model",)}


def _read(path: PathName, options: Options) -> Iterator[Document]:
    reader = _Reader(options)
    short = False
    documents: list[Document] = []
    for number, (place, record) in enumerate(iter_records(path), 1):
        if "data" not in record and ("annotator" in record or short):
            short = True
            one = reader.short(record, place, str(number))
            if documents and (one.id, one.text) != (documents[0].id, documents[0].text):
                yield from joined(documents)
                documents = []
            documents.append(one)
        else:
            yield reader.task(record, place, str(number))
    yield from joined(documents)


@dataclass
class _Reader:
    options: Options
    key: str | None = None  # of the text, as found in the tasks before
    tag: str = _RESULT["from_name"]  # of the labels, in JSON_MIN

    def task(self, task: dict[str, Any], place: Place, number: str) -> Document:
        data = place.need(task, "data", dict)
        lists = {
            name: list(place.at(name).items(place.take(task, name, list, []), dict))
            for name in ("annotations", "predictions")
        }
        results = (
            result
            for found in lists.values()
            for here, one in found
            for result in here.take(one, "result", list, [])
            if isinstance(result, dict)
        )
        key = self._text_key(data, results, place.at("data"))
        text = Counted(data[key], "characters")
        layers, skipped, note = [], [], self.options.losses.note
        for here, one in lists["annotations"]:
            if one.get("was_cancelled"):
                skipped.append(one)
                note("skipped annotation, no vote", here.path, lost=False)
                continue
            kind: Kind = "gold" if one.get("ground_truth") else "person"
            layers.append(self._layer(one, _person(one, here), kind, text, here))
        for here, one in lists["predictions"]:
            name = one.get("model_version")
            layers.append(self._layer(one, str(name or "model"), "model", text, here))
        more = {k: v for k, v in task.items() if k not in ("id", "data", *lists)}
        if skipped:
            more["was_cancelled"] = skipped
        if key != "text":
            more["text_key"] = key
        meta = {k: v for k, v in data.items() if k != key} | kept(_NAME, more)
        return Document(
            place.identity(task, "id", number),
            data[key],
            layers=tuple(layers),
            meta=meta,
        )

    def _text_key(
        self, data: dict[str, Any], results: Iterable[Any], place: Place
    ) -> str:
        told = self.options.text_key
        if told is not None:
            place.need(data, told, str)
            return told
        if isinstance(data.get(self.key or ""), str):
            return str(self.key)
        texts = [key for key, value in data.items() if isinstance(value, str)]
        found = [one for one in results if one.get("type", "labels") == "labels"]
        aims = [one.get("to_name") for one in found]
        quotes = [squeezed(_quote(one)) for one in found]

        def held(text: str) -> bool:
            return all(quote in text for quote in quotes)

        for choice in (
            [key for key in texts if key in aims],
            [key for key in texts if key == "text"],
            texts,
            [k for k in texts * any(quotes) if held(squeezed(data[k]))],
        ):
            if len(choice) == 1:
                self.key = choice[0]
                return choice[0]
        keys = ", ".join(texts)[:200] or "none"
        raise place.error(
            f"expected one key with the text, found {keys}; say --text-key."
        )

    def _layer(
        self,
        record: dict[str, Any],
        name: str,
        kind: Kind,
        text: Counted,
        place: Place,
    ) -> Layer:
        marks, others = [], []
        results = place.need(record, "result", list)
        for here, result in place.at("result").items(results, dict):
            value = result.get("value")
            if result.get("type", "labels") == "labels" and isinstance(value, dict):
                if value.get("labels"):
                    marks.append(self._mark(result, value, text, here))
                    continue
            others.append(result)
            if str(result.get("type")).endswith("labels"):
                what = f"result of type {str(result['type'])[:30]}, kept and no span"
                self.options.losses.note(what, here.path, lost=False)
        drop = {"result", "ground_truth" if kind == "gold" else ""}
        if kind == "model":
            drop.add("model_version")
            drop |= (
                {"score"}
                if record.get("score") == _least(marks).get("score")
                else set()
            )
        elif _named(name) == record.get("completed_by"):
            drop.add("completed_by")
        more = {key: value for key, value in record.items() if key not in drop}
        more |= {"other_results": others} if others else {}
        return Layer(name, kind, marks=tuple(marks), meta=kept(_NAME, more))

    def _mark(
        self, result: dict[str, Any], value: dict[str, Any], text: Counted, place: Place
    ) -> Mark:
        here = place.at("value")
        start, end, quote = value.get("start"), value.get("end"), value.get("text")
        more = {
            key: one
            for key, one in result.items()
            if key not in ("value", "score") and one != _RESULT.get(key)
        }
        unit = unit_of(text.text, start, end, quote, self.options.offsets)
        if unit != "characters":
            more["offsets_in"] = unit
        bounds = Counted(text.text, unit).read(start, end, here)
        if quote is not None and quote != text.text[slice(*bounds)]:
            more["quote"] = quote
            same = isinstance(quote, str) and squeezed(quote) == squeezed(
                text.text[slice(*bounds)]
            )
            if not same:
                kind = "span whose quoted text stands elsewhere, kept by its offsets"
                self.options.losses.note(kind, here.path)
        known = ("start", "end", "text", "labels")
        if extra := {key: one for key, one in value.items() if key not in known}:
            more["value"] = extra
        return Mark(
            *bounds,
            labels_of(value["labels"], here.at("labels")),
            place.at("score").score(result.get("score")),
            meta=kept(_NAME, more),
        )

    def short(self, record: dict[str, Any], place: Place, number: str) -> Document:
        """A record of JSON_MIN: one annotation of a task."""
        labels = {
            key: value
            for key, value in record.items()
            if isinstance(value, list)
            and value
            and all(isinstance(one, dict) and "labels" in one for one in value)
        }
        name = self.tag = next(iter(labels), self.tag)
        data = {k: v for k, v in record.items() if k not in (*_MIN, name, "id")}
        values = ({"value": value} for value in labels.get(name, []))
        key = self._text_key(data, values, place)
        text = Counted(data[key], "characters")
        marks = []
        for here, value in place.at(name).items(labels.get(name, []), dict):
            result = {"value": value, "from_name": name, "to_name": key}
            if key == "text":
                del result["to_name"]
            marks.append(self._mark(result, value, text, here))
        more = {k: record[k] for k in _MIN if k in record and k != "annotator"}
        if "annotation_id" in more:
            more["id"] = more.pop("annotation_id")
        person = record.get("annotator")
        who = _person({"completed_by": person}, place)
        if _named(who) != person:
            more["completed_by"] = person
        layer = Layer(who, marks=tuple(marks), meta=kept(_NAME, more))
        own_keys = {"shape": "min"} | ({"text_key": key} if key != "text" else {})
        meta = {k: v for k, v in data.items() if k != key} | kept(_NAME, own_keys)
        return Document(
            place.identity(record, "id", number), data[key], layers=(layer,), meta=meta
        )


def _quote(result: Mapping[str, Any]) -> str:
    """The text that a span quotes, if any."""
    value = result.get("value")
    quote = value.get("text") if isinstance(value, dict) else None
    return quote if isinstance(quote, str) else ""


def _person(annotation: Mapping[str, Any], place: Place) -> str:
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        person = person.get("email", person.get("id"))
    if person is None:
        return "unknown"
    if isinstance(person, str | int):
        return str(person)
    raise place.at("completed_by").error(
        f"expected a number, a name or an object, found {str(person)[:40]!r}."
    )


def _named(name: str) -> int | dict[str, str] | None:
    """How a person is written."""
    if name == "unknown":
        return None
    number = as_number(name)
    return number if isinstance(number, int) else {"email": name}


def _least(marks: Iterable[Mark]) -> dict[str, float]:
    """The score of a prediction: that of its least sure span."""
    scores = [mark.score for mark in marks if mark.score is not None]
    return {"score": min(scores)} if scores else {}


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    if options.shape not in (None, *_SHAPES):
        raise InputError(
            f"expected the shape {', '.join(_SHAPES)}, found {options.shape!r}."
        )
    writer = _Writer(options)
    write_array(path, (task for one in documents for task in writer.tasks(one)))


@dataclass
class _Writer:
    options: Options
    names: dict[str, Any] = field(default_factory=dict)  # of the tags, as seen last

    def tasks(self, document: Document) -> Iterator[dict[str, Any]]:
        document = text_of(document, _NAME, self.options.losses)
        more = own(document.meta, _NAME)
        shape = self.options.shape or more.pop("shape", None)
        if (
            self.options.shape is None
            and {one.kind for one in document.layers} & _MODELS
        ):
            shape = None  # the short form has no place for predictions
        key = self.options.text_key or more.pop("text_key", "text")
        more.pop("text_key", None)
        data = {key: document.text, **users(document, _NAME)}
        start = {"id": as_number(document.id)}
        layers = [self._layer(document, one, shape, key) for one in document.layers]
        if shape == "min":
            for record in layers or [{"result": []}]:
                yield {**start, **data, **self._short(record, document.id)}
            return
        skipped = more.pop("was_cancelled", [])
        lists: dict[str, list[Any]] = {"annotations": [], "predictions": []}
        for record in layers:
            person = "model_version" not in record
            lists["annotations" if person else "predictions"].append(record)
        lists["annotations"] += skipped
        yield {**start, "data": data, **lists, **more}

    def _layer(
        self, document: Document, layer: Layer, shape: str | None, key: str
    ) -> dict[str, Any]:
        kinds = _KINDS.get(shape, ("person",))
        more = own(layer.meta, _NAME)
        new = not more
        others = more.pop("other_results", [])
        marks = list(spanned(document, layer, _NAME, self.options.losses, kinds=kinds))
        units = {
            own(m.meta, _NAME).get("offsets_in")
            for o in document.layers
            for m in o.marks or ()
        }
        usual = "utf-16" if "utf-16" in units else "characters"
        told, text = self.options.offsets, document.text or ""
        counted = {u: Counted(text, u) for u in ("characters", "utf-16", "bytes")}
        results = []
        for mark in marks:
            own_keys = own(mark.meta, _NAME)
            unit = own_keys.pop("offsets_in", "" if own_keys else usual) or "characters"
            unit = unit if told == "auto" else told
            start, end = counted[unit].write(mark.start, mark.end)
            names = {k: own_keys.pop(k) for k in _RESULT if k in own_keys}
            if names:
                self.names = names
            elif self.names and new:
                names = dict(self.names)
            elif key != "text" and not own_keys:
                names = {"to_name": key}
            quote = own_keys.pop("quote", text[mark.start : mark.end])
            extra = own_keys.pop("value", {})
            value = {"start": start, "end": end, "text": quote, "labels": mark.labels}
            result = {**_RESULT, **names, "value": {**value, **extra}, **own_keys}
            if mark.score is not None:
                result["score"] = mark.score
            results.append(result)
        results += others
        if shape == "predictions" or (shape is None and layer.kind in _MODELS):
            least = _least(marks) if "score" not in more else {}
            named = {"model_version": layer.annotator, **least}
            return {**named, "result": results, **more}
        who = _named(layer.annotator)
        person = {} if who is None else {"completed_by": who}
        truth = {"ground_truth": True} if layer.kind in ("gold", "exact") else {}
        return {**person, **truth, "result": results, **more}

    def _short(self, record: dict[str, Any], where: str) -> dict[str, Any]:
        """An annotation in JSON_MIN, which keeps the values of spans alone."""
        name = _RESULT["from_name"]
        values = []
        for result in record.pop("result"):
            if result.get("type") != "labels":
                kind = "result that is no span, which JSON_MIN does not keep"
                self.options.losses.note(kind, where)
                continue
            name = result.get("from_name", name)
            values.append(result["value"])
            if set(result) - {"value", "id", "origin", *_RESULT}:
                kind = "data of a span, which JSON_MIN does not keep"
                self.options.losses.note(kind, where)
        person = record.pop("completed_by", None)
        record.pop("ground_truth", None)
        if isinstance(person, dict):
            person = person.get("email", person.get("id"))
        if "id" in record:
            record["annotation_id"] = record.pop("id")
        return {name: values, "annotator": person, **record}


def _tells(head: str) -> bool:
    record = first_record(head)
    if isinstance(record.get("data"), dict):
        return bool({"annotations", "predictions"} & set(record))
    found = record.get("annotations")  # which may be long, and the data behind it
    if isinstance(found, list) and any("result" in o for o in found if type(o) is dict):
        return True
    return "annotator" in record and bool({"annotation_id", "lead_time"} & set(record))


FORMAT = Format(
    _NAME,
    "Label Studio's tasks (JSON), or its JSON_MIN",
    _read,
    _write,
    endings=(".json",),
    tells=_tells,
)
