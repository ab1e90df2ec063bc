"""How documents become Label Studio's tasks, or records of its short JSON_MIN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tagsift.data.columns import PathName
from tagsift.data.documents import Document, Layer, Mark
from tagsift.data.formats._format import Options
from tagsift.data.formats._json import write_array
from tagsift.data.formats._spans import (
    Counted,
    as_number,
    own,
    spanned,
    text_of,
    users,
)
from tagsift.errors import InputError

__all__ = ["NAME", "RESULT", "least_score", "person_named", "write"]

NAME = "label-studio"
#: What a result says where nothing else is known.
RESULT = {"from_name": "label", "to_name": "text", "type": "labels"}
_SHAPES = ("annotations", "predictions", "min")
_MODELS = {"model", "rule"}
_KINDS = {None: ("person", "model", "gold"), "predictions": ("model",)}


def person_named(name: str) -> int | dict[str, str] | None:
    """How a person is written."""
    if name == "unknown":
        return None
    number = as_number(name)
    return number if isinstance(number, int) else {"email": name}


def least_score(marks: Iterable[Mark]) -> dict[str, float]:
    """The score of a prediction: that of its least sure span."""
    scores = [mark.score for mark in marks if mark.score is not None]
    return {"score": min(scores)} if scores else {}


def write(path: PathName, documents: Iterable[Document], options: Options) -> None:
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
        document = text_of(document, NAME, self.options.losses)
        more = own(document.meta, NAME)
        shape = self.options.shape or more.pop("shape", None)
        if (
            self.options.shape is None
            and {one.kind for one in document.layers} & _MODELS
        ):
            shape = None  # the short form has no place for predictions
        key = self.options.text_key or more.pop("text_key", "text")
        more.pop("text_key", None)
        data = {key: document.text, **users(document, NAME)}
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
        more = own(layer.meta, NAME)
        new = not more
        others = more.pop("other_results", [])
        marks = list(spanned(document, layer, NAME, self.options.losses, kinds=kinds))
        units = {
            own(m.meta, NAME).get("offsets_in")
            for o in document.layers
            for m in o.marks or ()
        }
        usual = "utf-16" if "utf-16" in units else "characters"
        told, text = self.options.offsets, document.text or ""
        counted = {u: Counted(text, u) for u in ("characters", "utf-16", "bytes")}
        results = []
        for mark in marks:
            own_keys = own(mark.meta, NAME)
            unit = own_keys.pop("offsets_in", "" if own_keys else usual) or "characters"
            unit = unit if told == "auto" else told
            start, end = counted[unit].write(mark.start, mark.end)
            names = {k: own_keys.pop(k) for k in RESULT if k in own_keys}
            if names:
                self.names = names
            elif self.names and new:
                names = dict(self.names)
            elif key != "text" and not own_keys:
                names = {"to_name": key}
            quote = own_keys.pop("quote", text[mark.start : mark.end])
            extra = own_keys.pop("value", {})
            value = {"start": start, "end": end, "text": quote, "labels": mark.labels}
            result = {**RESULT, **names, "value": {**value, **extra}, **own_keys}
            if mark.score is not None:
                result["score"] = mark.score
            results.append(result)
        results += others
        if shape == "predictions" or (shape is None and layer.kind in _MODELS):
            least = least_score(marks) if "score" not in more else {}
            named = {"model_version": layer.annotator, **least}
            return {**named, "result": results, **more}
        who = person_named(layer.annotator)
        person = {} if who is None else {"completed_by": who}
        truth = {"ground_truth": True} if layer.kind in ("gold", "exact") else {}
        return {**person, **truth, "result": results, **more}

    def _short(self, record: dict[str, Any], where: str) -> dict[str, Any]:
        """An annotation in JSON_MIN, which keeps the values of spans alone."""
        values: dict[str, list[Any]] = {}
        for result in record.pop("result"):
            if result.get("type") != "labels":
                kind = "result that is no span, which JSON_MIN does not keep"
                self.options.losses.note(kind, where)
                continue
            values.setdefault(result["from_name"], []).append(result["value"])
            if set(result) - {"value", "id", "origin", *RESULT}:
                kind = "data of a span, which JSON_MIN does not keep"
                self.options.losses.note(kind, where)
        person = record.pop("completed_by", None)
        record.pop("ground_truth", None)
        if isinstance(person, dict):
            person = person.get("email", person.get("id"))
        if "id" in record:
            record["annotation_id"] = record.pop("id")
        answers = record.pop("data", {})
        values = values or {RESULT["from_name"]: []}
        return {**answers, **values, "annotator": person, **record}
