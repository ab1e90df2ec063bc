"""spaCy's binary files of documents (DocBin, ``.spacy``).

Entities are the layer of one annotator, and each group of spans (``doc.spans``) is that
of another, of the group's name; ``spans_key=`` reads one group alone, ``label_key=`` an
attribute of tokens (TAG, POS, …). Tokens of white space are no tokens to label, and are
written again. Scores of entities are ``span._.score``, those of groups ``scores`` in
their attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark, Tag
from tagsift.errors import DataError, InputError, TagsiftError
from tagsift.io.column_file import PathName, open_bytes
from tagsift.io.formats._corpus import EVERYTHING
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place
from tagsift.io.formats._spacy_docs import (
    ATTRIBUTES,
    EMPTY,
    NAME,
    OURS,
    SCORES,
    import_spacy,
    spaced,
    write_spacy,
)
from tagsift.io.formats._spans import as_own

__all__ = ["FORMAT"]


def _read_spacy(path: PathName, options: Options) -> Iterator[Document]:
    spacy = import_spacy()
    number = 0
    try:
        with open_bytes(path) as stream:
            packed = spacy.tokens.DocBin().from_bytes(stream.read())
        packed.user_data = [x if x != EMPTY else None for x in packed.user_data]
        for doc in packed.get_docs(spacy.vocab.Vocab()):
            number += 1
            yield _spacy_document(doc, str(number), options)
    except (TagsiftError, GeneratorExit):
        raise
    except Exception as error:  # a file that spaCy cannot read fails in many ways
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            f"expected documents of spaCy (DocBin), found a damaged file or another "
            f"({reason}).",
            path,
        ) from None
    if not number:
        raise DataError("expected documents of spaCy, found none.", path)


def _spacy_document(doc: Any, number: str, options: Options) -> Document:
    data = _jsonable(doc.user_data, number, options)
    ours = dict(data.pop(OURS, {}) or {})
    if isinstance(ours.get("corpus"), dict):
        options.info.add(ours["corpus"], Place(number, None).at("corpus"))
    spelled = [(token, token.text) for token in doc]
    words = [token for token, word in spelled if not word.isspace()]
    spaces = [token for token, word in spelled if word.isspace()]
    offsets = tuple((token.idx, token.idx + len(token)) for token in words)
    meta = _about(doc, [word for _, word in spelled], offsets, data)
    sentences = None
    if len(doc) and doc.has_annotation("SENT_START"):
        starts = [n for n, token in enumerate(words) if n and token.is_sent_start]
        odd = [token.i for token in spaces if token.is_sent_start and token.i]
        for at in odd:  # the sentence begins with the next word
            starts += [n for n, token in enumerate(words) if n and token.i > at][:1]
        if odd:
            meta["sent_starts"] = [t.i for t in doc if t.is_sent_start]
        sentences = (0, *sorted(set(starts)), len(words))
    layers = [
        *_token_layer(doc, words, ours, options),
        *_spacy_layers(doc, ours, options),
    ]
    return Document(
        str(ours.get("id", number)),
        doc.text,
        tuple((word,) for _, word in spelled if not word.isspace()),
        offsets,
        sentences,
        tuple(layers),
        {**(ours.get("meta") or {}), **as_own(NAME, meta)},
    )


def _jsonable(data: Mapping[Any, Any], number: str, options: Options) -> dict[Any, Any]:
    """User data that can be kept; extensions of spans are with the spans."""
    jsonable = {}
    for key, value in data.items():
        if isinstance(key, tuple) and key[:1] == ("._.",) and key[2:3] != (None,):
            if key[1] in SCORES:
                continue
        try:
            jsonable[key] = json.loads(json.dumps(value))
        except (TypeError, ValueError):
            options.losses.note("user data that JSON cannot hold, left out", number)
    return jsonable


def _about(
    doc: Any, spelled: list[str], offsets: tuple[Bounds, ...], data: dict[Any, Any]
) -> dict[str, Any]:
    about: dict[str, Any] = {}
    words, spaces = spaced(doc.text, offsets)
    if words != spelled:  # the spaces are those of the text
        about["words"] = spelled
        about["spaces"] = [bool(token.whitespace_) for token in doc]
    for name, attribute in ATTRIBUTES.items():
        if len(doc) and doc.has_annotation(attribute):
            values = [getattr(t, f"{attribute.lower()}_", "") for t in doc]
            about[name] = [str(t.morph) for t in doc] if name == "morphs" else values
    if "deps" in about:
        about["heads"] = [t.head.i for t in doc]
    if doc.cats:
        about["cats"] = dict(doc.cats)
    if data:
        about["user_data"] = [
            [list(key) if isinstance(key, tuple) else key, value]
            for key, value in data.items()
        ]
    return about


def _token_layer(
    doc: Any, words: list[Any], ours: Mapping[str, Any], options: Options
) -> Iterator[Layer]:
    """The layer of an attribute of tokens, where it is asked for or ours."""
    about = ours.get("tags")
    if options.one_label_key is None and not isinstance(about, dict):
        return
    name = f"{(options.one_label_key or 'TAG').lower()}_"
    if words and not hasattr(words[0], name):
        raise InputError(
            "expected label_key to be an attribute of spaCy's tokens, such as TAG, "
            f"found {options.one_label_key!r}."
        )
    about = about if isinstance(about, dict) else {}
    tags = tuple(getattr(token, name) or None for token in words)
    who = options.annotator or about.get("annotator") or NAME
    yield Layer(str(who), _kind(about), tags=tags, scheme="plain")


def _kind(about: Mapping[str, Any]) -> Kind:
    kind = about.get("kind", "person")
    return kind if kind in get_args(Kind) else "person"


def _spacy_layers(
    doc: Any, ours: Mapping[str, Any], options: Options
) -> Iterator[Layer]:
    key = options.spans_key
    for name, group in doc.spans.items():
        if key not in (None, name):
            options.losses.note("group of spans besides the one asked for", name)
            continue
        about = dict(group.attrs)
        scores = about.pop("scores", None)
        if not isinstance(scores, list | tuple) or len(scores) != len(group):
            scores = [None] * len(group)
        kind = _kind(about)
        about.pop("kind", None)
        pairs = zip(group, scores, strict=True)
        found = tuple(_spacy_mark(span, score) for span, score in pairs)
        yield Layer(name, kind, found, meta=as_own(NAME, about))
    if key is not None or options.one_label_key is not None:
        if doc.ents:
            options.losses.note("entities besides what was asked for", str(doc)[:20])
        return
    if not len(doc) or not doc.has_annotation("ENT_IOB"):
        return
    who = options.annotator or ours.get("annotator") or NAME
    whole = doc.has_annotation("ENT_IOB", require_complete=True)
    marks = tuple(_spacy_mark(span, _score(span)) for span in doc.ents)
    if whole or all(t.ent_iob or t.text.isspace() for t in doc):
        yield Layer(str(who), _kind(ours), marks)
        return
    tags: list[Tag] = []
    for token in doc:
        if not token.text.isspace():
            tag = f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O"
            tags.append(tag if token.ent_iob else None)
    yield Layer(str(who), _kind(ours), tags=tuple(tags), scheme="iob2")


def _spacy_mark(span: Any, score: Any) -> Mark:
    more = {"kb_id": span.kb_id_, "id": span.id_}
    about = {name: value for name, value in more.items() if value}
    sure = score if isinstance(score, int | float) else None
    return Mark(
        span.start_char,
        span.end_char,
        (span.label_,),
        sure,
        meta=as_own(NAME, about),
    )


def _score(span: Any) -> Any:
    for name in SCORES:
        key = "._.", name, span.start_char, span.end_char
        if key in span.doc.user_data:
            return span.doc.user_data[key]
    return None


FORMAT = Format(
    NAME,
    "spaCy's DocBin",
    _read_spacy,
    write_spacy,
    (".spacy",),
    binary=True,
    spans=True,
    keeps=lambda path, options: EVERYTHING,
)
