"""What has documents as a data frame, an Arrow table or a data set of Hugging Face."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tagsift.data.corpus import Corpus, register_tables
from tagsift.data.documents import Document, Tag
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import OnTokens, layer_marks, layer_tags
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, MissingExtraError
from tagsift.io.arrow import arrow_table, record_of
from tagsift.io.formats import CorpusInfo, Options
from tagsift.io.formats._hf_rows import MAIN, NOTHING, in_order, sentence_rows
from tagsift.io.formats._layers import of_annotator
from tagsift.io.tables import OF_TOKENS
from tagsift.typing import FloatArray

__all__ = ["to_table"]

#: Columns of a frame of spans.
_OF_SPANS = ("id", "start", "end", "text", "label", "score", "annotator", "kind")
#: What a row can be, by kind of table.
_ROWS = {
    "pandas": ("documents", "tokens", "spans"),
    "arrow": ("documents",),
    "datasets": ("documents", "sentences"),
}
#: The column of soft labels: a list over the labels for every token.
_SOFT = "soft_labels"


def to_table(
    kind: str,
    documents: Iterable[Document],
    info: CorpusInfo,
    *,
    rows: str = "documents",
    layer: str | None = None,
    soft: Sequence[FloatArray] | None = None,
) -> Any:
    """Make a table of documents; see `Corpus.to`. `soft` are [T, L], one a sentence."""
    if kind not in _ROWS:
        known = ", ".join(_ROWS)
        raise InputError(f"expected a table of {known}, found {kind!r}.")
    if rows not in _ROWS[kind]:
        raise InputError(
            f"expected rows of {kind} to be {' or '.join(_ROWS[kind])}, found {rows!r}."
        )
    if layer is not None:
        documents = of_annotator(documents, layer)
    ready = list(documents)
    tables = None if soft is None else _by_document(ready, soft)
    if kind == "pandas":
        return _frame(ready, rows, info, tables)
    if rows == "sentences":
        return _sentences(ready, soft)
    table = arrow_table(ready, info)
    if tables is not None:
        values = [table_.tolist() for table_ in tables]
        names = {"labels": "|".join(info.labels)}
        table = _with_column(table, values, names)
    return table if kind == "arrow" else _datasets().Dataset(table)


def _by_document(
    documents: Sequence[Document], soft: Sequence[FloatArray]
) -> list[FloatArray]:
    """Tables of sentences as tables of documents, [T, L] each."""
    tables = iter(soft)
    width = soft[0].shape[1:] if len(soft) else (0,)
    empty = np.zeros((0, *width))
    return [
        np.concatenate([empty, *(next(tables) for _ in one.bounds())])
        for one in documents
    ]


def _with_column(table: Any, values: list[Any], names: dict[str, str]) -> Any:
    import pyarrow as pa

    kind = pa.list_(pa.list_(pa.float64()))
    field = pa.field(_SOFT, kind, metadata=names)
    return table.append_column(field, pa.array(values, kind))


def _frame(
    documents: Sequence[Document],
    rows: str,
    info: CorpusInfo,
    soft: Sequence[FloatArray] | None,
) -> Any:
    pd = _pandas()
    if rows == "documents":
        names = list(record_of(Document("", "")))
        frame = pd.DataFrame(map(record_of, documents), columns=names, dtype=object)
        if soft is not None:
            frame[_SOFT] = [table.tolist() for table in soft]
        return frame
    if rows == "spans":
        records = [record for document in documents for record in _spans(document)]
        return pd.DataFrame(records, columns=list(_OF_SPANS))
    records = [record for document in documents for record in _tokens(document)]
    for n, row in enumerate([row for table in soft or () for row in table.tolist()]):
        probabilities = zip(info.labels, row, strict=True)
        records[n] |= {f"p:{name}": value for name, value in probabilities}
    columns = dict.fromkeys(name for record in records for name in record)
    labels = [name for name in columns if name not in OF_TOKENS]
    frame = pd.DataFrame(records, columns=[*OF_TOKENS, *labels])
    said = [name for name in labels if not name.startswith("p:")]
    frame[said] = frame[said].astype(object).where(frame[said].notna(), None)
    return frame


def _spans(document: Document) -> Iterator[dict[str, Any]]:
    whole = document.with_text()
    losses = Losses()
    for layer in whole.layers:
        for mark in layer_marks(whole, layer, losses):
            quoted = (whole.text or "")[mark.start : mark.end]
            for label in mark.labels:
                about = (label, mark.score, layer.annotator, layer.kind)
                where = (document.id, mark.start, mark.end, quoted)
                yield dict(zip(_OF_SPANS, (*where, *about), strict=True))


def _tokens(document: Document) -> Iterator[dict[str, Any]]:
    how = OnTokens()
    columns: dict[str, list[Tag]] = {}
    for layer in document.layers:
        name = layer.annotator
        while name in columns or name in OF_TOKENS:
            name += "'"
        columns[name] = layer_tags(document, layer, how)
    offsets = document.offsets or [(None, None)] * len(document.rows or ())
    sentence_of = [s for s, (a, b) in enumerate(document.bounds()) for _ in range(a, b)]
    for t, word in enumerate(document.tokens):
        place = (document.id, sentence_of[t], t, word, *offsets[t])
        labels = {name: tags[t] for name, tags in columns.items()}
        yield dict(zip(OF_TOKENS, place, strict=True)) | labels


def _sentences(documents: Sequence[Document], soft: Sequence[FloatArray] | None) -> Any:
    """A data set to train with: tokens, and labels as numbers that have names."""
    package = _datasets()
    names: set[str] = set()
    records = list(sentence_rows(documents, Options(), names))
    numbers = {name: k for k, name in enumerate(in_order(names))}
    features = {
        "id": package.Value("string"),
        "tokens": package.Sequence(package.Value("string")),
        MAIN: package.Sequence(package.ClassLabel(names=list(numbers))),
    }
    for number, record in enumerate(records):
        record[MAIN] = [numbers.get(tag, NOTHING) for tag in record[MAIN]]
        if soft is not None:
            record[_SOFT] = soft[number].tolist()
    if soft is not None:
        inner = package.Sequence(package.Value("float64"))
        features[_SOFT] = package.Sequence(inner)
    from pyarrow import Table  # which comes with datasets

    schema = package.Features(features).arrow_schema
    return package.Dataset(Table.from_pylist(records, schema=schema))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingExtraError.for_package(
            "pandas", extra="pandas", what="a frame of documents"
        ) from None
    return pandas


def _datasets() -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtraError.for_package(
            "datasets", extra="hf", what="a dataset of documents"
        ) from None
    return datasets


def _of_corpus(
    corpus: Corpus, kind: str, rows: str, layer: str | None, soft: bool
) -> Any:
    info = CorpusInfo(corpus.annotators, corpus.label_set.names, corpus.scheme)
    tables = split_at(_shares(corpus), corpus.bounds) if soft else None
    return to_table(kind, corpus.documents(), info, rows=rows, layer=layer, soft=tables)


def _shares(corpus: Corpus) -> FloatArray:
    """Soft labels, [N, L]: weights, or candidates and votes that share alike."""
    size = len(corpus.label_set)
    members = corpus.members / corpus.members.sum(axis=1, keepdims=True)  # [V, L]
    if corpus.weights is not None:
        shares = np.array(corpus.weights)
    elif corpus.candidate_codes is not None:
        shares = members[corpus.candidate_codes]
    else:
        shares = np.zeros((corpus.n_tokens, size))
        spoken = corpus.speaks  # [K]
        token, code = corpus.votes.token[spoken], corpus.votes.code[spoken]
        np.add.at(shares, token, members[code])
    total = shares.sum(axis=1, keepdims=True)  # [N, 1]
    return np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / size)


register_tables(_of_corpus)
