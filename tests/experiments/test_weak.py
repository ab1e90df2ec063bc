"""Labels from votes: sets, aggregators, scores, and what a record says of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.targets.annotators import VOTES, votes_of
from experiments import vote_scores, vote_sets
from experiments.aggregators import AGGREGATORS
from experiments.records import Records
from experiments.targets import weak
from experiments.targets.weak import OURS, Weak, WeakCell
from experiments.vote_scores import ahead, f1_of, score, tallies, tempered, truth_of
from experiments.vote_sets import SETS, SUBSETS, TWENTY, VoteSet
from tagsift.data import generate
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.io import write_columns
from tagsift.metrics import label_indices, span_scores
from tagsift.report import Report, Section, render_markdown
from tests.experiments.test_targets import RECORDS, ROOT, needs_records


def crowd(n: int = 40, *changes: vote_sets.Change) -> Corpus:
    """Simulated votes on sentences of the package's own."""
    corpus = generate(n, 3, "ner").with_columns(1)
    for change in changes or (vote_sets.alike(3, 0.3, 0.1, 0.2),):
        corpus = change(corpus)
    return corpus


@pytest.mark.parametrize("name", AGGREGATORS)
def test_all_aggregators_give_what_all_annotators_say(name: str):
    votes = crowd(12, vote_sets.alike(3, 0.0, 0.0, 0.0))
    codes, shares = AGGREGATORS[name](votes)
    assert score(votes, codes, shares)["wrong"] == 0
    if shares is not None:
        assert shares.shape == (votes.n_tokens, len(votes.label_set))
        assert np.allclose(shares.sum(axis=1), 1)


def test_counting_is_that_of_the_corpus():
    votes = crowd()
    for name, how in (("majority", "span"), ("majority-token", "token")):
        labels = votes.majority(how).labels
        expected = label_indices(labels, list(votes.label_set), name="labels")
        assert (AGGREGATORS[name](votes).codes == expected).all()


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_span_f1_is_that_of_the_metrics(seed: int):
    votes = crowd(6)
    drawn = np.random.default_rng(seed).integers(len(votes.label_set), size=10**4)
    codes = drawn[: votes.n_tokens]
    names = votes.label_set.names
    labels = split_at([names[k] for k in codes.tolist()], votes.bounds)
    expected = span_scores(votes.gold or [], labels, scheme=votes.scheme).micro
    found = score(votes, codes)
    assert found["span_f1"] == pytest.approx(expected.f1)
    assert found["precision"] == pytest.approx(expected.precision)
    # The order of sentences changes nothing.
    order = np.random.default_rng(seed).permutation(len(votes))
    moved = np.concatenate([np.split(codes, votes.bounds[1:-1])[s] for s in order])
    assert score(votes.take(order), moved) == found


def test_leads_are_of_the_same_sentences():
    votes = crowd()
    counting = AGGREGATORS["majority"](votes).codes
    assert ahead(votes, counting)["majority"] == [0, 0, 0]
    lead, low, high = ahead(votes, truth_of(votes))["majority"]
    own = f1_of(tallies(votes, counting).sum(axis=0))
    assert lead == pytest.approx(1 - own, abs=1e-4) and 0 < low < lead < high


def test_a_temperature_makes_shares_that_are_too_sure_no_worse():
    votes = crowd(80)
    codes, shares = AGGREGATORS["majority"](votes)
    assert shares is not None
    sure = shares**4 / (shares**4).sum(axis=1, keepdims=True)
    assert tempered(votes, sure) < score(votes, codes, sure)["nll"]


def test_a_ranking_by_the_truth_is_the_best():
    votes = crowd()
    wrong = AGGREGATORS["majority"](votes).codes != truth_of(votes)  # [N]
    best, worst = (
        vote_scores._ranking(votes, wrong, doubts * 1.0) for doubts in (wrong, ~wrong)
    )
    assert best["auprc_token"] == best["auprc_sentence"] == 1
    assert worst["auprc_token"] < 0.5 and worst["first_0.01"] == 0


# Sets ----------------------------------------------------------------------------


def test_parts_and_choices_of_annotators():
    votes = crowd(30, vote_sets.alike(5, 0.3, 0.1, 0.2))
    parts = [vote_sets.part(k / 3, (k + 1) / 3)(votes) for k in range(3)]
    assert sum(map(len, parts)) == len(votes)
    few = vote_sets.at_most(2)(votes)
    assert {len(sentence.votes) for sentence in few} == {2}
    first = vote_sets.busiest(2)(votes)
    rest = vote_sets.busiest(2, others=True)(votes)
    names = [{one.name for one in each.annotators} for each in (first, rest)]
    assert names[0] | names[1] == {one.name for one in votes.annotators}
    left = vote_sets.without(sorted(names[0]))(votes)
    assert {one.name for one in left.annotators} == names[1]
    long = vote_sets.joined(8)(generate(20, 3, "ner"))
    assert len(long) == 3 and long.n_tokens == generate(20, 3, "ner").n_tokens


def test_rules_abstain_and_err_alike():
    votes = crowd(60, vote_sets.rules(12))
    assert votes.abstains.all() and votes == crowd(60, vote_sets.rules(12))
    assert truth_of(votes).min() >= 0
    scores = score(votes, AGGREGATORS["majority"](votes).codes)
    assert 0.3 < scores["span_f1"] < 1


def test_habits_are_those_of_the_last_annotator():
    people = vote_sets.alike(2, 0.1, 0.0, 0.0)
    plain, more = crowd(30, people), crowd(30, people, vote_sets.habits(0.5))
    for before, after in zip(plain, more, strict=True):
        assert before.votes["p0"] == after.votes["p0"]
    apart = [a.votes["p1"] != b.votes["p1"] for a, b in zip(plain, more, strict=True)]
    assert any(apart)


@settings(max_examples=5)
@given(st.sampled_from([4, 9, 40]))
def test_who_casts_the_votes_changes_nothing_else(people: int):
    few, many = votes_of(300, VOTES), votes_of(300, people)
    assert few.tokens == many.tokens and len(many.annotators) == people
    assert all(len(sentence.votes) == VOTES for sentence in many)
    assert few.majority().labels == many.majority().labels


# Runs ----------------------------------------------------------------------------


def test_the_twenty_are_sets_without_gold_of_a_test_file():
    assert len(set(TWENTY)) == 20 and set(TWENTY) <= {*SETS, *SUBSETS}
    assert not any((SETS | SUBSETS)[name].file.endswith("test.tsv") for name in TWENTY)


def test_cells_say_how_good_labels_are(tmp_path: Path, monkeypatch):
    votes = crowd(60)
    write_columns(tmp_path / "votes.tsv", votes, gold=True)
    small = {"mit-valid": VoteSet("votes.tsv", "2:4", (vote_sets.part(0, 0.9),))}
    monkeypatch.setattr(weak, "SETS", small)
    monkeypatch.setattr(weak, "SUBSETS", {})
    experiment = Weak(tmp_path)
    cells = [WeakCell("mit-valid", x, k) for x in (OURS, "majority") for k in (0, 1)]
    assert set(cells) <= set(experiment.cells())
    found = {
        cell.key: {"config": experiment.config(cell), **experiment.run(cell)}
        for cell in cells
    }
    ours, drawn, counting, _ = found.values()
    assert ours["votes"]["sentences"] == 54 and drawn["votes"]["sentences"] == 43
    left, low, high = ours["range"]
    assert low <= left <= high
    lead = ours["scores"]["span_f1"] - counting["scores"]["span_f1"]
    assert ours["ahead"]["majority"][0] == pytest.approx(lead, abs=1e-4)
    assert counting["scores"]["nll_tempered"] <= counting["scores"]["nll"]
    sets, leads, expected, ranked, every = experiment.tables(found)
    assert [row[1] for row in every.rows] == [OURS, "majority"]
    assert sets.rows[0][-1] == ours["scores"]["wrong"] and len(expected.rows) == 2
    drawn_lead = drawn["scores"]["span_f1"] - found[cells[3].key]["scores"]["span_f1"]
    assert leads.rows[0][4] == pytest.approx(drawn_lead)
    assert {row[1] for row in ranked.rows} == set(ours["ranking"])
    text = json.dumps(found)
    assert not any(word in text for word in votes.columns[0] if len(word) > 8)


@needs_records
def test_the_guide_shows_the_table_of_the_records():
    tables = Weak(None).tables(Records(RECORDS / "weak.jsonl").load())
    sets, _, expected, *_ = tables
    page = (ROOT / "docs/guide/votes.md").read_text(encoding="utf-8")
    for one, rows in ((sets, slice(0, None)), (expected, slice(-1, None))):
        shown = render_markdown(Report("", (Section("", "", (one,)),)))
        lines = [line for line in shown.splitlines() if line.startswith("|")]
        assert "\n".join(lines[rows]) in page
