"""What a file says of its corpus as a whole, beside its documents.

Formats keep different parts of it (`Format.keeps`); what one cannot hold is counted as
it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tagsift.data.annotators import Annotator, AnnotatorKind
from tagsift.data.documents import Document, Kind, Layer
from tagsift.data.lossy import Losses
from tagsift.data.schemes import SCHEMES, scheme_of_pairs
from tagsift.io.formats._file_names import KNOWN, in_order

if TYPE_CHECKING:
    from tagsift.io.formats._format import Format
    from tagsift.io.formats._json import Place

__all__ = [
    "EVERYTHING",
    "CorpusInfo",
    "Order",
    "Part",
    "Written",
    "annotator_of",
    "as_written",
]

#: Parts of `CorpusInfo`: annotators who said nothing, with the order of all; which are
#: sources that mean their ``O``; what they are else; labels that nobody gave, with the
#: order of all; the scheme.
Part: TypeAlias = Literal["annotators", "sources", "kinds", "labels", "scheme"]
EVERYTHING: frozenset[Part] = frozenset(get_args(Part))
#: In which order a reader meets annotators: that of the layers of documents, people
#: before models, or that of their names.
Order: TypeAlias = Literal["layers", "people", "names"]


@dataclass
class CorpusInfo:
    """What a file says of its corpus as a whole.

    A reader fills it, and has done so when the last document has come; a writer writes
    it where its format has a place for it.
    """

    annotators: tuple[Annotator, ...] = ()  # in order, those who were silent among them
    labels: tuple[str, ...] = ()  # in their order; none where the file does not say
    scheme: str | None = None  # of the labels

    def __bool__(self) -> bool:
        return bool(self.annotators or self.labels or self.scheme)

    def add_annotators(self, annotators: Iterable[Annotator]) -> None:
        """Put annotators behind those that are there; a name that is there stays."""
        names = {one.name for one in self.annotators}
        self.annotators += tuple(one for one in annotators if one.name not in names)

    def record(self) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "annotators": [
                {"name": one.name, "kind": one.kind, "abstains": one.abstains}
                for one in self.annotators
            ],
            "labels": list(self.labels),
            "scheme": self.scheme,
        }
        return {key: part for key, part in parts.items() if part}

    def add(self, record: dict[str, Any], place: Place) -> None:
        people = place.at("annotators").items(
            place.take(record, "annotators", list, []), dict
        )
        kinds = get_args(AnnotatorKind)
        self.add_annotators(
            [
                Annotator(
                    here.name(one, "name"),
                    here.at("kind").choice(one.get("kind", "unknown"), kinds),
                    here.take(one, "abstains", bool, False),
                )
                for here, one in people
            ]
        )
        labels = place.take(record, "labels", list, [])
        names = [one for _, one in place.at("labels").items(labels, str)]
        self.labels += tuple(one for one in names if one not in self.labels)
        if record.get("scheme") is not None:
            scheme = place.at("scheme").choice(record["scheme"], SCHEMES)
            self.scheme = self.scheme or scheme


def annotator_of(layer: Layer) -> Annotator:
    """The annotator of a layer, as far as it tells; a rule abstains by ``O``."""
    if layer.kind == "rule":
        return Annotator(layer.annotator, "source", abstains=True)
    return Annotator(layer.annotator, "model" if layer.kind == "model" else "person")


def as_written(one: Annotator) -> Kind:
    if one.abstains or one.kind == "source":
        return "rule"
    return "model" if one.kind == "model" else "person"


@dataclass
class Written:
    """What documents hold that are being written, to be compared with what they are of.

    Only what the corpus says and its documents do not is asked for.
    """

    info: CorpusInfo
    people: dict[str, Layer] = field(default_factory=dict)  # first layers, by annotator
    labels: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)  # labels of spans
    pairs: Counter[tuple[str | None, str]] = field(default_factory=Counter)

    def see(self, document: Document, order: Order) -> None:
        """Look at a document, its layers in the order in which they are met again."""
        layers = document.layers
        if order == "people":
            layers = tuple(sorted(layers, key=lambda x: x.kind in ("model", "rule")))
        for layer in layers:
            if layer.kind not in KNOWN:
                self.people.setdefault(layer.annotator, layer)
            for mark in layer.marks or ():
                self.types.update(mark.labels)
            if layer.tags is None or not (self.info.labels or self.info.scheme):
                continue
            exact = [tag for tag in layer.tags if isinstance(tag, str)]
            self.pairs.update(zip((None, *exact), exact, strict=False))
            for tag in {*layer.tags} - {*exact}:
                self.labels |= tag or set()  # type: ignore[arg-type]

    def note(self, form: Format, keeps: frozenset[Part], to: Losses) -> None:
        """Count what a format cannot hold of the corpus."""
        for part, kind, where in self._apart(form):
            if part not in keeps:
                to.note(f"{kind}, which {form.name} cannot hold", where)

    def _apart(self, form: Format) -> Iterator[tuple[Part, str, str]]:
        """What the documents do not say: part of `CorpusInfo`, kind of loss, case."""
        names = [one.name for one in self.info.annotators]
        met = [name for name in self.people if name in names]
        for name in names:
            if name not in self.people:
                yield "annotators", "annotator who labelled nothing", name
        if form.order == "names":
            met.sort(key=in_order)
        there = [name for name in names if name in self.people]
        if met != there:
            yield "annotators", "order of the annotators", ", ".join(there[:6])
        for one in self.info.annotators:
            if one.name in self.people:
                read_as = annotator_of(self.people[one.name])
                same = one.kind in (read_as.kind, "unknown")
                if not same or one.abstains != read_as.abstains:
                    source = (
                        one.kind == "source" and self.people[one.name].kind == "rule"
                    )
                    part: Part = "sources" if source else "kinds"
                    yield part, "what an annotator is", one.name
        labels = self.labels | {label for _, label in self.pairs}
        for label in self.info.labels:
            if label not in labels and label != "O" and label[2:] not in self.types:
                yield "labels", "label that nobody gave", label
        if self.info.scheme is not None:
            spans = form.spans or not labels
            scheme = "iob2" if spans else scheme_of_pairs(self.pairs, labels)
            if scheme != self.info.scheme:
                kind = f"scheme of the labels ({self.info.scheme}, now {scheme})"
                yield "scheme", kind, "all labels"
