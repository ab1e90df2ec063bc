"""A result as documents, as columns, and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tagsift.data import Annotator, Document, Layer, Losses
from tagsift.data.corpus import Corpus
from tagsift.data.span_alignment import layer_marks, with_labels, without_unsure
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, MissingExtraError
from tagsift.io.formats import CorpusInfo
from tagsift.typing import FloatArray

if TYPE_CHECKING:
    from tagsift.cleaned.cleaned import Cleaned

__all__ = [
    "annotators_and_ours",
    "columns",
    "labelled",
    "ranked",
    "table",
    "with_tally",
]


def annotators_and_ours(corpus: Corpus) -> CorpusInfo:
    """Those whose votes a corpus holds, in their order, and the labels found last."""
    if not len(corpus.votes.token):
        return CorpusInfo()
    info = CorpusInfo(corpus.annotators)
    info.add_annotators([Annotator("tagsift", "model")])
    return info


def labelled(
    cleaned: Cleaned, least: float = 0.0, *, as_spans: bool = False
) -> Iterator[Document]:
    """The documents of a corpus with the labels found as one more layer.

    Spans whose least sure token is less sure than `least` are left out as a whole.
    `as_spans` are for formats without tokens.
    """
    sure = None
    if cleaned.marginals is not None:
        sure = split_at(cleaned.confidence.tolist(), cleaned.corpus.bounds)
    elif least:
        raise InputError("min_confidence: expected confidences, found none.")
    documents = with_labels(
        cleaned.corpus.documents(),
        cleaned.sentences,
        cleaned.corpus.scheme,
        confidences=sure,
    )
    for document in documents:
        *others, layer = document.layers
        if as_spans:
            document = document.with_text()
            marks = layer_marks(document, layer, Losses())
            sure_marks = (
                one for one in marks if not least or (one.score or 0) >= least
            )
            layer = Layer(layer.annotator, layer.kind, marks=tuple(sure_marks))
        elif least:
            layer = without_unsure(document, layer, least)
        document = replace(document, layers=(*others, layer))
        if as_spans and all(one.tags is None for one in others):
            document = document.uncut()  # the tokens were made here
        yield document


def with_tally(cleaned: Cleaned, documents: Iterable[Document]) -> Iterator[Document]:
    """Documents whose last layer has the tally of the votes, for columns of a table."""
    first = 0
    for document in documents:
        *others, layer = document.layers
        size = len(document.rows or ())
        here = range(first, first + size)
        scores = layer.scores and tuple(round(p or 0.0, 6) for p in layer.scores)
        more = {
            "tally": [cleaned.corpus.tally_text(n) for n in here],
            "differs": [_differs(cleaned.changed[n]) for n in here],
        }
        layer = replace(layer, scores=scores, meta={"csv": more})
        yield replace(document, layers=(*others, layer))
        first += size


def ranked(
    cleaned: Cleaned, documents: Iterable[Document], scores: FloatArray
) -> list[Document]:
    """Documents by falling sum of the scores of their tokens, which they say, too."""
    totals = iter(cleaned.sentence_ranking(scores).total.tolist())
    doubts = []
    for document in cleaned.corpus.documents():
        doubts.append(sum(next(totals) for _ in document.bounds()))
    done = [
        replace(one, meta={**one.meta, "doubt": round(doubt, 6)})
        for one, doubt in zip(documents, doubts, strict=True)
    ]
    return [done[d] for d in sorted(range(len(done)), key=lambda d: -doubts[d])]


def columns(cleaned: Cleaned, least: float = 0.0) -> Iterator[list[tuple[str, ...]]]:
    """Per sentence the columns of the text, the label, and what is known of it.

    That is its confidence, if there is one, and of votes their tally, and whether the
    label differs from the majority. A label that is less sure than `least` is ``?``.
    """
    corpus, labels = cleaned.corpus, cleaned.labels
    sure = None if cleaned.marginals is None else cleaned.confidence.tolist()
    changed = cleaned.changed.tolist()
    for rows, first in zip(corpus.rows, corpus.bounds.tolist(), strict=False):
        lines = []
        for n, row in enumerate(rows, first):
            more = []
            label = labels[n]
            if sure is not None:
                more.append(f"{sure[n]:.6f}")
                label = label if sure[n] >= least else "?"
            if cleaned.has_votes:
                more += [corpus.tally_text(n), _differs(changed[n])]
            lines.append((*row, label, *more))
        yield lines


def _differs(changed: bool) -> str:
    return "differs" if changed else "-"


def table(cleaned: Cleaned, kind: str, *, soft: bool = False) -> Any:
    """A table of tokens; as a data set of Hugging Face, one of sentences."""
    if kind not in ("pandas", "arrow", "datasets"):
        raise InputError(
            f"expected one of 'pandas', 'arrow' and 'datasets', found {kind!r}."
        )
    if kind == "datasets":
        return _dataset(cleaned, soft)
    bounds = cleaned.corpus.bounds
    lengths = np.diff(bounds)
    place = np.arange(len(cleaned.codes)) - np.repeat(bounds[:-1], lengths)  # [N]
    ids = cleaned.corpus.document_ids
    cells: dict[str, Sequence[Any]] = {}
    if ids is not None:
        cells["document"] = np.repeat(np.array(ids, dtype=object), lengths).tolist()
    cells["sentence"] = np.repeat(np.arange(1, len(lengths) + 1), lengths).tolist()
    cells["token"] = (place + 1).tolist()
    cells["word"] = list(cleaned.corpus.columns[0])
    cells["label"] = cleaned.labels.tolist()
    if cleaned.marginals is not None:
        cells["confidence"] = cleaned.confidence.tolist()
        cells["chance_wrong"] = cleaned.chance_wrong.tolist()
    if cleaned.has_votes:
        cells["changed"] = cleaned.changed.tolist()
    if soft:
        rows = zip(cleaned.classes, cleaned.confidences.T.tolist(), strict=True)
        cells |= {f"p:{name}": shares for name, shares in rows}
    if kind == "pandas":
        return _package("pandas", "pandas").DataFrame(cells)
    return _package("pyarrow", "arrow").table(cells)


def _dataset(cleaned: Cleaned, soft: bool) -> Any:
    package = _package("datasets", "hf")
    bounds = cleaned.corpus.bounds
    names = package.ClassLabel(names=list(cleaned.classes))
    features = {
        "id": package.Value("string"),
        "tokens": package.Sequence(package.Value("string")),
        "ner_tags": package.Sequence(names),
    }
    cells: dict[str, Any] = {
        "id": [str(s + 1) for s in range(len(cleaned.corpus))],
        "tokens": cleaned.corpus.tokens,
        "ner_tags": split_at(cleaned.codes.tolist(), bounds),
    }
    if soft:
        features["soft_labels"] = package.Sequence(
            package.Sequence(package.Value("float64"))
        )
        cells["soft_labels"] = split_at(cleaned.confidences.tolist(), bounds)
    return package.Dataset.from_dict(cells, features=package.Features(features))


def _package(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError.for_package(
            name, extra=extra, what="a table of a result"
        ) from None
