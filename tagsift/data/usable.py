"""What a file must hold to be learnt from, or to be tagged by a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from tagsift.data.columns import PathName, count
from tagsift.data.label_set import LabelSet
from tagsift.data.schemes import detect_scheme
from tagsift.errors import DataError

__all__ = ["are_tags", "check_learnable", "check_text"]

#: Chunk tags that are not written as `tagsift.data.schemes` reads them.
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "in small letters or with underscores": lambda tag: (
        tag[:1].upper() + tag[1:].replace("_", "-", 1)
    ),
    "with the prefixes L and U, or M": lambda tag: (
        tag[:1].translate(str.maketrans("LUM", "ESI")) + tag[1:]
    ),
    "with the type before the prefix": lambda tag: "-".join(tag.rsplit("-", 1)[::-1]),
}


def are_tags(labels: Iterable[str]) -> bool:
    """Whether all labels are tags of a chunking scheme."""
    return detect_scheme([list(labels)]) != "plain"


def check_learnable(
    path: PathName,
    candidates: Sequence[Sequence[Collection[str]]],
    labels: LabelSet,
    scheme: str = "auto",
) -> None:
    """Refuse labels that nothing, or something else, would be learnt from.

    With the scheme ``"auto"``, chunk tags in a spelling that is not read as such are
    refused, too.
    """
    size, remedy = sum(map(len, candidates)), "give the label set with --labels"
    if len(labels) == 1:
        raise DataError(
            f"the label column holds only {labels.names[0]!r}, so there is nothing to "
            f"learn; if it is the right column, {remedy} (B,I,O or so).",
            path,
        )
    if are_tags(labels):
        return
    if size > 2 and len(labels) > (size / 2 if size >= 50 else size - 1):
        raise DataError(
            f"the label column holds {len(labels)} different labels for {size} tokens, "
            f"as words or numbers do; name the columns (--columns token,label,-) or, "
            f"if these are the labels, {remedy}.",
            path,
        )
    for other, respell in _SPELLINGS.items():
        written = [respell(name) for name in labels]
        if scheme == "auto" and are_tags(written) and any("-" in w for w in written):
            raise DataError(
                f"the labels look like chunk tags {other} (such as "
                f"{max(labels, key=len)!r}), which would be read as plain ones; write "
                "them as B-X, I-X, E-X, S-X and O, or say --scheme plain.",
                path,
            )


def check_text(
    path: PathName,
    rows: Sequence[Sequence[Sequence[str]]],
    width: int,
    labels: Collection[object],
    known: Collection[str] = (),
) -> None:
    """Refuse text with other columns than the `width` that a model was trained on.

    `known` is what stood in the second column in training; empty where nobody knows.
    """
    found = next((len(row) for sentence in rows for row in sentence), width)
    if found == width:
        tokens = [row for sentence in rows for row in sentence if known]
        second = [row[1] for row in tokens if row[0] != row[1]]
        if second and sum(cell in known for cell in second) < len(second) / 10:
            raise DataError(
                f"expected the second column as the model was trained on it (such as "
                f"{', '.join(sorted(known)[:3])}), found others ({second[0]}); if it "
                "is running text, say --from text, else name the columns (--columns "
                "token,pos or so).",
                path,
            )
        return
    last = {row[-1] for sentence in rows for row in sentence}
    remedy = "name the columns to use (--columns token,pos,- or so)"
    if found == width + 1 and last <= set(labels):
        remedy = "the last one holds labels of the model: say --gold to leave it out"
    elif found < width:
        remedy = "add the missing ones, or train a model without them"
    raise DataError(
        f"expected {count(width, 'column')}, as the model was trained on, found "
        f"{found}; {remedy}.",
        path,
    )
