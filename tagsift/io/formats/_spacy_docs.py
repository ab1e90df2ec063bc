"""Documents as those of spaCy, packed into one binary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tagsift.data.cuts import trimmed
from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks, layers_scheme
from tagsift.errors import DataError, MissingExtraError
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Options, open_target
from tagsift.io.formats._spans import own

__all__ = [
    "ATTRIBUTES",
    "EMPTY",
    "NAME",
    "OURS",
    "SCORES",
    "import_spacy",
    "spaced",
    "write_spacy",
]

NAME = "spacy"
EMPTY = b"\x80"  # no user data, packed
OURS = "tagsift.document"  # the key of user_data with what is ours
SCORES = ("score", "confidence")
ATTRIBUTES = {
    "tags": "TAG",
    "pos": "POS",
    "lemmas": "LEMMA",
    "morphs": "MORPH",
    "deps": "DEP",
}


def import_spacy() -> Any:
    try:
        import spacy.tokens
    except ImportError:
        raise MissingExtraError.for_package(
            "spacy", extra="spacy", what="a file of spaCy documents"
        ) from None
    return spacy


def spaced(text: str, offsets: Iterable[Bounds]) -> tuple[list[str], list[bool]]:
    """Tokens and spaces of spaCy: what is between words is a token of its own."""
    words: list[str] = []
    spaces: list[bool] = []
    at = 0
    for start, end in (*offsets, (len(text), len(text))):
        gap = text[at:start]
        if gap[:1] == " " and words:
            spaces[-1], gap = True, gap[1:]
        if gap:
            words.append(gap)
            spaces.append(False)
        if end > start:
            words.append(text[start:end])
            spaces.append(False)
        at = end
    return words, spaces


def write_spacy(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    """Write documents of spaCy; the file is in memory until it is whole."""
    spacy = import_spacy()
    vocab = spacy.vocab.Vocab()
    needed = {"ORTH", "ENT_IOB", "ENT_TYPE", "SENT_START"}
    with tables.kept_twice(documents, lambda one: needed.update(_used(one))) as again:
        packed = spacy.tokens.DocBin(attrs=sorted(needed))
        for number, document in enumerate(again, 1):
            cut = tables.check_words(tables.cut(document, options))
            ready = cut.with_text().aligned()
            doc = _doc(ready, str(number), spacy, vocab, options)
            if number == 1 and options.info:
                ours = {**doc.user_data.get(OURS, {}), "corpus": options.info.record()}
                doc.user_data[OURS] = ours
            packed.store_user_data = bool(doc.user_data)
            packed.add(doc)
            if not doc.user_data:  # which spaCy takes a thousand times as long to pack
                packed.user_data.append(EMPTY)
    packed.store_user_data = True
    with open_target(path, "wb") as stream:
        stream.write(packed.to_bytes())


def _used(document: Document) -> Iterator[str]:
    """Attributes of tokens that a document needs; each takes room for all tokens."""
    about = own(document.meta, NAME)
    yield from (name for key, name in ATTRIBUTES.items() if key in about)
    yield from ("HEAD",) * ("heads" in about)
    for layer in document.layers:
        yield from ("TAG",) * _is_plain(layer)
        for mark in layer.marks or ():
            if mark.meta:
                yield from ("ENT_KB_ID", "ENT_ID")


def _doc(
    document: Document, number: str, spacy: Any, vocab: Any, options: Options
) -> Any:
    about = own(document.meta, NAME)
    text, offsets = document.text or "", document.offsets or ()
    words, spaces = about.get("words"), about.get("spaces")
    if words is None or spaces is None:
        words, spaces = spaced(text, offsets)
    if any(len(row) > 1 for row in document.rows or ()):
        options.losses.note("columns but the words, left out", document.id)
    attributes = {
        name: about[name]
        for name in (*ATTRIBUTES, "heads")
        if len(about.get(name, ())) == len(words) and words
    }
    plain = [layer for layer in document.layers if _is_plain(layer)]
    ours = _ours(document, number)
    if plain:
        named = dict(zip(offsets, plain[-1].tags or (), strict=True))
        ours["tags"] = {"annotator": plain[-1].annotator, "kind": plain[-1].kind}
    doc = spacy.tokens.Doc(vocab, words=words, spaces=spaces, **attributes)
    starts = {
        offsets[t][0] for t in (document.sentences or ())[:-1] if t < len(offsets)
    }
    exact = about.get("sent_starts")  # some begin with a token of white space
    for token in doc:
        if plain:
            tag = named.get((token.idx, token.idx + len(token)))
            token.tag_ = tag if isinstance(tag, str) else ""
        if document.sentences is not None and "heads" not in attributes:
            begins = token.idx in starts if exact is None else token.i in exact
            token.is_sent_start = begins or token.i == 0
    doc.cats = about.get("cats", {})
    for key, value in about.get("user_data", ()):
        doc.user_data[tuple(key) if isinstance(key, list) else key] = value
    layers = [layer for layer in document.layers if layer not in plain]
    if len(plain) > 1:
        options.losses.note("tags besides the last, left out", document.id)
    _annotate(doc, document, layers, ours, spacy, options)
    if ours:
        doc.user_data[OURS] = ours
    return doc


def _is_plain(layer: Layer) -> bool:
    """Whether tags are those of tokens, not of spans."""
    if layer.tags is None:
        return False
    return (layer.scheme or layers_scheme([layer])) == "plain"


def _ours(document: Document, number: str) -> dict[str, Any]:
    meta = {key: one for key, one in document.meta.items() if key != NAME}
    ours: dict[str, Any] = {"meta": meta} if meta else {}
    return ours if document.id == number else {"id": document.id, **ours}


def _annotate(
    doc: Any,
    document: Document,
    layers: list[Layer],
    ours: dict[str, Any],
    spacy: Any,
    options: Options,
) -> None:
    """Put one layer into the entities, the others into groups of spans."""
    main = None if options.spans_key is not None else _main(layers)
    for layer in layers:
        marks = _marks(document, layer, layer is main, options.losses)
        if layer is main:
            _set_entities(doc, layer, marks, document, spacy, options)
            if layer.annotator != NAME and not tables.named_by_default(layer):
                ours["annotator"] = layer.annotator
            if layer.kind != "person":
                ours["kind"] = layer.kind
            continue
        alone = options.spans_key is not None and len(layers) == 1
        name = str(options.spans_key) if alone else layer.annotator
        if name in doc.spans:
            options.losses.note("second layer of one annotator, left out", document.id)
        attributes = own(layer.meta, NAME)
        if layer.kind != "person":
            attributes["kind"] = layer.kind
        placed = [
            (span, mark.score)
            for mark in marks
            for span in _spans(doc, mark, document, spacy, options)
        ]
        if any(score is not None for _, score in placed):
            attributes["scores"] = [score for _, score in placed]
        spans = [span for span, _ in placed]
        doc.spans[name] = spacy.tokens.SpanGroup(
            doc, name=name, attrs=attributes, spans=spans
        )


def _main(layers: list[Layer]) -> Layer | None:
    """The layer of the entities: of a model, else the truth, else what was there."""
    if len(layers) == 1:
        return layers[0]
    chosen = [layer for layer in layers if layer.annotator == NAME]
    chosen += [x for kind in ("gold", "model") for x in layers if x.kind == kind]
    return chosen[-1] if chosen else None


def _marks(
    document: Document, layer: Layer, entities: bool, losses: Losses
) -> tuple[Mark, ...]:
    if layer.tags is None or not entities:
        return layer_marks(document, layer, losses)
    tags = tuple("O" if tag is None else tag for tag in layer.tags)
    return layer_marks(document, replace(layer, tags=tags), losses)


def _spans(
    doc: Any, mark: Mark, document: Document, spacy: Any, options: Options
) -> list[Any]:
    """Spans of spaCy for a mark, one a label; none where it falls on no tokens."""
    where, note = f"{document.id}, {mark.start}:{mark.end}", options.losses.note
    start, end = mark.start, mark.end
    if len(mark.pieces) > 1:
        if options.overlap == "error":
            raise DataError(f"{where}: expected spans in one piece, found several.")
        longest = options.overlap == "longest"
        pieces = sorted(mark.pieces, key=lambda x: (longest and x[0] - x[1], x))
        start, end = pieces[0]
        note(f"span in pieces, of which the {options.overlap} is kept", where)
    span = doc.char_span(start, end) if start < end else None
    if span is None and start < end:
        whole = start, end
        start, end = trimmed(doc.text, start, end)
        span = doc.char_span(start, end) if start < end else None
        if start < end and (start, end) != whole:
            note("span with blanks at its ends, which are trimmed", where)
    if span is None:
        if options.misaligned == "error":
            raise DataError(f"{where}: expected a span on token bounds.")
        how = options.misaligned
        if how != "drop" and start < end:
            span = doc.char_span(start, end, alignment_mode=how)
        words = {"expand": "widened to tokens", "contract": "narrowed to tokens"}
        left = "left out" if span is None else words[how]
        note(f"span off the token bounds, {left}", where)
    if span is None:
        return []
    about = own(mark.meta, NAME)
    return [
        spacy.tokens.Span(
            doc,
            span.start,
            span.end,
            label=label,
            kb_id=str(about.get("kb_id", "")),
            span_id=str(about.get("id", "")),
        )
        for label in mark.labels
    ]


def _set_entities(
    doc: Any,
    layer: Layer,
    marks: tuple[Mark, ...],
    document: Document,
    spacy: Any,
    options: Options,
) -> None:
    placed = []
    for mark in marks:
        spans = _spans(doc, mark, document, spacy, options)
        if len(spans) > 1:
            where = f"{document.id}, {mark.start}:{mark.end}"
            options.losses.note("span with several labels, of which one stays", where)
        placed += [(span, mark) for span in spans[:1]]
    longest = options.overlap == "longest"
    placed.sort(key=lambda x: (longest and x[0].start - x[0].end, x[0].start))
    taken: set[int] = set()
    entities = []
    for span, mark in placed:
        if taken.intersection(range(span.start, span.end)):
            where = f"{document.id}, {mark.start}:{mark.end}"
            if options.overlap == "error":
                raise DataError(f"{where}: expected spans that do not overlap.")
            kind = f"overlapping span, of which the {options.overlap} stays"
            options.losses.note(kind, where)
            continue
        taken.update(range(span.start, span.end))
        entities.append(span)
        if mark.score is not None:
            key = "._.", SCORES[0], span.start_char, span.end_char
            doc.user_data[key] = mark.score
    unlabelled = {
        bounds[0]
        for bounds, tag in zip(document.offsets or (), layer.tags or (), strict=False)
        if tag is None
    }
    missing = [
        doc[t.i : t.i + 1] for t in doc if t.idx in unlabelled and t.i not in taken
    ]
    doc.set_ents(entities, missing=missing, default="outside")
