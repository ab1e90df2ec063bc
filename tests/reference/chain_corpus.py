"""The synthetic chain of the structured tests: five labels, ten features."""

from __future__ import annotations

import numpy as np

from tagsift.features.matrix import FeatureMatrix

N_LABELS, N_FEATURES, N_TRAIN = 5, 10, 120


def chain_corpus():
    """Training and test sentences as pairs (features [T, D], labels [T])."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(N_LABELS, N_FEATURES))
    transitions = rng.dirichlet(np.full(N_LABELS, 0.5), size=N_LABELS)
    sentences = []
    for _ in range(2 * N_TRAIN):
        length = int(rng.integers(5, 16))
        labels = [int(rng.integers(N_LABELS))]
        while len(labels) < length:
            labels.append(int(rng.choice(N_LABELS, p=transitions[labels[-1]])))
        noise = 1.5 * rng.normal(size=(length, N_FEATURES))
        sentences.append((means[labels] + noise, np.array(labels)))
    return sentences[:N_TRAIN], sentences[N_TRAIN:]


def stacked(sentences):
    """Features of all sentences, and their labels."""
    offsets = np.concatenate([[0], np.cumsum([len(y) for _, y in sentences])])
    block = np.vstack([x for x, _ in sentences])
    labels = np.concatenate([y for _, y in sentences])
    return FeatureMatrix(("x",), (block,), offsets), labels


def candidates(sentences, p, extra):
    """Keep a share p of the sentences exact; add `extra` negatives to other tokens."""
    rng = np.random.default_rng(1)
    exact = set(rng.permutation(len(sentences))[: round(len(sentences) * p)].tolist())
    masks = []
    for s, (_, labels) in enumerate(sentences):
        mask = np.eye(N_LABELS, dtype=bool)[labels]
        if s not in exact:
            for t, label in enumerate(labels):
                others = [k for k in range(N_LABELS) if k != label]
                mask[t, rng.choice(others, size=extra, replace=False)] = True
        masks.append(mask)
    return masks
