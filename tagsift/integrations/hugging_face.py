"""Hugging Face datasets of documents, or of sentences with numbered labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from tagsift.data import Corpus, Documents, PartialCorpus, VoteCorpus
from tagsift.data.arrow import document_of
from tagsift.data.documents import Document
from tagsift.data.frames import Source, to_arrow
from tagsift.data.reading import as_options, documents_of
from tagsift.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import datasets

__all__ = ["from_dataset", "to_dataset"]

#: The number that says "not labelled" in datasets for training.
_UNLABELLED = -100
#: Rows that are read at once.
_BATCH = 1000
#: Columns that `to_arrow` makes besides text and tokens.
_OWN = {"columns", "offsets", "sentences", "spans", "tags", "layers", "meta", "id"}


def to_dataset(
    documents: Source, rows: Literal["documents", "sentences"] = "documents"
) -> datasets.Dataset:
    """Make a Hugging Face dataset of documents.

    Parameters
    ----------
    documents : iterable of Document, or a corpus
        As in `tagsift.to_arrow`.
    rows : {"documents", "sentences"}
        What a row is: a document, with all that `tagsift.to_arrow` keeps; or a sentence
        for training, with the columns ``id``, ``tokens`` and ``ner_tags``: the labels
        of the one annotator (the truth, where there is none), as numbers whose names
        the features have, −100 where a token has no label or several.

    Returns
    -------
    datasets.Dataset
    """
    package = _datasets()
    if rows == "documents":
        return package.Dataset(to_arrow(documents))
    if rows != "sentences":
        raise InputError(f"rows must be 'documents' or 'sentences'; got {rows!r}.")
    if isinstance(documents, Corpus | PartialCorpus | VoteCorpus):
        documents = documents_of(documents)
    given = Documents(tuple(documents))
    if not given.annotators:
        given = Documents(tuple(map(_as_said, given)))
    corpus = given.candidates()
    names = corpus.label_set.names
    numbers = {frozenset([name]): k for k, name in enumerate(names)}
    features = package.Features(
        id=package.Value("string"),
        tokens=package.Sequence(package.Value("string")),
        ner_tags=package.Sequence(package.ClassLabel(names=list(names))),
    )
    ids = (
        f"{document.id}-{s}" if len(bounds) > 1 else document.id
        for document in given.cut()
        for bounds in [document.bounds()]
        for s in range(len(bounds))
    )
    made = {
        "id": list(ids),
        "tokens": corpus.tokens,
        "ner_tags": [
            [numbers.get(one, _UNLABELLED) for one in row] for row in corpus.candidates
        ],
    }
    from pyarrow import Table  # which comes with datasets

    return package.Dataset(Table.from_pydict(made, schema=features.arrow_schema))


def _as_said(document: Document) -> Document:
    """The truth as the word of an annotator."""
    layers = tuple(replace(layer, kind="person") for layer in document.layers)
    return replace(document, layers=layers)


def from_dataset(
    dataset: Any,
    *,
    tags: str | None = None,
    labels: Sequence[str] | None = None,
    **options: Any,
) -> Documents:
    """Read documents from a Hugging Face dataset.

    Parameters
    ----------
    dataset : datasets.Dataset or IterableDataset
        One row a document: what `to_dataset` made; a column ``tokens`` with a column of
        labels, names or numbers; or a column ``text``.
    tags : str, optional
        The column of labels, where several could be meant. −100 is a token without one.
    labels : sequence of str, optional
        Names of the numbers, where the features do not have them.
    **options
        As in `tagsift.read`.

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
    documents = tuple(_documents(dataset, tags, labels))
    return Documents(documents, options=as_options(options))


def _documents(
    dataset: Any, tags: str | None, labels: Sequence[str] | None
) -> Iterator[Document]:
    batches = dataset.with_format(None).iter(_BATCH)
    first = next(batches, None)
    if first is None:
        return
    columns = list(first)
    if not {"text", "tokens"} & set(columns):
        raise InputError(
            "expected a dataset with a column 'tokens' or 'text', found "
            f"{', '.join(columns)}; see its rename_column."
        )
    own = {"layers", "tags"} <= set(columns) and tags is None
    if tags is None and not own and "tokens" in columns:
        tags = _tags_column(dataset, first)
    if tags is not None and tags not in columns:
        raise InputError(f"there is no column {tags!r}; they are {', '.join(columns)}.")
    names = labels if labels is not None else _names(dataset.features, tags)
    number = 0
    for batch in chain([first], batches):
        for values in zip(*batch.values(), strict=True):
            record = dict(zip(batch, values, strict=True))
            if tags is not None:
                record["tags"] = _named(record.pop(tags), names, number)
            yield document_of(record, number)
            number += 1


def _tags_column(dataset: Any, first: Mapping[str, Any]) -> str | None:
    """The one column with a label for every token."""
    sizes = [len(tokens or ()) for tokens in first["tokens"]]
    fit = [
        name
        for name, rows in first.items()
        if name not in _OWN - {"tags"} | {"tokens"}
        and all(isinstance(row, list) for row in rows)
        and [len(row) for row in rows] == sizes
        and (
            _names(dataset.features, name)
            or all(isinstance(one, str) for row in rows for one in row)
        )
    ]
    if len(fit) > 1:
        raise InputError(
            f"expected one column of labels, found {', '.join(fit)}; say tags=."
        )
    return fit[0] if fit else None


def _names(features: Any, column: str | None) -> Sequence[str] | None:
    """Names of the numbers of a column, where its features have them."""
    if column is None or not features:
        return None
    inner = getattr(features[column], "feature", features[column])
    return getattr(inner, "names", None)


def _named(
    row: Sequence[Any] | None, names: Sequence[str] | None, number: int
) -> list[str | None] | None:
    if row is None:
        return None
    found: list[str | None] = []
    for tag in row:
        if tag is None or tag == _UNLABELLED:
            found.append(None)
        elif isinstance(tag, str):
            found.append(tag)
        elif names is not None and 0 <= tag < len(names):
            found.append(names[tag])
        else:
            what = "labels=" if names is None else f"one of the {len(names)} labels"
            raise InputError(
                f"row {number}: expected {what} for the number {tag!r} of a token."
            )
    return found


def _datasets() -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtraError.for_package(
            "datasets", extra="hf", what="a dataset of documents"
        ) from None
    return datasets
