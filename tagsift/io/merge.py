"""Documents of several sources: those that are the same, and who is who in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tagsift.data.documents import Document, Layer
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks
from tagsift.io.formats import FORMATS, CorpusInfo

__all__ = ["merged", "together"]

#: Names that readers give to annotators of whom a file tells no name.
_UNNAMED = {*FORMATS, "labels", "candidates", "langextract", "model", "unknown"}
_NUMBERED = re.compile(r"(w|lf)[0-9]+")


def merged(documents: Iterable[Document]) -> Iterator[Document]:
    """Join documents that have the same id and text: the layers of all of them."""
    found: dict[tuple[str, str | None, Any], Document] = {}
    for document in documents:
        key = (document.id, document.text, document.rows)
        before = found.get(key)
        found[key] = document if before is None else before.joined(document)
    return iter(found.values())


def together(
    sources: Iterable[tuple[str, Iterable[Document]]], losses: Losses, info: CorpusInfo
) -> Iterator[Document]:
    """Join what several sources, each with its name, have of the same documents.

    Documents are the same by id and text, or by a text that stands once in each.
    Annotators of whom a source tells no name, or one that another source has on the
    same document, are others: all that they said gets the name of the source, too, and
    that alone where there is one of them. Sources that have nothing in common with
    those before are counted. Tokens are those of the first source that has any; texts
    of which none has stay uncut. What readers say in `info`, it says then of all.
    """
    found: list[Document] = []
    used: set[str] = set()  # names of annotators
    parts: list[CorpusInfo] = []
    for name, read in sources:
        given = list(read)
        part = replace(info)
        info.annotators, info.labels, info.scheme = (), (), None
        again = Counter(one.text for one in given)
        known = {(one.id, one.text): n for n, one in enumerate(found)}
        counts = Counter(one.text for one in found)
        places = {one.text: n for n, one in enumerate(found)}
        placed: list[tuple[Document, int | None]] = []
        for document in given:
            place = known.get((document.id, document.text))
            if place is None and counts[document.text] == again[document.text] == 1:
                place = places[document.text]
            placed.append((document, None if document.text is None else place))
        if found and placed and all(place is None for _, place in placed):
            losses.note("file of which no text is in the files before", name)
        names = {layer.annotator for one, _ in placed for layer in one.layers}
        names |= {one.name for one in part.annotators}
        alone = [one for one in names if one in _UNNAMED]
        others = {one for one in names & used if _NUMBERED.fullmatch(one)}
        others |= {*alone} if len(alone) > 1 else set()
        for document, place in placed:
            before = () if place is None else found[place].layers
            taken = {layer.annotator for layer in before}
            others |= taken & {layer.annotator for layer in document.layers}
        called = {one: _free(f"{one} ({name})", used | names) for one in others}
        if len(alone) == 1:
            called[alone[0]] = _free(name, used | names)
        used |= names - called.keys() | set(called.values())
        people = (
            replace(one, name=called.get(one.name, one.name)) for one in part.annotators
        )
        parts.append(replace(part, annotators=tuple(people)))
        for document, place in placed:
            layers = tuple(
                replace(layer, annotator=called.get(layer.annotator, layer.annotator))
                for layer in document.layers
            )
            document = replace(document, layers=layers)
            if place is None:
                found.append(document)
            else:
                found[place] = _on_same_tokens(found[place], document, losses)
    schemes = {part.scheme for part in parts}
    info.scheme = schemes.pop() if len(schemes) == 1 else None
    for part in parts:
        info.add_annotators(part.annotators)
        info.labels += tuple(one for one in part.labels if one not in info.labels)
    return iter(found)


def _on_same_tokens(first: Document, other: Document, losses: Losses) -> Document:
    """Join two readings; the tokens are those of the first that has any."""
    if first.rows is None:
        cut = {name: getattr(other, name) for name in ("rows", "offsets", "sentences")}
        first = replace(first, **cut)
    elif other.rows is not None and other.rows != first.rows:
        other = other.with_text()
        layers = []
        for layer in other.layers:
            if layer.tags is not None:
                kind = "labels of other tokens than those of the first file, as spans"
                losses.note(kind, f"{other.id}, {layer.annotator}")
                marks = layer_marks(other, layer, losses)
                layer = Layer(layer.annotator, layer.kind, marks, meta=layer.meta)
            layers.append(layer)
        other = replace(other, layers=tuple(layers))
    return first.joined(other)


def _free(name: str, used: set[str]) -> str:
    """A name that nobody has."""
    number, found = 1, name
    while found in used:
        number += 1
        found = f"{name[:-1]} {number})" if name.endswith(")") else f"{name} {number}"
    return found
