"""``tagsift convert``: from any format to any other, as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tagsift
from tagsift.cli._options import (
    Exchange,
    Json,
    Labels,
    Quiet,
    Reading,
    Scheme,
    Shape,
    argument,
    option,
)
from tagsift.cli._output import note, print_json, say
from tagsift.cli._parsing import parse_labels, parse_with
from tagsift.cli._reading import exchange_options, say_losses
from tagsift.errors import InputError
from tagsift.visible import count

if TYPE_CHECKING:
    from tagsift.data import Document
    from tagsift.io import Options

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 57
EXAMPLE = "tagsift convert export.json documents.jsonl"


def run(
    file: Annotated[Path, argument("IN", "A file or folder; - for standard input.")],
    out: Annotated[Path, argument("OUT", "What to write; - for standard output.")],
    *,
    to: Annotated[
        str | None,
        option("Format of OUT, where its ending does not tell.", metavar="FORMAT"),
    ] = None,
    merge: Annotated[
        bool,
        option("Join documents of the same id and text (this takes all into memory)."),
    ] = False,
    votes: Annotated[
        str | None, option("Columns of votes, counted from 1.", metavar="COLUMNS")
    ] = None,
    gold: Annotated[bool, option("The last column holds gold labels.")] = False,
    labels: Labels = None,
    annotator: Annotated[
        str | None, option("Name of the annotator, where the file names none.")
    ] = None,
    layer: Annotated[
        str | None,
        option(
            "Write the labels of this annotator alone (gold: the truth).",
            metavar="ANNOTATOR",
        ),
    ] = None,
    from_shape: Annotated[
        str | None, option("Which shape of a format IN has.", metavar="NAME")
    ] = None,
    scheme: Scheme = "auto",
    shape: Shape = None,
    exchange: Exchange,
    reading: Reading,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Convert annotated documents from one format to another, as they come.

    Formats: conll (columns), jsonl (our own, which holds everything), csv, conllu,
    label-studio, doccano, prodigy, argilla, brat, spacy, hf, wrench, votes-csv,
    spans-csv; read only: llm (answers of language models), text. What a format cannot
    hold is named with a count, and --strict makes it an error.
    """
    more = {
        "scheme": scheme,
        "columns": reading.columns,
        "header": reading.header or None,
        "comments": reading.comments or None,
        "features_hold_labels": reading.features_hold_labels or None,
        "votes": votes,
        "gold": gold or None,
        "labels": parse_labels(labels),
        "annotator": annotator,
    }
    columns = [k for k in ("columns", "votes", "gold", "comments") if more[k]]
    source = tagsift.io.format_of(file, exchange.source, columns)
    target = tagsift.io.format_to_write(out, to)
    assert target.write is not None
    told = exchange_options(exchange, **more)
    reads = tagsift.io.Options.of({**told, "shape": from_shape})
    info = reads.info  # which the reader fills
    writes = tagsift.io.Options.of({**told, "shape": shape, "info": info})
    if str(out) != "-" and not target.folder:
        tagsift.storage.check_writable(out)
    documents: Iterable[Document] = source.read(file, reads)
    if exchange.also:
        if str(file) == "-":
            raise InputError("--with: expected a file, found standard input.")
        files = [(file, source.name), *map(parse_with, exchange.also)]
        cut = reads.cut_text
        documents = (
            one.cut(cut) for one in tagsift.io.iter_documents(files, None, reads)
        )
    elif merge:
        documents = tagsift.io.merged(documents)
    if layer is not None:
        documents = tagsift.io.of_annotator(documents, layer)
    sizes: Counter[str] = Counter(documents=0, annotations=0)
    target.write(out, _begun(_counted(documents, sizes)), writes)
    if reads.renaming is not None and not exchange.also:
        reads.renaming.warn()
    _say(source.name, target.name, out, sizes, reads, json)


def _begun(documents: Iterator[Document]) -> Iterable[Document]:
    """The same documents, the first one read: what a file says of all comes with it."""
    first = next(documents, None)
    return () if first is None else chain((first,), documents)


def _counted(documents: Iterable[Document], sizes: Counter[str]) -> Iterator[Document]:
    for document in documents:
        sizes["documents"] += 1
        sizes["annotations"] += len(document.layers)
        yield document


def _say(
    source: str,
    target: str,
    out: Path,
    sizes: Counter[str],
    options: Options,
    json: bool,
) -> None:
    """Say what was done and what could not be kept."""
    losses = options.losses
    if json and str(out) != "-":
        facts = {"from": source, "to": target, "out": str(out), **sizes}
        print_json({**facts, "losses": losses.counts, "cases": losses.cases})
        return
    say_losses(losses)
    sentence = (
        f"{out}: {count(sizes['documents'], 'document')} with "
        f"{count(sizes['annotations'], 'annotation')}, from {source} to "
        f"{target}."
    )
    if str(out) == "-":
        note(sentence)
    else:
        say(sentence)
