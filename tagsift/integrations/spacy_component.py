"""The spaCy component: ``nlp.add_pipe("tagsift", config={"model": "ner.tagsift"})``.

spaCy finds it by the entry point ``spacy_factories`` of this package. Importing this
module needs the extra ``spacy``.
"""

# No postponed annotations: spaCy checks a component's config by those of its factory.
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tagsift.base import SequenceTagger
from tagsift.data import Span as Chunk
from tagsift.data import spans
from tagsift.errors import InputError, MissingExtraError
from tagsift.registry import load_tagger

try:
    from spacy.language import Language
    from spacy.pipeline import Pipe
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.tokens import Doc, Span, SpanGroup
    from spacy.util import filter_spans
except ImportError:
    raise MissingExtraError.for_package(
        "spacy", extra="spacy", what="the component of spaCy pipelines"
    ) from None

__all__ = ["TagsiftComponent", "make_component"]

_MODEL, _SETTINGS = "model.tagsift", "settings.json"
_DEFAULTS: dict[str, Any] = {
    "model": None,
    "spans_key": None,
    "columns": ["text"],
    "overwrite": True,
}

if not Span.has_extension("score"):
    Span.set_extension("score", default=None)


class TagsiftComponent(Pipe):
    """Gives documents the spans that a fitted tagger finds, and how sure it is.

    Sentences are those of the document, or all of it where nothing has cut it. A span
    is as sure as the least sure of its tokens.

    Parameters
    ----------
    model : path-like or SequenceTagger, optional
        The fitted tagger. A path that leads nowhere is no error until a document comes,
        since a pipeline that was saved carries its model with it.
    name : str
        Of the component.
    spans_key : str, optional
        Where in ``doc.spans`` to put the spans, with the confidences in
        ``.attrs["scores"]``; by default they are the entities, ``doc.ents``.
    columns : sequence of str
        What the tagger sees of a token: attributes such as ``text`` and ``tag_``, in
        the order of the columns that it was fitted on.
    overwrite : bool
        Whether to replace entities that are there; else the new ones stand beside
        them, where they do not overlap.
    """

    def __init__(
        self,
        model: str | Path | SequenceTagger | None = None,
        name: str = "tagsift",
        *,
        spans_key: str | None = None,
        columns: Sequence[str] = ("text",),
        overwrite: bool = True,
    ) -> None:
        self.name, self.spans_key = name, spans_key
        self.columns, self.overwrite = tuple(columns), overwrite
        self._path: Path | None = None
        self._tagger: SequenceTagger | None = None
        if isinstance(model, str | Path):
            self._path = Path(model)
            if self._path.exists():
                self._tagger = load_tagger(self._path)
        else:
            self._tagger = model

    @property
    def tagger(self) -> SequenceTagger:
        """The fitted tagger; it can be set."""
        if self._tagger is None and self._path is not None:
            self._tagger = load_tagger(self._path)
        if self._tagger is None:
            raise InputError(
                f"the component {self.name!r} has no model; give one by config={{"
                '"model": PATH}, or set its attribute tagger.'
            )
        return self._tagger

    @tagger.setter
    def tagger(self, tagger: SequenceTagger) -> None:
        self._tagger = tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """Types of the spans that the tagger can find, sorted; none without a model."""
        if self._tagger is None:
            return ()
        names = map(str, self.tagger.classes_)
        found = {
            one.type for name in names for one in spans([name], self.tagger.scheme_)
        }
        return tuple(sorted(found))

    def __call__(self, doc: Doc) -> Doc:
        """Tag one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Tag documents in batches."""
        handle = self.get_error_handler()
        docs_of = iter(stream)
        while docs := list(islice(docs_of, batch_size)):
            try:
                self._tag(docs)
            except Exception as error:  # whoever runs the pipeline decides
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]] | None = None,
        *,
        nlp: Language | None = None,
        model: str | None = None,
    ) -> None:
        """Read the model, where the config names it under ``initialize``."""
        if model is not None:
            self._tagger = load_tagger(model)

    def score(self, examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
        """Precision, recall and F1 of the spans, as `nlp.evaluate` asks for them."""
        if self.spans_key is None:
            return dict(get_ner_prf(examples))
        key = self.spans_key
        settings |= {"getter": lambda doc, _: doc.spans.get(key, [])}
        return dict(Scorer.score_spans(examples, f"spans_{key}", **settings))

    def _tag(self, docs: Sequence[Doc]) -> None:
        sents = [list(_sentences(doc)) for doc in docs]
        X = [[self._row(token) for token in sent] for cut in sents for sent in cut]
        labels, confidences = self.tagger.label_rows(X)
        found, sure = iter(labels), iter(confidences or ())
        for doc, cut in zip(docs, sents, strict=True):
            names: list[str] = []
            scores: list[float] = []
            chunks: list[Chunk] = []
            for sent in cut:
                said = [str(name) for name in next(found)]
                names += said
                scores += [] if confidences is None else next(sure)
                here = spans(said, self.tagger.scheme_)
                chunks += [Chunk(t, sent.start + a, sent.start + b) for t, a, b in here]
            doc.user_data[self.name] = {"labels": names, "confidences": scores or None}
            self._write(doc, chunks, scores)

    def _row(self, token: Any) -> str | tuple[str, ...]:
        row = tuple(str(getattr(token, column)) for column in self.columns)
        return row[0] if len(row) == 1 else row

    def _write(self, doc: Doc, chunks: list[Chunk], sure: list[float]) -> None:
        made = [Span(doc, a, b, label=type_) for type_, a, b in chunks]
        scores = [min(sure[a:b], default=None) for _, a, b in chunks]
        for span, score in zip(made, scores, strict=True):
            span._.score = score
        if self.spans_key is not None:
            group = SpanGroup(doc, name=self.spans_key, spans=made)
            group.attrs["scores"] = scores
            doc.spans[self.spans_key] = group
        else:
            doc.ents = made if self.overwrite else _beside(doc.ents, made)

    # In files ------------------------------------------------------------------

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model and the settings into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.tagger.save(folder / _MODEL)
        settings = {name: getattr(self, name) for name in _DEFAULTS if name != "model"}
        (folder / _SETTINGS).write_text(json.dumps(settings), encoding="utf-8")

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "TagsiftComponent":
        """Read what `to_disk` wrote; no code is run by that."""
        folder = Path(path)
        self._tagger = load_tagger(folder / _MODEL)
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        self.spans_key, self.overwrite = settings["spans_key"], settings["overwrite"]
        self.columns = tuple(settings["columns"])
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Give the model and the settings as bytes."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            settings = Path(folder, _SETTINGS).read_bytes()
            return settings + b"\n" + Path(folder, _MODEL).read_bytes()

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "TagsiftComponent":
        """Read what `to_bytes` gave."""
        settings, _, model = data.partition(b"\n")
        with TemporaryDirectory() as folder:
            Path(folder, _SETTINGS).write_bytes(settings)
            Path(folder, _MODEL).write_bytes(model)
            return self.from_disk(folder)


def _sentences(doc: Doc) -> Iterable[Any]:
    if not len(doc):
        return []
    return doc.sents if doc.has_annotation("SENT_START") else [doc[:]]


def _beside(there: Iterable[Span], made: Iterable[Span]) -> list[Span]:
    """Entities that are there, and new ones that do not overlap them."""
    taken = {token.i for span in there for token in span}
    free = (span for span in made if not any(token.i in taken for token in span))
    return filter_spans([*there, *free])


@Language.factory(
    "tagsift",
    assigns=["doc.ents", "doc.spans", "doc.user_data", "span._.score"],
    default_config=_DEFAULTS,
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0},
)
def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    spans_key: str | None,
    columns: list[str],
    overwrite: bool,
) -> TagsiftComponent:
    """Make the component, as ``nlp.add_pipe`` asks for it."""
    return TagsiftComponent(
        model, name, spans_key=spans_key, columns=columns, overwrite=overwrite
    )
