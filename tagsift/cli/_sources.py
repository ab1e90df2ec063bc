"""Files of any format as the verbs read them, and labels written back in any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import (
    Exchange,
    Reading,
    Source,
    parse_labels,
    parse_renaming,
)
from tagsift.cli._output import complain
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.data import Corpus, Documents, Losses, PartialCorpus, VoteCorpus

__all__ = [
    "exchange_options",
    "format_of",
    "format_to",
    "is_table",
    "read_corpus",
    "read_documents",
    "say_losses",
    "write_labels",
]

#: Names of column files.
_COLUMNS = ("conll", "columns")
#: Options of column files that other formats do not have.
_OF_COLUMNS = ("columns", "votes", "header", "comments", "gold")
#: Those among them that some have all the same.
_SHARED = {"csv": ("columns", "votes", "header"), "conllu": ("columns",)}
#: How files begin that are no column files.
_OTHERS = ("{", "[", "PK\3\4", "PAR1", "\x1f\x8b")


def format_of(path: Path, exchange: Exchange, reading: Reading | None = None) -> str:
    """Name of the format of a file; column files are told by what else is said."""
    if exchange.source is not None:
        name = "conll" if exchange.source in _COLUMNS else exchange.source
        return tagsift.data.format_named(name).name
    told = [name for name in _OF_COLUMNS if getattr(reading, name, None)]
    if (told and not is_table(path)) or not path.exists():
        return "conll"
    if path.is_file() and not _by_name(path):
        with tagsift.data.open_source(path) as stream:
            head = stream.read(1 << 16).decode(errors="replace").lstrip("\ufeff\r\n\t ")
        if not head.startswith(_OTHERS):
            return "conll"
        if head.startswith(_OTHERS[:2]) and not tagsift.data.first_record(head):
            return "conll"
    elif path.is_dir() and not any(path.iterdir()):
        return "conll"
    return tagsift.data.detect(path).name


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name: its header is read, and may be named."""
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _by_name(path: Path) -> bool:
    """Whether the name alone says that a file is no column file."""
    binary = [
        end for one in tagsift.data.FORMATS.values() for end in one.endings * one.binary
    ]
    return path.name.removesuffix(".gz").endswith((".conllu", ".csv", *binary))


def exchange_options(exchange: Exchange, **more: Any) -> dict[str, Any]:
    """What the options say, for `tagsift.read` and `tagsift.write`."""
    told = {
        "text_key": exchange.text_key,
        "offsets": exchange.offsets,
        "misaligned": exchange.misaligned,
        "overlap": exchange.overlap,
        "tokenizer": exchange.tokenizer,
        "label_key": exchange.label_key,
        "spans_key": exchange.spans_key,
        **more,
    }
    given = {name: value for name, value in told.items() if value is not None}
    return {**given, "losses": tagsift.data.Losses(strict=exchange.strict)}


def read_documents(path: Path, name: str, source: Source) -> Documents:
    """Read a file of any format, and more annotators of its texts from others."""
    if name != "conll":
        for one in _OF_COLUMNS:
            if getattr(source, one, None) and one not in _SHARED.get(name, ()):
                raise InputError(f"--{one} is for column files, not for {name}.")
    columns = {one: getattr(source, one, None) or None for one in _OF_COLUMNS}
    options = exchange_options(
        source,
        scheme=source.scheme,
        labels=parse_labels(source.labels),
        features_hold_labels=source.features_hold_labels,
        **columns,
    )
    paths = [path, *(source.also or ())]
    others = [format_of(one, Exchange()) for one in paths[1:]]
    return tagsift.read(paths, [name, *others], **options)


def read_corpus(
    path: Path,
    exchange: Exchange,
    reading: Reading,
    scheme: str,
    labels: str | None = None,
) -> Corpus:
    """Read one label a token from a file of any format."""
    name = format_of(path, exchange, reading)
    rename = parse_renaming(labels)
    if name == "conll" and not exchange.also:
        return tagsift.read_conll(path, scheme=scheme, labels=rename, **vars(reading))
    more = {"features_hold_labels": reading.features_hold_labels, "labels": rename}
    options = exchange_options(exchange, scheme=scheme, **more)
    documents = tagsift.read([path, *(exchange.also or ())], **options)
    corpus = documents.corpus()
    say_losses(documents.losses)
    return corpus


def say_losses(losses: Losses) -> None:
    """Say what could not be kept, one line a kind."""
    for line in losses.lines():
        complain(line, kind="note")
    losses.counts.clear()
    losses.cases.clear()


def format_to(
    out: Path | None, to: str | None, documents: Documents | None
) -> str | None:
    """Name of the format to write labels in; None for columns.

    Without ``--to``, documents go back into their format where the ending fits.
    """
    if to is not None:
        name = "conll" if to in _COLUMNS else to
        return tagsift.data.format_to_write(out or "-", name, None).name
    if documents is None or out is None or documents.format in (None, "conll"):
        return None
    found = tagsift.data.format_named(str(documents.format))
    fits = out.name.removesuffix(".gz").endswith(found.endings or ("\0",))
    return found.name if fits and found.write is not None else None


def write_labels(
    out: Path,
    to: str,
    documents: Documents | None,
    corpus: VoteCorpus | PartialCorpus,
    labels: Sequence[Sequence[str | None]],
    confidences: Sequence[Sequence[float]] | None,
    exchange: Exchange,
    *,
    order: Sequence[int] | None = None,
    data: Sequence[dict[str, Any]] | None = None,
) -> None:
    """Write documents with the labels found, as one more annotator.

    `order` is that of the documents, `data` what is said of each.
    """
    if documents is None:
        made = tuple(tagsift.data.documents_of(corpus))
        documents = tagsift.Documents(made, "conll", tagsift.data.Options())
    found = documents.labelled(labels, corpus.scheme, confidences)
    if data is not None:
        found = found.with_data(data)
    if order is not None:
        found = found.take(order)
    options = exchange_options(exchange, shape=exchange.shape)
    losses = tagsift.write(found, out, to, **options)
    say_losses(documents.losses)
    say_losses(losses)
