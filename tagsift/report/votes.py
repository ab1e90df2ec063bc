"""Sections on votes: how far annotators agree, who errs how, what became of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tagsift.annotators import (
    AnnotatorReport,
    annotators_against,
    habits,
)
from tagsift.cleaned import Cleaned
from tagsift.data import Span, spans
from tagsift.report.document import (
    Badge,
    Cell,
    Figure,
    Passage,
    Section,
    Table,
    columns,
)
from tagsift.report.matrices import heat_map
from tagsift.typing import FloatArray, Label

__all__ = ["agreement_section", "annotator_table", "changes_section", "people_section"]

#: Annotators in the table, with a matrix each, and in the matrix of pairs.
_PEOPLE, _MATRICES, _PAIRS = 100, 12, 15
#: Types in a matrix, pairs of types, kinds of changes, and examples of these.
_TYPES, _CONFUSED, _KINDS, _EXAMPLES = 10, 12, 12, 20


def agreement_section(cleaned: Cleaned) -> Section:
    """How far annotators agree, in figures and in pairs, and where they differ."""
    votes = cleaned.corpus
    agreed = votes.agreement()
    rows: list[tuple[Cell, ...]] = [
        ("Krippendorff's alpha", agreed.krippendorff_alpha, "1: full, 0: by chance"),
        ("Fleiss' kappa", agreed.fleiss_kappa, "the same by another count"),
        ("equal labels", agreed.pairwise_agreement, "over pairs of votes on a token"),
        ("span F1", agreed.pairwise_span_f1, "over pairs of annotators of a sentence"),
        ("votes per token", agreed.votes_per_token, "of those who do not abstain"),
    ]
    heads = {"measure": "", "value": ".3f", "what it is": ""}
    content: list[Table | Figure] = [Table(columns(heads), tuple(rows))]
    names = [one.name for one in votes.annotators]
    busy = sorted(range(len(names)), key=lambda a: -cleaned.annotators[a].tokens)[
        :_PAIRS
    ]
    place = {names[a]: k for k, a in enumerate(sorted(busy))}
    plain = votes.scheme == "plain"
    table = np.full((len(place), len(place)), np.nan)  # [P, P]
    for pair in agreed.pairs:
        if pair.first in place and pair.second in place:
            i, j = place[pair.first], place[pair.second]
            value = pair.agreement if plain else pair.span_f1
            table[i, j] = table[j, i] = 100 * value
    if np.isfinite(table).any():
        more = f" The {len(place)} with the most votes." if len(names) > _PAIRS else ""
        what = "Equal labels" if plain else "Span F1"
        content.append(
            heat_map(
                table,
                list(place),
                list(place),
                title="Pairs of annotators",
                form=".0f",
                limit=100.0,
                caption=f"{what} of two annotators, in percent, over what both "
                f"labelled; empty where that is nothing.{more}",
            )
        )
    confused = _confused_types(cleaned)
    if confused.rows:
        content.append(confused)
    return Section("Agreement", "", tuple(content))


def _confused_types(cleaned: Cleaned) -> Table:
    """Pairs of types that two annotators gave the same token, the commonest first."""
    names, of_label = cleaned.types()
    counts = np.zeros((len(cleaned.table.counts), len(names)))  # [N, K]
    for k, column in enumerate(cleaned.table.counts.T):
        counts[:, of_label[k]] += column
    both = counts.T @ counts  # [K, K]
    pairs = combinations(range(len(names)), 2)
    above = [(float(both[i, j]), i, j) for i, j in pairs]
    total = sum(count for count, _, _ in above)
    rows = tuple(
        (f"{names[i]} – {names[j]}", int(count), count / total)
        for count, i, j in sorted(above, reverse=True)[:_CONFUSED]
        if count
    )
    heads = {"types": "", "pairs of votes": ",d", "of all that differ %": ".1f%"}
    return Table(columns(heads), rows, "What annotators give the same token")


def people_section(cleaned: Cleaned) -> Section:
    """Who is reliable, as found and, where the truth is known, as it is."""
    votes = cleaned.corpus
    true = () if votes.gold is None else annotators_against(votes, votes.gold)
    table = annotator_table(cleaned.annotators, cleaned.classes, true, most=_PEOPLE)
    flagged = sum(bool(one.flags) for one in cleaned.annotators)
    matrices = _matrices(cleaned)
    return Section(
        "Who is reliable",
        "Every annotator against the labels found from all votes and the text. The "
        "reliability is the span F1; for a source that abstains, the precision; for "
        "plain tags, the accuracy. "
        + (f"{flagged} of {len(cleaned.annotators)} have a remark." if flagged else ""),
        (table,) if matrices is None else (table, matrices),
    )


def annotator_table(
    people: Sequence[AnnotatorReport],
    classes: Sequence[Label],
    true: Sequence[AnnotatorReport] = (),
    *,
    most: int | None = None,
) -> Table:
    """How reliable annotators are, and what they do; `true` is what gold labels say."""
    truth = {one.name: one.reliability for one in true}
    counted = any(one.tokens for one in people)  # a model file knows no counts

    def cells(one: AnnotatorReport) -> tuple[Cell, ...]:
        remarks: Cell = "abstains by O" if one.abstains else ""
        counts = (one.tokens, one.precision, one.recall, one.f1)
        return (
            one.name,
            one.reliability,
            *((truth[one.name],) if truth else ()),
            *(counts if counted else ()),
            habits(one, classes),
            Badge("; ".join(one.flags), "warn") if one.flags else remarks,
        )

    heads = {"annotator": "", "reliability": ".1f%"}
    heads |= {"true": ".1f%"} if truth else {}
    if counted:
        shares = dict.fromkeys(("precision", "recall", "F1"), ".1f%")
        heads |= {"tokens": ",d", **shares}
    heads |= {"habits": "", "remarks": ""}
    kept = sorted(people, key=lambda one: -one.tokens)[:most]
    ranked = sorted(kept, key=lambda one: -np.nan_to_num(one.reliability, nan=-1.0))
    rest = len(people) - len(kept)
    note = f"{rest} others, who labelled less, are left out." if rest else ""
    title = "Annotators, the most reliable first (percent)"
    return Table(columns(heads), tuple(map(cells, ranked)), title, note)


def _matrices(cleaned: Cleaned) -> Figure | None:
    """What annotators say of tokens of each type, a matrix each."""
    names, counts = _confusions(cleaned)  # [A, K, K]
    order = np.argsort(-counts.sum(axis=(1, 2)), kind="stable")[:_MATRICES]
    panels: list[str] = []
    rows: list[tuple[Cell, ...]] = []
    for a in order:
        support = counts[a].sum(axis=1, keepdims=True)  # [K, 1]
        if not support.any():
            continue
        with np.errstate(invalid="ignore"):
            share = 100 * counts[a] / support  # [K, K]
        who = cleaned.annotators[a].name
        look: dict[str, Any] = {"title": who, "heading": who, "form": ".0f"}
        drawn = heat_map(share, names, names, limit=100.0, **look)
        panels += drawn.panels
        rows += [(who, *row) for row in drawn.data.rows]
    if not rows:
        return None
    more = f" The {len(order)} with the most votes." if len(counts) > _MATRICES else ""
    heads = {"annotator": "", "found": "", **{f"{name} ": ".0f" for name in names}}
    return Figure(
        title="What annotators say",
        alt=f"What each of {len(rows) // len(names)} annotators says of tokens of each "
        "type; the numbers are in the table below.",
        panels=tuple(panels),
        data=Table(columns(heads), tuple(rows), "What annotators say (percent)"),
        caption="Percent of the tokens of a type found (row) of which an annotator "
        f"says a type (column).{more}",
    )


def _confusions(cleaned: Cleaned) -> tuple[list[str], FloatArray]:
    """Tokens by the type found and the type that an annotator gave, [A, K, K]."""
    names, of_label = cleaned.types()
    if len(names) > _TYPES:  # the rarest but O are taken together
        rare = (of_label >= _TYPES - 2) & (of_label < len(names) - 1)  # [L]
        last = of_label == len(names) - 1  # [L]
        of_label = np.where(rare, _TYPES - 2, np.where(last, _TYPES - 1, of_label))
        names = [*names[: _TYPES - 2], "others", names[-1]]
    size, table = len(names), cleaned.table
    single = table.code < len(of_label)  # [K]
    true = of_label[cleaned.codes[table.token]]  # [K]
    said = of_label[np.where(single, table.code, 0)]  # [K]
    cell = ((table.annotator * size + true) * size + said)[single]
    n = table.n_annotators
    counts = (
        np.bincount(cell, minlength=n * size**2).reshape(n, size, size).astype(float)
    )
    return names, counts


@dataclass(frozen=True)
class _Change:
    """A span that is not what most votes say."""

    kind: str
    sentence: int
    start: int
    end: int
    before: str  # what most votes say
    after: str  # what was found
    sure: float | None  # how sure the labels are over it


def changes_section(cleaned: Cleaned) -> Section:
    """What differs from the majority vote, by kind, by type, and in examples."""
    votes, majority = cleaned.corpus, cleaned.majority
    assert majority is not None
    changes = list(_changes(cleaned, majority))
    tokens = int(cleaned.changed.sum())
    unit = "tokens" if votes.scheme == "plain" else "spans"
    text = (
        f"{tokens:,} of {votes.n_tokens:,} labels of tokens are not what most votes "
        f"say; {len(changes):,} {unit} changed."
    )
    if not changes:
        return Section("Against the majority vote", text)
    by_kind, by_type = defaultdict[str, list[_Change]](list), Counter[str]()
    for one in changes:
        by_kind[one.kind].append(one)
        same = one.before == one.after
        to = f"{one.after}, other bounds" if same else f"{one.before} → {one.after}"
        by_type[to] += 1
    sure = {
        kind: [one.sure for one in those if one.sure is not None]
        for kind, those in by_kind.items()
    }
    kinds = tuple(
        (kind, len(those), np.mean(sure[kind]).item() if sure[kind] else None)
        for kind, those in sorted(by_kind.items(), key=lambda pair: -len(pair[1]))
    )
    heads = {"change": "", unit: ",d", "mean confidence": ".2f"}
    types = tuple(by_type.most_common(_KINDS))
    return Section(
        "Against the majority vote",
        text,
        (
            Table(columns(heads), kinds, "Kinds of changes"),
            Table(columns({"from → to": "", unit: ",d"}), types, "The commonest"),
            _examples(cleaned, changes),
        ),
    )


def _changes(cleaned: Cleaned, majority: list[list[str]]) -> Iterator[_Change]:
    """Spans (tokens, for plain tags) that differ from those of the majority."""
    scheme = cleaned.corpus.scheme
    for s, (row, other) in enumerate(zip(cleaned.sentences, majority, strict=True)):
        if row == other:
            continue
        if scheme == "plain":
            for t, (after, before) in enumerate(zip(row, other, strict=True)):
                if after != before:
                    yield _change(cleaned, "another tag", s, (t, t + 1), before, after)
            continue
        new, old = cleaned.spans[s], spans(other, scheme)
        for one in set(new) - set(old):
            kind, before = _against(one, old)
            yield _change(cleaned, kind, s, (one.start, one.end), before, one.type)
        for one in set(old) - set(new):
            if not any(_touch(one, x) for x in new):
                at = (one.start, one.end)
                yield _change(cleaned, "no span any more", s, at, one.type, "O")


def _against(one: Span, old: Sequence[Span]) -> tuple[str, str]:
    """How a new span differs from those before, and what was there."""
    near = [x for x in old if _touch(one, x)]
    if not near:
        return "a new span", "O"
    kept = next((x for x in near if x.type == one.type), near[0])
    if (kept.start, kept.end) == (one.start, one.end):
        return "another type", kept.type
    same = kept.type == one.type
    return "other bounds" if same else "other bounds and type", kept.type


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _change(
    cleaned: Cleaned, kind: str, s: int, at: tuple[int, int], before: str, after: str
) -> _Change:
    sure = None
    if cleaned.marginals is not None:
        lo = int(cleaned.corpus.bounds[s])
        sure = float(cleaned.confidence[lo + at[0] : lo + at[1]].min())
    return _Change(kind, s, *at, before or "(no type)", after or "(no type)", sure)


def _examples(cleaned: Cleaned, changes: list[_Change]) -> Table:
    """The surest changes, each of its kind once."""
    corpus = cleaned.corpus
    tokens, bounds = corpus.tokens, corpus.bounds.tolist()
    rows: list[tuple[Cell, ...]] = []
    seen: set[tuple[str, ...]] = set()
    for one in sorted(changes, key=lambda x: (-(x.sure or 0), x.sentence, x.start)):
        words = tokens[one.sentence]
        key = (" ".join(words[one.start : one.end]), one.before, one.after)
        if key in seen:
            continue
        seen.add(key)
        rows.append(
            (
                Passage.of(words, one.start, one.end),
                *cleaned.place(one.sentence, one.start),
                one.before,
                one.after,
                corpus.tally_text(bounds[one.sentence] + one.start),
                one.sure,
            )
        )
        if len(rows) == _EXAMPLES:
            break
    names = ("in context", *cleaned.place_heads, "majority", "found", "votes")
    heads = dict.fromkeys(names, "")
    heads |= {"confidence": ".3f"}
    return Table(columns(heads), tuple(rows), "The surest changes")
