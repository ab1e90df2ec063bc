"""Votes of simulated annotators on generated sentences, with the truth."""

from __future__ import annotations

from functools import cache

from tagsift.data import SimulatedAnnotator, generate, simulate_votes
from tagsift.data.corpus import Corpus


@cache
def voted(n: int = 300) -> Corpus:
    """Three careful annotators and a careless one."""
    text = generate(n, random_state=3, task="ner")
    people = [SimulatedAnnotator(name=f"careful-{k}", misses=0.1) for k in range(3)]
    people.append(
        SimulatedAnnotator(name="careless", misses=0.5, shifts=0.3, invents=0.3)
    )
    return simulate_votes(text, people, random_state=0)
