"""Hugging Face datasets of documents, or of sentences with numbered labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from tagsift.data.documents import Document
from tagsift.errors import InputError, MissingExtraError
from tagsift.io import AnyCorpus, Documents, Options
from tagsift.io.arrow import document_of
from tagsift.io.formats._hf_rows import MAIN, NOTHING, in_order, sentence_rows
from tagsift.io.formats._json import Place
from tagsift.io.formats._layers import of_annotator
from tagsift.io.formats.hf import label_names, row_document
from tagsift.io.frames import Source, to_arrow
from tagsift.io.old_reading import as_options, documents_of

if TYPE_CHECKING:
    import datasets

__all__ = ["from_dataset", "to_dataset"]

#: Rows that are read at once.
_BATCH = 1000


def to_dataset(
    documents: Source,
    rows: Literal["documents", "sentences"] = "documents",
    layer: str | None = None,
) -> datasets.Dataset:
    """Make a Hugging Face dataset of documents.

    Parameters
    ----------
    documents : iterable of Document, or a corpus
        As in `tagsift.io.to_arrow`.
    rows : {"documents", "sentences"}
        What a row is: a document, with all that `to_arrow` keeps; or a sentence
        for training, with the columns ``id``, ``tokens`` and ``ner_tags``: the labels
        that a model found (`Documents.labelled`), else those of the one annotator, else
        the truth, as numbers whose names the features have, −100 where a token has no
        label or several. ``tagsift.write(…, shape="sentences")`` writes the same rows.
    layer : str, optional
        The annotator whose labels are wanted (``"gold"`` is the truth), where there are
        several.

    Returns
    -------
    datasets.Dataset
    """
    package = _datasets()
    how = documents.options if isinstance(documents, Documents) else Options()
    if isinstance(documents, AnyCorpus):
        documents = documents_of(documents)
    if layer is not None:
        documents = of_annotator(documents, layer)
    if rows == "documents":
        return package.Dataset(to_arrow(documents))
    if rows != "sentences":
        raise InputError(f"rows must be 'documents' or 'sentences'; got {rows!r}.")
    names: set[str] = set()
    records = list(sentence_rows(documents, how, names))
    numbers = {name: k for k, name in enumerate(in_order(names))}
    features = package.Features(
        id=package.Value("string"),
        tokens=package.Sequence(package.Value("string")),
        ner_tags=package.Sequence(package.ClassLabel(names=list(numbers))),
    )
    for record in records:
        record[MAIN] = [numbers.get(tag, NOTHING) for tag in record[MAIN]]
    from pyarrow import Table  # which comes with datasets

    return package.Dataset(Table.from_pylist(records, schema=features.arrow_schema))


def from_dataset(dataset: Any, **options: Any) -> Documents:
    """Read documents from a Hugging Face dataset.

    Parameters
    ----------
    dataset : datasets.Dataset or IterableDataset
        One row a document: what `to_dataset` made; a column ``tokens`` with a column of
        labels, names or numbers, −100 where a token has none; or a column ``text``.
    **options
        As in `tagsift.read`: ``label_key``, the column of labels, by default
        ``ner_tags``, ``tags``, ``labels`` or the one whose name ends in ``_tags``;
        ``labels``, the names of the numbers, where the features do not have them.

    Returns
    -------
    Documents
        Columns that are not used become metadata.
    """
    if isinstance(dataset, Mapping):
        splits = ", ".join(map(str, dataset))
        raise InputError(
            f"expected one split of a dataset, found {splits}; choose one."
        )
    if not hasattr(dataset, "features") or not hasattr(dataset, "iter"):
        raise InputError(f"expected a dataset, found {type(dataset).__name__}.")
    how = as_options(options)
    return Documents(tuple(_documents(dataset, how)), options=how)


def _documents(dataset: Any, options: Options) -> Iterator[Document]:
    features = dataset.features
    names = dict(label_names(features.to_dict() if features else {}))
    number = 0
    for batch in dataset.with_format(None).iter(_BATCH):
        tagged = "layers" not in batch and {"tokens", "words"} & batch.keys()
        if not tagged and not {"text", "tokens"} & batch.keys():
            raise InputError(
                "expected a dataset with a column 'tokens' or 'text', found "
                f"{', '.join(batch)}; see its rename_column."
            )
        for values in zip(*batch.values(), strict=True):
            record = dict(zip(batch, values, strict=True))
            if tagged:
                place = Place("dataset", None).at(f"row {number}")
                yield row_document(record, place, names, str(number), options)
            else:
                yield document_of(record, number)
            number += 1


def _datasets() -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtraError.for_package(
            "datasets", extra="hf", what="a dataset of documents"
        ) from None
    return datasets
