"""The cases of each claim of section IV: whether it holds, one by one.

A counter takes the results and the name of a measure and yields one truth value for
every case; `claims` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from experiments.paper.results import PAPER_RIVALS, Results, Setting

#: Yields one truth value for every case of a claim.
Counter: TypeAlias = Callable[[Results, str], Iterator[bool]]
#: Tells of which settings a claim speaks.
Where: TypeAlias = Callable[[Setting], bool]
Means: TypeAlias = dict[Setting, float]
Names: TypeAlias = Sequence[str]
#: Methods that the paper calls partial sequence labelling, and the token-wise others.
PSL = ("sgppsl", "naive", "clpl", "cllp")
PLL = ("wknn", "pl-ecoc", "pl-svm", "paloc", "sure", "pl-aggd")
ALL = (*PSL, *PLL)
#: Difference within which two figures are "close" or "consistent".
CLOSE = 0.02


def at(task: str = "", below: float = 2.0, **exactly: float) -> Where:
    """Settings of a task or of all, with p below a share and just such a cl, p or r."""
    return lambda s: (
        task in ("", s.task)
        and s.p < below
        and all(getattr(s, name) == value for name, value in exactly.items())
    )


def counts(cases: Callable[..., Iterator[bool]]) -> Callable[..., Counter]:
    """Make a function of a view a counter, whose other arguments are given first."""

    @wraps(cases)
    def given(*about: object, **more: object) -> Counter:
        return lambda *what: cases(_View(*what), *about, **more)

    return given


class _View(NamedTuple):
    """The results by one measure, in settings with candidate lists."""

    results: Results
    measure: str

    def values(self, method: str, where: Where, decoder: str = "") -> Means:
        """Means of a method by settings."""
        measure = decoder + self.measure
        places = filter(where, self.results.lists)
        found = {s: self.results.mean(method, s, measure) for s in places}
        return {s: value for s, value in found.items() if value is not None}

    def curves(
        self, methods: Iterable[str], where: Where, decoder: str = "", by: str = "cl"
    ) -> Iterator[tuple[str, Means]]:
        """Method and means, a curve for each task and cl (or p); two points or more."""
        for method in methods:
            curves: dict[object, Means] = {}
            for s, value in self.values(method, where, decoder).items():
                curves.setdefault((s.task, getattr(s, by)), {})[s] = value
            yield from ((method, curve) for curve in curves.values() if len(curve) > 1)

    def gaps(self, rivals: Iterable[str], where: Where) -> Iterator[float]:
        """SGPPSL minus rivals, on common folds."""
        places = list(filter(where, self.results.lists))
        for rival in rivals:
            found = self.results.gaps("sgppsl", rival, self.measure, places)
            yield from found.values()


@counts
def rises_with_p(view: _View) -> Iterator[bool]:
    """Whether SGPPSL's mean rises from one p to the next."""
    for _, curve in view.curves(["sgppsl"], at()):
        yield from (low < high for low, high in pairwise(curve.values()))


@counts
def falls_with_cl(view: _View, methods: Names, where: Where) -> Iterator[bool]:
    """Whether one more candidate lowers the mean, at the same task and p."""
    for method in methods:
        values = view.values(method, at())
        for s in filter(where, values):
            more = replace(s, cl=s.cl + 1)
            if more in values:
                yield values[more] < values[s]


@counts
def beats(view: _View, where: Where) -> Iterator[bool]:
    """Whether SGPPSL beats a rival of the paper, for every rival and setting."""
    yield from (gap > 0 for gap in view.gaps(PAPER_RIVALS, where))


@counts
def close_to(view: _View, rivals: Names, where: Where, above: bool) -> Iterator[bool]:
    """Whether rivals stay close to SGPPSL; they may be far `above` it if so said."""
    for gap in view.gaps(rivals, where):
        yield (gap if above else abs(gap)) <= CLOSE


@counts
def halves(view: _View, where: Where) -> Iterator[bool]:
    """Whether the mean over p > 0.5 is above that over p < 0.5."""
    for _, curve in view.curves(ALL, where):
        low = [value for s, value in curve.items() if s.p < 0.5]
        high = [value for s, value in curve.items() if s.p > 0.5]
        if low and high:
            yield float(np.mean(high)) > float(np.mean(low))


@counts
def unrelated_to_p(view: _View, where: Where) -> Iterator[bool]:
    """Whether p and the score are not significantly correlated over folds."""
    for method, curve in view.curves(PLL, where):
        folds = {s.p: view.results.folds(method, s, view.measure) for s in curve}
        x = [p for p, values in folds.items() for _ in values]
        y = [value for values in folds.values() for value in values.values()]
        if len(set(x)) > 2 and len(set(y)) > 2:
            yield bool(stats.spearmanr(x, y).pvalue > 0.05)


@counts
def same_for_all_cl(view: _View, methods: Names, where: Where) -> Iterator[bool]:
    """Whether the means over cl lie close together, for every method and p."""
    for _, curve in view.curves(methods, where, by="p"):
        yield max(curve.values()) - min(curve.values()) <= CLOSE


@counts
def stabler(view: _View, methods: Names, where: Where) -> Iterator[bool]:
    """Whether some methods move less with p than the others."""
    spans: dict[int, dict[str, float]] = {}
    for method, curve in view.curves(ALL, where):
        span = max(curve.values()) - min(curve.values())
        spans.setdefault(next(iter(curve)).cl, {})[method] = span
    for row in spans.values():
        others = [value for name, value in row.items() if name not in methods]
        for name in filter(row.__contains__, methods):
            yield from (row[name] < other for other in others)


@counts
def correlated(
    view: _View, methods: Names, where: Where, decoders: Names = ("",)
) -> Iterator[bool]:
    """Whether the mean rises with p: a positive rank correlation, for every curve."""
    for decoder in decoders:
        for _, curve in view.curves(methods, where, decoder):
            ranks = stats.rankdata(list(curve.values()))  # [P]
            places = np.arange(len(ranks))  # [P]
            yield bool((places - places.mean()) @ ranks > 0)


@counts
def ends_help(view: _View) -> Iterator[bool]:
    """Whether the largest p beats the smallest, for every curve."""
    for _, curve in view.curves(ALL, at()):
        first, *_, last = curve.values()
        yield last > first


@counts
def flips(view: _View, where: Where, *, close: bool, **other: Any) -> Iterator[bool]:
    """Compare flip sampling with another at the same p: close to it, or below it."""
    for s in filter(where, view.results.settings):
        for method in ALL:
            a = view.results.mean(method, s, view.measure)
            b = view.results.mean(method, replace(s, **other), view.measure)
            if a is not None and b is not None:
                yield abs(a - b) <= CLOSE if close else a < b


@counts
def weighted_helps(view: _View, where: Where) -> Iterator[bool]:
    """Whether weighted Viterbi beats Viterbi, from the same fits."""
    plain = view.values("sgppsl", where, "viterbi:")
    weighted = view.values("sgppsl", where, "weighted:")
    yield from (weighted[s] > plain[s] for s in plain if s in weighted)
