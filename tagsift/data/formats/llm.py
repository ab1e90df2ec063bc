"""Answers of language models: labels with quotes, which are looked for in the text.

One document a line: ``{"text": "Ann left.", "models": {"a-model": [{"label": "PER",
"quote": "Ann"}]}}``, or the models' names as keys beside the text, or one line a model
with its name under ``"model"``; an answer may also be the text that a model gave, with
such a list as JSON somewhere in it. LangExtract's ``extractions`` are read with their
``char_interval``. A quote is looked for as it stands, then ignoring case, spaces and
the form of quotation marks and dashes, words before parts of words; the second of two
equal quotes is the second place. What is not found is counted and listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tagsift.data.columns import PathName
from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.formats._format import Format, Options
from tagsift.data.formats._json import Place, first_record, iter_records
from tagsift.data.formats._spans import Counted, joined, kept, labels_of

__all__ = ["FORMAT"]

_NAME = "llm"
_LABEL = ("label", "type", "extraction_class", "class", "entity_type")
_QUOTE = ("quote", "text", "extraction_text", "span", "entity")
_SCORE = ("score", "confidence", "probability")
_LISTS = ("extractions", "spans", "entities", "labels", "annotations", "quotes")
_GROUPS = ("models", "answers", "outputs")
_NAMES = ("model", "annotator", "name")
_ANSWERS = ("answer", "output", "response")
_ALIKE = ("'‘’‛′`´", '"“”„‟″«»', "-‐‑‒–—−")
_SIGNS = {sign: f"[{re.escape(signs)}]" for signs in _ALIKE for sign in signs}
_BEGINS = re.compile(r"\[\s*[{\]]|\{\s*\"")  # a list of objects, or an object
_DECODER = json.JSONDecoder()


def _read(path: PathName, options: Options) -> Iterator[Document]:
    yield from joined(_documents(path, options))


def _documents(path: PathName, options: Options) -> Iterator[Document]:
    """A document a line; without an id, a text said again is the one before."""
    name, before = "", None
    for number, (place, record) in enumerate(iter_records(path), 1):
        text = record.get(options.text_key or "text")
        name = name if text == before else str(number)
        before = text if _model(record) else None
        yield _document(record, place, options, name)


def _document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    key = options.text_key or "text"
    text = place.need(record, key, str)
    known = next((k for k in ("id", "document_id") if record.get(k) is not None), "id")
    name = place.identity(record, known, number)
    used = {key, "id", "document_id", "meta"}
    answers = _answers(record, used, options, place)
    layers = []
    for who, (answer, here) in answers.items():
        items = _items(answer, here)
        if items is None:
            options.losses.note(
                "answer without a list of labels and quotes, left out", f"{name}, {who}"
            )
            continue
        marks = tuple(_marks(items, here, text, options, f"{name}, {who}"))
        layers.append(Layer(who, "model", marks=marks))
    meta = {k: v for k, v in record.items() if k not in used}
    meta |= place.take(record, "meta", dict, {})
    return Document(name, text, layers=tuple(layers), meta=meta)


def _answers(
    record: dict[str, Any], used: set[str], options: Options, place: Place
) -> dict[str, tuple[Any, Place]]:
    """What each model said, and where it stands; `used` gets the keys."""
    found: dict[str, tuple[Any, Place]] = {}
    model = _model(record)
    listed = [k for k in _LISTS if isinstance(record.get(k), list)]
    if model:
        used.add("model")
        listed += [k for k in _ANSWERS if k in record]
        listed += [k for k, v in record.items() if k not in used and _is_answer(v)]
        found[model] = None, place  # where no answer follows
    for key in listed[:1]:
        if not _named(record[key]):
            who = model or options.annotator or "langextract"
            found[who] = record[key], place.at(key)
            used.add(key)
    told = bool(found) or any(isinstance(record.get(k), dict) for k in _GROUPS)
    for key, value in record.items():
        if key in used:
            continue
        here = place.at(key[:80])
        if isinstance(value, dict) and (key in _GROUPS or _are_answers(value)):
            used.add(key)
            found |= {who: (one, here.at(who[:80])) for who, one in value.items()}
        elif _named(value):
            used.add(key)
            for number, one in enumerate(value):
                who = next(one[k] for k in _NAMES if isinstance(one.get(k), str))
                inner = next(k for k in _LISTS if k in one)
                found[who] = one[inner], here.at(number).at(inner)
        elif _is_answer(value) and (value or not told):
            used.add(key)
            found[key] = value, here
    return found


def _model(record: dict[str, Any]) -> str:
    """The name of the one model that a line is of, if it is so."""
    model = record.get("model")
    return str(model) if isinstance(model, str) or type(model) is int else ""


def _named(value: Any) -> bool:
    """Whether a list has an object for every model, with its name and its answer."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, dict)
            and any(isinstance(one.get(k), str) for k in _NAMES)
            and any(k in one for k in _LISTS)
            for one in value
        )
    )


def _are_answers(value: dict[str, Any]) -> bool:
    return all(map(_is_answer, value.values())) and any(value.values())


def _is_answer(value: Any) -> bool:
    """Whether a list holds labels with quotes; one of them that does says it."""
    return isinstance(value, list) and (
        not value
        or any(
            isinstance(one, dict)
            and any(k in one for k in _QUOTE)
            and ("quote" in one or any(k in one for k in _LABEL))
            for one in value
        )
    )


def _items(answer: Any, place: Place) -> list[Any] | None:
    """The list of an answer, which may stand in the text that a model gave."""
    if isinstance(answer, str):
        found = [*_lists(answer)]
        return next(filter(None, found), found[0] if found else None)
    if isinstance(answer, dict):
        answer = next((answer[k] for k in _LISTS if k in answer), None)
    return answer if isinstance(answer, list) else None


def _lists(text: str) -> Iterator[list[Any]]:
    """The answers in a text, as JSON, whatever else a model says before and after."""
    at, whole = 0, True
    while begins := _BEGINS.search(text, at):
        at = begins.start() + 1
        try:
            value, at = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            whole = False  # what is empty may stand inside of what was cut off
            continue
        if isinstance(value, dict):
            value = next((value[k] for k in _LISTS if k in value), None)
        if _is_answer(value) and (value or whole):
            yield value


def _marks(
    items: list[Any], place: Place, text: str, options: Options, where: str
) -> Iterator[Mark]:
    unit = "characters" if options.offsets == "auto" else options.offsets
    counted = Counted(text, unit)
    taken: dict[str, set[Bounds]] = {}
    placed: list[Bounds] = []
    for here, item in place.items(items, dict):
        label = next((k for k in _LABEL if k in item), "label")
        quote = next((k for k in _QUOTE if isinstance(item.get(k), str)), None)
        score = next((k for k in _SCORE if k in item), "score")
        labels = labels_of(item.get(label), here.at(label))
        bounds = _interval(item, quote, counted, here)
        if bounds is None:
            words = here.need(item, "quote", str) if quote is None else item[quote]
            own = taken.setdefault(words, set())
            bounds = _find(words, text, own, placed)
            if bounds is None:
                kind = "quote that is not in the text, left out"
                if own:
                    kind = "quote that stands more often in an answer than in the text"
                options.losses.note(kind, f"{where}, {words[:60]!r}")
                continue
            own.add(bounds)
        placed.append(bounds)
        used = (label, quote, score, "char_interval", "start", "end")
        more = {k: v for k, v in item.items() if k not in used and v is not None}
        sure = here.at(score).score(item.get(score))
        yield Mark(*bounds, labels, sure, meta=kept(_NAME, more))


def _interval(
    item: dict[str, Any], quote: str | None, counted: Counted, place: Place
) -> Bounds | None:
    """The offsets that came with a quote; a model's own must fit its quote."""
    given = item.get("char_interval")
    if isinstance(given, dict) and given.get("start_pos") is not None:
        here = place.at("char_interval")
        return counted.read(given["start_pos"], given.get("end_pos"), here)
    start, end = item.get("start"), item.get("end")
    if type(start) is int and type(end) is int and quote is not None:
        found = counted.find(start, end)
        if found is not None and counted.text[slice(*found)] == item[quote]:
            return found
    return None


def _find(
    quote: str, text: str, taken: set[Bounds], placed: list[Bounds]
) -> Bounds | None:
    """The first place of a quote that is not taken yet, rather a free one."""
    words = quote.split()
    if not words:
        return None
    as_it_stands = re.escape(quote.strip())
    loose = r"\s*".join(
        _SIGNS.get(sign) or re.escape(sign) for sign in "".join(words)[:2000]
    )
    for form in (r"(?<!\w){}(?!\w)", "{}"):
        for pattern, flags in ((as_it_stands, 0), (loose, re.IGNORECASE)):
            found = [
                one.span() for one in re.finditer(form.format(pattern), text, flags)
            ]
            left = [one for one in found if one not in taken]
            free = ((a, b) for a, b in left if all(d <= a or b <= c for c, d in placed))
            if left:
                return next(free, left[0])
    return None


def _tells(head: str) -> bool:
    record = first_record(head)
    if not isinstance(record.get("text"), str):
        return False
    extracted = record.get("extractions")
    if isinstance(extracted, list) or isinstance(record.get("models"), dict):
        return True
    answers = _answers(record, {"text", "id", "meta"}, Options(), Place("", None))
    return any(
        isinstance(answer, list)
        and _is_answer(answer)
        and any("quote" in one for one in answer)
        for answer, _ in answers.values()
    )


FORMAT = Format(
    _NAME,
    "answers of language models (labels with quotes), and LangExtract's",
    _read,
    None,
    endings=(".jsonl", ".json"),
    tells=_tells,
)
