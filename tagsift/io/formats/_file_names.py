"""Names of annotators as names of files and folders: those of brat and doccano."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from tagsift.data.documents import Kind, Layer
from tagsift.data.lossy import Losses

__all__ = ["KNOWN", "FileNames", "annotator_in", "in_order", "safe_name"]

#: Kinds of layers that are no votes.
KNOWN: tuple[Kind, ...] = ("gold", "exact")
_NUMBER = re.compile(r"[0-9]+")

_SAFE = re.compile(r"[^/\\:*?\"<>|\x00-\x1f\x7f]{1,100}")


def in_order(name: str) -> str:
    """What names are sorted by: 2 stands before 10."""
    return _NUMBER.sub(lambda match: match[0].zfill(20), name)


def safe_name(part: str) -> str:
    """The name of a file or folder: as it is, or without what could lead elsewhere."""
    if _SAFE.fullmatch(part) and part[0] not in ". " and part[-1] not in ". ":
        return part
    return quote(part, safe=" ")[:100].replace(".", "%2E").strip() or "%"


def annotator_in(name: str) -> tuple[str, Kind]:
    """Annotator and kind of what stands under a name; ``gold`` is the truth."""
    return next(((name, kind) for kind in KNOWN if kind == name), (name, "person"))


@dataclass
class FileNames:
    """A name for what each annotator said, which no other has."""

    losses: Losses
    reserved: tuple[str, ...] = ()
    names: dict[tuple[str, Kind], str] = field(default_factory=dict)

    def of(self, layer: Layer) -> str:
        """The name for a layer, under which it is read as what it is, if it can be."""
        key = (layer.annotator, layer.kind)
        if key not in self.names:
            truth = layer.kind in KNOWN
            name = base = safe_name(layer.kind if truth else layer.annotator)
            others = (*self.names.values(), *KNOWN, *self.reserved)
            taken = {one.casefold() for one in others}
            if truth:
                taken -= {layer.kind}
            number = 1
            while name.casefold() in taken:
                number += 1
                name = f"{base}~{number}"
            if annotator_in(name)[0] != layer.annotator:
                kind = "annotator's name, which is no name of a file, changed"
                self.losses.note(kind, layer.annotator)
            if annotator_in(name)[1] != layer.kind:
                kind = f"annotator's kind {layer.kind}, which a file cannot have"
                self.losses.note(kind, layer.annotator)
            self.names[key] = name
        return self.names[key]
