"""The three words whose confidences Figure 5 follows, found by their sentences."""

from __future__ import annotations

from dataclasses import dataclass

from tagsift.data import Corpus
from tagsift.errors import InputError

__all__ = ["WATCHED", "Watched", "find"]


@dataclass(frozen=True)
class Watched:
    """A training token of Figure 5.

    Parameters
    ----------
    word : str
        The word.
    task : str
        Where it stands.
    words : tuple of str
        The words of its sentence that the paper prints around it.
    candidates : tuple of str
        Its candidates.
    p : float
        Share of exact sentences.
    printed : str
        The label that the paper prints as the truth.
    outcome : str
        Whether the paper says that its curves end at the truth: right or wrong.
    """

    word: str
    task: str
    words: tuple[str, ...]
    candidates: tuple[str, ...]
    p: float
    printed: str
    outcome: str

    @property
    def fragment(self) -> str:
        """The words the paper prints, as text."""
        return "… " + " ".join(self.words) + " …"


#: Watched words by name.
WATCHED: dict[str, Watched] = {
    watched.word: watched
    for watched in (
        Watched(
            "holding",
            "base-np",
            ("little", "holding", "sterling", "firm"),
            ("B", "O", "I"),
            0.1,
            "I",
            "right",
        ),
        Watched(
            "German",
            "ner",
            ("disagreed", "with", "German", "advice"),
            ("B-LOC", "B-MISC", "B-ORG"),
            0.5,
            "B-MISC",
            "wrong",
        ),
        Watched(
            "heavily",
            "chunking",
            ("very", "heavily", "on"),
            ("I-ADVP", "B-ADVP", "B-PRT"),
            0.5,
            "I-ADVP",
            "wrong",
        ),
    )
}


def find(corpus: Corpus, watched: Watched) -> tuple[int, int]:
    """Return sentence and token number of a watched word.

    Parameters
    ----------
    corpus : Corpus
        Where to look.
    watched : Watched
        What to look for.
    """
    size = len(watched.words)
    for s, words in enumerate(corpus.tokens):
        for t in range(len(words) - size + 1):
            if tuple(words[t : t + size]) == watched.words:
                return s, t + watched.words.index(watched.word)
    raise InputError(
        f"the watched word {watched.word!r} is not in the {len(corpus)} sentences of "
        f"{watched.task}; take the head of the real corpus, or set watch = false."
    )
