"""Who labels, and the votes that they cast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tagsift.typing import IntArray

__all__ = ["NO_VOTES", "Annotator", "AnnotatorKind", "Vote", "Votes"]

#: What an annotator is; sources are rules, dictionaries and the like.
AnnotatorKind: TypeAlias = Literal["person", "model", "source", "unknown"]
#: What one annotator said of one token: a label, or a set where they could not decide.
Vote: TypeAlias = str | frozenset[str]


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody or something that labels."""

    name: str
    kind: AnnotatorKind = "unknown"
    abstains: bool = False  # whether their ``O`` says nothing


class Votes(NamedTuple):
    """Votes as they were cast, by token and then by annotator."""

    token: IntArray  # [K]  among the stacked tokens
    annotator: IntArray  # [K]  place in `Corpus.annotators`
    code: IntArray  # [K]  what was said

    @classmethod
    def of(cls, token: Any, annotator: Any, code: Any) -> Votes:
        """Put votes in order."""
        token, annotator, code = (
            np.asarray(column, dtype=np.int64) for column in (token, annotator, code)
        )
        order = np.lexsort((annotator, token))  # [K]
        return cls(token[order], annotator[order], code[order])


NO_VOTES = Votes(*np.zeros((3, 0), dtype=np.int64))
