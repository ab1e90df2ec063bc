"""Which format a file has, and in which it is written: decided here alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

from tagsift.data.schemes import detect_scheme
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import STANDARD, PathName
from tagsift.io.formats import FORMATS, Format, first_record, open_source

__all__ = ["format_named", "format_of", "format_to_write"]

#: Bytes of a file, names in a folder, and lines of columns that are looked at.
_HEAD = 1 << 16
_NAMES = 1000
_LINES = 200
#: Columns have the format of this name; users may call it by the other.
_COLUMNS = "conll"
#: Files that look like these the reader of columns knows, and says what to do.
_OF_READERS = {"csv", "conllu"}
_CALLED = {"columns": _COLUMNS}
_TABLE = (".csv", ".csv.gz")


def format_named(name: str) -> Format:
    """The format of a name."""
    name = _CALLED.get(name, name)
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(f"there is no format {name!r}; choose one of {known}.")
    return FORMATS[name]


def format_of(
    path: PathName, name: str | None = None, of_columns: Collection[str] = ()
) -> Format:
    """The format of a file or folder: as it is named, or by its name and content.

    `of_columns` are the names of what is said of its columns: one that is no table by
    its name is then a column file. So is what nothing else claims; the reader of
    columns says what a file that is none looks like. Where name and content contradict
    each other, or several formats fit, the caller is asked.
    """
    if name is not None:
        return format_named(name)
    columns = FORMATS[_COLUMNS]
    if of_columns and not Path(path).name.lower().endswith(_TABLE):
        return columns
    if str(path) == STANDARD:
        raise InputError(
            "expected --from with the format of standard input (in Python format=)."
        )
    head = _head(path)
    if Path(path).is_dir() and not head:
        return columns  # whose reader says that it is a directory
    named = _by_ending(path)
    told = [
        one for one in FORMATS.values() if one.tells is not None and one.tells(head)
    ]
    if Path(path).is_dir():
        told = [one for one in told if one.folder]
    fitting = [one for one in told if one in named]
    if len(fitting) == 1:
        bare = fitting[0].name == "csv" and columns in named and not _is_header(head)
        return columns if bare else fitting[0]
    if fitting or not _OF_READERS.issuperset(one.name for one in told):
        return told[0] if len(told) == 1 and not named else _ask(path, named, told)
    if Path(path).is_dir() or first_record(head):
        return _ask(path, named, told)
    if FORMATS["text"] in named:
        return columns if told or _has_columns(head) else FORMATS["text"]
    if columns in named or not named:
        return columns
    silent = [one for one in named if one.tells is None]
    return silent[0] if len(silent) == 1 else _ask(path, named, told)


def format_to_write(
    path: PathName, name: str | None = None, source: str | None = None
) -> Format:
    """The format in which a file is written: by `name`, ending, or as the source."""
    if name is not None:
        form = format_named(name)
    else:
        named = [one for one in _by_ending(path) if one.write is not None]
        ending = Path(path).name.removesuffix(".gz").rpartition(".")[2]
        own = [one for one in named if one.name == ending]
        same = [one for one in named or FORMATS.values() if one.name == source]
        choice = same or own or [x for x in named if x.name == _COLUMNS] or named
        if len(choice) != 1:
            what = f" ({_listed(choice)})" if choice else ""
            raise InputError(
                f"{path}: expected --to with the format to write{what} (in Python to=)."
            )
        form = choice[0]
    if form.write is None:
        raise InputError(f"the format {form.name!r} is read only; choose another.")
    return form


def _head(path: PathName) -> str:
    """The beginning of a file, or the names in a folder."""
    if Path(path).is_dir():
        inside = (one for way in ("*", "*/*") for one in Path(path).glob(way))
        names = (one.name for one in inside if not one.name.startswith("."))
        return "\n".join(sorted(islice(names, _NAMES)))
    if Path(path).exists() and not Path(path).is_file():
        return ""  # what comes through a pipe cannot be read again
    with open_source(path) as stream:
        head = stream.read(_HEAD)
        if head[:4] == b"PAR1":  # the names of the columns are at the end
            stream.seek(max(len(head), stream.seek(0, 2) - _HEAD))
            head += stream.read()
    return head.decode(errors="replace").removeprefix("\ufeff")


def _by_ending(path: PathName) -> list[Format]:
    name = Path(path).name.lower().removesuffix(".gz")
    return [one for one in FORMATS.values() if name.endswith(one.endings or ("\0",))]


def _ask(path: PathName, named: Sequence[Format], told: Sequence[Format]) -> NoReturn:
    """Say what speaks for which format."""
    both = [one for one in told if one in named]
    if both:
        what = f"it can be {_listed(both)}"
    elif told and named:
        names, looks = _listed(named), _listed(told)
        what = f"its name is one of {names}, its content looks like {looks}"
    elif told:
        what = f"it can be {_listed(told)}"
    elif named:
        what = f"its name is one of {_listed(named)}, its content does not look like it"
    else:
        what = "neither its name nor its content tells the format"
    raise DataError(f"{what}; say --from FORMAT (in Python format=).", path)


def _listed(formats: Iterable[Format]) -> str:
    return " or ".join(one.name for one in formats)


def _is_header(head: str) -> bool:
    """Whether the first line names columns: none of its cells comes again below."""
    rows = [line.rstrip("\r").split("\t") for line in head.split("\n") if line.strip()]
    first, *others = rows[:_LINES]
    return not any(
        cell == row[place]
        for row in others
        for place, cell in enumerate(first[: len(row)])
    )


def _has_columns(head: str) -> bool:
    """Whether the lines of a text are columns: as wide as one another, labels last."""
    lines = head.split("\n")[:-1] if len(head) >= _HEAD else head.split("\n")
    filled = [line.strip("\r") for line in lines if line.strip()][:_LINES]
    tabs = all("\t" in line for line in filled)
    rows = [line.split("\t" if tabs else None) for line in filled]
    if len(rows) < 2 or len(set(map(len, rows))) != 1 or len(rows[0]) < 2:
        return False
    last = {row[-1] for row in rows}
    few = len(last) <= len(rows) / 2
    return tabs or few or detect_scheme([list(last)]) != "plain"
