"""Span precision, recall and F1, by the rules of the CoNLL shared tasks.

A predicted span is right when a gold span has the same type, start and end. Read as the
CoNLL script does (``"lenient"``), a span that begins or ends irregularly (an ``I-``
after ``O`` in IOB2) is a span all the same; ``"strict"`` drops it, in gold and in
prediction alike. Of plain tags, every token whose tag is not ``O`` is a span of its
own. A precision, recall or F1 whose denominator is zero is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from tagsift.data import Span, check_scheme, detect_scheme, spans
from tagsift.errors import InputError
from tagsift.metrics._pairs import Tally, check_pairs
from tagsift.typing import Label, Labels

__all__ = ["Reading", "SpanAverage", "SpanScores", "resolve_scheme", "span_scores"]

#: How irregular tag sequences are read.
Reading = Literal["lenient", "strict"]


@dataclass(frozen=True)
class SpanAverage:
    """Unweighted means over the types of spans."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, tallies: Sequence[Tally]) -> SpanAverage:
        """Average the figures of tallies; 0 where there are none."""
        n = max(len(tallies), 1)
        return cls(*(sum(getattr(t, k.name) for t in tallies) / n for k in fields(cls)))


@dataclass(frozen=True)
class SpanScores:
    """What is counted span by span."""

    micro: Tally  # all spans together: the figure of the shared tasks
    macro: SpanAverage  # unweighted mean over the types in gold or in the prediction
    per_type: dict[str, Tally]  # every type in gold or in the prediction, sorted
    scheme: str  # how the tags were read
    reading: Reading  # whether irregular spans count

    @property
    def f1(self) -> float:
        """Micro F1."""
        return self.micro.f1


def span_scores(
    gold: Labels,
    predicted: Labels,
    *,
    scheme: str = "auto",
    reading: Reading = "lenient",
) -> SpanScores:
    """Score predicted labels span by span.

    The scheme ``"auto"`` is found from the gold labels; the reading, ``"lenient"`` or
    ``"strict"``, says whether spans with irregular tags count.

    Examples
    --------
    >>> gold = [["B-NP", "I-NP", "O", "B-NP"]]
    >>> scores = span_scores(gold, [["B-NP", "I-NP", "O", "I-NP"]], scheme="iob2")
    >>> scores.micro.f1
    1.0
    >>> strict = span_scores(gold, [["B-NP", "I-NP", "O", "I-NP"]], scheme="iob2",
    ...                      reading="strict")
    >>> strict.micro.n_predicted, strict.micro.n_correct
    (1, 1)
    """
    if reading not in ("lenient", "strict"):
        raise InputError(f"The reading must be 'lenient' or 'strict'; got {reading!r}.")
    check_pairs(gold, predicted)
    scheme = resolve_scheme(gold, scheme)
    n_gold, n_predicted, n_correct = Counter[str](), Counter[str](), Counter[str]()
    for number, (truths, guesses) in enumerate(zip(gold, predicted, strict=True)):
        true = _read(truths, scheme, reading, "gold", number)
        guess = _read(guesses, scheme, reading, "predicted", number)
        n_gold.update(span.type for span in true)
        n_predicted.update(span.type for span in guess)
        n_correct.update(span.type for span in true & guess)
    per_type = {
        name: Tally(n_gold[name], n_predicted[name], n_correct[name])
        for name in sorted(n_gold.keys() | n_predicted.keys())
    }
    return SpanScores(
        micro=Tally(n_gold.total(), n_predicted.total(), n_correct.total()),
        macro=SpanAverage.of(list(per_type.values())),
        per_type=per_type,
        scheme=scheme,
        reading=reading,
    )


def resolve_scheme(gold: Labels, scheme: str) -> str:
    """Name the scheme of the labels; labels that are numbers are plain tags."""
    if any(not isinstance(label, str) for sentence in gold for label in sentence):
        return "plain"
    if scheme == "auto":
        return detect_scheme([[str(label) for label in labels] for labels in gold])
    return check_scheme(scheme)


def _read(
    labels: Sequence[Label], scheme: str, reading: Reading, name: str, number: int
) -> set[Span]:
    """Spans of one sentence; an error says in which sentence the bad tag stands."""
    try:
        tags = spans([str(t) for t in labels], scheme, strict=reading == "strict")
    except InputError as error:
        raise InputError(
            f"Sentence {number} of the {name} labels (counted from 0), {error}"
        ) from None
    return set(tags)
