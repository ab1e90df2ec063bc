"""Documents as tables of Arrow and pandas, and back.

A table has one row a document and holds everything (`tagsift.io.arrow`). A pandas
frame can have one row a span or a token instead, for counting and plotting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tagsift.data.documents import Document, Layer, Tag
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import OnTokens, layer_marks, layer_tags
from tagsift.errors import InputError, MissingExtraError
from tagsift.io.arrow import arrow_table, document_of, iter_arrow, record_of
from tagsift.io.old_reading import AnyCorpus, Documents, as_options, documents_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["from_arrow", "from_pandas", "to_arrow", "to_pandas"]

#: What can be made a table of.
Source: TypeAlias = Iterable[Document] | AnyCorpus
#: Columns of a frame of tokens that hold no labels.
_OF_TOKENS = ("id", "sentence", "token", "word", "start", "end")
#: Columns of a frame of spans.
_OF_SPANS = ("id", "start", "end", "text", "label", "score", "annotator", "kind")


def to_arrow(documents: Source) -> pa.Table:
    """Make an Arrow table of documents, one row each.

    Parameters
    ----------
    documents : iterable of Document, or a corpus
        As `tagsift.read` gives them; each sentence of a corpus is a document.

    Returns
    -------
    pyarrow.Table
        With the columns of `tagsift.io.arrow`: id, text, tokens, columns, offsets,
        sentences, spans, tags, layers and meta. Nothing is lost.
    """
    return arrow_table(_documents(documents))


def from_arrow(table: Any, **options: Any) -> Documents:
    """Read documents from an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table, RecordBatch or RecordBatchReader
        Or another object that hands out Arrow streams (of polars, DuckDB, …). It has
        some of the columns that `to_arrow` makes, ``text`` or ``tokens`` at least;
        ``tags`` may also be one list of labels a row. Further columns become metadata.
    **options
        As in `tagsift.read`.

    Returns
    -------
    Documents
        Their ids are the numbers of the rows where the table has none.
    """
    return Documents(tuple(iter_arrow(table)), options=as_options(options))


def to_pandas(
    documents: Source, rows: Literal["documents", "spans", "tokens"] = "documents"
) -> pd.DataFrame:
    """Make a pandas frame of documents.

    Parameters
    ----------
    documents : iterable of Document, or a corpus
        As in `to_arrow`.
    rows : {"documents", "spans", "tokens"}
        What a row is: a document, with the columns of `to_arrow`; a span, with the
        columns id, start, end, text, label, score, annotator and kind; or a token, with
        the columns id, sentence, token, word, start, end and one a layer, called by its
        annotator, with labels, sets of labels, or None.

    Returns
    -------
    pandas.DataFrame
    """
    pd = _pandas()
    if rows not in ("documents", "spans", "tokens"):
        raise InputError(
            f"rows must be 'documents', 'spans' or 'tokens'; got {rows!r}."
        )
    source = _documents(documents)
    if rows == "documents":
        names = list(record_of(Document("", "")))
        return pd.DataFrame(map(record_of, source), columns=names, dtype=object)
    source = source if isinstance(source, Documents) else Documents(tuple(source))
    cut = source.cut().documents
    if rows == "spans":
        records = [record for document in cut for record in _spans(document)]
        return pd.DataFrame(records, columns=list(_OF_SPANS))
    records = [record for document in cut for record in _tokens(document)]
    found = dict.fromkeys(name for record in records for name in record)
    labels = [name for name in found if name not in _OF_TOKENS]
    frame = pd.DataFrame(records, columns=[*_OF_TOKENS, *labels])
    frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), None)
    return frame


def from_pandas(
    frame: pd.DataFrame,
    *,
    texts: Mapping[str, str] | None = None,
    gold: str | None = None,
    **options: Any,
) -> Documents:
    """Read documents from a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a document, with a column ``text`` or ``tokens``; one row a token, with
        ``id``, ``word`` and perhaps ``sentence``, where all other columns but those of
        `to_pandas` are annotators; or one row a span, with ``id``, ``start``,
        ``end``, ``label`` and perhaps ``annotator`` and ``score``.
    texts : mapping from id to text, optional
        Where rows are spans: the documents, also those without any span.
    gold : str, optional
        Where rows are tokens: the column that holds the truth.
    **options
        As in `tagsift.read`.

    Returns
    -------
    Documents
    """
    names = [str(name) for name in frame.columns]
    records = _records(frame, names)
    if texts is not None:
        found = _from_spans(records, texts)
    elif {"id", "word"} <= set(names):
        labels = [name for name in names if name not in _OF_TOKENS]
        if gold is not None and gold not in labels:
            raise InputError(
                f"there is no column {gold!r}; they are {', '.join(names)}."
            )
        found = _from_tokens(records, labels, gold)
    elif {"text", "tokens"} & set(names):
        found = (document_of(record, k) for k, record in enumerate(records))
    else:
        raise InputError(
            "expected a frame with a column 'text' or 'tokens' (one row a document), "
            "with 'id' and 'word' (one row a token), or texts= (one row a span); found "
            f"the columns {', '.join(names)}."
        )
    return Documents(tuple(found), options=as_options(options))


def _documents(source: Source) -> Iterable[Document]:
    if isinstance(source, AnyCorpus):
        return documents_of(source)
    return source


def _spans(document: Document) -> Iterator[dict[str, Any]]:
    whole = document.with_text()
    losses = Losses()
    for layer in whole.layers:
        for mark in layer_marks(whole, layer, losses):
            quoted = (whole.text or "")[mark.start : mark.end]
            for label in mark.labels or (None,):
                about = (label, mark.score, layer.annotator, layer.kind)
                where = (document.id, mark.start, mark.end, quoted)
                yield dict(zip(_OF_SPANS, (*where, *about), strict=True))


def _tokens(document: Document) -> Iterator[dict[str, Any]]:
    how = OnTokens()
    said: dict[str, list[Tag]] = {}
    for layer in document.layers:
        name = layer.annotator
        while name in said or name in _OF_TOKENS:
            name += "'"
        said[name] = layer_tags(document, layer, how)
    offsets = document.offsets or [(None, None)] * len(document.rows or ())
    sentence_of = [s for s, (a, b) in enumerate(document.bounds()) for _ in range(a, b)]
    for t, word in enumerate(document.tokens):
        place = (document.id, sentence_of[t], t, word, *offsets[t])
        labels = {name: tags[t] for name, tags in said.items()}
        yield dict(zip(_OF_TOKENS, place, strict=True)) | labels


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


def _from_spans(
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


def _from_tokens(
    records: Iterable[Mapping[str, Any]], labels: Sequence[str], gold: str | None
) -> Iterator[Document]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault(str(record["id"]), []).append(record)
    for name, rows in found.items():
        numbers = [row.get("sentence") for row in rows]
        starts = [t for t, s in enumerate(numbers) if t == 0 or s != numbers[t - 1]]
        said = {who: tuple(row[who] for row in rows) for who in labels}
        layers = tuple(
            Layer(who, "gold" if who == gold else "person", tags=tags)
            for who, tags in said.items()
            if any(tag is not None for tag in tags)
        )
        words = tuple((str(row["word"]),) for row in rows)
        yield Document(name, None, words, None, (*starts, len(rows)), layers)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingExtraError.for_package(
            "pandas", extra="pandas", what="a frame of documents"
        ) from None
    return pandas
