"""Annotators made of chance, over the bundled sentences."""

from __future__ import annotations

import numpy as np

import tagsift
from tagsift.data import VoteCorpus

N_SENTENCES = 120


def corpus_of(annotators, seed=0, n=N_SENTENCES):
    """Bundled sentences with annotators made from functions (labels, rng) → votes."""
    gold = tagsift.bundled()
    rng = np.random.default_rng(seed)
    sentences = gold.sentences[:n]
    votes = []
    for sentence in sentences:
        columns = [vote(sentence.labels, rng) for vote in annotators.values()]
        votes.append([tuple(entry) for entry in zip(*columns, strict=True)])
    return VoteCorpus(
        rows=[list(sentence.rows) for sentence in sentences],
        votes=votes,
        annotators=tuple(annotators),
        gold=[list(sentence.labels) for sentence in sentences],
        scheme=gold.scheme,
    )


def careful(share):
    """Misses or mistakes a span with some chance, and the whole of it."""

    def vote(labels, rng):
        found, state = [], "right"
        for label in labels:
            if not label.startswith("I-"):
                state = "right" if rng.random() > share else str(rng.choice(["O", "X"]))
            if label == "O" or state == "right":
                found.append(label)
            else:
                found.append("O" if state == "O" else label[:2] + "LOC")
        return found

    return vote
