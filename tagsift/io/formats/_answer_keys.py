"""Under which keys a file of language models has their answers, and whose they are.

What is an answer in one record is one in all, so that an answer that cannot be read is
not taken for data of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tagsift.io.formats._answers import ANSWERS, LISTS, WRAPS, items_of
from tagsift.io.formats._quotes import find_quote

__all__ = ["IDS", "AnswerKeys", "is_answer", "model_of"]

#: Keys of the id of a document.
IDS = ("id", "document_id", "custom_id")
#: Keys of the name of a model beside its answer.
_NAMES = ("model", "annotator", "name")
#: The key under which there are always answers by the names of their models.
_MODELS = "models"
_KNOWN = (*LISTS, *ANSWERS)
#: Keys of what a model was asked, which often has an answer in it as an example.
_ASKED = (
    "prompt system system_prompt instruction instructions messages request template "
    "query question schema"
).split()


def model_of(record: dict[str, Any]) -> str | None:
    """The name of the one model that a record is of, if it is so."""
    model = record.get("model")
    return str(model) if isinstance(model, str) or type(model) is int else None


def is_answer(value: Any, text: str) -> bool:
    """Whether a value is an answer and nothing else: with quotes of the text."""
    if isinstance(value, str) and value.lstrip().startswith("```"):
        return True
    return any(
        item.named or (item.whole and find_quote(item.quote or "", text, set(), []))
        for item in items_of(value) or ()
    )


def _is_group(value: Any, text: str) -> bool:
    """Whether a value has the answers of several models, by their names."""
    if isinstance(value, list):
        named = [_named(one) for one in value]
        return None not in named and any(is_answer(x[1], text) for x in named if x)
    return (
        isinstance(value, dict)
        and not any(key in (*_KNOWN, *WRAPS) for key in value)
        and any(is_answer(one, text) and _is_own(one) for one in value.values())
    )


def _is_own(answer: Any) -> bool:
    """Whether an answer has its own labels; quotes of one label have not."""
    return isinstance(answer, str) or any(item.whole for item in items_of(answer) or ())


def _named(one: Any) -> tuple[str, Any] | None:
    """The name of a model and its answer, of an object that has both."""
    if not isinstance(one, dict):
        return None
    name = next((one[key] for key in _NAMES if isinstance(one.get(key), str)), None)
    key = next((key for key in _KNOWN if key in one), None)
    return None if name is None or key is None else (name, one[key])


@dataclass
class AnswerKeys:
    """The keys under which a file has answers, as far as its records were seen."""

    text_key: str
    groups: dict[str, None] = field(default_factory=dict)  # of several models
    single: dict[str, None] = field(default_factory=dict)  # of the one model of a line
    models: dict[str, None] = field(default_factory=dict)  # called as their model is
    one_a_line: bool = False  # whether lines name their model
    others: dict[str, None] = field(default_factory=dict)

    @property
    def readable(self) -> bool:
        """Whether there are answers that can be read."""
        return bool(self.groups or self.single or self.models or self.one_a_line)

    def see(self, record: dict[str, Any]) -> None:
        """Look where a record has answers that can be read."""
        text = str(record.get(self.text_key))
        self.one_a_line |= model_of(record) is not None
        apart = (self.text_key, "model", "meta", *IDS, *_ASKED, *self.groups)
        for key, value in record.items():
            if key in apart:
                continue
            self.others[key] = None
            into = self.single if key in _KNOWN else self.models
            if key == _MODELS or _is_group(value, text):
                into.pop(key, None)  # where models seemed to be labels
                self.groups[key] = None
            elif key not in into and is_answer(value, text):
                into[key] = None

    def answers(
        self, record: dict[str, Any], used: set[str]
    ) -> Iterator[tuple[str | None, str, Any]]:
        """The model, if it is named, the key and the answer; `used` gets the keys."""
        model, there = model_of(record), record.keys() - used
        usual = [key for key in _KNOWN if key in there and key not in self.groups]
        single = [key for key in usual if key in self.single]
        if model is not None:
            used.add("model")
            single += [key for key in record if key in self.models]
            single += usual
            if not single and not there & self.groups.keys():
                yield model, "model", None
        elif not self.readable:  # nothing can be read: what is called so, or is empty
            single = usual
            empty = [key for key in record if record[key] in ([], {}) and key in there]
            for key in [] if usual else empty:
                used.add(key)
                yield key, key, record[key]
        for key in single[:1]:
            used.add(key)
            yield model, key, record[key]
        for key, value in record.items():
            if key in used or not (key in self.groups or key in self.models):
                continue
            used.add(key)
            if key in self.groups and isinstance(value, dict):
                yield from ((who, key, answer) for who, answer in value.items())
            elif key in self.groups and isinstance(value, list):
                pairs = (_named(one) or (key, one) for one in value)
                yield from ((who, key, answer) for who, answer in pairs)
            else:
                yield key, key, value
