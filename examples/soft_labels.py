"""Weights instead of sets: each token says how likely every label is."""

import numpy as np

import tagsift

LABELS = ("D", "N", "V")
X = [["the", "bank", "fell"], ["banks", "fell"], ["the", "fall"], ["they", "fall"]]
y = [
    np.array([[1.0, 0.0, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]]),
    np.array([[0.0, 0.7, 0.3], [0.0, 0.1, 0.9]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.4]]),
    np.array([[1.0, 1.0, 1.0], [0.0, 0.4, 0.6]]),  # nobody knows the first
]
model = tagsift.make("partial-crf", labels=LABELS, random_state=0)
model.fit(X, y, sample_weight=[1.0, 1.0, 1.0, 0.5])  # how much a sentence counts

for sentence, labels in zip(X, model.transduction_, strict=True):
    pairs = zip(sentence, labels, strict=True)
    print(" ".join(f"{word}/{label}" for word, label in pairs))
