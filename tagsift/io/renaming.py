"""Labels that a file calls otherwise: renamed as it is read, and said where unknown."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tagsift.data.documents import Document, Layer, Mark, Tag
from tagsift.data.label_set import label_problem
from tagsift.data.lossy import Losses
from tagsift.errors import InputError, TagsiftWarning

__all__ = ["Renaming", "note_labels_apart"]


def _split(label: str) -> tuple[str, str]:
    """The prefix of a tag with its hyphen, and its type: ``B-``, ``PER``."""
    tag = label[1:2] == "-" and label[0] in "BIESLUM" and len(label) > 2
    return (label[:2], label[2:]) if tag else ("", label)


class Renaming:
    """Other names for labels, or for the types of tags; ``O`` takes a label away.

    Examples
    --------
    >>> renaming = Renaming({"person": "PER", "date": "O"})
    >>> [renaming.label(name) for name in ("person", "B-person", "I-date", "LOC")]
    ['PER', 'B-PER', 'O', 'LOC']
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        for name, other in names.items():
            strings = isinstance(name, str) and isinstance(other, str)
            problem = label_problem(other) if strings else "two names"
            if problem is not None:
                raise InputError(
                    f"labels: expected {problem} in {name!r} = {other!r}; write such "
                    "as person=PER (in Python {'person': 'PER'})."
                )
        self.names = dict(names)
        self._met: set[str] = set()  # as they were called

    def label(self, name: str) -> str:
        """The name that a label shall have."""
        prefix, type_ = _split(name)
        if name in self.names:
            prefix, type_ = "", name
        self._met.add(type_)
        other = self.names.get(type_, type_)
        return other if other == "O" else prefix + other

    def cell(self, cell: str) -> str:
        """A cell of a label, or of several joined by ``|``."""
        return "|".join(dict.fromkeys(map(self.label, cell.split("|"))))

    def document(self, document: Document) -> Document:
        """A document whose annotators call labels so."""
        layers = tuple(map(self._layer, document.layers))
        return replace(document, layers=layers)

    def _layer(self, layer: Layer) -> Layer:
        if layer.tags is not None:
            return replace(layer, tags=tuple(map(self._tag, layer.tags)))
        marks: dict[object, Mark] = {}
        for mark in layer.marks or ():
            names = dict.fromkeys(map(self.label, mark.labels))
            labels = tuple(name for name in names if name != "O")
            if labels:
                where = (mark.start, mark.end, mark.pieces, labels)
                marks.setdefault(where, replace(mark, labels=labels))
        return replace(layer, marks=tuple(marks.values()))

    def _tag(self, tag: Tag) -> Tag:
        if tag is None or isinstance(tag, str):
            return None if tag is None else self.label(tag)
        names = frozenset(map(self.label, tag))
        return names if len(names) > 1 else next(iter(names))

    def warn(self) -> None:
        """Warn of names that nobody used, such as misspelt ones."""
        unknown = [name for name in self.names if name not in self._met]
        if unknown:
            others = sorted(self._met - {"O"})
            shown = ", ".join(others[:8]) + ", …" * (len(others) > 8)
            warnings.warn(
                f"no label is called {unknown[0]!r}, which --labels (in Python "
                f"labels=) renames; the labels are {shown or 'none'}.",
                TagsiftWarning,
                stacklevel=3,
            )


def note_labels_apart(documents: Iterable[Document], losses: Losses) -> None:
    """Count labels of models that nobody else gives, where others labelled as well.

    Others are the people; where there are none, the other models.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    beside: dict[str, Counter[str]] = defaultdict(Counter)  # of models, beside others
    first: dict[tuple[str, str], str] = {}  # document
    for document in documents:
        for layer in document.layers:
            who, own = layer.annotator, Counter(_types(layer))
            counts[who] += own
            if layer.kind == "model" and len(document.layers) > 1:
                beside[who] += own
                for name in own:
                    first.setdefault((who, name), document.id)
    people = set().union(*(counts[who] for who in counts.keys() - beside.keys()))
    for who, own in beside.items():
        models = (counts[other] for other in beside.keys() - {who})
        theirs = people or set().union(*models)
        apart = [name for name, _ in own.most_common() if name not in theirs]
        if theirs and apart:
            losses.note(
                f"label of {who} that nobody else gives ({_listed(apart)}; the others "
                f"give {_listed(sorted(theirs))}), which --labels '{apart[0]}=…' (in "
                "Python labels=) renames",
                first[who, apart[0]],
                lost=False,
                times=sum(own[name] for name in apart),
            )


def _types(layer: Layer) -> Iterator[str]:
    """The labels of a layer, those of tags without their prefixes."""
    tags = ({tag} if isinstance(tag, str) else tag or () for tag in layer.tags or ())
    yield from (_split(name)[1] for names in tags for name in names if name != "O")
    yield from (_split(name)[1] for mark in layer.marks or () for name in mark.labels)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:6]) + ", …" * (len(names) > 6)
