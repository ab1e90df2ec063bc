"""The claims of section IV, one by one, judged from records.

Every claim is counted: in how many of the cases that it speaks of it holds. Claims
about F1 are counted twice, with span F1 and with token-weighted F1, since the paper
does not say which it means; where the two disagree the verdict is "mixed".
`claims.toml` says which of the functions at the end counts what: each takes a view of
the results and yields one truth value for every case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from experiments.paper.results import (
    F1S,
    PAPER_RIVALS,
    PROSE,
    WATCHED,
    PaperSetting,
    Results,
    read_toml,
)
from experiments.records import Found, Record
from experiments.tables import table
from tagsift.report import Badge, Table
from tagsift.report.document import Tone

Cases: TypeAlias = Iterator[bool]
Means: TypeAlias = dict[PaperSetting, float]
#: Methods that the paper calls partial sequence labelling, and the token-wise others.
PSL = ("sgppsl", "naive", "clpl", "cllp")
PLL = ("wknn", "pl-ecoc", "pl-svm", "paloc", "sure", "pl-aggd")
ALL = (*PSL, *PLL)
#: Difference within which two figures are "close" or "consistent".
CLOSE = 0.02
#: The claims and how they are counted, by what they are about.
_CLAIMS = read_toml("claims")
#: What the claims are about → the measures to count by, and how the counts are told.
_MEASURES = {
    "recovery": {"recovery": "{} steps of SGPPSL's means (Table II)"},
    "f1": {name: F1S[name] + ": {}" for name in ("span_f1", "token_weighted_f1")},
}
#: Decoders besides the paper's weighted one.
_DECODERS = ("viterbi", "log", "argmax", "log-weighted")
_TONES: dict[str, Tone] = {
    "confirmed": "good",
    "mixed": "warn",
    "not confirmed": "bad",
    "not tested": "plain",
}


class Claim(NamedTuple):
    """A claim and what the records say about it."""

    where: str  # section, figure or table of the paper
    text: str
    verdict: str  # one of _TONES
    evidence: str  # the figures that say so
    others: tuple[Claim, ...] = ()  # on the same fits under _DECODERS


def judge_claims(results: Results, watched: Found) -> list[Claim]:
    """Judge every claim of section IV, those on F1 under all decoders."""
    recovery, f1, *others = (
        [_judged(view, _MEASURES[about], **claim) for claim in _CLAIMS[about]]
        for about, view in [
            ("recovery", results),
            ("f1", results),
            *(("f1", results.under(decoder)) for decoder in _DECODERS),
        ]
    )
    rows = zip(f1, *others, strict=True)
    ends = (_ends(word, watched.get(word)) for word in WATCHED)
    return [*recovery, *ends, *(a._replace(others=tuple(rest)) for a, *rest in rows)]


def claims_table(found: Sequence[Claim]) -> Table:
    """Claims as a table, in the order of the paper."""
    return table(
        ("where", "claim", "our runs", "holds in", *(f"by {x}" for x in _DECODERS)),
        [
            (
                one.where,
                one.text,
                Badge(one.verdict, _TONES[one.verdict]),
                one.evidence,
                *map(_counted, one.others or [None] * len(_DECODERS)),
            )
            for one in found
        ],
        title="The claims of section IV",
        note=PROSE["claims"],
    )


def _counted(claim: Claim | None) -> Badge | None:
    """Verdict and count by span F1."""
    if claim is None:
        return None
    count = claim.evidence.partition(";")[0].removeprefix("span F1: ")
    return Badge(f"{claim.verdict} ({count})", _TONES[claim.verdict])


def _judged(
    results: Results,
    measures: Mapping[str, str],
    where: str,
    text: str,
    count: str,
    at: Mapping[str, Any] | None = None,
    always: bool = False,
    **about: Any,
) -> Claim:
    """Count the cases by every measure."""
    verdicts, told = set(), []
    for name, words in measures.items():
        view = View.at(results, name, **(at or {}))
        held = list(globals()[count](view, **about))
        verdicts.add(_verdict(held, always))
        told.append(words.format(f"{sum(held)} of {len(held)}"))
    verdict = verdicts.pop() if len(verdicts) == 1 else "mixed"
    return Claim(where, text, verdict, "; ".join(told))


def _verdict(held: Sequence[bool], always: bool) -> str:
    """Verdict by the share of cases in which a claim holds."""
    if not held:
        return "not tested"
    high, low = (0.95, 0.6) if always else (2 / 3, 0.4)
    share = sum(held) / len(held)
    if share >= high:
        return "confirmed"
    return "mixed" if share >= low else "not confirmed"


def _ends(word: str, record: Record | None) -> Claim:
    """Whether the confidences of a watched word end where the paper says."""
    watched = WATCHED[word]
    text = f"“{word}” is recovered as {watched.printed}"
    if not watched.right:
        text = f"“{word}” ({watched.printed}) is not recovered, with p = {watched.p:g}"
    if record is None:
        return Claim("IV-C, Figure 5", text, "not tested", "no record")
    last = np.asarray(record["evolution"])[-1]  # [l]
    best, truth = record["labels"][int(last.argmax())], record["truth"]
    evidence = f"ends at {best} with confidence {last.max():.2f}"
    if truth != watched.printed:
        evidence += f"; in the corpus the token is {truth}, not {watched.printed}"
    holds = (best == watched.printed) == watched.right
    verdict = "confirmed" if holds else "not confirmed"
    return Claim("IV-C, Figure 5", text, verdict, evidence)


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
