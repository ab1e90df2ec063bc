"""The one door for column files: cells in, rows, labels, votes and truth out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from tagsift.data.columns import ANY, Block, ColumnFile, PathName, check_label
from tagsift.data.layout import Columns, Layout, by_name, by_position, parse_names
from tagsift.data.lookalikes import recognise_head
from tagsift.data.misreads import Watch
from tagsift.data.rows import Row
from tagsift.data.schemes import check_scheme
from tagsift.errors import DataError

__all__ = ["Entry", "Table"]

T = TypeVar("T")
V = TypeVar("V")


class Entry(NamedTuple, Generic[T]):
    """One sentence of a table; lists are empty where the file has no such column."""

    rows: tuple[Row, ...]
    labels: list[T]
    votes: list[tuple[T, ...]]
    gold: list[str]
    exact: list[str | None]


class Table(Generic[T]):
    """A column file whose columns have roles, watched for being misread.

    `parse` turns a cell of a label or a vote, and its line, into what it means; each
    distinct cell is parsed once. `needed` is what the file must hold besides tokens:
    ``"label"``, ``"vote"`` or nothing. Columns are counted from 1, `gold` from the end
    where it is negative. Whoever names the columns (see `tagsift.data.layout`) is taken
    at their word, and the file is not watched.
    """

    def __init__(
        self,
        path: PathName,
        *,
        needed: str,
        parse: Callable[[str, int], T],
        scheme: str = "auto",
        columns: Columns | None = None,
        header: bool = False,
        comments: bool = False,
        votes: Iterable[int] = (),
        gold: int | None = None,
        exact: int | None = None,
    ) -> None:
        if scheme != "auto":
            check_scheme(scheme)
        self.path, self.scheme, self.layout = path, scheme, Layout(())
        self._needed, self._parse = needed, parse
        self._names = None if columns is None else parse_names(columns)
        self._votes, self._gold, self._exact = tuple(votes), gold, exact
        self._file = ColumnFile(
            path,
            comments=comments,
            header=header,
            least=1 + bool(needed) + (needed == "label" and gold is not None),
            allow_empty=not needed,
        )

    def __iter__(self) -> Iterator[Entry[T]]:
        watch: Watch | None = None
        known: dict[str, T] = {}
        seen_gold: dict[str, str] = {}
        for block in self._blocks():
            if not self.layout.rows:
                self.layout = self._lay_out(len(block.columns), block.lines[0])
                if self._names is None:
                    header = bool(self._file.names)
                    tabs = self._file.tabs
                    watch = Watch(self.path, self.layout, tabs=tabs, header=header)
            if watch is not None:
                watch.see(block)
            elif self._names is not None and self._names[0] == "-":
                self._check_token_numbers(block)
            yield self._entry(block, known, seen_gold)
        if watch is not None:
            watch.end()

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the vote columns in the header, if there was one."""
        names = self._file.names
        return tuple(names[i] for i in self.layout.votes) if names else ()

    def _blocks(self) -> Iterator[Block]:
        """Yield the sentences; where lines are bad, say if the file is of a kind."""
        try:
            yield from self._file
        except DataError as error:
            better = recognise_head(self.path) if error.line is not None else None
            if better is None:
                raise
            raise DataError(better, self.path, error.line) from None

    def _lay_out(self, width: int, line: int) -> Layout:
        if self._names is not None:
            return by_name(self._names, width, self._needed, self.path, line)
        for number, name in enumerate(self._file.names, 1):
            if number > 1 and name.lower() in ("token", "word", "form"):
                raise DataError(
                    f"expected the token in the first column, found {name!r} as the "
                    f"name of column {number}; name the columns, such as --columns "
                    "-,token,label (in Python columns=).",
                    self.path,
                )
        return by_position(
            width,
            self._needed,
            self._votes,
            self._gold,
            self._exact,
            self.path,
            line,
        )

    def _check_token_numbers(self, block: Block) -> None:
        """Refuse the ranges and empty nodes of CoNLL-U, which are no tokens."""
        for cell, line in zip(block.columns[0], block.lines, strict=True):
            first, _, second = cell.replace(".", "-").partition("-")
            if len(block.columns) == 10 and first.isdecimal() and second.isdecimal():
                raise DataError(
                    f"expected a token number, found {cell!r}, a range or an empty "
                    "node of CoNLL-U, which is no token to label; remove such lines.",
                    self.path,
                    line,
                )

    def _entry(
        self, block: Block, known: dict[str, T], seen_gold: dict[str, str]
    ) -> Entry[T]:
        columns, layout = block.columns, self.layout

        def parsed(
            place: int, seen: dict[str, V], parse: Callable[[str, int], V]
        ) -> Iterator[V]:
            cells = columns[place]
            for cell in dict.fromkeys(cells):
                if cell not in seen:
                    seen[cell] = parse(cell, block.lines[cells.index(cell)])
            return map(seen.__getitem__, cells)

        def check(cell: str, line: int) -> str:
            return check_label(cell, self.path, line, self.scheme)

        votes = [parsed(i, known, self._parse) for i in layout.votes]
        labels = None if layout.label is None or votes else layout.label
        return Entry(
            tuple(zip(*(columns[i] for i in layout.rows), strict=True)),
            [] if labels is None else list(parsed(labels, known, self._parse)),
            list(zip(*votes, strict=True)),
            [] if layout.gold is None else list(parsed(layout.gold, seen_gold, check)),
            []
            if layout.exact is None
            else [
                None if cell == ANY else check(cell, line)
                for cell, line in zip(columns[layout.exact], block.lines, strict=True)
            ],
        )
