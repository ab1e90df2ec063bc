"""Documents through a fitted model, in batches: labels, confidences, spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tagsift.data import Document, Tokenizer, as_tokenizer, sentences_of, with_labels
from tagsift.errors import InputError
from tagsift.visible import short

if TYPE_CHECKING:
    from tagsift.base.tagger import SequenceTagger

__all__ = ["batches", "ready", "tag_documents", "tokenizer_of", "tokens_of"]

#: Tokens that go through a model at once.
_TOKENS = 10_000


def tag_documents(
    model: SequenceTagger,
    documents: Iterable[Document | str],
    *,
    tokenizer: Any = None,
    sentences: Any = None,
    confidences: bool = True,
    annotator: str = "tagsift",
) -> Iterator[Document]:
    """Label documents one after the other, in batches, whatever their number.

    Parameters
    ----------
    model : SequenceTagger
        A fitted estimator.
    documents : iterable of Document or str
        A text is a document whose id is its number, from 1. What has no tokens yet is
        cut by the tokenizer.
    tokenizer : None, {"words", "spaces"}, callable or spaCy pipeline
        How text is cut; by default as the model says (its setting ``tokenizer``).
    sentences : {"auto", "lines", "none"} or callable
        How sentences are found, in the same way.
    confidences : bool
        Add the probability of every label, where the method has one.
    annotator : str
        Name of the layer.

    Yields
    ------
    Document
        With one more layer: the labels of its tokens. See `Document.spans`.
    """
    for batch in batches(ready(model, documents, tokenizer, sentences)):
        labels, scores = model.label_rows(tokens_of(batch), confidences=confidences)
        names = ([str(name) for name in sentence] for sentence in labels)
        yield from with_labels(
            batch, names, model.scheme_, confidences=scores, annotator=annotator
        )


def tokens_of(documents: Sequence[Document]) -> list[Any]:
    """Sentences as a model takes them: words, or rows where there are more columns."""
    sentences = sentences_of(documents)
    if any(len(row) > 1 for rows in sentences for row in rows[:1]):
        return sentences
    return [[row[0] for row in rows] for rows in sentences]


def tokenizer_of(
    model: SequenceTagger, tokenizer: Any = None, sentences: Any = None
) -> Tokenizer:
    """How raw text is cut for a model: as told, or as the model remembers."""
    ways = {"tokenizer": tokenizer, "sentences": sentences}
    for name, way in ways.items():
        ways[name] = stored = getattr(model, name) if way is None else way
        if way is None and isinstance(stored, str) and ":" in stored:
            raise InputError(
                f"this model was made for text cut by {short(stored, 80)}, which a "
                f"model file cannot hold; give it again as {name}=."
            )
    return as_tokenizer(ways["tokenizer"], ways["sentences"])


def ready(
    model: SequenceTagger,
    documents: Iterable[Document | str],
    tokenizer: Any = None,
    sentences: Any = None,
) -> Iterator[Document]:
    """Documents with tokens, if the model can use them."""
    cut = tokenizer_of(model, tokenizer, sentences)
    vectorizer = model.vectorizer_
    least = getattr(vectorizer, "n_columns_", 1)
    most = getattr(vectorizer, "n_columns_in_", least)
    for number, entry in enumerate(documents, 1):
        if not isinstance(entry, Document | str):
            raise InputError(
                f"document {number}: expected a text or a Document, found "
                f"{type(entry).__name__}."
            )
        document = Document(str(number), entry) if isinstance(entry, str) else entry
        document = document.cut(cut)
        width = len(document.rows[0]) if least > 1 and document.rows else least
        if not least <= width <= most:
            problem = (
                "as in raw text; give them, or fit a model on the words alone "
                "(--columns token,-,label or so)."
                if width < least
                else "and cannot tell which of them are meant; give these alone, in "
                "the order of the training file."
            )
            raise InputError(
                f"document {short(document.id, 40)}: expected tokens with the {least} "
                "columns that the model was trained on (such as the part of speech), "
                f"found {width} {problem}"
            )
        yield document


def batches(documents: Iterable[Document], most: int = _TOKENS) -> Iterator[Any]:
    """Lists of documents with at least `most` tokens together; the last has fewer."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.rows or ())
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
