"""Data frames of pandas, Arrow tables and data sets of Hugging Face become documents.

A row is a document, with a column ``text`` or ``tokens`` (`tagsift.io.arrow` has them
all), or with numbered labels, as data sets have them; of a data frame it may also be a
token, or a span of given texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tagsift.data.documents import Document, Kind, Layer
from tagsift.errors import InputError
from tagsift.io.arrow import document_of, iter_arrow
from tagsift.io.formats import Options
from tagsift.io.formats._json import Place
from tagsift.io.formats.hf import label_names, row_document

__all__ = ["OF_TOKENS", "is_table", "table_documents"]

#: Columns of a frame of tokens that hold no labels.
OF_TOKENS = ("id", "sentence", "token", "word", "start", "end")
#: Rows of a data set that are read at once.
_BATCH = 1000


def is_table(source: Any) -> bool:
    """Whether something is a frame, a table or a data set."""
    return _is_frame(source) or _is_dataset(source) or _is_arrow(source)


def table_documents(
    source: Any,
    options: Options,
    *,
    votes: Sequence[str] | None = None,
    gold: str | None = None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[Document]:
    """Documents of a table; `votes` and `gold` name columns of a frame of tokens."""
    if _is_frame(source):
        return _of_frame(source, votes, gold, texts)
    if votes is not None or gold is not None or texts is not None:
        raise InputError(
            "votes=, gold= and texts= are for data frames of tokens or spans."
        )
    if _is_dataset(source):
        return _of_dataset(source, options)
    return iter_arrow(source, options.info)


def _is_frame(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"


def _is_dataset(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "datasets"


def _is_arrow(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "to_batches")


def _of_frame(
    frame: Any,
    votes: Sequence[str] | None,
    gold: str | None,
    texts: Mapping[str, str] | None,
) -> Iterator[Document]:
    names = [str(name) for name in frame.columns]
    records = _records(frame, names)
    if texts is not None:
        return _of_spans(records, texts)
    if {"id", "word"} <= set(names):
        labels = [name for name in names if name not in OF_TOKENS]
        for name in (*(votes or ()), *([gold] if gold is not None else ())):
            if name not in labels:
                raise InputError(
                    f"there is no column {name!r}; they are {', '.join(names)}."
                )
        chosen = labels if votes is None else [*votes, *([gold] if gold else ())]
        return _of_tokens(records, chosen, gold)
    if {"text", "tokens"} & set(names):
        return (document_of(record, k) for k, record in enumerate(records))
    raise InputError(
        "expected a frame with a column 'text' or 'tokens' (one row a document), with "
        "'id' and 'word' (one row a token), or texts= (one row a span); found the "
        f"columns {', '.join(names)}."
    )


def _records(frame: Any, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows as plain Python; what pandas calls missing is None."""
    columns = (map(_plain, frame.iloc[:, k].tolist()) for k in range(len(names)))
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """Lists of arrays, None of NaN."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    missing = value is None or value != value or type(value).__name__ == "NAType"
    return None if missing else value


def _of_spans(
    records: Iterable[Mapping[str, Any]], texts: Mapping[str, str]
) -> Iterator[Document]:
    spans: dict[str, list[Mapping[str, Any]]] = {str(name): [] for name in texts.keys()}  # noqa: SIM118
    for number, record in enumerate(records):
        name = str(record.get("id"))
        if name not in spans:
            raise InputError(
                f"row {number}: there is no text of the document {name!r}."
            )
        spans[name].append(record)
    for number, (name, text) in enumerate(texts.items()):
        row = {"id": str(name), "text": text, "spans": spans[str(name)]}
        yield document_of(row, number)


def _of_tokens(
    records: Iterable[Mapping[str, Any]], labels: Sequence[str], gold: str | None
) -> Iterator[Document]:
    documents: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        documents.setdefault(str(record["id"]), []).append(record)
    for name, rows in documents.items():
        numbers = [row.get("sentence") for row in rows]
        starts = [t for t, s in enumerate(numbers) if t == 0 or s != numbers[t - 1]]
        columns = {who: tuple(row[who] for row in rows) for who in labels}
        layers = tuple(
            Layer(who, _kind_of(who, gold), tags=tags)
            for who, tags in columns.items()
            if any(tag is not None for tag in tags)
        )
        words = tuple((str(row["word"]),) for row in rows)
        yield Document(name, None, words, None, (*starts, len(rows)), layers)


def _kind_of(name: str, gold: str | None) -> Kind:
    return "gold" if name == gold else "person"


def _of_dataset(dataset: Any, options: Options) -> Iterator[Document]:
    if isinstance(dataset, Mapping):
        splits = ", ".join(map(str, dataset))
        raise InputError(
            f"expected one split of a dataset, found {splits}; choose one."
        )
    if not hasattr(dataset, "features") or not hasattr(dataset, "iter"):
        raise InputError(f"expected a dataset, found {type(dataset).__name__}.")
    return _rows_of(dataset, options)


def _rows_of(dataset: Any, options: Options) -> Iterator[Document]:
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
