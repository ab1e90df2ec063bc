"""Corpora made of chance, for laws: sparse votes, sets, abstention, empty sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tagsift.data.annotators import Annotator, Vote
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import spans

#: How a law is tried: alike every time, and by no clock.
law = settings(max_examples=40, derandomize=True)

TAGS = {
    "iob1": ("B-X", "I-X", "I-Y", "B-Y", "O"),
    "iob2": ("B-X", "I-X", "B-Y", "I-Y", "O"),
    "iobes": ("B-X", "I-X", "E-X", "S-X", "S-Y", "B-Y", "E-Y", "O"),
    "plain": ("NN", "VB", "O"),
}


@st.composite
def corpora(
    draw: Any,
    schemes: Sequence[str] = tuple(TAGS),
    least: int = 0,  # tokens of a sentence
    exact: bool = False,  # whether some labels are known exactly
) -> Corpus:
    """Votes of annotators who each label some of the sentences, sets among them."""
    scheme = draw(st.sampled_from(schemes))
    names = TAGS[scheme][: None if draw(st.integers(0, 3)) else -1]  # at times no O
    lengths = draw(st.lists(st.integers(least, 5), min_size=1, max_size=5).filter(any))
    label = st.sampled_from(names)
    vote = st.one_of(label, label, label, st.frozensets(label, min_size=2, max_size=2))

    def rows_of(entry: Any, n: int) -> Any:
        return st.lists(st.one_of(entry, st.none()), min_size=n, max_size=n)

    people = [
        Annotator(f"a{a}", abstains=draw(st.booleans()))
        for a in range(draw(st.integers(1, 5)))
    ]
    return Corpus.from_lists(
        [[(f"w{s}.{t}", "POS") for t in range(n)] for s, n in enumerate(lengths)],
        votes={
            one.name: [draw(st.none() | rows_of(vote, n)) for n in lengths]
            for one in people
        },
        annotators=people,
        gold=[[draw(label) for _ in range(n)] for n in lengths],
        exact=[draw(rows_of(label, n)) for n in lengths] if exact else None,
        label_set=sorted(names),
        scheme=scheme,
    )


def votes_of(corpus: Corpus) -> dict[str, list[list[Vote | None] | None]]:
    """What everybody said of every sentence, as `Corpus.from_lists` takes it."""
    names = [one.name for one in corpus.annotators]
    return {name: [one.votes.get(name) for one in corpus] for name in names}


def with_votes(corpus: Corpus, votes: Any, **changes: Any) -> Corpus:
    """The same sentences with other votes."""
    usual = {
        "annotators": corpus.annotators,
        "gold": corpus.gold,
        "exact": corpus.exact,
        "label_set": corpus.label_set,
        "scheme": corpus.scheme,
    }
    return Corpus.from_lists(corpus.rows, votes=votes, **{**usual, **changes})


def said(corpus: Corpus, s: int, t: int) -> dict[str, Any]:
    """What annotators say of a token, by name; the `O` of who abstains is nothing."""
    quiet = {one.name for one in corpus.annotators if one.abstains}
    heard = {name: row[t] for name, row in corpus[s].votes.items()}
    return {
        name: vote
        for name, vote in heard.items()
        if vote is not None and not (vote == "O" and name in quiet)
    }


def type_of(tag: str, scheme: str) -> str:
    """The type of the span of a tag by itself."""
    found = spans([tag], scheme)
    return found[0].type if found else "O"
