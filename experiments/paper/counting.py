"""The cases of each claim of section IV: whether it holds, one by one.

Every function takes a view of the results and yields one truth value for every case;
`claims.toml` says which of them counts what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from experiments.paper.results import PAPER_RIVALS, PaperSetting, Results

Cases: TypeAlias = Iterator[bool]
Means: TypeAlias = dict[PaperSetting, float]
#: Methods that the paper calls partial sequence labelling, and the token-wise others.
PSL = ("sgppsl", "naive", "clpl", "cllp")
PLL = ("wknn", "pl-ecoc", "pl-svm", "paloc", "sure", "pl-aggd")
ALL = (*PSL, *PLL)
#: Difference within which two figures are "close" or "consistent".
CLOSE = 0.02


class View(NamedTuple):
    """The results by one measure, in the settings that a claim speaks of."""

    results: Results
    measure: str
    settings: list[PaperSetting]

    @classmethod
    def at(
        cls, results: Results, measure: str, below: float = 2.0, **about: Any
    ) -> View:
        """Settings with p below a share and just such a task, cl, p or r."""
        exactly = {"r": 0.0, **about}
        settings = [
            s
            for s in results.settings
            if s.p < below
            and all(getattr(s, name) == exactly[name] for name in exactly)
        ]
        return cls(results, measure, settings)

    def means(self, method: str, decoder: str = "") -> Means:
        """Means of a method by settings."""
        measure = decoder + self.measure
        found = {s: self.results.mean(method, s, measure) for s in self.settings}
        return {s: value for s, value in found.items() if value is not None}

    def curves(
        self, methods: Iterable[str] = ALL, by: str = "cl", decoder: str = ""
    ) -> Iterator[tuple[str, Means]]:
        """Method and means, a curve for each task and cl (or p); two points or more."""
        for method in methods:
            curves: dict[object, Means] = {}
            for s, value in self.means(method, decoder).items():
                curves.setdefault((s.task, getattr(s, by)), {})[s] = value
            yield from ((method, curve) for curve in curves.values() if len(curve) > 1)

    def gaps(self, rivals: Iterable[str]) -> Iterator[float]:
        """SGPPSL minus rivals, on common folds."""
        for rival in rivals:
            about = ("sgppsl", rival, self.measure, self.settings)
            yield from self.results.gaps(*about).values()


def rises_with_p(view: View) -> Cases:
    """Whether SGPPSL's mean rises from one p to the next."""
    for _, curve in view.curves(["sgppsl"]):
        yield from (low < high for low, high in pairwise(curve.values()))


def falls_with_cl(view: View, methods: Sequence[str] = ALL) -> Cases:
    """Whether one more candidate lowers the mean, at the same task and p."""
    for values in map(view.means, methods):
        pairs = [(s, replace(s, cl=s.cl + 1)) for s in values]
        yield from (values[more] < values[s] for s, more in pairs if more in values)


def beats(view: View) -> Cases:
    """Whether SGPPSL beats a rival of the paper, for every rival and setting."""
    yield from (gap > 0 for gap in view.gaps(PAPER_RIVALS))


def close_to(
    view: View, rivals: Sequence[str] = PAPER_RIVALS, above: bool = False
) -> Cases:
    """Whether rivals stay close to SGPPSL; they may be far `above` it if so said."""
    yield from ((gap if above else abs(gap)) <= CLOSE for gap in view.gaps(rivals))


def halves(view: View) -> Cases:
    """Whether the mean over p > 0.5 is above that over p < 0.5."""
    for _, curve in view.curves():
        low = [value for s, value in curve.items() if s.p < 0.5]
        high = [value for s, value in curve.items() if s.p > 0.5]
        if low and high:
            yield float(np.mean(high)) > float(np.mean(low))


def unrelated_to_p(view: View) -> Cases:
    """Whether p and the score are not significantly correlated over folds."""
    for method, curve in view.curves(PLL):
        folds = {s.p: view.results.folds(method, s, view.measure) for s in curve}
        x = [p for p, values in folds.items() for _ in values]
        y = [value for values in folds.values() for value in values.values()]
        if len(set(x)) > 2 and len(set(y)) > 2:
            yield bool(stats.spearmanr(x, y).pvalue > 0.05)


def same_for_all_cl(view: View, methods: Sequence[str] = PSL) -> Cases:
    """Whether the means over cl lie close together, for every method and p."""
    yield from (_width(curve) <= CLOSE for _, curve in view.curves(methods, by="p"))


def stabler(view: View, methods: Sequence[str]) -> Cases:
    """Whether some methods move less with p than the others."""
    widths: dict[int, dict[str, float]] = {}
    for method, curve in view.curves():
        widths.setdefault(next(iter(curve)).cl, {})[method] = _width(curve)
    for row in widths.values():
        others = [value for name, value in row.items() if name not in methods]
        for name in filter(row.__contains__, methods):
            yield from (row[name] < other for other in others)


def _width(curve: Means) -> float:
    return max(curve.values()) - min(curve.values())


def correlated(
    view: View, methods: Sequence[str] = PSL, decoders: Sequence[str] = ("",)
) -> Cases:
    """Whether the mean rises with p: a positive rank correlation, for every curve."""
    for decoder in decoders:
        for _, curve in view.curves(methods, decoder=decoder):
            ranks = stats.rankdata(list(curve.values()))  # [P]
            places = np.arange(len(ranks))  # [P]
            yield bool((places - places.mean()) @ ranks > 0)


def ends_help(view: View) -> Cases:
    """Whether the largest p beats the smallest, for every curve."""
    for _, curve in view.curves():
        first, *_, last = curve.values()
        yield last > first


def flips(view: View, **other: dict[str, Any]) -> Cases:
    """Compare flip sampling with other settings at the same p: close_to or below."""
    ((how, changed),) = other.items()
    for s in view.settings:
        for method in ALL:
            a = view.results.mean(method, s, view.measure)
            b = view.results.mean(method, replace(s, **changed), view.measure)
            if a is not None and b is not None:
                yield abs(a - b) <= CLOSE if how == "close_to" else a < b


def weighted_helps(view: View) -> Cases:
    """Whether weighted Viterbi beats Viterbi, from the same fits."""
    plain, weighted = (view.means("sgppsl", x) for x in ("viterbi:", "weighted:"))
    yield from (weighted[s] > plain[s] for s in plain if s in weighted)
