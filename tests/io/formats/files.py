"""Documents of files, as the tests of formats read and write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tagsift.data.documents import Document, Layer
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks, with_labels
from tagsift.io import format_of, iter_documents, write_documents
from tagsift.io.formats import CorpusInfo, Options
from tagsift.io.merge import merged


class Read(list[Document]):
    """Documents, with what was lost and what is known of all of them."""

    def __init__(
        self, documents: Iterable[Document], options: Options, format: str | None = None
    ) -> None:
        super().__init__(documents)
        self.options, self.format = options, format
        self.losses: Losses = options.losses
        self.info: CorpusInfo = options.info

    @property
    def annotators(self) -> tuple[str, ...]:
        layers = (layer for document in self for layer in document.layers)
        votes = (x.annotator for x in layers if x.kind not in ("gold", "exact"))
        return tuple(dict.fromkeys(votes))

    def cut(self) -> list[Document]:
        return [document.cut(self.options.cut_text) for document in self]


def read(path: Any, format: Any = None, **options: Any) -> Read:
    """Documents of a file, or of several with the formats of each."""
    how = Options.of(options)
    if isinstance(path, list):
        pairs = zip(path, format or [None] * len(path), strict=True)
        return Read(iter_documents(list(pairs), None, how), how)
    format = format_of(path, format).name
    return Read(merged(iter_documents(path, format, how)), how, format)


def write(
    documents: Iterable[Document], path: Any, format: str | None = None, **options: Any
) -> Losses:
    how = Options.of(options)
    source = documents.format if isinstance(documents, Read) else None
    write_documents(documents, path, format, how, source)
    return how.losses


def found_in(
    documents: Read,
    labels: Sequence[Sequence[str]],
    confidences: Sequence[Sequence[float]] | None = None,
) -> Read:
    """Documents with one layer more, of labels that a model found."""
    cut = with_labels(documents.cut(), labels, "iob2", confidences=confidences)
    done = []
    for document, whole in zip(documents, cut, strict=True):
        layer = whole.layers[-1]
        if document.rows is None:
            marks = layer_marks(whole, layer, Losses())
            layer = Layer(layer.annotator, layer.kind, marks)
        done.append(document.with_layers([layer]))
    return Read(done, documents.options, documents.format)
