"""What the votes on one token add up to, in numbers and for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tagsift.data import Vote, VoteCorpus

__all__ = ["OUTSIDE_VOTE", "differs", "looks_abstaining", "spoken", "tally_text"]

#: The vote with which a rule or a dictionary abstains.
OUTSIDE_VOTE = "O"
#: Looks like abstaining: so many tokens that others label, and so large a share of `O`.
_LEAST_TOKENS, _SILENT = 20, 0.99


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
    """Count the labels that annotators gave, but for those who abstain by `O`.

    Parameters
    ----------
    votes : tuple
        One entry per annotator.
    abstains : sequence of bool
        Whether the `O` of an annotator says nothing.
    """
    said: Counter[str] = Counter()
    for vote, silent in zip(votes, abstains, strict=True):
        if vote is None or (silent and vote == OUTSIDE_VOTE):
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
        return label != OUTSIDE_VOTE and any(vote is not None for vote in votes)
    return said[label] < max(said.values())


def looks_abstaining(corpus: VoteCorpus, but: Collection[str] = ()) -> dict[str, float]:
    """Find annotators who say `O` of nearly everything that others label.

    Parameters
    ----------
    corpus : VoteCorpus
        The votes.
    but : collection of str
        Annotators who need not be looked at.

    Returns
    -------
    dict
        Their names, and the share of `O` on tokens that others say are something.
    """
    n_annotators = len(corpus.annotators)
    seen, silent = [0] * n_annotators, [0] * n_annotators
    patterns = Counter(votes for sentence in corpus.votes for votes in sentence)
    for votes, count in patterns.items():
        labelled = [a for a, vote in enumerate(votes) if _says_something(vote)]
        for a, vote in enumerate(votes) if labelled else ():
            if vote is not None and labelled != [a]:
                seen[a] += count
                silent[a] += count * (vote == OUTSIDE_VOTE)
    return {
        name: silent[a] / seen[a]
        for a, name in enumerate(corpus.annotators)
        if name not in but
        and seen[a] >= _LEAST_TOKENS
        and silent[a] >= _SILENT * seen[a]
    }


def _says_something(vote: str | frozenset[str] | None) -> bool:
    return vote is not None and vote != OUTSIDE_VOTE
