"""JSON and JSON lines: hostile until read whole, streamed, never half written."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, TypeVar

from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName
from tagsift.io.formats._format import STANDARD, open_source, open_target

__all__ = [
    "Place",
    "dumped",
    "first_record",
    "iter_entries",
    "iter_records",
    "records_of",
    "write_array",
    "write_lines",
]

_CHUNK = 1 << 16  # bytes read at once
#: NaN and infinities, which JSON does not have, are read as null.
_DECODER = json.JSONDecoder(parse_constant=lambda constant: None)
_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}
_NAMES |= {bool: "true or false", float: "a number"}
_T = TypeVar("_T")


class Place(NamedTuple):
    """Where something stands: the file, the line, and the JSON path from there."""

    file: PathName
    line: int | None
    steps: Any = ()  # the last one, behind those before it: ((), "a"), 3

    def at(self, step: str | int) -> Place:
        """One step further in: a key of an object, or a number in a list."""
        return Place(self.file, self.line, (self.steps, step))

    @property
    def path(self) -> str:
        parts = []
        rest = self.steps
        while rest:
            rest, step = rest
            parts.append(f"[{step}]" if isinstance(step, int) else f".{step}")
        return "".join(reversed(parts)).removeprefix(".")

    def error(self, sentence: str) -> DataError:
        path = self.path
        lead = f"{path}: " if path else ""
        return DataError(lead + sentence, self.file, self.line)

    def need(self, record: Mapping[str, Any], key: str, kind: type[_T]) -> _T:
        """What stands under a key, of the kind that is due."""
        if key not in record:
            keys = ", ".join(sorted(record)[:9])[:200] or "no keys"
            raise self.error(f"expected {key!r} with {_NAMES[kind]}, found {keys}.")
        return self.at(key).be(record[key], kind)

    def take(
        self, record: Mapping[str, Any], key: str, kind: type[_T], default: _T
    ) -> _T:
        """What stands under a key, or the default where there is nothing, or null."""
        value = record.get(key)
        return default if value is None else self.at(key).be(value, kind)

    def be(self, value: Any, kind: type[_T]) -> _T:
        """Check that a value is of a kind; a boolean is no number."""
        wrong = isinstance(value, bool) and kind is not bool
        if isinstance(value, kind) and not wrong:
            return value
        shown = "null" if value is None else _NAMES.get(type(value), repr(value))
        raise self.error(f"expected {_NAMES[kind]}, found {shown}.")

    def score(self, value: Any) -> float | None:
        """Check a number that may be missing."""
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                if math.isfinite(value):
                    return value  # as it was written: 1 stays 1
            except OverflowError:
                pass
        raise self.error(f"expected a finite number, found {str(value)[:40]!r}.")

    def identity(self, record: Mapping[str, Any], key: str, default: str) -> str:
        """The id under a key, as text, or the default where there is none."""
        value = record.get(key)
        if value is None:
            return default
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        raise self.at(key).error(
            f"expected a name or a number, found {str(value)[:40]}."
        )

    def name(self, record: Mapping[str, Any], key: str) -> str:
        """The text under a key, which is not empty."""
        text = self.need(record, key, str)
        if not text:
            raise self.at(key).error("expected a name, found an empty one.")
        return text

    def choice(self, value: Any, choices: tuple[str, ...]) -> Any:
        if value in choices:
            return value
        raise self.error(f"expected one of {', '.join(choices)}, found {value!r:.40}.")

    @contextmanager
    def located(self) -> Iterator[None]:
        """Say the place where what is made there is wrong."""
        try:
            yield
        except InputError as error:
            raise self.error(str(error)) from None

    def items(self, values: list[Any], kind: type[_T]) -> Iterator[tuple[Place, _T]]:
        """Elements of a list, of the kind that is due, and where they stand."""
        for number, value in enumerate(values):
            here = self.at(number)
            yield here, here.be(value, kind)


class _Text:
    """The text of a stream, decoded chunk by chunk; what was read is forgotten."""

    def __init__(self, stream: IO[bytes], path: PathName) -> None:
        self.stream, self.path = stream, path
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.buffer, self.at, self.line, self.end = "", 0, 1, False
        self._ends = 0  # of lines, among the bytes that were read

    def more(self, least: int = 1) -> bool:
        """Read at least so many bytes more; False at the end."""
        parts, size = [], 0
        while size < least and not self.end:
            raw = self.stream.read1(_CHUNK)  # type: ignore[attr-defined]
            self.end = not raw
            size += len(raw)
            if b"\0" in raw:
                line = self._ends + raw[: raw.index(b"\0")].count(b"\n") + 1
                sentence = "expected text, found a NUL byte; save as plain UTF-8."
                raise DataError(sentence, self.path, line)
            try:
                parts.append(self.decoder.decode(raw, self.end))
            except UnicodeDecodeError as error:
                line = self._ends + error.object[: error.start].count(b"\n") + 1
                raise DataError(
                    "expected UTF-8 text, found the byte "
                    f"0x{error.object[error.start]:02x}; save the file as UTF-8.",
                    self.path,
                    line,
                ) from None
            self._ends += raw.count(b"\n")
        self.buffer, self.at = self.buffer[self.at :] + "".join(parts), 0
        return bool(size)

    def peek(self) -> str:
        """The next character that is no white space, or nothing at the end."""
        while True:
            rest = len(self.buffer)
            at = self.at
            while at < rest and self.buffer[at] in " \t\r\n":
                at += 1
            self.line += self.buffer.count("\n", self.at, at)
            self.at = at
            if at < rest:
                return self.buffer[at]
            if self.end or not self.more():
                return ""

    def take(self, sign: str, due: str = "") -> None:
        """Read a sign that is due."""
        next_ = self.peek()
        if next_ != sign:
            shown = repr(next_) if next_ else "the end of the file"
            sentence = f"expected {due or repr(sign)}, found {shown}."
            raise DataError(sentence, self.path, self.line)
        self.at += 1

    def value(self) -> tuple[Any, str]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self.buffer, self.at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith(("Unterminated", "Invalid \\"))
                if not self.end and (cut or error.pos >= len(self.buffer) - 10):
                    rest = len(self.buffer) - self.at
                    self.more(rest if rest > 16 * _CHUNK else 1)
                    continue
                raise
            text = self.buffer[self.at : end]
            self.line += text.count("\n")
            self.at = end
            return value, text


def iter_records(path: PathName) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the objects of JSON lines or of one JSON array, and where they stand."""
    with open_source(path) as stream:
        yield from records_of(stream, path)


def records_of(
    stream: IO[bytes], path: PathName
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Do the same with an open file; `path` is its name in messages."""
    text, place = _Text(stream, path), None
    if text.peek() == "[":
        for number in _elements(text, "[]", "the array"):
            place = Place(path, None, ((), number))
            yield place, _record(text, place)
    else:
        while text.peek():
            place = Place(path, text.line)
            yield place, _record(text, place)
    if place is None:
        raise DataError("expected JSON objects, one per line, found none.", path)


def iter_entries(path: PathName) -> Iterator[tuple[str, Place, dict[str, Any]]]:
    """Yield the entries of one JSON object: keys, where they stand, and objects."""
    with open_source(path) as stream:
        text = _Text(stream, path)
        for _ in _elements(text, "{}", "the object"):
            sign, place = text.peek(), Place(path, text.line)
            key = _value(text, place)
            if not isinstance(key, str):
                raise place.error(f"expected a key in quotation marks, found {sign!r}.")
            text.take(":")
            text.peek()
            place = Place(path, None, ((), key[:40]))
            yield key, place, _record(text, place)


def _elements(text: _Text, ends: str, what: str) -> Iterator[int]:
    """Numbers of the elements of a list or an object, each of which is read next."""
    text.take(ends[0])
    number = 0
    while text.peek() != ends[1] or number:
        yield number
        number += 1
        if text.peek() != ",":
            break
        text.at += 1
        text.peek()
    text.take(ends[1], f"',' or {ends[1]!r} after [{number - 1}]" if number else "")
    if text.peek():
        raise DataError(f"expected nothing after {what}.", text.path, text.line)


def _record(text: _Text, place: Place) -> dict[str, Any]:
    record = _value(text, place)
    if not isinstance(record, dict):
        shown = _NAMES.get(type(record), "null")
        raise place.error(f"expected a JSON object, found {shown}.")
    return record


def _value(text: _Text, place: Place) -> Any:
    start = text.line
    try:
        record, written = text.value()
        if "\\u" in written and "\\ud" in written.lower():
            # half of a character can be escaped, not written
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise place.error(
            "expected text that UTF-8 can hold, found half of a character "
            f"({error.object[error.start]!r})."
        ) from None
    except (ValueError, RecursionError) as error:
        what = "JSON" if place.line is None else "one JSON object per line"
        why = error.msg if isinstance(error, json.JSONDecodeError) else error
        place = place._replace(line=start)
        raise place.error(
            f"expected {what}, found what is no JSON ({str(why)[:120]})."
        ) from None
    return record


def first_record(head: str) -> dict[str, Any]:
    """The first object of the beginning of a JSON file, as far as it is there.

    Examples
    --------
    >>> first_record('[{"a": [1, {"b": 2}, {"c"')
    {'a': [1, {'b': 2}]}
    >>> first_record("no JSON")
    {}
    """
    text = head.lstrip("\ufeff \t\r\n").removeprefix("[").lstrip()
    if not text.startswith("{"):
        return {}
    try:
        return _DECODER.raw_decode(text)[0]  # type: ignore[no-any-return]
    except json.JSONDecodeError:
        pass
    except (ValueError, RecursionError):
        return {}
    whole, closers = _closed(text)
    try:
        record = json.loads(whole + closers)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _closed(text: str) -> tuple[str, str]:
    """Cut a text at its last comma outside strings, and what closes it there."""
    stack: list[str] = []
    best: tuple[int, tuple[str, ...]] = (0, ())
    quoted = escaped = False
    for at, sign in enumerate(text):
        if quoted:
            quoted, escaped = escaped or sign != '"', not escaped and sign == "\\"
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        elif sign == ",":
            best = at, tuple(stack)
    return text[: best[0]], "".join(reversed(best[1]))


def write_lines(path: PathName, records: Iterable[Mapping[str, Any]]) -> None:
    piped = str(path) == STANDARD  # whoever reads it may wait for every line
    with open_target(path) as stream:
        for record in records:
            stream.write(dumped(record) + "\n")
            if piped:
                stream.flush()


def write_array(path: PathName, records: Iterable[Mapping[str, Any]]) -> None:
    with open_target(path) as stream:
        lead = "["
        for record in records:
            stream.write(f"{lead}\n{dumped(record)}")
            lead = ","
        stream.write("\n]\n" if lead == "," else "[]\n")


def dumped(record: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        if not text.isascii():
            text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        who = f" {record['id']!r}" if "id" in record else ""
        raise InputError(
            f"document{who}: expected what JSON can hold, found {str(error)[:120]}."
        ) from None
    return text
