"""Documents as those of spaCy, packed into one binary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tagsift.data.cuts import trimmed
from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.span_alignment import layer_marks, layers_scheme
from tagsift.errors import DataError, MissingExtraError
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Options, open_target
from tagsift.io.formats._spans import own, without

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
            maker = _Maker(cut.with_text().aligned(), spacy, options)
            ours = {"corpus": options.info.record()} if options.info else {}
            doc = maker.doc(str(number), vocab, ours if number == 1 else {})
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


def _is_plain(layer: Layer) -> bool:
    """Whether tags are those of tokens, not of spans."""
    if layer.tags is None:
        return False
    return (layer.scheme or layers_scheme([layer])) == "plain"


def _main(layers: list[Layer]) -> Layer | None:
    """The layer of the entities: of a model, else the truth, else what was there."""
    if len(layers) == 1:
        return layers[0]
    chosen = [layer for layer in layers if layer.annotator == NAME]
    chosen += [x for kind in ("gold", "model") for x in layers if x.kind == kind]
    return chosen[-1] if chosen else None


class _Maker:
    """Makes the document of spaCy of one of ours."""

    def __init__(self, document: Document, spacy: Any, options: Options) -> None:
        self.document, self.spacy, self.options = document, spacy, options
        self.note = options.losses.note
        self.about = own(document.meta, NAME)

    def doc(self, number: str, vocab: Any, ours: dict[str, Any]) -> Any:
        """The whole document; `ours` is what spaCy has no place for."""
        document, about = self.document, self.about
        offsets = document.offsets or ()
        words, spaces = about.get("words"), about.get("spaces")
        if words is None or spaces is None:
            words, spaces = spaced(document.text or "", offsets)
        if any(len(row) > 1 for row in document.rows or ()):
            self.note("columns but the words, left out", document.id)
        attributes = {
            name: about[name]
            for name in (*ATTRIBUTES, "heads")
            if len(about.get(name, ())) == len(words) and words
        }
        self.made = doc = self.spacy.tokens.Doc(vocab, words, spaces, **attributes)
        doc.cats = about.get("cats", {})
        for key, value in about.get("user_data", ()):
            doc.user_data[tuple(key) if isinstance(key, list) else key] = value
        if document.sentences is not None and "heads" not in attributes:
            self._set_sentences()
        meta = without(document.meta, NAME)
        ours |= {"meta": meta} if meta else {}
        ours |= {"id": document.id} if document.id != number else {}
        self._annotate(ours)
        if ours:
            doc.user_data[OURS] = ours
        return doc

    def _set_sentences(self) -> None:
        offsets, cuts = self.document.offsets or (), self.document.sentences or ()
        starts = {offsets[t][0] for t in cuts[:-1] if t < len(offsets)}
        exact = self.about.get("sent_starts")  # some begin with a token of white space
        for token in self.made:
            begins = token.idx in starts if exact is None else token.i in exact
            token.is_sent_start = begins or token.i == 0

    def _annotate(self, ours: dict[str, Any]) -> None:
        """Put one layer into the entities, the others into groups of spans."""
        plain = [layer for layer in self.document.layers if _is_plain(layer)]
        layers = [layer for layer in self.document.layers if layer not in plain]
        if plain:
            ours["tags"] = {"annotator": plain[-1].annotator, "kind": plain[-1].kind}
            self._set_tags(plain[-1])
        if len(plain) > 1:
            self.note("tags besides the last, left out", self.document.id)
        key = self.options.spans_key
        main = None if key is not None else _main(layers)
        for layer in layers:
            if layer is main:
                self._set_entities(layer)
                if layer.annotator != NAME and not tables.named_by_default(layer):
                    ours["annotator"] = layer.annotator
                if layer.kind != "person":
                    ours["kind"] = layer.kind
            else:
                alone = key is not None and len(layers) == 1
                self._add_group(layer, str(key) if alone else layer.annotator)

    def _set_tags(self, layer: Layer) -> None:
        named = dict(zip(self.document.offsets or (), layer.tags or (), strict=True))
        for token in self.made:
            tag = named.get((token.idx, token.idx + len(token)))
            token.tag_ = tag if isinstance(tag, str) else ""

    def _add_group(self, layer: Layer, name: str) -> None:
        if name in self.made.spans:
            self.note("second layer of one annotator, left out", self.document.id)
        attributes = own(layer.meta, NAME)
        if layer.kind != "person":
            attributes["kind"] = layer.kind
        marks = layer_marks(self.document, layer, self.options.losses)
        placed = [(span, mark.score) for mark in marks for span in self._spans(mark)]
        if any(score is not None for _, score in placed):
            attributes["scores"] = [score for _, score in placed]
        self.made.spans[name] = self.spacy.tokens.SpanGroup(
            self.made, name=name, attrs=attributes, spans=[span for span, _ in placed]
        )

    def _set_entities(self, layer: Layer) -> None:
        doc, overlap, taken = self.made, self.options.overlap, set[int]()
        whole = layer
        if layer.tags is not None:  # what is not labelled is said below
            tags = tuple("O" if tag is None else tag for tag in layer.tags)
            whole = replace(layer, tags=tags)
        placed = []
        for mark in layer_marks(self.document, whole, self.options.losses):
            spans = self._spans(mark)
            if len(spans) > 1:
                kind = "span with several labels, of which one stays"
                self.note(kind, self._where(mark))
            placed += [(span, mark) for span in spans[:1]]
        longest = overlap == "longest"
        placed.sort(key=lambda x: (longest and x[0].start - x[0].end, x[0].start))
        entities = []
        for span, mark in placed:
            if taken.intersection(range(span.start, span.end)):
                if overlap == "error":
                    raise DataError(
                        f"{self._where(mark)}: expected spans that do not overlap."
                    )
                kind = f"overlapping span, of which the {overlap} stays"
                self.note(kind, self._where(mark))
                continue
            taken.update(range(span.start, span.end))
            entities.append(span)
            if mark.score is not None:
                key = "._.", SCORES[0], span.start_char, span.end_char
                doc.user_data[key] = mark.score
        pairs = zip(self.document.offsets or (), layer.tags or (), strict=False)
        empty = {bounds[0] for bounds, tag in pairs if tag is None}
        missing = [
            doc[t.i : t.i + 1] for t in doc if t.idx in empty and t.i not in taken
        ]
        doc.set_ents(entities, missing=missing, default="outside")

    def _where(self, mark: Mark) -> str:
        return f"{self.document.id}, {mark.start}:{mark.end}"

    def _spans(self, mark: Mark) -> list[Any]:
        """Spans of a mark, one a label; none where it falls on no tokens."""
        doc, how, where = self.made, self.options.misaligned, self._where(mark)
        start, end = mark.start, mark.end
        if len(mark.pieces) > 1:
            if self.options.overlap == "error":
                raise DataError(f"{where}: expected spans in one piece, found several.")
            longest = self.options.overlap == "longest"
            start, end = min(mark.pieces, key=lambda x: (longest and x[0] - x[1], x))
            kind = f"span in pieces, of which the {self.options.overlap} is kept"
            self.note(kind, where)
        span = doc.char_span(start, end) if start < end else None
        if span is None and start < end:
            whole = start, end
            start, end = trimmed(doc.text, start, end)
            span = doc.char_span(start, end) if start < end else None
            if start < end and (start, end) != whole:
                self.note("span with blanks at its ends, which are trimmed", where)
        if span is None:
            if how == "error":
                raise DataError(f"{where}: expected a span on token bounds.")
            if how != "drop" and start < end:
                span = doc.char_span(start, end, alignment_mode=how)
            words = {"expand": "widened to tokens", "contract": "narrowed to tokens"}
            left = "left out" if span is None else words[how]
            self.note(f"span off the token bounds, {left}", where)
        if span is None:
            return []
        about = own(mark.meta, NAME)
        ids = {"kb_id": about.get("kb_id", ""), "span_id": about.get("id", "")}
        ids = {key: str(value) for key, value in ids.items()}
        place = (doc, span.start, span.end)
        return [self.spacy.tokens.Span(*place, label=x, **ids) for x in mark.labels]
