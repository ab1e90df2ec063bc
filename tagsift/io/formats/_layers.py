"""Whose labels are written where a format, or a row, holds those of one annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tagsift.data.documents import Document, Layer
from tagsift.data.span_alignment import once
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.io.formats._format import Options

__all__ = ["MODELS", "OURS", "main_layer", "of_annotator", "only_layer"]

#: Annotator of labels that a model of ours has found.
OURS = "tagsift"
#: Kinds of layers that no person made.
MODELS = ("model", "rule")
_TRUTHS = ("gold", "exact")
_NAMED = 12


def _name(layer: Layer) -> str:
    return layer.kind if layer.kind in _TRUTHS else layer.annotator


def of_annotator(documents: Iterable[Document], name: str) -> Iterator[Document]:
    """Documents with the layer of one annotator alone (or of ``gold``, ``exact``)."""
    names: dict[str, None] = {}
    for document in documents:
        names |= dict.fromkeys(map(_name, document.layers))
        layers = tuple(layer for layer in document.layers if _name(layer) == name)
        yield replace(document, layers=layers)
    if name not in names:
        raise InputError(
            f"--layer (in Python layer=): expected one of {_listed(names)}, found "
            f"{name!r}."
        )


def _choice(layers: Iterable[Layer]) -> list[Layer]:
    """The labels found; else those of annotators; else the truth."""
    people = [one for one in layers if one.kind not in _TRUTHS]
    ours = [one for one in people if (one.annotator, one.kind) == (OURS, "model")]
    return ours[-1:] or people or list(layers)


def main_layer(document: Document) -> Layer | None:
    """The layer that a reader of one layer would mean; None where it is not clear."""
    choice = _choice(document.layers)
    return choice[0] if len(choice) == 1 else None


def only_layer(
    document: Document, form: str, options: Options, *, else_: str = ""
) -> Layer | None:
    """The layer that `form` keeps, which holds one annotator; None if there is none."""
    document = once(document, options.again, options.losses, lost=True)
    choice = _choice(document.layers)
    if len(choice) > 1:
        names = _listed(map(_name, choice))
        raise InputError(
            f"document {document.id!r}: {form} holds the labels of one annotator, "
            f"found those of {names}; say whose with --layer (in Python layer=){else_}."
        )
    for layer in document.layers:
        if layer is not choice[0]:
            where = f"{document.id}, {layer.annotator}"
            kind = (
                f"labels beside those of {_name(choice[0])}, which {form} cannot hold"
            )
            options.losses.note(kind, where)
    return choice[0] if choice else None


def _listed(names: Iterable[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:_NAMED]) + ", …" * (len(shown) > _NAMED) or "none"
