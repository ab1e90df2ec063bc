from __future__ import annotations

from experiments.paper.claims import claims_table, judge_claims
from experiments.paper.results import PAPER_RIVALS, Results
from tests.experiments.samples import record


def judged(found: list) -> dict[str, str]:
    return {c.text: c.verdict for c in judge_claims(Results(found), {})}


def test_without_records_nothing_is_judged():
    assert set(judged([]).values()) == {"not tested"}
    assert len(judged([])) == 27


def test_recovery_is_judged_by_steps():
    rising = [
        record("sgppsl", 0.5, p=p, cl=cl, recovery=0.7 + 0.1 * p - 0.02 * cl)
        for p in (0.1, 0.5, 0.9)
        for cl in (2, 3, 4)
    ]
    verdicts = judged(rising)
    text = "Recovery rises with the share of exact sentences, in most cases"
    assert verdicts[text] == "confirmed"
    assert verdicts["Recovery falls as the number of candidates grows"] == "confirmed"
    falling = [
        {**r, "recovery": {"ambiguous": 1 - r["recovery"]["ambiguous"]}} for r in rising
    ]
    assert judged(falling)[text] == "not confirmed"


def test_a_win_over_all_rivals_and_one_over_half_of_them():
    text = "Chunking: SGPPSL consistently outperforms the other methods"
    ours = record("sgppsl", 0.8, task="chunking")
    weak = [record(name, 0.5, task="chunking") for name in PAPER_RIVALS]
    assert judged([ours, *weak])[text] == "confirmed"
    strong = [record(name, 0.9, task="chunking") for name in PAPER_RIVALS[:3]]
    assert judged([ours, *weak[3:], *strong])[text] == "mixed"
    better = [record(name, 0.9, task="chunking") for name in PAPER_RIVALS]
    assert judged([ours, *better])[text] == "not confirmed"


def test_two_measures_that_disagree_are_mixed():
    one = record("sgppsl", 0.5, decoders={"viterbi": 0.5, "weighted": 0.6})
    one["decoders"]["weighted"]["token_weighted_f1"] = 0.4
    found = judge_claims(Results([one]), {})
    (claim,) = [c for c in found if c.text.startswith("Weighted Viterbi helps")]
    assert claim.verdict == "mixed"
    assert claim.evidence == "span F1: 1 of 1; token-weighted F1: 0 of 1"


def test_claims_are_judged_under_the_other_decoders_too():
    text = "Chunking: SGPPSL consistently outperforms the other methods"
    decoders = {"viterbi": 0.5, "log": 0.8, "argmax": 0.4}
    ours = record("sgppsl", 0.5, task="chunking", decoders=decoders)
    rivals = [record(name, 0.6, task="chunking") for name in PAPER_RIVALS]
    found = judge_claims(Results([ours, *rivals]), {})
    (claim,) = [c for c in found if c.text == text]
    assert claim.verdict == "not confirmed"
    assert [c.verdict for c in claim.others] == [
        "not confirmed",
        "confirmed",
        "not confirmed",
        "not tested",  # the record does not have it
    ]
    (row,) = [row for row in claims_table(found).rows if row[1] == text]
    assert [mark.text for mark in row[4:]] == [
        "not confirmed (0 of 9)",
        "confirmed (9 of 9)",
        "not confirmed (0 of 9)",
        "not tested (0 of 0)",
    ]


def test_flip_sampling_is_held_against_candidate_lists():
    found = [
        record("sgppsl", 0.80, cl=2, p=0.5),
        record("sgppsl", 0.70, cl=3, p=0.5),
        record("sgppsl", 0.79, cl=None, p=0.5, r=0.05),
        record("sgppsl", 0.71, cl=None, p=0.5, r=0.75),
    ]
    verdicts = judged(found)
    assert verdicts["r = 0.05 is consistent with cl = 2 in most cases"] == "confirmed"
    assert verdicts["r = 0.75 is lower than r = 0.05"] == "confirmed"
    assert verdicts["Base NP: r = 0.75 approximates cl = 3"] == "confirmed"


def test_a_watched_word_is_judged_by_where_it_ends():
    one = record("sgppsl", 0.5, p=0.1)
    one["config"]["watch"] = "holding"
    one |= {
        "labels": ["B", "O", "I"], "truth": "O",
        "evolution": [[0.4, 0.3, 0.3], [0.1, 0.2, 0.7]],
    }  # fmt: skip
    del one["scores"]
    found = judge_claims(Results([one]), {"holding": one})
    (claim,) = [c for c in found if "holding" in c.text]
    assert claim.verdict == "confirmed"
    assert claim.evidence.startswith("ends at I with confidence 0.70")
    assert "the token is O, not I" in claim.evidence
