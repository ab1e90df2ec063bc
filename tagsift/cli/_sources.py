"""Files of any format as the verbs read them, and labels written back in any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import tagsift
from tagsift.cli._options import (
    Exchange,
    Reading,
    Source,
    parse_labels,
    parse_renaming,
)
from tagsift.cli._output import note
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.data import Losses
    from tagsift.data.corpus import Corpus as NewCorpus
    from tagsift.io import Corpus, Documents, PartialCorpus, VoteCorpus

__all__ = [
    "Tally",
    "exchange_options",
    "format_of",
    "format_to",
    "is_table",
    "read_corpus",
    "read_documents",
    "say_losses",
    "with_sources",
    "write_labels",
]

#: Of every token, what annotators said, and whether the label differs from that.
Tally: TypeAlias = list[list[tuple[str, str]]]
#: Names of column files.
_COLUMNS = ("conll", "columns")
#: Options of column files that other formats do not have.
_OF_COLUMNS = ("columns", "votes", "header", "comments", "gold")
#: Those among them that some have all the same.
_SHARED = {
    "csv": ("columns", "votes", "header"),
    "conllu": ("columns",),
    "spans-csv": ("votes", "header"),
}
#: How files begin that are no column files.
_OTHERS = ("{", "[", "PK\3\4", "PAR1", "\x1f\x8b")


def format_of(path: Path, exchange: Exchange, reading: Reading | None = None) -> str:
    """Name of the format of a file; column files are told by what else is said."""
    if exchange.source is not None:
        name = "conll" if exchange.source in _COLUMNS else exchange.source
        return tagsift.io.format_named(name).name
    told = [name for name in _OF_COLUMNS if getattr(reading, name, None)]
    if (told and not is_table(path)) or not path.exists():
        return "conll"
    if path.is_file() and not _by_name(path):
        with tagsift.io.open_source(path) as stream:
            head = stream.read(1 << 16).decode(errors="replace").lstrip("\ufeff\r\n\t ")
        if not head.startswith(_OTHERS):
            return "spans-csv" if tagsift.io.holds_spans(head) else "conll"
        if head.startswith(_OTHERS[:2]) and not tagsift.io.first_record(head):
            return "conll"
    elif path.is_dir() and not any(path.iterdir()):
        return "conll"
    return tagsift.io.format_of(path).name


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name: its header is read, and may be named."""
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _by_name(path: Path) -> bool:
    """Whether the name alone says that a file is no column file."""
    binary = [
        end for one in tagsift.io.FORMATS.values() for end in one.endings * one.binary
    ]
    return path.name.removesuffix(".gz").endswith((".conllu", ".csv", *binary))


def exchange_options(exchange: Exchange, **more: Any) -> dict[str, Any]:
    """What the options say, for `tagsift.read` and `tagsift.write`."""
    told = {
        "text_key": exchange.text_key,
        "offsets": exchange.offsets,
        "misaligned": exchange.misaligned,
        "overlap": exchange.overlap,
        "again": exchange.again,
        "empty": exchange.empty,
        "tokenizer": exchange.tokenizer,
        "sentences": exchange.sentences,
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
    return tagsift.io.old_read(paths, [name, *others], **options)


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
    documents = tagsift.io.old_read([path, *(exchange.also or ())], **options)
    corpus = documents.corpus()
    say_losses(documents.losses)
    return corpus


def with_sources(corpus: NewCorpus, documents: Documents | None) -> NewCorpus:
    """A corpus with the documents that it was read from."""
    if documents is None or documents.format in (None, "conll"):
        return corpus
    return replace(corpus, sources=tuple(documents.cut()))


def say_losses(losses: Losses) -> None:
    """Say what could not be kept, one line a kind."""
    kinds = losses.counts.items()
    for (kind, times), line in zip(kinds, losses.lines(), strict=True):
        note(line, about=f"{times} {kind}")
    losses.counts.clear()
    losses.cases.clear()


def _with_tally(documents: Documents, tally: Tally) -> Documents:
    """Documents whose last layer has the tally of the votes for columns of a table."""
    sentences = iter(tally)
    done = []
    for document in documents:
        rows = [cells for _ in document.bounds() for cells in next(sentences)]
        more = {"tally": [x for x, _ in rows], "differs": [x for _, x in rows]}
        *layers, last = document.layers
        last = replace(last, meta={"csv": more})
        done.append(replace(document, layers=(*layers, last)))
    return replace(documents, documents=tuple(done))


def format_to(
    out: Path | None, to: str | None, documents: Documents | None
) -> str | None:
    """Name of the format to write labels in; None for columns.

    Without ``--to``, documents go back into their format where the ending fits.
    """
    if to is not None:
        name = "conll" if to in _COLUMNS else to
        return tagsift.io.format_to_write(out or "-", name, None).name
    if documents is None or out is None or documents.format in (None, "conll"):
        return None
    found = tagsift.io.format_named(str(documents.format))
    fits = out.name.removesuffix(".gz").endswith(found.endings or ("\0",))
    return found.name if fits and found.write is not None else None


def write_labels(
    out: Path,
    to: str,
    documents: Documents | None,
    corpus: VoteCorpus | PartialCorpus,
    labels: Sequence[Sequence[str]],
    confidences: Sequence[Sequence[float]] | None,
    exchange: Exchange,
    *,
    shape: str | None = None,
    least: float = 0.0,
    tally: Tally | None = None,
    order: Sequence[int] | None = None,
    data: Sequence[dict[str, Any]] | None = None,
) -> None:
    """Write documents with the labels found, as one more annotator.

    Spans that are less sure than `least` are left out. A table gets the `tally`, too.
    `order` is that of the documents, `data` what is said of each.
    """
    if documents is None:
        made = tuple(tagsift.io.documents_of(corpus))
        documents = tagsift.Documents(made, "conll", tagsift.io.Options())
    if to == "csv":  # which has a row for each token
        documents = documents.cut()
        sure = confidences or ()
        confidences = [[round(p, 6) for p in row] for row in sure] or None
    found = documents.labelled(labels, corpus.scheme, confidences, min_confidence=least)
    if to == "csv" and tally is not None:
        found = _with_tally(found, tally)
    if data is not None:
        found = found.with_data(data)
    if order is not None:
        found = found.take(order)
    options = exchange_options(exchange, shape=shape)
    losses = tagsift.io.old_write(found, out, to, **options)
    say_losses(documents.losses)
    say_losses(losses)
