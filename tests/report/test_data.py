"""The report on somebody's own data."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import tagsift
from tagsift.annotators import DawidSkene, MajorityVote, VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.data import VoteCorpus, spans
from tagsift.metrics import span_scores
from tagsift.report import Findings, Passage, data_report, render_html
from tagsift.report.votes import _changes, _confused_types, _confusions
from tests.reference.annotators import careful, corpus_of

SHARES = {"ann": 0.1, "bob": 0.3, "cat": 0.5}


def titles(report):
    return [section.title for section in report.sections]


def section(report, title):
    return next(one for one in report.sections if one.title == title)


def findings(model, given):
    labels = [[str(name) for name in row] for row in model.recovered_]
    return Findings(given, model, labels, getattr(model, "confidences_", None))


def counted(given, seed=0):
    """Findings of a model that took the majority, and is as sure as chance has it."""
    names = sorted({"O", *given.label_set})
    labels = given.majority().labels
    rng, column = np.random.default_rng(seed), {k: j for j, k in enumerate(names)}
    sure = []
    for row in labels:
        p = rng.random((len(row), len(names))) / len(names)
        p[np.arange(len(row)), [column[k] for k in row]] += 2 * rng.random(len(row))
        sure.append(p / p.sum(axis=1, keepdims=True))
    method = SimpleNamespace(title="Counting")
    model = SimpleNamespace(classes_=names, method=method, get_params=lambda deep: {})
    return Findings(given, model, labels, sure)


@pytest.fixture(scope="module")
def corpus():
    return corpus_of({name: careful(share) for name, share in SHARES.items()}, n=80)


@pytest.fixture(scope="module")
def found(corpus):
    return findings(VoteTagger(rounds=1, folds=2).fit(corpus.rows, corpus), corpus)


@pytest.fixture(scope="module")
def report(found):
    return data_report(found, title="Votes in a file", facts=[("file", "a.tsv")])


def test_everything_is_on_the_page(report, found):
    assert titles(report) == [
        "At a glance",
        "Agreement",
        "Who is reliable",
        "What to check first",
        "How sure the labels are",
        "Against the majority vote",
        "Scores",
        "Confused labels",
        "How the fit went",
    ]
    page = render_html(report)
    assert "Votes in a file" in page and "a.tsv" in page
    expected = f"{found.outlook.left:,.0f}"
    assert [s.value for s in report.stats if s.name == "expected to be wrong"] == [
        expected
    ]
    assert found.outlook.left == pytest.approx(found.chance.sum(), rel=0.02)


def test_types_are_counted(report, found):
    table = section(report, "At a glance").tables[1]
    counts = Counter(
        one.type for row in found.labels for one in spans(row, found.given.scheme)
    )
    assert Counter({row[0]: row[1] for row in table.rows}) == counts
    voted = found.votes.majority().labels
    before = Counter(one.type for row in voted for one in spans(row, "iob2"))
    assert Counter({row[0]: row[3] for row in table.rows}) == before
    # What is expected to be wrong is the chance of the worst token of every span.
    slow = Counter()
    chances = np.split(found.chance, found.offsets[1:-1])
    for row, chance in zip(found.labels, chances, strict=True):
        for one in spans(row, "iob2"):
            slow[one.type] += max(chance[one.start : one.end])
    for row in table.rows:
        assert row[-1] == pytest.approx(slow[row[0]])


def test_pairs_of_types_and_confusions_by_loops(found):
    names, of_label = found.kinds()
    assert names[-1] == "O" and len(of_label) == len(found.classes)

    def kind(label):
        return label if label == "O" else label[2:]

    both, said = Counter(), Counter()
    for row, votes in zip(found.labels, found.votes.votes, strict=True):
        for label, entry in zip(row, votes, strict=True):
            kinds = [kind(vote) for vote in entry if vote is not None]
            both.update(frozenset(p) for p in combinations(kinds, 2) if p[0] != p[1])
            for a, vote in enumerate(entry):
                if vote is not None:
                    said[a, kind(label), kind(vote)] += 1
    rows = _confused_types(found).rows
    shown = {frozenset(row[0].split(" – ")): row[1] for row in rows}
    assert sorted(shown.values(), reverse=True) == [n for _, n in both.most_common(12)]
    assert all(both[pair] == count for pair, count in shown.items())
    order, counts = _confusions(found)
    for a, i, j in np.ndindex(*counts.shape):
        assert counts[a, i, j] == said[a, order[i], order[j]]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("O O O", "B-X I-X O", ["a new span"]),
        ("B-X I-X O", "O O O", ["no span any more"]),
        ("B-X I-X O", "B-Y I-Y O", ["another type"]),
        ("B-X I-X O", "B-X O O", ["other bounds"]),
        ("B-X I-X O", "O B-Y I-Y", ["other bounds and type"]),
        ("B-X O B-X", "B-X O B-X", []),
        ("B-X O B-Y", "O O B-X", ["another type", "no span any more"]),
    ],
)
def test_changes_by_hand(before, after, kinds):
    rows = [[("a",), ("b",), ("c",)]]
    votes = [[(name,) for name in before.split()]]
    given = VoteCorpus(rows, votes, ("ann",), None, "iob2")
    names = sorted({"O", *before.split(), *after.split()})
    found = Findings(given, SimpleNamespace(classes_=names), [after.split()])
    changes = list(_changes(found, given.majority().labels))
    assert sorted(one.kind for one in changes) == kinds


def test_the_most_doubtful_come_first_and_truth_stands_beside(report, found):
    table = section(report, "What to check first").tables[0]
    scores = [row[3] for row in table.rows]
    assert len(scores) == 50 and scores == sorted(scores, reverse=True)
    looks = list(found.model.looks("span"))
    assert scores == pytest.approx([one.score for one in looks[:50]])
    for row, look in zip(table.rows, looks, strict=False):
        gold = spans(found.given.gold[look.sentence], "iob2")
        inside = any(x.start < look.end and look.start < x.end for x in gold)
        right = (
            (look.label, look.start, look.end) in gold
            if inside
            else (look.label == "O")
        )
        assert (row[-1].text == "right") == right


def test_scores_are_those_of_the_labels(report, found):
    f1 = span_scores(found.given.gold, found.labels, scheme="iob2").f1
    assert report.stats[0].value == f"{100 * f1:.1f} %"


def test_without_truth_and_with_checked_tokens(corpus):
    exact = [
        [label if s < 40 else None for label in row]
        for s, row in enumerate(corpus.gold)
    ]
    told = replace(corpus, gold=None, exact=exact)
    found = findings(VoteTagger(rounds=1, folds=2).fit(told.rows, told), told)
    known = sum(map(len, corpus.gold[:40]))
    by, scores = found.calibration
    assert by == f"the {known:,} tokens that are known exactly"
    # Confidences are those without what is known: not all of them are 1.
    assert scores.reliability.counts.sum() == known and scores.nll > 1e-3
    report = data_report(found, title="T")
    sure = section(report, "How sure the labels are")
    assert [figure.title for figure in sure.figures][1] == "Reliability diagram"
    assert "Scores" not in titles(report)
    assert not found.chance[found.known].any()


@pytest.mark.parametrize("kind", [MajorityVote, DawidSkene])
def test_other_methods_of_votes(corpus, kind):
    given = replace(corpus, gold=None)
    report = data_report(findings(kind().fit(corpus.rows, given), given), title="T")
    assert "Who is reliable" in titles(report)
    assert "made one label of the votes" in report.summary


def test_candidate_sets_with_and_without_truth():
    gold = tagsift.bundled("ner")[:40]
    given = tagsift.corrupt(gold, cl=3, p=0.1, random_state=0)
    model = PartialCRF(l2=1.0).fit(given.rows, given.candidates)
    report = data_report(findings(model, given), title="T")
    assert titles(report) == [
        "At a glance",
        "What to check first",
        "How sure the labels are",
        "What the candidates became",
        "Training labels recovered",
        "Scores",
        "Confused labels",
        "How the fit went",
    ]
    became = section(report, "What the candidates became").tables[0]
    slow = Counter(
        (" ".join(sorted(names)), label)
        for sets, row in zip(given.candidates, model.recovered_, strict=True)
        for names, label in zip(sets, row, strict=True)
        if len(names) > 1
    )
    for names, label, count in became.rows:
        assert slow[names, label] == count
    bare = replace(given, gold=None)
    assert "Scores" not in titles(data_report(findings(model, bare), title="T"))


def test_no_confidences_and_nothing_open_are_said():
    gold = tagsift.bundled("ner")[:30]
    given = tagsift.corrupt(gold, cl=3, p=0.1, random_state=0)
    model = tagsift.make("pl-svm").fit(given.rows, given.candidates)
    report = data_report(Findings(given, model, model.recovered_), title="T")
    assert any("gives no confidences" in words for words in report.notices)
    assert "What to check first" not in titles(report)
    sure = replace(given, candidates=[[frozenset([k]) for k in r] for r in gold.labels])
    model = PartialCRF(l2=1.0).fit(sure.rows, sure.candidates)
    report = data_report(findings(model, sure), title="T")
    assert any("one label already" in words for words in report.notices)
    render_html(report)


def test_passages_are_cut():
    long = Passage.of(["x" * 5000, "a", "b"], 0, 1)
    assert len(long.text) < 60 and long.words.endswith("…")
    many = Passage.of([str(k) for k in range(10_000)], 10, 9000)
    assert many.words.split()[-1] == "8999" and len(many.words.split()) == 12
    assert Passage.of(["a", "b", "c"], 1, 2).text == "a [b] c"


def test_hostile_text_and_names():
    evil = ["<script>alert(1)</script>", "\u202egnp.exe", "\x1b[2J", "A" * 20_000, "&"]
    words = (evil * 3 + ["Paris", "is", "big"]) * 2
    rows = [[(word,) for word in words]] * 4 + [[("w",)] * 10_000]
    names = ("<img src=x onerror=alert(1)>", "`a`\u202e", "c" * 3000)
    rng = np.random.default_rng(0)
    votes = [
        [tuple(rng.choice(["O", "B-<b>", "B-\u2067X"], 3)) for _ in row] for row in rows
    ]
    given = VoteCorpus(rows, votes, names, None, "iob2")
    found = counted(given)
    page = render_html(data_report(found, title="<script>x</script>\u202e"))
    assert "<script" not in page and "<img" not in page and "<b>" not in page
    assert not re.search("[\u202e\u2067\x1b]", page)
    assert len(page) < 500_000


def test_many_annotators_and_types_stay_small():
    rng = np.random.default_rng(0)
    types = [f"B-T{k}" for k in range(200)]
    rows = [[(f"w{k}",) for k in range(20)]] * 30
    votes = []
    for row in rows:
        entry = [[None] * 150 for _ in row]
        for a in rng.choice(150, 4, replace=False):
            for t in range(len(row)):
                entry[t][a] = str(rng.choice(types)) if rng.random() < 0.5 else "O"
        votes.append([tuple(one) for one in entry])
    people = tuple(f"p{a}" for a in range(150))
    given = VoteCorpus(rows, votes, people, [["O"] * 20] * 30, "iob2")
    found = counted(given)
    report = data_report(found, title="T")
    assert len(section(report, "Who is reliable").tables[0].rows) == 100
    assert len(render_html(report)) < 1_500_000


def test_plain_tags():
    rows = [[("a",), ("dog",), ("runs",)]] * 3
    votes = [[("D", "D", None), ("N", "V", "V"), ("V", "V", "N")]] * 3
    given = VoteCorpus(rows, votes, ("x", "y", "z"), None, "plain")
    told = counted(given)
    changed = [["D", "N", "V"], *told.labels[1:]]
    report = data_report(replace(told, labels=changed), title="T")
    tags = section(report, "At a glance").tables[1]
    assert tags.title == "Tags" and {r[0]: r[1] for r in tags.rows} == {
        "V": 5,
        "D": 3,
        "N": 1,
    }
    against = section(report, "Against the majority vote")
    assert against.tables[0].rows[0][:2] == ("another tag", 1)
    assert against.tables[1].rows == (("V → N", 1),)
