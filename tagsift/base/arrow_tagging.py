"""Arrow tables through a fitted model: the one function that engines call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tagsift.base.tagging import tag_documents
from tagsift.data import Document
from tagsift.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

    from tagsift.base.tagger import SequenceTagger

__all__ = ["tag_table", "tagged_schema"]

#: Rows that are turned into documents at once.
_ROWS = 1000
_MADE = ("tokens", "offsets", "sentences", "labels", "confidences", "spans")


def tag_table(
    model: SequenceTagger,
    table: Any,
    *,
    text: str | None = None,
    tokens: str | None = None,
    prefix: str = "",
    tokenizer: Any = None,
) -> Any:
    """Label the texts or tokens of an Arrow table.

    Parameters
    ----------
    model : SequenceTagger
        A fitted estimator.
    table : pyarrow.Table, RecordBatch or RecordBatchReader
        With a column of texts, or of lists of tokens; a token may be a list of columns
        (word, part of speech). Other objects with Arrow streams are taken, too.
    text, tokens : str, optional
        Which column it is; by default ``text``, or else ``tokens``.
    prefix : str
        What the names of the new columns begin with, where they are taken.
    tokenizer : None, {"words", "spaces"}, callable or spaCy pipeline
        How text is cut, if not as the model says.

    Returns
    -------
    pyarrow.Table, or RecordBatch for one
        The columns of the table, and after them

        - ``labels`` and ``confidences``, one per token (confidences are null where the
          method has none);
        - ``spans``: ``{start, end, label, score, first, last}``, in characters of the
          text (of the tokens joined by spaces, where there is none) and in tokens,
          ends exclusive;
        - of texts also ``tokens``, ``offsets`` (``{start, end}``) and ``sentences``,
          the first token of each sentence and the number of tokens.

        Where the text is null, so are they.
    """
    pa = _pyarrow()
    schema, batches, wrap = _batches(pa, table)
    column, raw = _column(schema, text, tokens)
    made = tagged_schema(raw=raw, prefix=prefix)
    taken = [name for name in made.names if name in schema.names]
    if taken:
        raise InputError(
            f"the table has a column {taken[0]!r} already; rename it, or give a prefix "
            "for the new ones."
        )
    whole = pa.schema([*schema, *made])

    def tagged() -> Iterator[Any]:
        for batch in batches:
            values = batch.column(column).to_pylist()
            records = list(_records(model, values, raw, tokenizer))
            new = pa.RecordBatch.from_pylist(
                [{prefix + k: v for k, v in one.items()} for one in records], made
            )
            arrays = [*batch.columns, *new.columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=whole)

    return wrap(tagged(), whole)


def tagged_schema(*, raw: bool, prefix: str = "") -> pa.Schema:
    """Columns that `tag_table` adds to a table of raw text, or of tokens."""
    pa = _pyarrow()
    whole, word, number = pa.int64(), pa.string(), pa.float64()
    bounds = [("start", whole), ("end", whole)]
    span = [*bounds, ("label", word), ("score", number)]
    span += [("first", whole), ("last", whole)]
    kinds = {
        "tokens": pa.list_(word),
        "offsets": pa.list_(pa.struct(bounds)),
        "sentences": pa.list_(whole),
        "labels": pa.list_(word),
        "confidences": pa.list_(number),
        "spans": pa.list_(pa.struct(span)),
    }
    names = _MADE if raw else _MADE[3:]
    return pa.schema([(prefix + name, kinds[name]) for name in names])


def _batches(pa: Any, table: Any) -> tuple[Any, Iterable[Any], Any]:
    """Schema and batches of a table, and what makes the same of new ones."""
    if isinstance(table, pa.RecordBatch):
        cut = [table.slice(n, _ROWS) for n in range(0, max(len(table), 1), _ROWS)]
        return table.schema, cut, lambda new, _: pa.concat_batches(list(new))
    if not isinstance(table, pa.Table | pa.RecordBatchReader):
        if not hasattr(table, "__arrow_c_stream__"):
            raise InputError(
                f"expected an Arrow table or stream, found {type(table).__name__}."
            )
        table = pa.RecordBatchReader.from_stream(table)
    pieces = table.to_batches(_ROWS) if isinstance(table, pa.Table) else table
    batches = (
        batch.slice(n, _ROWS) for batch in pieces for n in range(0, len(batch), _ROWS)
    )
    return table.schema, batches, pa.Table.from_batches


def _column(schema: Any, text: str | None, tokens: str | None) -> tuple[str, bool]:
    """Name of the column to label, and whether it holds raw text."""
    import pyarrow.types as kinds

    if text is not None and tokens is not None:
        raise InputError("text= and tokens=: name one column, the other is made of it.")
    name = text or tokens
    if name is None:
        name = next((n for n in ("text", "tokens") if n in schema.names), None)
    if (
        name is None
        or schema.get_all_field_indices(name)[1:]
        or (name not in schema.names)
    ):
        raise InputError(
            f"expected one column {name or 'text or tokens'!r} to label, found "
            f"{', '.join(schema.names[:20]) or 'none'}; name it by text= or tokens=."
        )
    kind = schema.field(name).type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    raw = kinds.is_string(kind) or kinds.is_large_string(kind)
    raw |= kinds.is_string_view(kind)
    lists = kinds.is_list(kind) or kinds.is_large_list(kind)
    lists |= kinds.is_fixed_size_list(kind)
    asked = raw if text else lists if tokens else raw or lists
    if not asked:
        what = "texts" if text else "lists of tokens" if tokens else "texts or tokens"
        raise InputError(f"expected the column {name!r} to hold {what}, found {kind}.")
    return name, raw


def _records(
    model: SequenceTagger, given: list[Any], raw: bool, tokenizer: Any
) -> Iterator[dict[str, Any]]:
    """The new columns of every row; of a null, nothing."""
    documents = (
        _document(number, value, raw)
        for number, value in enumerate(given)
        if value is not None
    )
    tagged = tag_documents(model, documents, tokenizer=tokenizer)
    for value in given:
        yield {} if value is None else _record(next(tagged), raw)


def _document(number: int, value: Any, raw: bool) -> Document:
    if raw:
        return Document(str(number), value)
    rows = tuple((x,) if isinstance(x, str) else tuple(x or ()) for x in value)
    for row in rows:
        if not row or not all(isinstance(cell, str) for cell in row):
            raise InputError(
                f"row {number}: expected tokens as strings, or as lists of strings, "
                f"found {row!r}."
            )
    return Document(str(number), rows=rows, sentences=(0, len(rows)))


def _record(document: Document, raw: bool) -> dict[str, Any]:
    layer = document.layers[-1]
    placed = document.with_text()
    offsets = placed.offsets or ()
    starts = {start: t for t, (start, _) in enumerate(offsets)}
    ends = {end: t + 1 for t, (_, end) in enumerate(offsets)}
    record: dict[str, Any] = {
        "labels": layer.tags,
        "confidences": layer.scores,
        "spans": [
            {
                "start": mark.start,
                "end": mark.end,
                "label": mark.labels[0],
                "score": mark.score,
                "first": starts[mark.start],
                "last": ends[mark.end],
            }
            for mark in placed.spans
        ],
    }
    if raw:
        record["tokens"] = document.tokens
        record["offsets"] = [{"start": a, "end": b} for a, b in offsets]
        record["sentences"] = document.sentences
    return record


def _pyarrow() -> Any:
    what = "tagging a table"
    return MissingExtraError.imported("pyarrow", extra="arrow", what=what)
