"""The claims of section IV, one by one, judged from records.

Every claim is counted: in how many of the cases that it speaks of it holds. Claims
about F1 are counted twice, with span F1 and with token-weighted F1, since the paper
does not say which it means; where the two disagree the verdict is "mixed".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.paper import counting as cases
from experiments.paper.counting import ALL, CLOSE, PSL, Counter, at
from experiments.paper.results import F1S, PAPER_RIVALS, Results
from experiments.paper.watched import WATCHED
from experiments.records import Found, Record
from experiments.tables import table
from tagsift.report import Mark, Table
from tagsift.report.document import Tone

_MEASURES = ("span_f1", "token_weighted_f1")
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
    return [
        *(_recovery(results, text, counter) for text, counter in _RECOVERY.items()),
        *(_watched_claim(word, watched.get(word)) for word in WATCHED),
        *(
            _f1(results, where, text, counter, always)
            for where, claims in _F1_CLAIMS.items()
            for text, (counter, always) in claims.items()
        ),
    ]


def claims_table(found: Sequence[Claim]) -> Table:
    """Claims as a table, in the order of the paper."""
    return table(
        ("where", "claim", "our runs", "holds in"),
        [(a, b, Mark(c, _TONES[c]), d) for a, b, c, d in found],
        title="The claims of section IV",
        note="“Always” counts as supported from 95 % of the cases and as mixed from "
        "60 %; “most” from two thirds and from 40 %. Close means within "
        f"{100 * CLOSE:g} points.",
    )


# How a claim is put together ---------------------------------------------------


def _count(cases: Iterable[bool], always: bool) -> tuple[str, str]:
    """Verdict by the share of cases in which a claim holds, and the share in words."""
    held = [bool(case) for case in cases]
    words = f"{sum(held)} of {len(held)}"
    if not held:
        return "not tested", words
    share = sum(held) / len(held)
    high, low = (0.95, 0.6) if always else (2 / 3, 0.4)
    if share >= high:
        return "supported", words
    return "mixed" if share >= low else "not supported", words


def _recovery(results: Results, text: str, counter: Counter) -> Claim:
    verdict, words = _count(counter(results, "recovery"), always=False)
    evidence = f"{words} steps of SGPPSL's means (Table II)"
    return Claim("IV-C, Table II", text, verdict, evidence)


def _f1(
    results: Results, where: str, text: str, counter: Counter, always: bool
) -> Claim:
    counts = {name: _count(counter(results, name), always) for name in _MEASURES}
    verdicts = {verdict for verdict, _ in counts.values()}
    verdict = verdicts.pop() if len(verdicts) == 1 else "mixed"
    told = (f"{F1S[name]}: {words}" for name, (_, words) in counts.items())
    return Claim(where, text, verdict, "; ".join(told))


def _watched_claim(word: str, record: Record | None) -> Claim:
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


# The claims --------------------------------------------------------------------


def _most(counter: Counter) -> tuple[Counter, bool]:
    return counter, False


def _always(counter: Counter) -> tuple[Counter, bool]:
    return counter, True


_NP, _CHUNKING, _NER = at("base-np"), at("chunking"), at("ner")
_STRONG, _STABLE = ("pl-svm", "pl-aggd", "sure"), ("sgppsl", "pl-svm", "clpl")
_DECODERS = ("viterbi:", "weighted:")

#: About recovery, in most cases.
_RECOVERY: dict[str, Counter] = {
    "Recovery rises with the share of exact sentences, in most cases": (
        cases.rises_with_p()
    ),
    "Recovery falls as the number of candidates grows": cases.falls_with_cl(
        ["sgppsl"], at()
    ),
}
#: About F1: where → what → how it is counted, and whether it is said to hold always.
_F1_CLAIMS: dict[str, dict[str, tuple[Counter, bool]]] = {
    "IV-D, Figure 6": {
        "Base NP: SGPPSL outperforms most of the baselines": _most(cases.beats(_NP)),
        "Base NP: PL-SVM, PL-AGGD and SURE are competitive at p = 0.1": _most(
            cases.close_to(_STRONG, at("base-np", p=0.1), above=True)
        ),
        "Base NP: the average over p > 0.5 is always better than that over p < 0.5": (
            _always(cases.halves(_NP))
        ),
        "Base NP: no significant relation between p and the score for most token-wise "
        "methods": _most(cases.unrelated_to_p(_NP)),
        "Base NP: structured methods do not vary much with the number of candidates": (
            _most(cases.same_for_all_cl(PSL, _NP))
        ),
        "Base NP: most methods are very close to SGPPSL": _most(
            cases.close_to(PAPER_RIVALS, _NP, above=False)
        ),
        "Base NP, cl = 2: SGPPSL outperforms the baselines": _always(
            cases.beats(at("base-np", cl=2))
        ),
    },
    "IV-D, Figure 7": {
        "Chunking: SGPPSL consistently outperforms the other methods": _always(
            cases.beats(_CHUNKING)
        ),
        "Chunking: SGPPSL, PL-SVM and CLPL are stabler over p than the others": _most(
            cases.stabler(_STABLE, _CHUNKING)
        ),
        "Chunking, cl = 4: structured methods improve with p": _always(
            cases.correlated(PSL, at("chunking", cl=4))
        ),
        "Chunking: at low p performance falls as the number of candidates grows": (
            _most(cases.falls_with_cl(ALL, at("chunking", below=0.5)))
        ),
    },
    "IV-D, Figure 8": {
        "NER: SGPPSL outperforms the other methods when p < 0.7": _always(
            cases.beats(at("ner", below=0.7))
        ),
        "NER: CLPL comes very close to SGPPSL": _most(
            cases.close_to(["clpl"], _NER, above=False)
        ),
        "NER, cl = 4: structured methods improve with p": _always(
            cases.correlated(PSL, at("ner", cl=4))
        ),
    },
    "IV-D": {
        "Generally more exact sentences enhance the performance": _most(
            cases.ends_help()
        ),
    },
    "IV-E, Figure 9": {
        "r = 0.05 is consistent with cl = 2 in most cases": _most(
            cases.flips(at(r=0.05), close=True, cl=2, r=0.0)
        ),
        "r = 0.75 is lower than r = 0.05": _always(
            cases.flips(at(r=0.75), close=False, r=0.05)
        ),
        "Base NP: r = 0.75 approximates cl = 3": _most(
            cases.flips(at("base-np", r=0.75), close=True, cl=3, r=0.0)
        ),
    },
    "IV-F, Table III": {
        "SGPPSL performs stably with varying cl": _most(
            cases.same_for_all_cl(["sgppsl"], at())
        ),
        "Both decoders improve with p": _always(
            cases.correlated(["sgppsl"], at(cl=3), _DECODERS)
        ),
        "Weighted Viterbi outperforms Viterbi in most cases": _most(
            cases.weighted_helps(at(cl=3))
        ),
        "Weighted Viterbi helps at small p (below 0.5)": _most(
            cases.weighted_helps(at(cl=3, below=0.5))
        ),
    },
}
