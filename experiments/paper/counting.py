"""The cases of each claim of section IV: whether it holds, one by one.

A counter takes the results and the name of a measure and yields one truth value for
every case; `claims` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy import stats

from experiments.paper.results import PAPER_RIVALS, Results, Setting

__all__ = [
    "CLOSE",
    "Counter",
    "PLL",
    "PSL",
    "beats",
    "close_to",
    "correlated",
    "ends_help",
    "falls_with_cl",
    "flips",
    "halves",
    "less_at_low_p",
    "rises_with_p",
    "same_for_all_cl",
    "stabler",
    "unrelated_to_p",
    "weighted_helps",
]

#: Yields one truth value for every case of a claim.
Counter: TypeAlias = Callable[[Results, str], Iterable[bool]]
#: Methods that the paper calls partial sequence labelling, and the token-wise others.
PSL = ("sgppsl", "naive", "clpl", "cllp")
PLL = ("wknn", "pl-ecoc", "pl-svm", "paloc", "sure", "pl-aggd")
_ALL = (*PSL, *PLL)
#: Difference within which two figures are "close" or "consistent".
CLOSE = 0.02


def _curves(
    results: Results, measure: str, methods: Iterable[str], **fixed: object
) -> list[list[tuple[Setting, float]]]:
    """Means by p, one curve for each method, task and cl; at least two points."""
    curves = []
    for method in methods:
        for task in results.tasks:
            for cl in sorted({s.cl for s in results.lists if s.task == task}):
                if fixed.get("task", task) != task or fixed.get("cl", cl) != cl:
                    continue
                curve = [
                    (s, value)
                    for s in results.lists
                    if s.task == task
                    and s.cl == cl
                    and (value := results.mean(method, s, measure)) is not None
                ]
                if len(curve) > 1:
                    curves.append(curve)
    return curves


def rises_with_p(results: Results, measure: str) -> Iterable[bool]:
    """Whether SGPPSL's mean rises from one p to the next."""
    for curve in _curves(results, measure, ["sgppsl"]):
        for (_, low), (_, high) in pairwise(curve):
            yield high > low


def falls_with_cl(results: Results, measure: str) -> Iterable[bool]:
    """Whether SGPPSL's mean falls from one cl to the next."""
    yield from _cl_steps(results, measure, ["sgppsl"], lambda s: True)


def _cl_steps(
    results: Results,
    measure: str,
    methods: Iterable[str],
    chosen: Callable[[Setting], bool],
) -> Iterable[bool]:
    """Whether one more candidate lowers the mean, at the same task and p."""
    for method in methods:
        for setting in filter(chosen, results.lists):
            more = Setting(setting.task, setting.cl + 1, setting.p)
            a = results.mean(method, setting, measure)
            b = results.mean(method, more, measure)
            if a is not None and b is not None:
                yield b < a


def beats(
    chosen: Callable[[Setting], bool], rivals: Iterable[str] = PAPER_RIVALS
) -> Counter:
    """Whether SGPPSL is above a rival, for every rival and setting."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        places = [s for s in results.lists if chosen(s)]
        for rival in rivals:
            for gap in results.gaps("sgppsl", rival, measure, places).values():
                yield gap > 0

    return counter


def close_to(
    rivals: Iterable[str], chosen: Callable[[Setting], bool], *, competitive: bool
) -> Counter:
    """Whether rivals stay close to SGPPSL; competitive ones may be far above it."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        places = [s for s in results.lists if chosen(s)]
        for rival in rivals:
            for gap in results.gaps("sgppsl", rival, measure, places).values():
                yield (gap if competitive else abs(gap)) <= CLOSE

    return counter


def halves(results: Results, measure: str) -> Iterable[bool]:
    """Whether the mean over p > 0.5 is above that over p < 0.5 (Base NP)."""
    for curve in _curves(results, measure, _ALL, task="base-np"):
        low = [value for s, value in curve if s.p < 0.5]
        high = [value for s, value in curve if s.p > 0.5]
        if low and high:
            yield float(np.mean(high)) > float(np.mean(low))


def unrelated_to_p(results: Results, measure: str) -> Iterable[bool]:
    """Whether p and the score are not significantly correlated over folds (Base NP)."""
    for method in PLL:
        for cl in sorted({s.cl for s in results.lists}):
            x, y = [], []
            for s in results.lists:
                if s.task == "base-np" and s.cl == cl:
                    for value in results.folds(method, s, measure).values():
                        x.append(s.p)
                        y.append(value)
            if len(set(x)) > 2 and len(set(y)) > 2:
                yield bool(stats.spearmanr(x, y).pvalue > 0.05)


def same_for_all_cl(methods: Iterable[str], task: str | None) -> Counter:
    """Whether the means over cl lie close together, for every method and p."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for method in methods:
            for name in results.tasks if task is None else (task,):
                for p in sorted({s.p for s in results.lists}):
                    values = [
                        value
                        for s in results.lists
                        if (s.task, s.p) == (name, p)
                        and (value := results.mean(method, s, measure)) is not None
                    ]
                    if len(values) > 1:
                        yield max(values) - min(values) <= CLOSE

    return counter


def stabler(results: Results, measure: str) -> Iterable[bool]:
    """Whether SGPPSL, PL-SVM and CLPL move less with p than the others (Chunking)."""
    spans: dict[int, dict[str, float]] = {}
    for method in _ALL:
        for curve in _curves(results, measure, [method], task="chunking"):
            values = [value for _, value in curve]
            spans.setdefault(curve[0][0].cl, {})[method] = max(values) - min(values)
    steady = ("sgppsl", "pl-svm", "clpl")
    for row in spans.values():
        others = [value for name, value in row.items() if name not in steady]
        for name in steady:
            if name in row:
                yield from (row[name] < other for other in others)


def correlated(
    methods: Iterable[str], task: str | None, cl: int | None, *, decoders: bool = False
) -> Counter:
    """Whether the mean rises with p: a positive rank correlation, for every curve."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        fixed: dict[str, object] = {}
        if task is not None:
            fixed["task"] = task
        if cl is not None:
            fixed["cl"] = cl
        names = (
            [f"{one}:{measure}" for one in ("viterbi", "weighted")]
            if decoders
            else [measure]
        )
        for name in names:
            for curve in _curves(results, name, methods, **fixed):
                ranks = stats.rankdata([value for _, value in curve])  # [P]
                places = np.arange(len(ranks))  # [P]
                yield bool((places - places.mean()) @ ranks > 0)

    return counter


def less_at_low_p(results: Results, measure: str) -> Iterable[bool]:
    """Whether one more candidate lowers the mean at p < 0.5 (Chunking)."""
    yield from _cl_steps(
        results, measure, _ALL, lambda s: s.task == "chunking" and s.p < 0.5
    )


def ends_help(results: Results, measure: str) -> Iterable[bool]:
    """Whether the largest p beats the smallest, for every curve."""
    for curve in _curves(results, measure, _ALL):
        yield curve[-1][1] > curve[0][1]


def flips(task: str | None, r: float, cl: int, close: bool) -> Counter:
    """Compare flip sampling with lists, or with r = 0.05 (cl = 0), at the same p."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for s in results.settings:
            if s.r != r or (task is not None and s.task != task):
                continue
            for method in _ALL:
                other = (
                    Setting(s.task, cl, s.p) if cl else Setting(s.task, 0, s.p, 0.05)
                )
                a = results.mean(method, s, measure)
                b = results.mean(method, other, measure)
                if a is not None and b is not None:
                    yield abs(a - b) <= CLOSE if close else a < b

    return counter


def weighted_helps(chosen: Callable[[Setting], bool]) -> Counter:
    """Whether weighted Viterbi beats Viterbi, from the same fits."""

    def counter(results: Results, measure: str) -> Iterable[bool]:
        for s in results.lists:
            if s.cl == 3 and chosen(s):
                a = results.mean("sgppsl", s, f"weighted:{measure}")
                b = results.mean("sgppsl", s, f"viterbi:{measure}")
                if a is not None and b is not None:
                    yield a > b

    return counter
