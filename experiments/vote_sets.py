"""Sets of votes by their names: files, parts of them, and simulated annotators.

Whoever abstains says nothing by ``O``. Simulated sets take text and truth of other
files. Their rules copy a few lists, as rules do; the model that marks too much errs on
the same words wherever they stand, and a text that is fitted to it learns that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.folds import stable_seed
from tagsift.data import SimulatedAnnotator, simulate_votes, spans, tags
from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import Span
from tagsift.data.synthetic import generate
from tagsift.io import read

Change: TypeAlias = Callable[[Corpus], Corpus]
#: Votes by the names of annotators; None for a sentence that one did not label.
Lists: TypeAlias = dict[str, list[list[str] | None]]
#: Workers of crowd NER who never give a wrong entity and find few.
ODD = ("w04", "w13", "w15", "w20")
#: The five sources of the diseases that the weak-supervision literature uses.
FIVE = ("w00", "w01", "w02", "w08", "w16")


@dataclass(frozen=True)
class VoteSet:
    """Where votes come from, and what is done with them."""

    file: str  # below the folder of the corpora; "" for text of the package's own
    votes: str = ""  # columns of votes; none where annotators are simulated
    changes: tuple[Change, ...] = ()

    def read(self, data: Path) -> Corpus:
        """The votes, with their truth."""
        if not self.file:
            corpus = generate(900, 11, "ner")
        elif self.votes:
            quiet = self.file.startswith("weak")
            path = data / self.file
            corpus = read(path, votes=self.votes, gold=-1, abstain=quiet)
        else:
            corpus = read(data / self.file).with_columns(1)
        for change in self.changes:
            corpus = change(corpus)
        return corpus


# What is done with votes ----------------------------------------------------------


def part(first: float, last: float) -> Change:
    """The sentences between two shares of them."""
    return lambda votes: votes[int(first * len(votes)) : int(last * len(votes))]


def only(names: Sequence[str]) -> Change:
    """The votes of some annotators, in the sentences that any of them labelled."""

    def change(votes: Corpus) -> Corpus:
        chosen = votes.select(annotators=names)
        last = np.searchsorted(chosen.votes.token, chosen.bounds)  # [S + 1]
        return chosen.take(np.flatnonzero(np.diff(last)))

    return change


def without(names: Sequence[str]) -> Change:
    """The votes of all but some annotators, in all sentences."""

    def change(votes: Corpus) -> Corpus:
        left = [one.name for one in votes.annotators if one.name not in names]
        return votes.select(annotators=left)

    return change


def busiest(n: int, *, others: bool = False) -> Change:
    """The annotators with the most votes, or all but these."""

    def change(votes: Corpus) -> Corpus:
        counts = np.bincount(votes.votes.annotator, minlength=len(votes.annotators))
        most = np.argsort(-counts, kind="stable")  # [A]
        chosen = most[n:] if others else most[:n]
        return only([votes.annotators[a].name for a in chosen])(votes)

    return change


def at_most(n: int) -> Change:
    """So many annotators a sentence, by chance."""

    def change(votes: Corpus) -> Corpus:
        token, annotator, _ = votes.votes  # [K] each
        sentence = np.searchsorted(votes.bounds, token, side="right") - 1  # [K]
        cell = sentence * len(votes.annotators) + annotator  # [K]
        cells, place = np.unique(cell, return_inverse=True)  # [C], [K]
        lot = np.random.default_rng(0).random(len(cells))  # [C]
        of = cells // len(votes.annotators)  # [C]
        order = np.lexsort((lot, of))  # [C]
        rank = np.empty(len(cells), dtype=int)  # [C]
        rank[order] = np.arange(len(cells)) - np.searchsorted(of, of)[order]
        return votes.with_votes(rank[place] < n)

    return change


def joined(n: int) -> Change:
    """So many sentences as one: long texts."""

    def change(corpus: Corpus) -> Corpus:
        return replace(corpus, bounds=np.append(corpus.bounds[:-1:n], corpus.n_tokens))

    return change


# Simulated annotators -------------------------------------------------------------


def person(
    name: str, misses: float, shifts: float, invents: float, labels: float = 1.0
) -> SimulatedAnnotator:
    """A person with these chances of an error, and of labelling a sentence."""
    return SimulatedAnnotator(
        name=name, labels=labels, misses=misses, shifts=shifts, invents=invents
    )


def people(*annotators: SimulatedAnnotator) -> Change:
    """Votes of simulated people on text whose truth is known."""
    return lambda corpus: simulate_votes(corpus, annotators, random_state=5)


def alike(n: int, *chances: float) -> Change:
    """So many people with the same chances."""
    return people(*(person(f"p{k}", *chances) for k in range(n)))


def habits(share: float) -> Change:
    """Let the last annotator mark a share of the long words outside, one by one."""

    def change(votes: Corpus) -> Corpus:
        name, types = votes.annotators[-1].name, _types(votes.gold or [], votes.scheme)
        lists = _votes_of(votes)
        for tokens, row in zip(votes.tokens, lists[name], strict=True):
            for t, word in enumerate(tokens):
                free = row is not None and row[t] == "O" and len(word) > 5
                if row and free and _lot("habit", word) < share:
                    row[t] = f"B-{_drawn(types, word)}"
        return _again(votes, lists, votes.annotators)

    return change


def rules(n: int, *, lists: int = 6) -> Change:
    """Rules that each copy most of one of a few lists of names, errors and all."""

    def change(corpus: Corpus) -> Corpus:
        truth = [spans(row, corpus.scheme) for row in corpus.labels]
        types = _types(corpus.labels, corpus.scheme)
        votes: Lists = {}
        for rule in range(n):
            rows: list[list[str] | None] = []
            for tokens, row in zip(corpus.tokens, truth, strict=True):
                seen = [_listed(tokens, one, rule % lists, rule, types) for one in row]
                inside = {t for one in row for t in range(one.start, one.end)}
                for t, word in enumerate(tokens):
                    name = word[:1].isupper() and t not in inside
                    if name and _lot("false", rule % lists, word) < 0.12:
                        seen.append(Span(_drawn(types, word), t, t + 1))
                whole = sorted((x for x in seen if x), key=lambda x: x.start)
                rows.append(list(tags(whole, len(tokens), corpus.scheme)))
            votes[f"r{rule:02d}"] = rows
        return _again(corpus, votes, [Annotator(x, "source", True) for x in votes])

    return change


def _listed(
    tokens: Sequence[str], one: Span, listed: int, rule: int, types: Sequence[str]
) -> Span | None:
    """What a rule makes of a true span: nothing, a part of it, or the wrong type."""
    form = " ".join(tokens[one.start : one.end])
    if _lot("list", listed, form) > 0.45 or _lot("rule", rule, form) > 0.8:
        return None
    error = _lot("error", listed, form)
    if error < 0.15:
        return one._replace(type=_drawn(types, form))
    shorter = error < 0.3 and one.end - one.start > 1
    return one._replace(end=one.end - 1) if shorter else one


@cache
def _lot(*parts: Any) -> float:
    """A number from 0 to 1 that hangs on the parts alone."""
    return stable_seed(*parts) / 2**31


def _drawn(types: Sequence[str], form: str) -> str:
    return types[int(_lot("type", form) * len(types))]


def _types(labels: Sequence[Sequence[str]], scheme: str) -> list[str]:
    return sorted({one.type for row in labels for one in spans(row, scheme)})


def _votes_of(votes: Corpus) -> Lists:
    """Votes as lists by the names of annotators; None for a sentence without."""
    rows = [sentence.votes for sentence in votes]
    lists: Lists = {}
    for one in votes.annotators:
        own = (row.get(one.name) for row in rows)
        lists[one.name] = [None if x is None else list(map(str, x)) for x in own]
    return lists


def _again(corpus: Corpus, votes: Lists, annotators: Sequence[Annotator]) -> Corpus:
    """The same text with other votes."""
    return Corpus.from_lists(
        corpus.rows,
        votes=votes,
        gold=corpus.gold or corpus.labels,
        annotators=annotators,
        scheme=corpus.scheme,
    )


# The sets -------------------------------------------------------------------------

_CROWD = partial(VoteSet, "crowd_ner/train.tsv", "2:48")
_NEWS = partial(VoteSet, "conll2003/train.conll", "")
_TWO = person("careful", 0.05, 0.04, 0.35), person("model", 0.3, 0.1, 0.1)
_WEAK = {"conll": "2:17", "mit": "2:17", "bc5cdr": "2:10"}


def _sources(*places: int) -> list[str]:
    return [f"w{k:02d}" for k in range(*places)]


def abstracts(name: str, *changes: Change) -> VoteSet:
    """The diseases of abstracts, of one file."""
    return VoteSet(f"weak_ncbi/{name}.tsv", "2:18", changes)


#: The sets of the table.
SETS: dict[str, VoteSet] = {
    **{
        f"{name}-{part}": VoteSet(f"weak_votes/{name}/{part}.tsv", columns)
        for part in ("valid", "test")
        for name, columns in _WEAK.items()
    },
    "ncbi-valid": abstracts("valid"),
    "ncbi-test": abstracts("test"),
    "ncbi5-valid": abstracts("valid", only(FIVE)),
    "ncbi5-test": abstracts("test", only(FIVE)),
    "crowd": _CROWD(),
    "crowd-43": _CROWD((without(ODD),)),
    "people": _NEWS((part(0.0, 0.14), alike(5, 0.25, 0.1, 0.1))),
    "person-model": _NEWS((part(0.14, 0.28), people(*_TWO), habits(0.35))),
    "rules-16": _NEWS((part(0.28, 0.42), rules(16))),
    "rules-50": _NEWS((part(0.42, 0.56), rules(50))),
    "letters": VoteSet("", "", (alike(3, 0.1, 0.05, 0.1),)),
    "long": _NEWS((part(0.56, 0.7), joined(8), alike(4, 0.3, 0.2, 0.3, 0.7))),
    "label-errors": _NEWS((part(0.7, 0.84), alike(1, 0.05, 0.05, 0.05))),
}
#: Parts of corpora, and other sets of sources, for expected and true errors.
SUBSETS: dict[str, VoteSet] = {
    "crowd-first": _CROWD((part(0, 1 / 3),)),
    "crowd-second": _CROWD((part(1 / 3, 2 / 3),)),
    "crowd-third": _CROWD((part(2 / 3, 1),)),
    "crowd-busiest": _CROWD((busiest(10),)),
    "crowd-others": _CROWD((busiest(10, others=True),)),
    "crowd-two": _CROWD((at_most(2),)),
    "conll-even": replace(SETS["conll-valid"], changes=(only(_sources(0, 16, 2)),)),
    "conll-odd": replace(SETS["conll-valid"], changes=(only(_sources(1, 16, 2)),)),
    "bc5cdr-half": replace(SETS["bc5cdr-valid"], changes=(part(0, 0.5),)),
    "bc5cdr-drugs": replace(
        SETS["bc5cdr-valid"], changes=(part(0.5, 1.0), without(["w02", "w03", "w06"]))
    ),
    "ncbi-part": abstracts("train", part(0, 0.4)),
}
#: The twenty by which expected errors are judged: no gold of a test file among them.
TWENTY = (
    *SUBSETS,
    *("conll-valid", "mit-valid", "ncbi-valid", "ncbi5-valid"),
    *("people", "person-model", "rules-16", "letters", "long"),
)
