"""Simulated annotators: gold labels in, votes with errors of known kinds out.

Errors are made span by span. Some spans are hard for everybody, others only for some,
so that annotators err on the same spans more often than by chance, as people do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import Span, spans, tags
from tagsift.errors import InputError

__all__ = ["DEMO_ANNOTATORS", "SimulatedAnnotator", "simulate_votes"]


@dataclass(frozen=True, kw_only=True)
class SimulatedAnnotator:
    """How one annotator errs; all figures are chances.

    One who abstains is a dictionary: it knows some words, always or never, and says
    ``O`` of the rest. `confuses` is by the true type of a span and the one given.
    """

    name: str
    labels: float = 1.0  # of labelling a sentence at all
    misses: float = 0.0  # of not seeing a span
    shifts: float = 0.0  # of getting one of its ends wrong
    invents: float = 0.0  # of seeing a span, per sentence, where there is none
    confuses: Mapping[tuple[str, str], float] = field(default_factory=dict)
    abstains: bool = False  # whether it is a dictionary


#: Two decent people, one careless, one who confuses two types, and a dictionary.
DEMO_ANNOTATORS = (
    SimulatedAnnotator(name="ann", labels=0.7, misses=0.1, shifts=0.05, invents=0.05),
    SimulatedAnnotator(name="bob", labels=0.7, misses=0.15, shifts=0.1, invents=0.05),
    SimulatedAnnotator(
        name="careless", labels=0.7, misses=0.45, shifts=0.25, invents=0.3
    ),
    SimulatedAnnotator(
        name="confused",
        labels=0.7,
        misses=0.1,
        shifts=0.05,
        confuses={("ORG", "LOC"): 0.6, ("LOC", "ORG"): 0.3},
    ),
    SimulatedAnnotator(name="dictionary", misses=0.6, abstains=True),
)


def simulate_votes(
    corpus: Corpus,
    annotators: Sequence[SimulatedAnnotator] = DEMO_ANNOTATORS,
    *,
    random_state: int = 0,
) -> Corpus:
    """Let annotators label a corpus whose truth is known, and kept as ``gold``.

    Its labels are in a scheme of spans, `random_state` fixes the errors. A sentence
    that nobody chose goes to the first annotator.
    """
    if corpus.scheme == "plain":
        raise InputError("expected a corpus with spans to annotate, found plain tags.")
    rng = np.random.default_rng(random_state)
    types = sorted({s.type for row in corpus.labels for s in spans(row, corpus.scheme)})
    known = [_vocabulary(one.misses, int(rng.integers(2**32))) for one in annotators]
    votes: dict[str, list[list[str] | None]] = {one.name: [] for one in annotators}
    for tokens, labels in zip(corpus.tokens, corpus.labels, strict=True):
        truth = spans(labels, corpus.scheme)
        hard = rng.random(len(truth))  # as hard for everybody
        chosen = {one.name: rng.random() < one.labels for one in annotators}
        if not any(chosen[one.name] for one in annotators if not one.abstains):
            chosen[annotators[0].name] = True
        for one, knows in zip(annotators, known, strict=True):
            if one.abstains:
                found = [x for x in truth if knows(tuple(tokens[x.start : x.end]))]
            else:
                found = _annotate(one, truth, hard, len(tokens), types, rng)
            made = tags(found, len(tokens), corpus.scheme)
            votes[one.name].append(list(made) if chosen[one.name] else None)
    people = [
        Annotator(one.name, "source" if one.abstains else "person", one.abstains)
        for one in annotators
    ]
    return Corpus.from_lists(
        corpus.rows,
        votes=votes,
        annotators=people,
        gold=corpus.labels,
        scheme=corpus.scheme,
    )


def _vocabulary(misses: float, seed: int) -> Callable[[tuple[str, ...]], bool]:
    """The words that a dictionary knows: each form always or never."""
    rng = np.random.default_rng(seed)
    return cache(lambda form: bool(rng.random() >= misses))


def _annotate(
    who: SimulatedAnnotator,
    truth: Sequence[Span],
    hard: np.ndarray[tuple[int], np.dtype[np.float64]],
    length: int,
    types: Sequence[str],
    rng: np.random.Generator,
) -> list[Span]:
    """The spans that one annotator sees; half of what is missed is hard for all."""
    found: list[Span] = []
    taken = np.zeros(length, dtype=bool)  # [T]
    for span, difficulty in zip(truth, hard, strict=True):
        if (difficulty + rng.random()) / 2 < _half(who.misses):
            continue
        type_ = span.type
        for (true, said), chance in who.confuses.items():
            if span.type == true and rng.random() < chance:
                type_ = said
        start, end = span.start, span.end
        if rng.random() < who.shifts:
            if end - start > 1:
                end -= 1
            elif end < length:
                end += 1
        if not taken[start:end].any():
            taken[start:end] = True
            found.append(Span(type_, start, end))
    if rng.random() < who.invents and not taken.all():
        place = int(rng.choice(np.flatnonzero(~taken)))
        found.append(Span(str(rng.choice(types)), place, place + 1))
    return sorted(found, key=lambda span: span.start)


def _half(chance: float) -> float:
    """Below what the mean of two uniform numbers lies with a chance."""
    low = np.sqrt(chance / 2)
    return float(low if chance <= 0.5 else 1 - np.sqrt((1 - chance) / 2))
