"""Answers of language models: labels with quotes, which are looked for in the text.

One document a line: ``{"text": "Ann left.", "models": {"a-model": {"PER": ["Ann"]}}}``,
or the models' names as keys beside the text, or one line a model with its name under
``"model"`` and its answer under ``"answer"``, ``"response"`` or so; LangExtract's
``extractions`` are read with their ``char_interval``. An answer that cannot be read is
counted, and most of a file must not be so.

A quote is looked for as it stands, then ignoring case, spaces and the form of quotation
marks and dashes, words before parts of words; the second of two equal quotes is the
second place. What is not found is counted and listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.errors import DataError
from tagsift.io.column_file import PathName
from tagsift.io.formats._answer_keys import IDS, AnswerKeys, is_answer, model_of
from tagsift.io.formats._answers import Item, items_of, model_in
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records
from tagsift.io.formats._quotes import find_quote
from tagsift.io.formats._spans import Counted, as_own, joined, squeezed, unit_of

__all__ = ["FORMAT"]

_NAME = "llm"
#: What is quoted where there is nothing to quote.
_NOTHING = ("none", "n/a", "null", "nil")
#: Records that are looked at before the first document is made.
_AHEAD = 200
#: Lines of a file that tell its format.
_TOLD = 20
_UNREAD = "answer without a list of labels and quotes, left out"
_NOWHERE = "answer none of whose quotes is in the text, left out"


def _read_llm(path: PathName, options: Options) -> Iterator[Document]:
    yield from joined(_llm_documents(path, options))


def _llm_documents(path: PathName, options: Options) -> Iterator[Document]:
    """A document a line; those of one model each, without ids, are one by text."""
    records = iter_records(path)
    ahead = list(islice(records, _AHEAD))
    keys, answers = AnswerKeys(options.text_key or "text"), _Answers(options)
    for _, record in ahead:
        keys.see(record)
    names: dict[str, str] = {}
    for number, (place, record) in enumerate(chain(ahead, records), 1):
        if number > len(ahead):
            keys.see(record)
        text = place.need(record, keys.text_key, str)
        alone = model_of(record) is not None
        name = names.setdefault(text, str(number)) if alone else str(number)
        yield _llm_document(record, place, name, keys, answers)
    answers.count_late(keys)
    answers.check(path, keys)


def _llm_document(
    record: dict[str, Any],
    place: Place,
    number: str,
    keys: AnswerKeys,
    answers: _Answers,
) -> Document:
    text = record[keys.text_key]
    id_key = next((key for key in IDS if record.get(key) is not None), "id")
    name = place.identity(record, id_key, number)
    used = {keys.text_key, "meta", *IDS}
    layers = []
    for model, key, answer in keys.answers(record, used):
        own = "langextract" if key == "extractions" else "model"
        who = model or answers.options.annotator or model_in(answer) or own
        marks = answers.marks(answer, text, f"{name}, {who}")
        if marks is not None:
            layers.append(Layer(who, "model", marks=marks))
    meta = {k: v for k, v in record.items() if k not in used}
    answers.see_data(meta, name)
    meta |= place.take(record, "meta", dict, {})
    return Document(name, text, layers=tuple(layers), meta=meta)


@dataclass
class _Answers:
    """Turns answers into spans, and counts those that come to nothing."""

    options: Options
    asked: int = 0
    failed: int = 0
    first_failed: str = ""
    compared: int = 0  # quotes that came with offsets
    contradicted: int = 0  # those that stand elsewhere
    first_contradicted: str = ""
    data: Counter[str] = field(default_factory=Counter)  # keys of data of documents
    first_data: dict[str, str] = field(default_factory=dict)

    def marks(self, answer: Any, text: str, where: str) -> tuple[Mark, ...] | None:
        """Spans of an answer; None where it says nothing that can be used."""
        self.asked += 1
        items = items_of(answer)
        stated = [item for item in items or () if not _is_nothing(item, text)]
        marks = tuple(self._placed(stated, text, where))
        if items is not None and (marks or not stated):
            return marks
        self._leave_out(_NOWHERE if any(x.whole for x in stated) else _UNREAD, where)
        return None

    def _leave_out(self, kind: str, where: str, times: int = 1) -> None:
        self.options.losses.note(kind, where, times=times)
        self.failed += times
        self.first_failed = self.first_failed or f"{where}, {kind.partition(',')[0]}"

    def see_data(self, data: dict[str, Any], name: str) -> None:
        for key in data:
            self.data[key] += 1
            self.first_data.setdefault(key, name)

    def count_late(self, keys: AnswerKeys) -> None:
        """Count answers that were taken for data before one of their model was read."""
        for key in (*keys.groups, *keys.models):
            if times := self.data[key]:
                self.asked += times
                self._leave_out(_UNREAD, f"{self.first_data[key]}, {key}", times)

    def _placed(self, items: list[Item], text: str, where: str) -> Iterator[Mark]:
        note = self.options.losses.note
        taken: dict[str, set[Bounds]] = {}
        placed: list[Bounds] = []
        for item in items:
            if not item.whole:
                shown = item.quote or ", ".join(item.labels)
                kind = "part of an answer without a label or a quote, left out"
                note(kind, f"{where}, {shown[:60]!r}")
                continue
            quote = item.quote or ""
            bounds = self._at_offsets(item, text, f"{where}, {quote[:60]!r}")
            if bounds is None:
                own = taken.setdefault(quote, set())
                bounds = find_quote(quote, text, own, placed)
                if bounds is None:
                    kind = "quote that is not in the text, left out"
                    if own:
                        kind = (
                            "quote that stands more often in an answer than in the text"
                        )
                    note(kind, f"{where}, {quote[:60]!r}")
                    continue
                own.add(bounds)
            placed.append(bounds)
            yield Mark(*bounds, item.labels, item.score, meta=as_own(_NAME, item.more))

    def _at_offsets(self, item: Item, text: str, where: str) -> Bounds | None:
        """The place of offsets that fit their quote, or that a tool has given."""
        if item.bounds is None:
            return None
        unit = unit_of(text, *item.bounds, item.quote, self.options.offsets)
        bounds = Counted(text, unit).find(*item.bounds)
        if bounds is not None and bounds[0] < bounds[1]:
            there, quote = (
                squeezed(words).casefold()
                for words in (text[slice(*bounds)], item.quote or "")
            )
            if item.aligned or there == quote:
                self.compared += 1
                return bounds
        self.compared += 1
        self.contradicted += 1
        self.first_contradicted = self.first_contradicted or where
        kind = "quote that does not stand at its offsets, looked for elsewhere"
        self.options.losses.note(kind, where)
        return None

    def check(self, path: PathName, keys: AnswerKeys) -> None:
        """Refuse a file most of whose answers, or of whose offsets, are wrong."""
        if not self.asked and not keys.readable:
            raise DataError(
                "expected answers of language models beside the text, found "
                f"{', '.join(keys.others)[:200] or 'no other key'}; put them under "
                '\'models\', such as {"a-model": {"PER": ["Ann"]}}.',
                path,
            )
        if 2 * self.contradicted > self.compared and self.options.offsets == "auto":
            raise DataError(
                f"{self.contradicted} of {self.compared} quotes do not stand at their "
                f"offsets (first: {self.first_contradicted}), which may be of another "
                "text; if the quotes are right, have them looked for, by --offsets "
                "characters (in Python offsets='characters').",
                path,
            )
        if 2 * self.failed > self.asked:
            raise DataError(
                f"{self.failed} of {self.asked} answers yield no label in their text "
                f"(first: {self.first_failed}); expected labels with quotes as JSON, "
                'such as {"PER": ["Ann"]} or [{"label": "PER", "quote": "Ann"}], with '
                "whatever a model says around it.",
                path,
            )


def _is_nothing(item: Item, text: str) -> bool:
    """Whether an item says that there is none of its label."""
    quote = (item.quote or "-").strip().casefold()
    return quote in _NOTHING and find_quote(quote, text, set(), []) is None


def _tells(head: str) -> bool:
    record = first_record(head)
    text = record.get("text")
    if not isinstance(text, str):
        return False
    extracted = record.get("extractions")
    if isinstance(extracted, list) or isinstance(record.get("models"), dict):
        return True
    keys, used = AnswerKeys("text"), {"text", "meta", *IDS}
    lines = [first_record(line) for line in head.split("\n")[:_TOLD]]
    for one in (record, *lines):  # the first answers may all be empty
        keys.see(one)
    return "layers" not in record and any(
        key != "spans" and is_answer(answer, str(one.get("text")))
        for one in (record, *lines)
        for _, key, answer in keys.answers(one, set(used))
    )


FORMAT = Format(
    _NAME,
    "answers of language models (labels with quotes), and LangExtract's",
    _read_llm,
    None,
    endings=(".jsonl", ".json"),
    tells=_tells,
)
