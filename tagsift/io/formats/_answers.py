"""What language models answer, in the shapes that people get: labels with quotes.

An answer is a list of objects with a label and a quote, or an object of labels with
their quotes (``{"PERSON": ["Ann"]}``), alone or under a key such as ``entities``, as
JSON or in the text that a model gave, within whatever an API wraps around it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ANSWERS", "LISTS", "WRAPS", "Item", "items_of", "model_in"]

#: Keys of lists of labels and quotes.
LISTS = (
    "extractions spans entities labels annotations quotes named_entities ner items "
    "mentions"
).split()
#: Keys of answers, which may stand in one another.
ANSWERS = (
    "answer response output completion prediction predictions generation result "
    "results reply raw raw_response raw_output model_output generated_text choices"
).split()
#: Keys of what else an API wraps around an answer.
WRAPS = "body message content data tool_calls function arguments input".split()
_LABEL = (
    "label type extraction_class class entity_type entity_group entity_label category "
    "ner_label ner_tag tag labels"
).split()
_QUOTE = (
    "quote text extraction_text span word mention value surface phrase entity_text "
    "entity_name ner_chunk term name entity"
).split()
_START = "start begin start_char start_offset start_index start_pos".split()
_END = "end end_char end_offset end_index end_pos stop".split()
_BOUNDS = "char_interval span offsets offset position location".split()
_SCORE = "score confidence probability".split()
#: Keys of one item that are no labels with quotes, where its other keys are missing.
_OWN = frozenset("quote text label type entity span start end word".split())
#: Types of what an API puts together to an answer.
_PARTS = "text output_text message function function_call tool_use".split()

_BEGINS = re.compile(r"\[\s*[{\]]|\{\s*[\"}]")  # a list of objects, or an object
_COMMAS = re.compile(r",(?=\s*[\]}])")  # behind the last one
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda constant: None)


@dataclass(frozen=True)
class Item:
    """One label with its quote, as far as they are there."""

    labels: tuple[str, ...] = ()
    quote: str | None = None
    bounds: tuple[int, int] | None = None  # offsets, the second behind the last sign
    aligned: bool = False  # by a tool: the text may read otherwise than the quote
    named: bool = False  # its key says that it is a quote
    score: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether there is a label, and what it stands at."""
        return bool(self.labels) and (self.quote is not None or self.aligned)


def items_of(answer: Any) -> list[Item] | None:
    """Labels and quotes; empty where an answer says that there are none, None if bad.

    Examples
    --------
    >>> [item.quote for item in items_of('Here: {"PERSON": ["Ann", "Bob"]}') or ()]
    ['Ann', 'Bob']
    >>> items_of("None: []"), items_of("I cannot help.")
    ([], None)
    """
    if isinstance(answer, str):
        return _in_text(answer)
    if isinstance(answer, dict):
        return _in_object(answer)
    if not isinstance(answer, list):
        return None
    inner = [_in_object(one) if isinstance(one, dict) else None for one in answer]
    if inner and all(items is None for items in inner):
        return None
    bad = [[] if _is_part(one) else [Item()] for one in answer]
    parts = (b if items is None else items for items, b in zip(inner, bad, strict=True))
    return [item for part in parts for item in part]


def model_in(answer: Any) -> str | None:
    """The name of the model in what an API wraps around its answer."""
    while isinstance(answer, dict):
        if isinstance(answer.get("model"), str):
            return str(answer["model"])
        answer = next((answer[k] for k in (*ANSWERS, *WRAPS) if k in answer), None)
    return None


def _in_object(answer: dict[str, Any]) -> list[Item] | None:
    plain = {_plain(key): value for key, value in answer.items()}
    part = _is_part(answer)
    inside = [plain[key] for key in (*LISTS, *ANSWERS, *WRAPS) if key in plain]
    inside += [plain.get("text")] * part
    parts = [items_of(value) for value in inside]
    if full := next(filter(None, parts), None):
        return full
    item = None if part else _item(answer)
    if item is not None:
        return [item]
    if not answer or [] in parts:
        return []
    return None if _OWN & plain.keys() else _by_label(answer)


def _is_part(one: Any) -> bool:
    return isinstance(one, dict) and one.get("type") in _PARTS


def _by_label(answer: dict[str, Any]) -> list[Item] | None:
    """Items of an object whose keys are labels; None where no value can be a quote."""
    items: list[Item] = []
    for key, value in answer.items():
        labels = _labels(key)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                items.append(_item(one, labels) or Item(labels))
            elif one is not None:
                quote = one if isinstance(one, str) else None
                items.append(Item(labels, quote))
    fit = any(value is None or isinstance(value, list) for value in answer.values())
    return items if fit or any(item.quote for item in items) else None


def _item(one: dict[str, Any], labels: tuple[str, ...] = ()) -> Item | None:
    """The item that an object is; None where it is none, not even a bad one."""
    plain = {_plain(key): value for key, value in one.items()}
    used, aligned = {*_START, *_END}, False
    for key in _BOUNDS:
        inner = plain.get(key)
        if isinstance(inner, list) and len(inner) == 2:
            inner = dict(zip(("start", "end"), inner, strict=True))
        if isinstance(inner, dict):
            used.add(key)
            aligned = key == "char_interval"
            outer = {k: value for k, value in plain.items() if k != key}
            plain = {_plain(k): value for k, value in inner.items()} | outer
            break
    quote = next((k for k in _QUOTE if isinstance(plain.get(k), str)), "")
    label = next((k for k in _LABEL if k != quote and _labels(plain.get(k))), "")
    if not label and quote not in ("", "name", "entity"):
        label = "entity"  # {"entity": "PER", "word": "Ann"}
    score = next((k for k in _SCORE if _is_number(plain.get(k))), "")
    labels = labels or _labels(plain.get(label))
    start, end = (
        next((plain[k] for k in keys if type(plain.get(k)) is int), None)
        for keys in (_START, _END)
    )
    bounds = None if start is None or end is None else (start, end)
    named = quote in ("quote", "extraction_text")
    if not (labels and (quote or bounds)) and not named:
        return None
    used |= {quote, label, score, *_BOUNDS[:1]}
    more = {k: v for k, v in one.items() if _plain(k) not in used and v is not None}
    return Item(
        labels,
        plain.get(quote),
        bounds,
        aligned and bounds is not None,
        named,
        plain.get(score),
        more,
    )


def _plain(key: str) -> str:
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def _labels(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return ()
    names = [name.strip() for name in names]
    return tuple(names) if all(n and n.isprintable() for n in names) else ()


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < math.inf


def _in_text(text: str) -> list[Item] | None:
    """The answer in a text, as JSON, whatever else a model says before and after."""
    text = text.rpartition("</think>")[2]
    items = _first(text)
    return _first(_COMMAS.sub("", text)) if items is None else items


def _first(text: str) -> list[Item] | None:
    """The first answer in a text that is not empty, or an empty one."""
    single: list[Item] = []  # objects on lines of their own
    nothing, whole = False, True
    for value in _values(text):
        items = items_of(value)
        if items and isinstance(value, dict) and _item(value) is not None:
            single += items
        elif items:
            return items
        nothing |= items == []
        whole &= value is not None  # else what is found may be part of what is lost
    return (single or ([] if nothing else None)) if whole else None


def _values(text: str) -> Iterator[Any]:
    """Lists and objects in a text; None for one that cannot be read."""
    at = 0
    while begins := _BEGINS.search(text, at):
        at = begins.start() + 1
        try:
            value, at = _DECODER.raw_decode(text, begins.start())
            json.dumps(value, ensure_ascii=False).encode()  # half of a character
        except (ValueError, RecursionError) as error:
            yield None
            if isinstance(error, json.JSONDecodeError) and (
                error.msg.startswith("Unterminated")
                or error.pos >= len(text.rstrip(" \r\n`"))
            ):
                return  # it was cut off
        else:
            yield value
