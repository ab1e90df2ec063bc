"""What the paper prints: Tables II and III in percent, and the words of Figure 5."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagsift.data import Corpus
from tagsift.errors import InputError

#: The file beside this one.
PRINTED: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)


def _cells(table: str) -> dict[tuple[str, str, float], float]:
    return {
        (task, row, p): value
        for task, rows in PRINTED[table].items()
        for row, values in rows.items()
        for p, value in zip(PRINTED["p"], values, strict=True)
    }


#: Recovered true labels of ambiguous training tokens: (task, cl, p) → percent.
TABLE_2 = {(task, int(cl), p): x for (task, cl, p), x in _cells("table-2").items()}
#: F1 at cl = 3: (task, decoder, p) → percent. The paper does not say which F1.
TABLE_3 = _cells("table-3")


@dataclass(frozen=True)
class Watched:
    """A training token whose confidences Figure 5 follows."""

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
    around = watched.around.split()
    for s, words in enumerate(corpus.tokens):
        for t in range(len(words) - len(around) + 1):
            if list(words[t : t + len(around)]) == around:
                return s, t + around.index(watched.word)
    raise InputError(
        f"the watched word {watched.word!r} is not in the {len(corpus)} sentences of "
        f"{watched.task}; take the head of the real corpus, or set watch = false."
    )
