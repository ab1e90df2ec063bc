"""What the votes on one token add up to, in numbers and for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tagsift.annotators.ballots import OUTSIDE, ballots_of
from tagsift.annotators.people import quiet_sources
from tagsift.data import Vote, VoteCorpus

__all__ = ["differs", "looks_abstaining", "spoken", "tally_text"]

#: Looks like abstaining: so many tokens that others label.
_LEAST_TOKENS = 20


def tally_text(votes: Vote) -> str:
    """Write the votes on a token, the commonest first; a dash where there are none.

    A set of labels from one annotator is one vote.

    Examples
    --------
    >>> tally_text(("B-LOC", "O", None, "B-LOC"))
    'B-LOC:2 O:1'
    """
    names = [
        vote if isinstance(vote, str) else "|".join(sorted(vote))
        for vote in votes
        if vote is not None
    ]
    counts = sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
    return " ".join(f"{name}:{count}" for name, count in counts) or "-"


def spoken(votes: Vote, abstains: Sequence[bool]) -> Counter[str]:
    """Count the labels that annotators gave, but for those who abstain by `O`."""
    said: Counter[str] = Counter()
    for vote, silent in zip(votes, abstains, strict=True):
        if vote is None or (silent and vote == OUTSIDE):
            continue
        said.update([vote] if isinstance(vote, str) else vote)
    return said


def differs(label: str, votes: Vote, abstains: Sequence[bool]) -> bool:
    """Say whether most annotators gave another label; where they tie, not.

    Where only those voted who abstain, the majority is `O`.

    Examples
    --------
    >>> differs("O", ("B-LOC", "O", "B-LOC"), (False, False, False))
    True
    """
    said = spoken(votes, abstains)
    if not said:
        return label != OUTSIDE and any(vote is not None for vote in votes)
    return said[label] < max(said.values())


def looks_abstaining(corpus: VoteCorpus, but: Collection[str] = ()) -> dict[str, float]:
    """Find annotators who say `O` of nearly everything that others label.

    The shares of `O` on those tokens, by name.
    """
    lengths = [len(sentence) for sentence in corpus.votes]
    ballots = ballots_of(corpus, corpus.label_set.names, lengths, abstaining=but)
    return quiet_sources(ballots, least_tokens=_LEAST_TOKENS)
