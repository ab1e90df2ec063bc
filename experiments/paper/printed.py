"""The numbers that the paper prints: Tables II and III, in percent."""

from __future__ import annotations

#: Shares of exact sentences, the columns of Tables II and III.
P: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)

_TABLE_2: dict[tuple[str, int], tuple[float, ...]] = {
    ("base-np", 2): (72.04, 76.68, 84.06, 86.71, 89.13),
    ("base-np", 3): (73.35, 76.63, 79.02, 80.39, 90.83),
    ("base-np", 4): (75.30, 72.67, 75.56, 78.73, 84.17),
    ("chunking", 2): (70.85, 72.07, 72.42, 73.94, 75.79),
    ("chunking", 3): (62.27, 64.70, 67.13, 67.54, 70.20),
    ("chunking", 4): (60.50, 60.62, 62.87, 65.10, 65.97),
    ("ner", 2): (73.35, 73.77, 74.69, 84.43, 87.23),
    ("ner", 3): (70.88, 72.38, 72.06, 73.75, 77.61),
    ("ner", 4): (69.30, 69.05, 70.39, 73.77, 73.86),
}

_TABLE_3: dict[tuple[str, str], tuple[float, ...]] = {
    ("base-np", "viterbi"): (69.53, 71.80, 76.18, 80.62, 82.95),
    ("base-np", "weighted"): (72.40, 75.28, 77.92, 79.36, 82.50),
    ("chunking", "viterbi"): (69.30, 70.54, 74.69, 79.24, 80.37),
    ("chunking", "weighted"): (75.40, 76.22, 78.29, 78.85, 81.20),
    ("ner", "viterbi"): (72.91, 75.70, 81.35, 85.87, 85.96),
    ("ner", "weighted"): (80.42, 80.61, 83.59, 84.20, 85.29),
}

#: Recovered true labels of ambiguous training tokens: (task, cl, p) → percent.
TABLE_2: dict[tuple[str, int, float], float] = {
    (task, cl, p): value
    for (task, cl), values in _TABLE_2.items()
    for p, value in zip(P, values, strict=True)
}

#: F1 at cl = 3: (task, decoder, p) → percent. The paper does not say which F1.
TABLE_3: dict[tuple[str, str, float], float] = {
    (task, decoder, p): value
    for (task, decoder), values in _TABLE_3.items()
    for p, value in zip(P, values, strict=True)
}
