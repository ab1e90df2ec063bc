"""The three words whose confidences Figure 5 follows, found by their sentences."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.paper.printed import PRINTED
from tagsift.data import Corpus
from tagsift.errors import InputError


@dataclass(frozen=True)
class Watched:
    """A training token of Figure 5."""

    task: str
    word: str
    around: str  # the words of its sentence that the paper prints around it
    candidates: list[str]
    p: float  # share of exact sentences
    printed: str  # the label that the paper prints as the truth
    right: bool  # whether the paper says that its curves end at the truth


#: Watched words by name.
WATCHED: dict[str, Watched] = {
    word: Watched(word=word, **about) for word, about in PRINTED["figure-5"].items()
}


def find(corpus: Corpus, watched: Watched) -> tuple[int, int]:
    """Return sentence and token number of a watched word."""
    around = tuple(watched.around.split())
    for s, words in enumerate(corpus.tokens):
        for t in range(len(words) - len(around) + 1):
            if tuple(words[t : t + len(around)]) == around:
                return s, t + around.index(watched.word)
    raise InputError(
        f"the watched word {watched.word!r} is not in the {len(corpus)} sentences of "
        f"{watched.task}; take the head of the real corpus, or set watch = false."
    )
