"""What a file must hold to be learnt from, or to be tagged by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

import numpy as np

from tagsift.data.corpus import Corpus
from tagsift.data.label_set import LabelSet
from tagsift.data.schemes import detect_scheme
from tagsift.errors import DataError
from tagsift.io.column_file import PathName
from tagsift.visible import count

__all__ = ["are_tags", "check_learnable", "check_tags", "check_text", "check_votes"]

#: From how many chunk tags on an annotator's scheme is plain.
_FEW = 3

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
    *,
    votes: bool = False,
    named: bool = False,
) -> None:
    """Refuse labels that nothing, or something else, would be learnt from.

    With the scheme ``"auto"``, chunk tags in a spelling that is not read as such are
    refused, too. `votes` says that annotators gave the labels, `named` that somebody
    has said which columns these stand in.
    """
    what, holds = ("the votes", "hold") if votes else ("the label column", "holds")
    size = sum(map(len, candidates))
    if len(labels) == 1:
        remedy = (
            "check the columns of the votes (--votes)"
            if votes
            else "if it is the right column, give the label set with --labels (B,I,O "
            "or so)"
        )
        raise DataError(
            f"{what} {holds} only {labels.names[0]!r}, so there is nothing to learn; "
            f"{remedy}.",
            path,
        )
    many = size > 2 and len(labels) > (size / 2 if size >= 50 else size - 1)
    if many and not are_tags(labels) and not (votes and named):
        remedy = (
            "check the columns of the votes (--votes) or, if these are the labels, "
            "name all columns (--columns token,vote,vote or so)"
            if votes
            else "name the columns (--columns token,label,-) or, if these are the "
            "labels, give the label set with --labels"
        )
        raise DataError(
            f"{what} {holds} {len(labels)} different labels for {size} tokens, as "
            f"words or numbers do; {remedy}.",
            path,
        )
    if scheme == "auto":
        check_tags(path, labels)


def check_tags(path: PathName, labels: Collection[str]) -> None:
    """Refuse chunk tags in a spelling that would be read as plain labels."""
    odd = sorted(name for name in labels if not are_tags([name]))
    if not odd:
        return
    for other, respell in _SPELLINGS.items():
        written = [respell(name) for name in labels]
        if are_tags(written) and any("-" in w for w in written):
            raise DataError(
                f"the labels look like chunk tags {other} (such as "
                f"{max(odd, key=len)!r}), which would be read as plain ones; write "
                "them as B-X, I-X, E-X, S-X and O, or say --scheme plain.",
                path,
            )


def check_votes(
    path: PathName, corpus: Corpus, scheme: str = "auto", *, named: bool = False
) -> None:
    """Refuse annotators who write in different schemes, and columns that are no votes.

    `named` says that somebody has said what each column is.
    """
    size, names = len(corpus.label_set), corpus.label_set.names
    single = corpus.votes.code < size  # [K]
    cell = corpus.votes.annotator[single] * size + corpus.votes.code[single]
    times = np.bincount(cell, minlength=len(corpus.annotators) * size)  # [A · L]
    said = [
        Counter({names[k]: n for k, n in enumerate(row) if n})
        for row in times.reshape(-1, size).tolist()
    ]
    if not named:
        _check_labels_in_common(path, corpus, said)
    if scheme != "auto":
        return
    labels = set(chain.from_iterable(said))
    check_tags(path, labels)
    if not are_tags(labels):
        return
    closes = [min((n for n in own if n[0] in "ES"), default="") for own in said]
    opens = [sum(times for n, times in own.items() if n[0] in "BI") for own in said]
    without = [a for a, n in enumerate(opens) if n >= _FEW and not closes[a]]
    if any(closes) and without:
        one = next(a for a, name in enumerate(closes) if name)
        raise DataError(
            f"{corpus.annotators[one].name} writes chunks in the scheme iobes (such as "
            f"{closes[one]!r}), {corpus.annotators[without[0]].name} without E and S; "
            "write "
            "all votes in one scheme, or say which by --scheme.",
            path,
        )


def _check_labels_in_common(
    path: PathName, corpus: Corpus, said: Sequence[Counter[str]]
) -> None:
    """Refuse a column on most tokens, of whose labels no other annotator gives any."""
    labels = [set(own) - {"O"} for own in said]
    givers = Counter(chain.from_iterable(labels))
    people = (one.name for one in corpus.annotators)
    for name, own, times in zip(people, labels, said, strict=True):
        alone = all(givers[label] == 1 for label in own)
        most = 2 * sum(times[label] for label in own) > corpus.n_tokens
        if alone and most and len(own) >= _FEW and len(givers) > len(own):
            other = min(givers.keys() - own)
            raise DataError(
                f"{name} gives labels that nobody else gives (such as {min(own)!r}, "
                f"and others {other!r}), as a column of features does; check the "
                "columns of the votes (--votes), counted from 1, or name all columns "
                "(--columns token,vote,vote or so).",
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
