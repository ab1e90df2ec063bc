"""How documents become Label Studio's tasks, or records of its short JSON_MIN.

``full`` (the default) is what was read, for the project that it came from.
``predictions`` and ``annotations`` are for an import into any project: without people,
whom its import refuses where it does not know them, and without what an import ignores.
Labels that were added to what was read are written alone, as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import InputError
from tagsift.io.column_file import PathName
from tagsift.io.formats._format import Options
from tagsift.io.formats._json import write_array
from tagsift.io.formats._layers import MODELS
from tagsift.io.formats._spans import (
    Counted,
    as_number,
    own,
    spanned,
    text_of,
    users,
)

__all__ = ["NAME", "RESULT", "least_score", "person_named", "write_label_studio"]

NAME = "label-studio"
#: What a result says where nothing else is known.
RESULT = {"from_name": "label", "to_name": "text", "type": "labels"}
_SHAPES = ("full", "annotations", "predictions", "min")
_IMPORTED = ("annotations", "predictions")
_KINDS = {
    "full": ("person", "model", "gold", "exact", "rule"),
    "annotations": ("person", "gold"),
    "predictions": ("model",),
    "min": ("person",),
}
#: Tasks that wait for the names of the project's tags.
_WAITING = 1000
_MADE_ANEW = (
    "task of a project, which an import makes anew; the guide on Label Studio says how "
    "to add predictions to the tasks that are there"
)
_AS_ONE = (
    "task of several people, all of whom an import takes for the one who imports; "
    "--shape predictions keeps them apart"
)


def _taken(more: Mapping[str, Any]) -> dict[str, Any]:
    return {key: more[key] for key in ("meta", "lead_time", "score") if key in more}


def person_named(name: str) -> int | dict[str, str] | None:
    """How a member of the organisation is written: by number or e-mail address."""
    number = as_number(name)
    if isinstance(number, int):
        return number
    return {"email": name} if "@" in name else None


def least_score(marks: Iterable[Mark]) -> dict[str, float]:
    """The score of a prediction: that of its least sure span."""
    scores = [mark.score for mark in marks if mark.score is not None]
    return {"score": min(scores)} if scores else {}


def write_label_studio(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    if options.shape not in (None, *_SHAPES):
        raise InputError(
            f"expected the shape {', '.join(_SHAPES)}, found {options.shape!r}."
        )
    writer = _Writer(options)
    named = writer.named(documents)
    write_array(path, (task for one in named for task in writer.tasks(one)))


@dataclass
class _Writer:
    options: Options
    # Names of the tags by the label that they stood with, and as seen last.
    names: dict[str | None, dict[str, Any]] = field(default_factory=dict)

    def named(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Documents, those of a project held back until one names the tags."""
        waiting: list[Document] = []
        for document in documents:
            for mark in (m for one in document.layers for m in one.marks or ()):
                if keys := own(mark.meta, NAME):
                    names = {key: keys[key] for key in RESULT if key in keys}
                    self.names |= dict.fromkeys((*mark.labels, None), names)
            waiting.append(document)
            of_project = own(document.meta, NAME)
            if self.names or not of_project or len(waiting) == _WAITING:
                yield from waiting
                waiting = []
        yield from waiting

    def tasks(self, document: Document) -> Iterator[dict[str, Any]]:
        document = text_of(document, NAME, self.options.losses)
        more = own(document.meta, NAME)
        key = self.options.text_key or more.get("text_key", "text")
        shape = self._shape(document)
        importing = shape in _IMPORTED
        skipped = more.pop("was_cancelled", [])
        more = {k: one for k, one in more.items() if k not in ("shape", "text_key")}
        if importing and more:
            self.options.losses.note(_MADE_ANEW, document.id, lost=False)
        data = {key: document.text, **users(document, NAME)}
        start = {"id": as_number(document.id)}
        alone = importing and self.options.added
        records = [
            self._record(document, layer, shape, key)
            for layer in document.layers[-1 if alone else 0 :]
        ]
        if shape == "min":
            for record in records or [{"result": []}]:
                yield {**start, **data, **self._short(record, document.id)}
            return
        lists: dict[str, list[Any]] = {"annotations": [], "predictions": []}
        for record in records:
            person = "model_version" not in record
            lists["annotations" if person else "predictions"].append(record)
        if sum("completed_by" not in one for one in lists["annotations"]) > 1:
            self.options.losses.note(_AS_ONE, document.id, lost=False)
        if importing:
            more = _taken(more)
        else:
            lists["annotations"] += skipped
        yield {**start, "data": data, **lists, **more}

    def _shape(self, document: Document) -> str:
        if self.options.shape is not None:
            return self.options.shape
        kinds = [one.kind for one in document.layers]
        if self.options.added and kinds:
            return "predictions" if kinds[-1] in MODELS else "annotations"
        if {*MODELS} & {*kinds}:
            return "full"  # the short form has no place for predictions
        return str(own(document.meta, NAME).get("shape", "full"))

    def _record(
        self, document: Document, layer: Layer, shape: str, key: str
    ) -> dict[str, Any]:
        more = own(layer.meta, NAME)
        new = not more
        others = more.pop("other_results", [])
        if shape in _IMPORTED:
            more = _taken(more)
        where = f"{document.id}, {layer.annotator}"
        if layer.kind not in _KINDS[shape]:
            kind = f"annotator's kind {layer.kind}, which {NAME} does not keep"
            self.options.losses.note(kind, where)
        elif layer.kind in ("exact", "rule"):
            more["kind"] = layer.kind
        marks = list(spanned(document, layer, NAME, self.options.losses))
        units = {
            own(m.meta, NAME).get("offsets_in")
            for o in document.layers
            for m in o.marks or ()
        }
        usual = "utf-16" if "utf-16" in units else "characters"
        asked, text = self.options.offsets, document.text or ""
        counted = {u: Counted(text, u) for u in ("characters", "utf-16", "bytes")}
        results = []
        for mark in marks:
            own_keys = own(mark.meta, NAME)
            unit = own_keys.pop("offsets_in", "" if own_keys else usual) or "characters"
            unit = unit if asked == "auto" else asked
            start, end = counted[unit].write(mark.start, mark.end)
            names = {k: own_keys.pop(k) for k in RESULT if k in own_keys}
            if self.names and new and not names:
                names = self.names.get(mark.labels[0], self.names[None])
            elif not names and key != "text" and not own_keys:
                names = {"to_name": key}
            quote = own_keys.pop("quote", text[mark.start : mark.end])
            extra = own_keys.pop("value", {})
            value = {"start": start, "end": end, "text": quote, "labels": mark.labels}
            result = {**RESULT, **names, "value": {**value, **extra}, **own_keys}
            if mark.score is not None:
                result["score"] = mark.score
            results.append(result)
        results += others
        if shape == "predictions" or (shape == "full" and layer.kind in MODELS):
            least = least_score(marks) if "score" not in more else {}
            named = {"model_version": layer.annotator, **least}
            return {**named, "result": results, **more}
        who = None if shape == "annotations" else person_named(layer.annotator)
        person: dict[str, Any] = {} if who is None else {"completed_by": who}
        if not person and "completed_by" not in more and layer.annotator != "unknown":
            person = {"annotator": layer.annotator}  # which an import leaves out
        truth: dict[str, bool] = {}
        if layer.kind in ("gold", "exact"):
            truth = {"ground_truth": True}
        elif new or shape == "annotations":  # an import takes none for a yes
            truth = {"ground_truth": False}
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
        name = record.pop("annotator", None)
        person = record.pop("completed_by", name)
        record.pop("ground_truth", None)
        if isinstance(person, dict):
            person = person.get("email", person.get("id"))
        if "id" in record:
            record["annotation_id"] = record.pop("id")
        answers = record.pop("data", {})
        values = values or {RESULT["from_name"]: []}
        return {**answers, **values, "annotator": person, **record}
