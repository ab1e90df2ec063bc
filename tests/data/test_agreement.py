"""Agreement against published values, and against its definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given

from tagsift.data.corpus import Corpus
from tagsift.data.schemes import spans
from tests.reference.annotators import table_of
from tests.reference.corpora import corpora, law, said

# Fleiss (1971) as retold in textbooks: 10 subjects, 14 raters, 5 categories; the counts
# of every category. κ = (0.378 − 0.213) / (1 − 0.213) = 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Krippendorff, "Computing Krippendorff's alpha-reliability", example C: four observers,
# twelve units, missing data; nominal α = 0.743.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def test_published_values():
    votes = np.array([np.repeat(np.arange(5), row) for row in FLEISS])
    found = table_of(votes, "ABCDE", "abcdefghijklmn", scheme="plain")
    assert found.corpus.agreement().fleiss_kappa == pytest.approx(0.210, abs=5e-4)
    votes = np.array(KRIPPENDORFF).T - 1
    alpha = table_of(votes, "ABCDE", scheme="plain").corpus.agreement()
    assert alpha.krippendorff_alpha == pytest.approx(0.743, abs=5e-4)


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


@law
@given(corpora())
def test_agreement_is_what_it_is_defined_as(corpus: Corpus):
    """Counted by pairs of votes and of annotators; sets of labels are no votes."""
    labels = defaultdict[tuple[str, str], list[tuple[str, str]]](list)
    hits, size = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    alike, coincide = [], Counter[tuple[str, str]]()  # by token; pairs of labels
    given = Counter[str]()  # labels of tokens with several votes
    cast = 0
    for s, sentence in enumerate(corpus):
        for t in range(len(sentence)):
            single = {n: v for n, v in said(corpus, s, t).items() if isinstance(v, str)}
            cast += len(single)
            for pair in combinations(sorted(single), 2):
                labels[pair].append((single[pair[0]], single[pair[1]]))
            if len(single) > 1:
                pairs = list(permutations(single.values(), 2))
                alike.append(np.mean([a == b for a, b in pairs]))
                for both in pairs:
                    coincide[both] += 1 / (len(single) - 1)
                given.update(single.values())
        chunks = {
            name: set(
                spans([v if isinstance(v, str) else "O" for v in row], corpus.scheme)
            )
            for name, row in sentence.votes.items()
        }
        for pair in combinations(sorted(chunks), 2):
            hits[pair] += len(chunks[pair[0]] & chunks[pair[1]])
            size[pair] += len(chunks[pair[0]]) + len(chunks[pair[1]])
    found, nan = corpus.agreement(), {"nan_ok": True}
    assert found.tokens == corpus.n_tokens
    assert found.votes_per_token == pytest.approx(cast / corpus.n_tokens)
    assert [(p.first, p.second) for p in found.pairs] == sorted(labels)
    for pair in found.pairs:
        both = labels[pair.first, pair.second]
        share = np.mean([a == b for a, b in both])
        one, other = (Counter(side) for side in zip(*both, strict=True))
        chance = sum(one[k] * other[k] for k in one) / len(both) ** 2
        f1 = ratio(2 * hits[pair.first, pair.second], size[pair.first, pair.second])
        assert (pair.shared, pair.agreement) == (len(both), pytest.approx(share))
        assert pair.kappa == pytest.approx(ratio(share - chance, 1 - chance), **nan)
        assert pair.span_f1 == pytest.approx(f1, **nan)
    equal = [a == b for both in labels.values() for a, b in both]
    assert found.pairwise_agreement == pytest.approx(
        ratio(sum(equal), len(equal)), **nan
    )
    f1 = ratio(2 * sum(hits.values()), sum(size.values()))
    assert found.pairwise_span_f1 == pytest.approx(f1, **nan)
    n = sum(given.values())
    chance = sum((count / n) ** 2 for count in given.values())
    fleiss = ratio(np.mean(alike) - chance, 1 - chance) if n else float("nan")
    assert found.fleiss_kappa == pytest.approx(fleiss, **nan)
    apart = sum(count for (a, b), count in coincide.items() if a != b)
    by_chance = sum(given[a] * given[b] for a, b in permutations(given, 2))
    alpha = ratio(by_chance - (n - 1) * apart, by_chance)
    assert found.krippendorff_alpha == pytest.approx(alpha, **nan)
