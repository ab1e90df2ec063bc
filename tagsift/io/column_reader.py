"""The one door for column files: cells in, rows, labels, votes and truth out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from tagsift.data.label_set import ANY, check_label
from tagsift.data.rows import Row
from tagsift.data.schemes import check_one_kind, check_scheme
from tagsift.errors import DataError
from tagsift.io.column_file import Block, ColumnFile, Part, PathName, located
from tagsift.io.column_roles import (
    ENDING,
    Columns,
    Layout,
    by_name,
    by_place,
    parse_names,
    role_of,
)
from tagsift.io.leaks import labels_in
from tagsift.io.misreads import Watch
from tagsift.io.renaming import Renaming
from tagsift.io.sniff import recognise_head

__all__ = ["CellTable", "Entry"]

T = TypeVar("T")
V = TypeVar("V")


class Entry(NamedTuple, Generic[T]):
    """One sentence of a table; lists are empty where the file has no such column."""

    name: str  # what the columns of sentences say; empty where there is none
    rows: tuple[Row, ...]
    labels: list[T]
    votes: list[list[T]]  # one list an annotator
    gold: list[str]
    exact: list[str | None]


@dataclass
class CellTable(Generic[T]):
    """A column file whose columns have roles, watched for being misread.

    Columns are counted from 1, `gold` from the end where it is negative. Whoever names
    the columns (see `tagsift.io.column_roles`) is taken at their word, but for features
    that hold labels of the file.
    """

    path: PathName
    needed: str  # what the file must hold besides tokens: "label", "vote" or nothing
    parse: Callable[[str], T]  # what a cell of a label or a vote means
    _: KW_ONLY
    scheme: str = "auto"  # of the gold labels
    columns: Columns | None = None
    header: bool = False
    comments: bool = False
    votes: tuple[int, ...] = ()
    gold: int | None = None
    exact: int | None = None
    bare: bool = False  # a file of one column is text without labels
    part: Part | None = None  # which bytes of the file; all by default
    features_hold_labels: bool = False  # such features are meant
    rename: Mapping[str, str] | None = None  # other names of labels
    layout: Layout = field(default=Layout(()), init=False)

    def __post_init__(self) -> None:
        if self.scheme != "auto":
            check_scheme(self.scheme)
        self._names = None if self.columns is None else parse_names(self.columns)
        self._renaming = Renaming(self.rename or {})
        gold_too = self.needed == "label" and self.gold is not None
        self._file = ColumnFile(
            self.path,
            comments=self.comments,
            header=self.header,
            least=1 if self.bare else 1 + bool(self.needed) + gold_too,
            allow_empty=not self.needed,
            part=self.part,
        )

    def __iter__(self) -> Iterator[Entry[T]]:
        watch: Watch | None = None
        known: dict[str, T] = {}
        seen_gold: dict[str, str] = {}
        for block in self._blocks():
            if not self.layout.rows:
                with located(self.path, block.lines[0]):
                    self.layout = self._lay_out(len(block.columns))
                if self._names is None or self.needed:
                    watch = Watch(
                        self.path,
                        self.layout,
                        self._file.tabs,
                        bool(self._file.names),
                        self._names,
                        self.features_hold_labels,
                    )
            if watch is not None:
                watch.see(block)
            if self._names is not None and self._names[0] == "-":
                self._check_token_numbers(block)
            for sentence in self._sentences(block):
                yield self._entry(sentence, known, seen_gold)
        if watch is not None:
            watch.end()
        if self.part is None:
            self._renaming.warn()
        if self.scheme == "auto":
            with located(self.path):
                check_one_kind(labels_in(known))

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names of the vote columns in the header, if there was one."""
        return self._named(self.layout.votes)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns after the token in the header, if there was one."""
        return self._named(self.layout.rows[1:])

    def _named(self, places: tuple[int, ...]) -> tuple[str, ...]:
        names = self._file.names
        return tuple(names[i] for i in places) if names else ()

    def _blocks(self) -> Iterator[Block]:
        """Yield the sentences; where lines are bad, say if the file is of a kind."""
        try:
            yield from self._file
        except DataError as error:
            better = recognise_head(self.path) if error.line is not None else None
            if better is None:
                raise
            raise DataError(better, self.path, error.line) from None

    def _sentences(self, block: Block) -> Iterator[Block]:
        """Yield lines up to a blank one in sentences, where columns tell them apart."""
        places = self.layout.ends
        if not places:
            yield block
            return
        self._check_header(block)
        ids = list(zip(*(block.columns[i] for i in places), strict=True))
        size = len(ids)
        cuts = [0, *(t for t in range(1, size) if ids[t] != ids[t - 1]), size]
        for a, b in pairwise(cuts):
            yield Block(block.lines[a:b], [column[a:b] for column in block.columns])

    def _check_header(self, block: Block) -> None:
        """Refuse a first line that names the columns of sentences and of tokens."""
        places = (*self.layout.ends, self.layout.rows[0])
        first = [role_of(block.columns[i][0]) for i in places]
        if not self._file.names and first[-1] == "token" and None not in first:
            raise DataError(
                "expected a token in the first line, found names of columns; say "
                "--header (in Python header=True).",
                self.path,
                block.lines[0],
            )

    def _lay_out(self, width: int) -> Layout:
        if self._names is not None:
            return by_name(self._names, width, self.needed)
        for number, name in enumerate(self._file.names, 1):
            if number > 1 and name.lower() in ("token", "word", "form"):
                lead = ["sentence" if role_of(self._file.names[0]) in ENDING else "-"]
                lead += ["-"] * (number - 2)
                last = "vote,…" if self.needed == "vote" else "label"
                raise DataError(
                    f"expected the token in the first column, found {name!r} as the "
                    f"name of column {number}; name the columns, such as --columns "
                    f"{','.join(lead)},token,{last} (in Python columns=), or read it "
                    "as a table with a header, --from csv."
                )
        if self.bare and width == 1:
            return Layout((0,))
        return by_place(width, self.needed, self.votes, self.gold, self.exact)

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
            place: int | None, seen: dict[str, V], parse: Callable[[str], V]
        ) -> list[V]:
            """Parse the cells of a column, each distinct one once."""
            cells = () if place is None else columns[place]
            if self.rename:
                cells = tuple(map(self._renaming.cell, cells))
            for cell in dict.fromkeys(cells):
                if cell not in seen:
                    with located(self.path, block.lines[cells.index(cell)]):
                        seen[cell] = parse(cell)
            return [seen[cell] for cell in cells]

        exact: dict[str, str | None] = {ANY: None}
        check = partial(check_label, scheme=self.scheme)
        votes = [parsed(i, known, self.parse) for i in layout.votes]
        return Entry(
            " ".join(columns[i][0] for i in layout.ids),
            tuple(zip(*(columns[i] for i in layout.rows), strict=True)),
            parsed(None if votes else layout.label, known, self.parse),
            votes,
            parsed(layout.gold, seen_gold, check),
            parsed(layout.exact, exact, check),
        )
