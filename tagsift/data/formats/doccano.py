"""doccano's JSON lines: one labelling of each text, a `Corpus`."""

from __future__ import annotations

from typing import Any

from tagsift.data.columns import PathName
from tagsift.data.formats import _marks as chars
from tagsift.data.formats._json_old import iter_json_lines, write_json_lines
from tagsift.data.schemes import check_scheme, spans
from tagsift.data.sentence import Corpus, Sentence
from tagsift.errors import DataError

__all__ = ["read_doccano", "write_doccano"]


def read_doccano(
    path: PathName, *, scheme: str = "iob2", tokenize: chars.Tokenizer = "words"
) -> Corpus:
    """Read doccano's JSON lines.

    Parameters
    ----------
    path : path-like
        The file: objects with ``text`` and ``label`` (or ``labels``), a list of
        ``[start, end, type]``, or ``entities``, a list of objects with
        ``start_offset``, ``end_offset`` and ``label``.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        How the labels of the corpus shall be written.
    tokenize : {"words", "spaces"} or callable
        Cut the text into words and punctuation, at white space, or by a function that
        returns the (start, end) of every token.

    Returns
    -------
    Corpus
        One sentence per text.
    """
    check_scheme(scheme)
    sentences = []
    for line, record in iter_json_lines(path):
        text = record.get("text")
        if not isinstance(text, str):
            raise DataError(
                f"expected 'text', found {chars.keys_of(record)}.", path, line
            )
        offsets = chars.cut(text, tokenize)
        try:
            labels = chars.labels_under(text, _doccano_marks(record), offsets, scheme)
        except chars.MarkError as error:
            raise DataError(str(error), path, line) from None
        sentences.append(Sentence(chars.rows_of(text, offsets), tuple(labels)))
    return Corpus(tuple(sentences), scheme)


def write_doccano(path: PathName, corpus: Corpus) -> None:
    """Write a corpus as doccano's JSON lines, tokens joined by spaces.

    Parameters
    ----------
    path : path-like
        The file, written whole or not at all.
    corpus : Corpus
        Read back with ``tokenize="spaces"``, tokens without white space and their
        chunks come back; other columns are not kept.
    """
    write_json_lines(
        path,
        (
            {
                "text": " ".join(tokens),
                "label": [
                    [m.start, m.end, m.type] for m in chars.marks_of(tokens, chunks)
                ],
            }
            for tokens, chunks in zip(
                corpus.tokens,
                (spans(labels, corpus.scheme) for labels in corpus.labels),
                strict=True,
            )
        ),
    )


def _doccano_marks(record: dict[str, Any]) -> list[chars.Mark]:
    key = next((k for k in ("entities", "label", "labels") if k in record), "label")
    found = record.get(key)
    if found is None and key == "entities":
        found = []
    if not isinstance(found, list):
        have = type(found).__name__ if key in record else chars.keys_of(record)
        raise chars.MarkError(f"expected {key!r} with a list, found {have}.")
    fields = ("start_offset", "end_offset", "label")
    marks = []
    for entry in found:
        if isinstance(entry, dict):
            entry = [entry.get(name) for name in fields]
        fits = isinstance(entry, list) and len(entry) == 3
        marks.append(chars.mark(*entry) if fits else chars.mark(None, None, entry))
    return marks
