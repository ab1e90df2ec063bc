"""The claims of section IV, one by one, judged from records.

Every claim is counted: in how many of the cases that it speaks of it holds. Claims
about F1 are counted twice, with span F1 and with token-weighted F1, since the paper
does not say which it means; where the two disagree the verdict is "mixed".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.paper import counting
from experiments.paper.printed import WATCHED
from experiments.paper.results import F1S, Results
from experiments.records import Found, Record
from experiments.tables import table
from tagsift.report import Mark, Table
from tagsift.report.document import Tone

#: The claims and how they are counted, by what they are about.
_CLAIMS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
#: What the claims are about → the measures to count by, and how the counts are told.
_MEASURES = {
    "recovery": {"recovery": "{} steps of SGPPSL's means (Table II)"},
    "f1": {name: F1S[name] + ": {}" for name in ("span_f1", "token_weighted_f1")},
}
_TONES: dict[str, Tone] = {
    "supported": "good",
    "mixed": "warn",
    "not supported": "bad",
    "not tested": "plain",
}


class Claim(NamedTuple):
    """A claim and what the records say about it."""

    where: str  # section, figure or table of the paper
    text: str
    verdict: str  # one of _TONES
    evidence: str  # the figures that say so


def judge_claims(results: Results, watched: Found) -> list[Claim]:
    """Judge every claim of section IV."""
    recovery, f1 = (
        [_judged(results, _MEASURES[about], **claim) for claim in _CLAIMS[about]]
        for about in ("recovery", "f1")
    )
    return [*recovery, *(_ends(word, watched.get(word)) for word in WATCHED), *f1]


def claims_table(found: Sequence[Claim]) -> Table:
    """Claims as a table, in the order of the paper."""
    return table(
        ("where", "claim", "our runs", "holds in"),
        [(a, b, Mark(c, _TONES[c]), d) for a, b, c, d in found],
        title="The claims of section IV",
        note="“Always” counts as supported from 95 % of the cases and as mixed from "
        "60 %; “most” from two thirds and from 40 %. Close means within "
        f"{100 * counting.CLOSE:g} points.",
    )


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
        view = counting.View.at(results, name, **(at or {}))
        held = list(getattr(counting, count)(view, **about))
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
        return "supported"
    return "mixed" if share >= low else "not supported"


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
    verdict = "supported" if holds else "not supported"
    return Claim("IV-C, Figure 5", text, verdict, evidence)
