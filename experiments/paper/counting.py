"""The cases of each claim of section IV: whether it holds, one by one.

A counter takes the results and the name of a measure and yields one truth value for
every case; `claims` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy import stats

from experiments.paper.results import PAPER_RIVALS, Results, Setting

#: Yields one truth value for every case of a claim.
Counter: TypeAlias = Callable[[Results, str], Iterable[bool]]
#: Tells of which settings a claim speaks.
Where: TypeAlias = Callable[[Setting], bool]
#: Methods that the paper calls partial sequence labelling, and the token-wise others.
PSL = ("sgppsl", "naive", "clpl", "cllp")
PLL = ("wknn", "pl-ecoc", "pl-svm", "paloc", "sure", "pl-aggd")
ALL = (*PSL, *PLL)
#: Difference within which two figures are "close" or "consistent".
CLOSE = 0.02


def _everywhere(setting: Setting) -> bool:
    return True


def _values(
    results: Results, measure: str, method: str, where: Where = _everywhere
) -> dict[Setting, float]:
    """Means of a method by settings with candidate lists."""
    found = {s: results.mean(method, s, measure) for s in results.lists if where(s)}
    return {s: value for s, value in found.items() if value is not None}


def _curves(
    results: Results,
    measure: str,
    methods: Iterable[str],
    where: Where = _everywhere,
    by: Callable[[Setting], object] = lambda s: (s.task, s.cl),
) -> Iterator[tuple[str, dict[Setting, float]]]:
    """Method and means, a curve for each task and cl; at least two points."""
    for method in methods:
        curves: dict[object, dict[Setting, float]] = {}
        for s, value in _values(results, measure, method, where).items():
            curves.setdefault(by(s), {})[s] = value
        yield from ((method, curve) for curve in curves.values() if len(curve) > 1)


def rises_with_p(results: Results, measure: str) -> Iterable[bool]:
    """Whether SGPPSL's mean rises from one p to the next."""
    for _, curve in _curves(results, measure, ["sgppsl"]):
        yield from (low < high for low, high in pairwise(curve.values()))


def falls_with_cl(methods: Iterable[str] = ALL, where: Where = _everywhere) -> Counter:
    """Whether one more candidate lowers the mean, at the same task and p."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for method in methods:
            values = _values(results, measure, method)
            for s in filter(where, values):
                more = Setting(s.task, s.cl + 1, s.p)
                if more in values:
                    yield values[more] < values[s]

    return counter


def _gaps(
    results: Results, measure: str, rivals: Iterable[str], where: Where
) -> Iterator[float]:
    """SGPPSL minus rivals, on common folds."""
    places = list(filter(where, results.lists))
    for rival in rivals:
        yield from results.gaps("sgppsl", rival, measure, places).values()


def beats(where: Where) -> Counter:
    """Whether SGPPSL beats a rival of the paper, for every rival and setting."""
    return lambda results, measure: (
        gap > 0 for gap in _gaps(results, measure, PAPER_RIVALS, where)
    )


def close_to(rivals: Iterable[str], where: Where, *, above: bool = False) -> Counter:
    """Whether rivals stay close to SGPPSL; they may be far `above` it if so said."""
    return lambda results, measure: (
        (gap if above else abs(gap)) <= CLOSE
        for gap in _gaps(results, measure, rivals, where)
    )


def halves(where: Where) -> Counter:
    """Whether the mean over p > 0.5 is above that over p < 0.5."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for _, curve in _curves(results, measure, ALL, where):
            low = [value for s, value in curve.items() if s.p < 0.5]
            high = [value for s, value in curve.items() if s.p > 0.5]
            if low and high:
                yield float(np.mean(high)) > float(np.mean(low))

    return counter


def unrelated_to_p(where: Where) -> Counter:
    """Whether p and the score are not significantly correlated over folds."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for method, curve in _curves(results, measure, PLL, where):
            pairs = [
                (s.p, value)
                for s in curve
                for value in results.folds(method, s, measure).values()
            ]
            x, y = zip(*pairs, strict=True)
            if len(set(x)) > 2 and len(set(y)) > 2:
                yield bool(stats.spearmanr(x, y).pvalue > 0.05)

    return counter


def same_for_all_cl(methods: Iterable[str], where: Where = _everywhere) -> Counter:
    """Whether the means over cl lie close together, for every method and p."""
    return lambda results, measure: (
        max(curve.values()) - min(curve.values()) <= CLOSE
        for _, curve in _curves(
            results, measure, methods, where, by=lambda s: (s.task, s.p)
        )
    )


def stabler(methods: Iterable[str], where: Where) -> Counter:
    """Whether some methods move less with p than the others."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        spans: dict[int, dict[str, float]] = {}
        for method, curve in _curves(results, measure, ALL, where):
            span = max(curve.values()) - min(curve.values())
            spans.setdefault(next(iter(curve)).cl, {})[method] = span
        for row in spans.values():
            others = [value for name, value in row.items() if name not in methods]
            for name in methods:
                if name in row:
                    yield from (row[name] < other for other in others)

    return counter


def correlated(
    methods: Iterable[str], where: Where, decoders: Iterable[str] = ("",)
) -> Counter:
    """Whether the mean rises with p: a positive rank correlation, for every curve."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for decoder in decoders:
            for _, curve in _curves(results, decoder + measure, methods, where):
                ranks = stats.rankdata(list(curve.values()))  # [P]
                places = np.arange(len(ranks))  # [P]
                yield bool((places - places.mean()) @ ranks > 0)

    return counter


def ends_help(results: Results, measure: str) -> Iterable[bool]:
    """Whether the largest p beats the smallest, for every curve."""
    for _, curve in _curves(results, measure, ALL):
        first, *_, last = curve.values()
        yield last > first


def flips(where: Where, other: Callable[[Setting], Setting], *, close: bool) -> Counter:
    """Compare flip sampling with another at the same p: close to it, or below it."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for s in filter(where, results.settings):
            for method in ALL:
                a = results.mean(method, s, measure)
                b = results.mean(method, other(s), measure)
                if a is not None and b is not None:
                    yield abs(a - b) <= CLOSE if close else a < b

    return counter


def weighted_helps(where: Where) -> Counter:
    """Whether weighted Viterbi beats Viterbi, from the same fits."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        plain = _values(results, f"viterbi:{measure}", "sgppsl", where)
        weighted = _values(results, f"weighted:{measure}", "sgppsl", where)
        yield from (weighted[s] > plain[s] for s in plain if s in weighted)

    return counter
