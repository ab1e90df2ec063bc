"""Features that hold labels of their file: the truth, or what an annotator said.

A column that somebody wants to be rid of easily becomes a feature, and then a model
sees what it shall find.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from tagsift.data.documents import Document
from tagsift.data.label_set import ANY
from tagsift.errors import DataError
from tagsift.io.column_file import PathName

__all__ = ["INSIST", "checked_features", "feature_names", "hold_labels", "labels_in"]

#: How such features are insisted on.
INSIST = "say --features-hold-labels (in Python features_hold_labels=True)"


def labels_in(cells: Iterable[str]) -> set[str]:
    """Labels named by cells of labels, candidates or votes."""
    return {name for cell in cells for name in cell.split("|")} - {ANY}


def hold_labels(
    values: Mapping[str, int], labels: AbstractSet[str], *, half: bool = False
) -> bool:
    """Whether a feature holds labels: more than half of its values other than ``O``.

    Values count once each, or as often as they occur; one alone tells nothing. `half`
    of them are enough where nobody has said that it is a feature.
    """
    others = {value: n for value, n in values.items() if value not in ("O", ANY)}
    shared = [n for value, n in others.items() if labels_in([value]) <= labels]
    pairs = ((len(shared), len(others)), (sum(shared), sum(others.values())))
    most = any(2 * some + half > whole > 0 for some, whole in pairs)
    return len(values) > 1 and most


def checked_features(
    documents: Iterable[Document], path: PathName
) -> Iterator[Document]:
    """Documents as they come, and at their end an error where features hold labels."""
    values: dict[int, Counter[str]] = {}
    labels: set[str] = set()
    names: list[str] = []
    for document in documents:
        yield document
        width = len(document.rows[0]) if document.rows else 1
        if width > 1:
            names = names or feature_names(document)
            for place in range(1, width):
                cells = (row[place] for row in document.rows or ())
                values.setdefault(place, Counter()).update(cells)
            for layer in document.layers:
                for tag in set(layer.tags or ()) - {None}:
                    labels |= {tag} if isinstance(tag, str) else tag or set()
    for place, counts in values.items():
        if hold_labels(counts, labels):
            example = min(labels_in(counts) & labels - {"O"}, default="O")
            name = names[place - 1] if place <= len(names) else f"number {place}"
            raise DataError(
                f"the feature {name} holds labels of the file (such as {example!r}), "
                "which would tell a model what it shall find; leave it out, by '-' in "
                "its place among --columns (in Python columns=), name the truth gold "
                f"and an annotator vote, or, if you mean it as a feature, {INSIST}.",
                path,
            )


def feature_names(document: Document) -> list[str]:
    """Names of the columns after the token, where a table had a header."""
    for own in ("conll", "csv"):
        kept = document.meta.get(own)
        if isinstance(kept, dict) and isinstance(kept.get("columns"), list):
            return [str(name) for name in kept["columns"]]
    return []
