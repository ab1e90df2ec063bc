"""The claims of section IV, one by one, judged from records.

Every claim is counted: in how many of the cases that it speaks of it holds. Claims
about F1 are counted twice, with span F1 and with token-weighted F1, since the paper
does not say which it means; where the two disagree the verdict is "mixed".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.paper.counting import (
    CLOSE,
    PSL,
    Counter,
    Where,
    beats,
    close_to,
    correlated,
    ends_help,
    falls_with_cl,
    flips,
    halves,
    rises_with_p,
    same_for_all_cl,
    stabler,
    unrelated_to_p,
    weighted_helps,
)
from experiments.paper.results import F1S, PAPER_RIVALS, Results, Setting
from experiments.paper.watched import WATCHED
from experiments.records import Record
from experiments.tables import table
from tagsift.report import Mark, Table
from tagsift.report.document import Tone

#: What a claim is said to hold in.
MOST, ALWAYS = False, True
_MEASURES = ("span_f1", "token_weighted_f1")
_TONES: dict[str, Tone] = {
    "supported": "good",
    "mixed": "warn",
    "not supported": "bad",
    "not tested": "plain",
}


@dataclass(frozen=True)
class Claim:
    """A claim and what the records say about it.

    Parameters
    ----------
    where : str
        Section, figure or table of the paper.
    text : str
        The claim.
    verdict : {"supported", "mixed", "not supported", "not tested"}
        What the records say.
    evidence : str
        The figures that say so.
    """

    where: str
    text: str
    verdict: str
    evidence: str


def judge_claims(results: Results, watched: Mapping[str, Record]) -> list[Claim]:
    """Judge every claim of section IV.

    Parameters
    ----------
    results : Results
        Finished cells of the head of the files.
    watched : mapping of str to record
        The watched words.
    """
    return [
        *(_recovery(results, *claim) for claim in _RECOVERY),
        *(_watched_claim(word, watched.get(word)) for word in WATCHED),
        *(
            _f1(results, where, *claim)
            for where, claims in _F1_CLAIMS.items()
            for claim in claims
        ),
    ]


def claims_table(found: Sequence[Claim]) -> Table:
    """Claims as a table, in the order of the paper."""
    return table(
        ("where", "claim", "our runs", "holds in"),
        [
            (c.where, c.text, Mark(c.verdict, _TONES[c.verdict]), c.evidence)
            for c in found
        ],
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
    verdict, words = _count(counter(results, "recovery"), MOST)
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
    best = record["labels"][int(last.argmax())]
    holds = (best == watched.printed) == watched.right
    evidence = f"ends at {best} with confidence {last.max():.2f}"
    if record["truth"] != watched.printed:
        evidence += (
            f"; in the corpus the token is {record['truth']}, not {watched.printed}"
        )
    verdict = "supported" if holds else "not supported"
    return Claim("IV-C, Figure 5", text, verdict, evidence)


# The claims --------------------------------------------------------------------


def _base_np(s: Setting) -> bool:
    return s.task == "base-np"


def _chunking(s: Setting) -> bool:
    return s.task == "chunking"


def _ner(s: Setting) -> bool:
    return s.task == "ner"


def _at(where: Where, cl: int) -> Where:
    return lambda s: where(s) and s.cl == cl


def _list(cl: int) -> Where:
    return lambda s: s.cl == cl


#: About recovery: what, and how it is counted.
_RECOVERY: tuple[tuple[str, Counter], ...] = (
    ("Recovery rises with the share of exact sentences, in most cases", rises_with_p),
    ("Recovery falls as the number of candidates grows", falls_with_cl(["sgppsl"])),
)
#: About F1: what, how it is counted, and whether it is said to hold always.
_F1_CLAIMS: dict[str, tuple[tuple[str, Counter, bool], ...]] = {
    "IV-D, Figure 6": (
        ("Base NP: SGPPSL outperforms most of the baselines", beats(_base_np), MOST),
        (
            "Base NP: PL-SVM, PL-AGGD and SURE are competitive at p = 0.1",
            close_to(
                ("pl-svm", "pl-aggd", "sure"),
                lambda s: _base_np(s) and s.p == 0.1,
                above=True,
            ),
            MOST,
        ),
        (
            "Base NP: the average over p > 0.5 is always better than that over p < 0.5",
            halves(_base_np),
            ALWAYS,
        ),
        (
            "Base NP: no significant relation between p and the score for most "
            "token-wise methods",
            unrelated_to_p(_base_np),
            MOST,
        ),
        (
            "Base NP: structured methods do not vary much with the number of "
            "candidates",
            same_for_all_cl(PSL, _base_np),
            MOST,
        ),
        (
            "Base NP: most methods are very close to SGPPSL",
            close_to(PAPER_RIVALS, _base_np),
            MOST,
        ),
        (
            "Base NP, cl = 2: SGPPSL outperforms the baselines",
            beats(_at(_base_np, 2)),
            ALWAYS,
        ),
    ),
    "IV-D, Figure 7": (
        (
            "Chunking: SGPPSL consistently outperforms the other methods",
            beats(_chunking),
            ALWAYS,
        ),
        (
            "Chunking: SGPPSL, PL-SVM and CLPL are stabler over p than the others",
            stabler(("sgppsl", "pl-svm", "clpl"), _chunking),
            MOST,
        ),
        (
            "Chunking, cl = 4: structured methods improve with p",
            correlated(PSL, _at(_chunking, 4)),
            ALWAYS,
        ),
        (
            "Chunking: at low p performance falls as the number of candidates grows",
            falls_with_cl(where=lambda s: _chunking(s) and s.p < 0.5),
            MOST,
        ),
    ),
    "IV-D, Figure 8": (
        (
            "NER: SGPPSL outperforms the other methods when p < 0.7",
            beats(lambda s: _ner(s) and s.p < 0.7),
            ALWAYS,
        ),
        ("NER: CLPL comes very close to SGPPSL", close_to(("clpl",), _ner), MOST),
        (
            "NER, cl = 4: structured methods improve with p",
            correlated(PSL, _at(_ner, 4)),
            ALWAYS,
        ),
    ),
    "IV-D": (
        ("Generally more exact sentences enhance the performance", ends_help, MOST),
    ),
    "IV-E, Figure 9": (
        (
            "r = 0.05 is consistent with cl = 2 in most cases",
            flips(lambda s: s.r == 0.05, lambda s: Setting(s.task, 2, s.p), close=True),
            MOST,
        ),
        (
            "r = 0.75 is lower than r = 0.05",
            flips(lambda s: s.r == 0.75, lambda s: replace(s, r=0.05), close=False),
            ALWAYS,
        ),
        (
            "Base NP: r = 0.75 approximates cl = 3",
            flips(
                lambda s: _base_np(s) and s.r == 0.75,
                lambda s: Setting(s.task, 3, s.p),
                close=True,
            ),
            MOST,
        ),
    ),
    "IV-F, Table III": (
        ("SGPPSL performs stably with varying cl", same_for_all_cl(["sgppsl"]), MOST),
        (
            "Both decoders improve with p",
            correlated(["sgppsl"], _list(3), ("viterbi:", "weighted:")),
            ALWAYS,
        ),
        (
            "Weighted Viterbi outperforms Viterbi in most cases",
            weighted_helps(_list(3)),
            MOST,
        ),
        (
            "Weighted Viterbi helps at small p (below 0.5)",
            weighted_helps(lambda s: s.cl == 3 and s.p < 0.5),
            MOST,
        ),
    ),
}
