"""Label Studio: tasks with annotations and predictions, and its short JSON_MIN.

Annotations are people (or the truth, where they are marked so), predictions are models.
Results that are no spans of the text (choices, relations, spans of another text of the
task), skipped annotations, ids and times are kept and written back. Offsets were
counted in UTF-16 units by some versions and in characters by others: the quoted text
decides, span by span, and a span is written as it was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

from tagsift.data.documents import Document, Kind, Layer, Mark
from tagsift.io.column_file import PathName
from tagsift.io.formats import _spans
from tagsift.io.formats._file_names import KNOWN
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records
from tagsift.io.formats._label_studio_tasks import (
    NAME,
    RESULT,
    least_score,
    person_named,
    write_label_studio,
)
from tagsift.io.formats._layers import MODELS
from tagsift.io.formats._spans import Counted, as_own, own, squeezed, unit_of, without

__all__ = ["FORMAT"]

#: Keys of JSON_MIN that are neither the task's data nor its labels.
_MIN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")


def _read_label_studio(path: PathName, options: Options) -> Iterator[Document]:
    reader = _Reader(options)
    short = False
    documents: list[Document] = []
    for number, (place, record) in enumerate(iter_records(path), 1):
        if "data" not in record and ("annotator" in record or short):
            short = True
            one = reader.short(record, place, str(number))
            if documents and (one.id, one.text) != (documents[0].id, documents[0].text):
                yield _one_task(documents)
                documents = []
            documents.append(one)
        else:
            yield reader.task(record, place, str(number))
    if documents:
        yield _one_task(documents)


def _one_task(records: list[Document]) -> Document:
    """Join records of JSON_MIN; data that differ are answers of the annotators."""
    shared = {
        key: value
        for key, value in records[0].meta.items()
        if all(key in one.meta and one.meta[key] == value for one in records)
    }
    done = []
    for one in records:
        answers, layer = without(one.meta, *shared), one.layers[0]
        if answers:
            more = {**own(layer.meta, NAME), "data": answers}
            layer = replace(layer, meta=as_own(NAME, more))
        done.append(replace(one, meta=shared, layers=(layer,)))
    return reduce(Document.joined, done)


@dataclass
class _Reader:
    options: Options
    key: str | None = None  # of the text, as in the tasks before
    tag: str = RESULT["from_name"]  # of the labels, in JSON_MIN
    aims: dict[str, str] = field(default_factory=dict)  # other names of the keys

    def task(self, task: dict[str, Any], place: Place, number: str) -> Document:
        data, note = place.need(task, "data", dict), self.options.losses.note
        lists = {}
        for name in ("annotations", "predictions"):
            entries = place.take(task, name, list, [])
            if name == "predictions" and any(type(one) is int for one in entries):
                what = "prediction of which the file has the number alone"
                note(what, place.at(name).path)
                entries = [one for one in entries if type(one) is not int]
            lists[name] = list(place.at(name).items(entries, dict))
        results = (
            result
            for entries in lists.values()
            for here, one in entries
            for result in here.take(one, "result", list, [])
            if isinstance(result, dict)
        )
        key = self._text_key(data, results, place.at("data"))
        layers, skipped = [], []
        layer = partial(self._layer, data[key], partial(self._home, data, key))
        for here, one in lists["annotations"]:
            if one.get("was_cancelled"):
                skipped.append(one)
                note("skipped annotation, no vote", here.path, lost=False)
            else:
                kind: Kind = "gold" if one.get("ground_truth") else "person"
                layers.append(layer(one, _person(one, here), kind, here))
        for here, one in lists["predictions"]:
            who = str(one.get("model_version") or "model")
            layers.append(layer(one, who, "model", here))
        more = without(task, "id", "data", *lists)
        more |= {"was_cancelled": skipped} if skipped else {}
        return self._document(task, place, number, data, key, layers, more)

    def _document(
        self,
        record: dict[str, Any],
        place: Place,
        number: str,
        data: dict[str, Any],
        key: str,
        layers: Iterable[Layer],
        more: dict[str, Any],
    ) -> Document:
        more |= {"text_key": key} if key != "text" else {}
        meta = without(data, key) | as_own(NAME, more)
        name = place.identity(record, "id", number)
        return Document(name, data[key], layers=tuple(layers), meta=meta)

    def _text_key(
        self, data: dict[str, Any], results: Iterable[Any], place: Place
    ) -> str:
        if self.options.text_key is not None:
            place.need(data, self.options.text_key, str)
            return self.options.text_key
        if isinstance(data.get(self.key or ""), str):
            return str(self.key)
        texts = [key for key, value in data.items() if isinstance(value, str)]
        spans = [one for one in results if one.get("type", "labels") == "labels"]
        aims = [one.get("to_name") for one in spans]
        quotes = [squeezed(_quote(one)) for one in spans]
        holding = (
            key for key in texts if all(x in squeezed(data[key]) for x in quotes)
        )
        for choice in (
            [key for key in texts if key in aims],
            [key for key in texts if key == "text"],
            texts,
            list(holding) if any(quotes) else [],
        ):
            if len(choice) == 1:
                self.key = choice[0]
                return choice[0]
        keys = ", ".join(texts)[:200] or "none"
        raise place.error(
            f"expected one key with the text, found {keys}; say --text-key."
        )

    def _home(self, data: dict[str, Any], key: str, result: Mapping[str, Any]) -> bool:
        """Whether a span is one of the text, and not of another one of the task."""
        aim = str(result.get("to_name"))
        if aim != key and isinstance(data.get(aim), str):
            return False
        if aim != key and aim not in self.aims:
            texts = [key, *(k for k, v in data.items() if isinstance(v, str))]
            home = next((k for k in texts if _fits(data[k], result["value"])), None)
            if home is None:
                return True
            self.aims[aim] = home
        return self.aims.get(aim, key) == key

    def _layer(
        self,
        text: str,
        home: Callable[[Mapping[str, Any]], bool],
        record: dict[str, Any],
        name: str,
        usual: Kind,
        place: Place,
    ) -> Layer:
        kind = _spans.kind_in(record, "kind", usual)
        marks, others = [], []
        nothing = record.get("result", "") is None  # as some exports write it
        results = [] if nothing else place.need(record, "result", list)
        for here, result in place.at("result").items(results, dict):
            value, type_ = result.get("value"), str(result.get("type", "labels"))[:30]
            what = f"result of type {type_}, kept and no span"
            if type_ == "labels" and isinstance(value, dict) and value.get("labels"):
                if not home(result):
                    what = "span of another text of the task, kept and no vote"
                elif "startOffset" not in value:  # as in HTML, where paths are counted
                    marks.append(self._mark(result, value, text, here))
                    continue
            others.append(result)
            if type_.endswith("labels"):
                self.options.losses.note(what, here.path, lost=False)
        more = without(record, "result", "ground_truth" if kind in KNOWN else None)
        if kind in MODELS:
            least = record.get("score") == least_score(marks).get("score")
            more = without(more, "model_version", "score" if least else None)
        else:
            same = person_named(name) == record.get("completed_by")
            more = without(more, "annotator", "completed_by" if same else None)
        more = {} if more == {"ground_truth": False} else more
        more |= {"other_results": others} if others else {}
        return Layer(name, kind, marks=tuple(marks), meta=as_own(NAME, more))

    def _mark(
        self, result: dict[str, Any], value: dict[str, Any], text: str, place: Place
    ) -> Mark:
        here = place.at("value")
        start, end, quote = value.get("start"), value.get("end"), value.get("text")
        more = without(result, "value", "score")
        more = {key: one for key, one in more.items() if one != RESULT.get(key)}
        unit = unit_of(text, start, end, quote, self.options.offsets)
        more |= {"offsets_in": unit} if unit != "characters" else {}
        bounds = Counted(text, unit).read(start, end, here)
        there = text[slice(*bounds)]
        if quote not in (None, there):
            more["quote"] = quote
            if not (isinstance(quote, str) and squeezed(quote) == squeezed(there)):
                kind = "span whose quoted text stands elsewhere, kept by its offsets"
                self.options.losses.note(kind, here.path)
        extra = without(value, "start", "end", "text", "labels")
        more |= {"value": extra} if extra else {}
        return Mark(
            *bounds,
            _spans.labels_of(value["labels"], here.at("labels")),
            place.at("score").score(result.get("score")),
            meta=as_own(NAME, more),
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
        self.tag = next(iter(labels), self.tag)
        data = without(record, *_MIN, *labels, self.tag, "id")
        values = ({"value": value} for some in labels.values() for value in some)
        key = self._text_key(data, values, place)
        aim = {} if key == "text" else {"to_name": key}
        marks = tuple(
            self._mark({"value": value, "from_name": name} | aim, value, data[key], at)
            for name, some in labels.items()
            for at, value in place.at(name).items(some, dict)
        )
        more = {k: record[k] for k in _MIN if k in record and k != "annotator"}
        more["ground_truth"] = False  # which this form does not say
        if "annotation_id" in more:
            more["id"] = more.pop("annotation_id")
        person = record.get("annotator")
        who = _person({"completed_by": person}, place)
        if person_named(who) not in (person, None, {"email": person}):
            more["completed_by"] = person
        layer = Layer(who, marks=marks, meta=as_own(NAME, more))
        shape = {"shape": "min"}
        return self._document(record, place, number, data, key, [layer], shape)


def _quote(result: Mapping[str, Any]) -> str:
    value = result.get("value")
    quote = value.get("text") if isinstance(value, dict) else None
    return quote if isinstance(quote, str) else ""


def _fits(text: str, value: Mapping[str, Any]) -> bool:
    """Whether a text has what a span quotes at the place of the span."""
    start, end, quote = value.get("start"), value.get("end"), value.get("text")
    if type(start) is not int or type(end) is not int or not isinstance(quote, str):
        return False
    where = Counted(text, unit_of(text, start, end, quote, "auto")).find(start, end)
    return where is not None and squeezed(text[slice(*where)]) == squeezed(quote)


def _person(annotation: Mapping[str, Any], place: Place) -> str:
    person = annotation.get("completed_by", annotation.get("annotator"))
    if isinstance(person, dict):
        person = person.get("email", person.get("id"))
    if person is None:
        return "unknown"
    if isinstance(person, str | int):
        return str(person)
    raise place.at("completed_by").error(
        f"expected a number, a name or an object, found {str(person)[:40]!r}."
    )


def _tells(head: str) -> bool:
    record = first_record(head)
    if isinstance(record.get("data"), dict):
        return bool({"annotations", "predictions"} & set(record))
    some = record.get("annotations")  # which may be long, and the data behind it
    if isinstance(some, list) and any("result" in o for o in some if type(o) is dict):
        return True
    return "annotator" in record and bool({"annotation_id", "lead_time"} & set(record))


FORMAT = Format(
    NAME,
    "Label Studio's tasks (JSON), or its JSON_MIN",
    _read_label_studio,
    write_label_studio,
    endings=(".json",),
    tells=_tells,
    tokens=False,
    spans=True,
    order="people",
)
