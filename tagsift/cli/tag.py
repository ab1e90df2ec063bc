"""``tagsift tag``: label new text with a fitted model, as it comes."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tagsift
from tagsift.cli._models import check_columns, load_tagger
from tagsift.cli._options import (
    Exchange,
    Json,
    ModelFile,
    OutOrScreen,
    Reading,
    Shape,
    Sharding,
    To,
    argument,
    option,
)
from tagsift.cli._output import print_json, write_columns, write_lines
from tagsift.cli._reading import exchange_options, say_losses
from tagsift.cli._shards import tag_folder
from tagsift.errors import DataError, InputError

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.data import Document, Row

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 40
EXAMPLE = "tagsift tag model.tagsift letters.txt --spans -o found.jsonl"

#: Tokens of columns that are compared with what the model was trained on.
_COMPARED = 50_000


def run(
    model: ModelFile,
    text: Annotated[
        str,
        argument(
            "TEXT",
            "Raw text, columns without the label, or any other format; - for standard "
            "input, raw text unless --from says else. With --engine: a folder.",
        ),
    ],
    target: Annotated[
        str | None, argument("OUT", "With --engine: the folder to write.")
    ] = None,
    *,
    out: OutOrScreen = None,
    to: To = None,
    spans: Annotated[
        bool, option("Write JSON lines: the text of a document and its spans.")
    ] = False,
    marginals: Annotated[
        bool, option("Add the label's probability, then every label's (as LABEL=P).")
    ] = False,
    gold: Annotated[
        bool, option("The last column holds gold labels; ignore it.")
    ] = False,
    from_shape: Annotated[
        str | None,
        option(
            "Which shape TEXT has; raw text: lines (default), paragraphs or file.",
            metavar="NAME",
        ),
    ] = None,
    shape: Shape = None,
    exchange: Exchange,
    reading: Reading,
    sharding: Sharding,
    json: Json = False,
) -> None:
    """Label raw text, columns or annotated documents, as they come.

    The result is columns, the label last, unless --spans or --to says else. A line of
    raw text is a document.
    """
    if sharding.engine is not None:
        single = {"out": out, "to": to, "spans": spans, "marginals": marginals}
        single |= {"gold": gold, "from_shape": from_shape, "shape": shape}
        tag_folder(model, text, target, sharding, exchange, reading, single, json)
        return
    if target is not None or sharding != Sharding(quiet=sharding.quiet):
        raise InputError(
            "OUT, --workers and --prefix are for folders, with --engine; name the file "
            "to write by --out."
        )
    file = Path(text)
    out = None if str(out) == "-" else out
    if sum((spans, marginals, to is not None)) > 1:
        raise InputError("--spans, --to and --marginals: choose one of them.")
    if gold and reading.columns is not None:
        raise InputError("--gold and --columns: name the gold column 'gold' instead.")
    if exchange.also:
        raise InputError("--with is for files to learn from; tag them one by one.")
    tagger = load_tagger(model)
    of_columns = "conll" if gold or reading != Reading() else None
    name = exchange.source or of_columns or _format_of(file)
    to = None if spans or marginals else _format_to(out, to, name)
    told = exchange_options(exchange)
    how = {"tokenizer": exchange.tokenizer, "sentences": exchange.sentences}
    options = tagsift.io.Options.of({**told, "shape": from_shape})
    uncut: deque[bool] = deque()
    if name == "text":
        bursts: Iterable[Iterable[Document]] = tagsift.io.read_bursts(file, options)
    elif name in ("conll", "columns"):
        bursts = [_columns(tagger, file, gold, reading)]
    else:
        bursts = [_seen(tagsift.io.format_named(name).read(file, options), uncut)]
    tagged = (
        document
        for burst in bursts
        for document in _flushed(
            _tag(tagger, burst, how, marginals, spans or bool(to)), out
        )
    )
    sizes = _Sizes()
    if json and out is None:
        _print_all(tagger, tagged)
        return
    counted = sizes.count(tagged)
    if to is not None:
        written = tagsift.io.format_named(to)
        assert written.write is not None
        cut_here = name == "text" and not written.tokens  # for the model alone
        documents = (
            _with_spans(one) if cut_here or (uncut and uncut.popleft()) else one
            for one, _ in counted
        )
        writes = {**told, "shape": shape, "added": True}
        written.write(out or "-", documents, tagsift.io.Options.of(writes))
    elif spans:
        write_lines(out, (_spans_line(document) for document, _ in counted))
    else:
        names = [str(label) for label in tagger.classes_]
        write_columns(out, _blocks(counted, names))
    say_losses(options.losses)
    if json:
        classes = list(tagger.classes_)
        print_json({"out": str(out), **vars(sizes), "classes": classes})


def _format_of(text: Path) -> str:
    """Format of what shall be tagged, where nobody says it."""
    if str(text) == "-":
        peek = getattr(sys.stdin.buffer, "peek", bytes)
        tagsift.io.check_prose(peek(), "standard input")
        return "text"
    try:
        found = tagsift.io.format_of(text).name
    except DataError:
        ending = text.name.removesuffix(".gz").endswith(
            tuple(e for one in tagsift.io.FORMATS.values() for e in one.endings)
        )
        if ending or not text.is_file():
            raise
        return "conll"  # whose reader says what else a file looks like
    if found == "text":
        with tagsift.io.open_source(text) as stream:
            tagsift.io.check_prose(stream.read(1 << 16), text)
    return found


def _format_to(out: Path | None, to: str | None, source: str) -> str | None:
    """Format to write; None for the columns of the text and the label."""
    of_columns = ("conll", "columns")
    if to in of_columns and source in (*of_columns, "text"):
        return None
    if to is not None:
        to = "conll" if to in of_columns else to
        return tagsift.io.format_to_write(out or "-", to, None).name
    name = "" if out is None else out.name.lower().removesuffix(".gz")
    fitting = {
        one.name
        for one in tagsift.io.FORMATS.values()
        if one.write is not None and name.endswith(one.endings or ("\0",))
    }
    if not fitting or "conll" in fitting:
        return None
    if source in fitting:
        return source
    raise InputError(
        f"{out}: expected --to with the format to write, or --spans; columns go into "
        "files with other endings, such as .conll."
    )


def _columns(
    tagger: SequenceTagger, path: Path, gold: bool, reading: Reading
) -> Iterator[Document]:
    """Sentences of a column file, which is looked through first, where it can be."""

    def sentences() -> Iterator[tuple[Row, ...]]:
        return tagsift.io.iter_text(path, gold=gold, **vars(reading))

    compared: list[list[Row]] = []
    size = 0
    found = sentences()
    for rows in found:
        compared.append(list(rows))
        size += len(rows)
        if size > _COMPARED:
            break
    check_columns(tagger, path, compared, named=reading.columns is not None)
    first: Iterable[Any] = compared
    if path.is_file():
        for _ in found:  # what a file looks like is known at its end
            pass
        first, found = (), sentences()
    for number, rows in enumerate(chain(first, found), 1):
        cuts = (0, len(rows))
        yield tagsift.Document(str(number), rows=tuple(rows), sentences=cuts)


def _seen(documents: Iterable[Document], uncut: deque[bool]) -> Iterator[Document]:
    """Documents, after it is noted whether they have no tokens yet."""
    for document in documents:
        uncut.append(document.rows is None)
        yield document


def _with_spans(document: Document) -> Document:
    """A tagged document with spans instead of the tokens that it did not have."""
    *layers, last = document.layers
    found = replace(last, marks=document.spans, tags=None, scores=None, scheme=None)
    layers.append(found)
    return replace(document, layers=tuple(layers)).uncut()


def _tag(
    tagger: SequenceTagger,
    documents: Iterable[Document],
    how: dict[str, Any],
    marginals: bool,
    confidences: bool,
) -> Iterator[tuple[Document, Any]]:
    """Tagged documents, each with the marginals of its tokens where wanted."""
    if not marginals:
        tagged = tagsift.tag_documents(
            tagger, documents, confidences=confidences, **how
        )
        yield from ((document, None) for document in tagged)
        return
    for batch in tagsift.base.batches(tagsift.base.ready(tagger, documents, **how)):
        tables = iter(tagger.predict_proba(tagsift.base.tokens_of(batch)))
        for document in tagsift.tag_documents(tagger, batch, confidences=False, **how):
            pieces = [next(tables) for _ in document.bounds()]
            yield document, [row for piece in pieces for row in piece.tolist()]


def _flushed(
    documents: Iterable[tuple[Document, Any]], out: Path | None
) -> Iterator[tuple[Document, Any]]:
    """Documents that came together, and then what was printed so far."""
    yield from documents
    if out is None:
        sys.stdout.flush()


class _Sizes:
    """How much was tagged."""

    def __init__(self) -> None:
        self.sentences = 0
        self.tokens = 0

    def count(
        self, documents: Iterable[tuple[Document, Any]]
    ) -> Iterator[tuple[Document, Any]]:
        for document, table in documents:
            self.sentences += len(document.bounds())
            self.tokens += len(document.rows or ())
            yield document, table


def _blocks(
    documents: Iterable[tuple[Document, Any]], names: list[str]
) -> Iterator[list[tuple[str, ...]]]:
    """Columns of the sentences: those of the text, the label, its probabilities."""
    column = {name: k for k, name in enumerate(names)}
    for document, table in documents:
        cells: list[tuple[str, ...]] = []
        tags = document.layers[-1].tags or ()
        for t, (row, label) in enumerate(zip(document.rows or (), tags, strict=True)):
            more: list[str] = []
            if table is not None:
                more = [f"{table[t][column[str(label)]]:.6f}"]
                more += [f"{name}={table[t][k]:.6f}" for name, k in column.items()]
            cells.append((*row, str(label), *more))
        for first, last in document.bounds():
            yield cells[first:last]


def _spans_line(document: Document) -> str:
    """One line of JSON: a document and what was found in it."""
    document = document.with_text()
    text = document.text or ""
    found = [
        {
            "start": mark.start,
            "end": mark.end,
            "text": text[mark.start : mark.end],
            "label": mark.labels[0],
            **({} if mark.score is None else {"score": round(mark.score, 6)}),
        }
        for mark in document.spans
    ]
    record = {"id": document.id, "text": text, "spans": found}
    return dumps(record, ensure_ascii=False) + "\n"


def _print_all(
    tagger: SequenceTagger, documents: Iterable[tuple[Document, Any]]
) -> None:
    """Print one JSON object of all sentences."""
    sentences: list[dict[str, Any]] = []
    for document, table in documents:
        tags = document.layers[-1].tags or ()
        for a, b in document.bounds():
            entry = {"tokens": document.tokens[a:b], "labels": tags[a:b]}
            sentences.append(
                entry if table is None else entry | {"marginals": table[a:b]}
            )
    names = [str(name) for name in tagger.classes_]
    print_json({"classes": names, "sentences": sentences})
