"""The claims of section IV, one by one, judged from records.

Every claim is counted: in how many of the cases that it speaks of it holds. Claims
about F1 are counted twice, with span F1 and with token-weighted F1, since the paper
does not say which it means; where the two disagree the verdict is "mixed".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.paper.counting import (
    CLOSE,
    PSL,
    Counter,
    beats,
    close_to,
    correlated,
    ends_help,
    falls_with_cl,
    flips,
    halves,
    less_at_low_p,
    rises_with_p,
    same_for_all_cl,
    stabler,
    unrelated_to_p,
    weighted_helps,
)
from experiments.paper.results import PAPER_RIVALS, Results
from experiments.paper.watched import WATCHED
from experiments.records import Record
from tagsift.report import Column, Mark, Table
from tagsift.report.document import Tone

__all__ = ["Claim", "claims_table", "judge_claims"]

_MEASURES = {"span F1": "span_f1", "token-weighted F1": "token_weighted_f1"}
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


@dataclass(frozen=True)
class _Count:
    """In how many cases a claim holds."""

    holds: int
    cases: int

    @classmethod
    def of(cls, cases: Iterable[bool]) -> _Count:
        held = [bool(case) for case in cases]
        return cls(sum(held), len(held))

    def verdict(self, always: bool) -> str:
        """Judge by the share of cases; "always" asks for nearly all of them."""
        if not self.cases:
            return "not tested"
        share = self.holds / self.cases
        high, low = (0.95, 0.6) if always else (2 / 3, 0.4)
        if share >= high:
            return "supported"
        return "mixed" if share >= low else "not supported"

    @property
    def words(self) -> str:
        return f"{self.holds} of {self.cases}"


def judge_claims(results: Results, found: Iterable[Record]) -> list[Claim]:
    """Judge every claim of section IV.

    Parameters
    ----------
    results : Results
        Finished cells of the head of the files.
    found : iterable of records
        All records; those of the watched words are used.
    """
    watched = {
        record["config"]["watch"]: record for record in found if "evolution" in record
    }
    return [
        _recovery(
            results,
            "Recovery rises with the share of exact sentences, in most cases",
            rises_with_p,
        ),
        _recovery(
            results, "Recovery falls as the number of candidates grows", falls_with_cl
        ),
        *(_watched_claim(word, watched.get(word)) for word in WATCHED),
        *(
            _f1(results, where, text, counter, always)
            for where, text, counter, always in _F1_CLAIMS
        ),
    ]


def claims_table(found: Sequence[Claim]) -> Table:
    """Claims as a table, in the order of the paper.

    Parameters
    ----------
    found : sequence of Claim
        What `judge_claims` returned.
    """
    return Table(
        (
            Column("where"),
            Column("claim"),
            Column("our runs"),
            Column("holds in"),
        ),
        tuple(
            (c.where, c.text, Mark(c.verdict, _TONES[c.verdict]), c.evidence)
            for c in found
        ),
        title="The claims of section IV",
        note="“Always” counts as supported from 95 % of the cases and as mixed from "
        "60 %; “most” from two thirds and from 40 %. Close means within "
        f"{100 * CLOSE:g} points.",
    )


# How a claim is put together ---------------------------------------------------


def _recovery(results: Results, text: str, counter: Counter) -> Claim:
    count = _Count.of(counter(results, "recovery"))
    evidence = f"{count.words} steps of SGPPSL's means (Table II)"
    return Claim("IV-C, Table II", text, count.verdict(always=False), evidence)


def _f1(
    results: Results, where: str, text: str, counter: Counter, always: bool
) -> Claim:
    counts = {
        words: _Count.of(counter(results, name)) for words, name in _MEASURES.items()
    }
    verdicts = {count.verdict(always) for count in counts.values()}
    return Claim(
        where,
        text,
        verdicts.pop() if len(verdicts) == 1 else "mixed",
        "; ".join(f"{words}: {count.words}" for words, count in counts.items()),
    )


def _watched_claim(word: str, record: Record | None) -> Claim:
    """Whether the confidences of a watched word end where the paper says."""
    watched = WATCHED[word]
    right = watched.outcome == "right"
    text = f"“{word}” is recovered as {watched.printed}"
    if not right:
        text = f"“{word}” ({watched.printed}) is not recovered, with p = {watched.p:g}"
    if record is None:
        return Claim("IV-C, Figure 5", text, "not tested", "no record")
    last = np.asarray(record["evolution"])[-1]  # [l]
    best = record["labels"][int(last.argmax())]
    holds = (best == watched.printed) == right
    evidence = f"ends at {best} with confidence {last.max():.2f}"
    if record["truth"] != watched.printed:
        evidence += (
            f"; in the corpus the token is {record['truth']}, not {watched.printed}"
        )
    verdict = "supported" if holds else "not supported"
    return Claim("IV-C, Figure 5", text, verdict, evidence)


#: Where, what, how it is counted, and whether it is said to hold always.
_F1_CLAIMS: tuple[tuple[str, str, Counter, bool], ...] = (
    (
        "IV-D, Figure 6",
        "Base NP: SGPPSL outperforms most of the baselines",
        beats(lambda s: s.task == "base-np"),
        False,
    ),
    (
        "IV-D, Figure 6",
        "Base NP: PL-SVM, PL-AGGD and SURE are competitive at p = 0.1",
        close_to(
            ("pl-svm", "pl-aggd", "sure"),
            lambda s: s.task == "base-np" and s.p == 0.1,
            competitive=True,
        ),
        False,
    ),
    (
        "IV-D, Figure 6",
        "Base NP: the average over p > 0.5 is always better than that over p < 0.5",
        halves,
        True,
    ),
    (
        "IV-D, Figure 6",
        "Base NP: no significant relation between p and the score for most token-wise "
        "methods",
        unrelated_to_p,
        False,
    ),
    (
        "IV-D, Figure 6",
        "Base NP: structured methods do not vary much with the number of candidates",
        same_for_all_cl(PSL, "base-np"),
        False,
    ),
    (
        "IV-D, Figure 6",
        "Base NP: most methods are very close to SGPPSL",
        close_to(PAPER_RIVALS, lambda s: s.task == "base-np", competitive=False),
        False,
    ),
    (
        "IV-D, Figure 6",
        "Base NP, cl = 2: SGPPSL outperforms the baselines",
        beats(lambda s: s.task == "base-np" and s.cl == 2),
        True,
    ),
    (
        "IV-D, Figure 7",
        "Chunking: SGPPSL consistently outperforms the other methods",
        beats(lambda s: s.task == "chunking"),
        True,
    ),
    (
        "IV-D, Figure 7",
        "Chunking: SGPPSL, PL-SVM and CLPL are stabler over p than the others",
        stabler,
        False,
    ),
    (
        "IV-D, Figure 7",
        "Chunking, cl = 4: structured methods improve with p",
        correlated(PSL, "chunking", 4),
        True,
    ),
    (
        "IV-D, Figure 7",
        "Chunking: at low p performance falls as the number of candidates grows",
        less_at_low_p,
        False,
    ),
    (
        "IV-D, Figure 8",
        "NER: SGPPSL outperforms the other methods when p < 0.7",
        beats(lambda s: s.task == "ner" and s.p < 0.7),
        True,
    ),
    (
        "IV-D, Figure 8",
        "NER: CLPL comes very close to SGPPSL",
        close_to(("clpl",), lambda s: s.task == "ner", competitive=False),
        False,
    ),
    (
        "IV-D, Figure 8",
        "NER, cl = 4: structured methods improve with p",
        correlated(PSL, "ner", 4),
        True,
    ),
    (
        "IV-D",
        "Generally more exact sentences enhance the performance",
        ends_help,
        False,
    ),
    (
        "IV-E, Figure 9",
        "r = 0.05 is consistent with cl = 2 in most cases",
        flips(None, 0.05, 2, True),
        False,
    ),
    (
        "IV-E, Figure 9",
        "r = 0.75 is lower than r = 0.05",
        flips(None, 0.75, 0, False),
        True,
    ),
    (
        "IV-E, Figure 9",
        "Base NP: r = 0.75 approximates cl = 3",
        flips("base-np", 0.75, 3, True),
        False,
    ),
    (
        "IV-F, Table III",
        "SGPPSL performs stably with varying cl",
        same_for_all_cl(("sgppsl",), None),
        False,
    ),
    (
        "IV-F, Table III",
        "Both decoders improve with p",
        correlated(("sgppsl",), None, 3, decoders=True),
        True,
    ),
    (
        "IV-F, Table III",
        "Weighted Viterbi outperforms Viterbi in most cases",
        weighted_helps(lambda s: True),
        False,
    ),
    (
        "IV-F, Table III",
        "Weighted Viterbi helps at small p (below 0.5)",
        weighted_helps(lambda s: s.p < 0.5),
        False,
    ),
)
