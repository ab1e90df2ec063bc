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
from tagsift.annotators import DawidSkene, MajorityVote, VoteTagger, held_out_annotators
from tagsift.annotators.settings import VoteConstants
from tagsift.baselines import PartialCRF
from tagsift.cleaned import Cleaned, clean
from tagsift.data import spans
from tagsift.data.corpus import Corpus
from tagsift.metrics import span_scores
from tagsift.report import Passage, data_report, render_html
from tagsift.report.votes import _changes, _confused_types, _confusions
from tests.reference.annotators import careful, corpus_of, table_of
from tests.reference.corpora import type_of

SHARES = {"ann": 0.1, "bob": 0.3, "cat": 0.5}


def titles(report):
    return [section.title for section in report.sections]


def section(report, title):
    return next(one for one in report.sections if one.title == title)


def cleaned(corpus, codes, sure=None):
    """The result of a model that is but a name."""
    names = corpus.label_set.names
    method = SimpleNamespace(title="Counting")
    model = SimpleNamespace(classes_=names, method=method, get_params=lambda deep: {})
    return Cleaned(corpus, model, names, np.asarray(codes), sure)


def counted(corpus, seed=0):
    """The majority, as sure as chance has it."""
    codes = np.concatenate(
        [list(map(corpus.label_set.index, row)) for row in corpus.majority().labels]
    )
    rng, n = np.random.default_rng(seed), len(codes)
    sure = rng.random((n, len(corpus.label_set))) / len(corpus.label_set)
    sure[np.arange(n), codes] += 2 * rng.random(n)
    return cleaned(corpus, codes, sure / sure.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module", autouse=True)
def one_forest():
    """Most of the time would go into trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out_annotators, "CONSTANTS", VoteConstants(forests=1))
        yield


@pytest.fixture(scope="module")
def corpus():
    return corpus_of({name: careful(share) for name, share in SHARES.items()}, n=80)


@pytest.fixture(scope="module")
def found(corpus):
    return clean(corpus, VoteTagger(rounds=1, folds=2))


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
    left, stats = found.outlook().left, {one.name: one.value for one in report.stats}
    assert stats["expected to be wrong"] == f"{left:,.0f}"
    assert left == pytest.approx(found.chance_wrong.sum(), rel=0.02)
    f1 = span_scores(found.corpus.gold, found.sentences, scheme="iob2").f1
    assert report.stats[0].value == f"{100 * f1:.1f} %"
    changed = [
        a != b
        for pair in zip(found.sentences, found.corpus.majority().labels, strict=True)
        for a, b in zip(*pair, strict=True)
    ]
    assert stats["changed"] == f"{sum(changed):,}"


def test_types_are_counted(report, found):
    """What is expected to be wrong is the chance of the worst token of every span."""
    chances = np.split(found.chance_wrong, found.corpus.bounds[1:-1])
    counts, before, wrong = Counter(), Counter(), Counter()
    for row, other, chance in zip(
        found.sentences, found.corpus.majority().labels, chances, strict=True
    ):
        before.update(one.type for one in spans(other, "iob2"))
        for one in spans(row, "iob2"):
            counts[one.type] += 1
            wrong[one.type] += max(chance[one.start : one.end])
    table = section(report, "At a glance").tables[1]
    assert {row[0]: (row[1], row[3], row[-1]) for row in table.rows} == {
        name: (counts[name], before[name], pytest.approx(wrong[name]))
        for name in counts | before
    }


def test_pairs_of_types_and_confusions_by_loops(found):
    both, said = Counter(), Counter()
    for sentence, labels in zip(found.corpus, found.sentences, strict=True):
        votes = zip(*map(sentence.votes.get, SHARES), strict=True)
        for label, entry in zip(labels, votes, strict=True):
            true, *kinds = (type_of(name, "iob2") for name in (label, *entry))
            both.update(frozenset(p) for p in combinations(kinds, 2) if p[0] != p[1])
            said.update((a, true, kind) for a, kind in enumerate(kinds))
    rows = _confused_types(found).rows
    shown = {frozenset(row[0].split(" – ")): row[1] for row in rows}
    assert sorted(shown.values(), reverse=True) == [n for _, n in both.most_common(12)]
    assert all(both[pair] == count for pair, count in shown.items())
    order, counts = _confusions(found)
    assert order == found.types()[0] and order[-1] == "O"
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
    names = sorted({"O", *before.split(), *after.split()})
    table = table_of([[(name,) for name in before.split()]], names)
    found = cleaned(table.corpus, [names.index(name) for name in after.split()])
    changes = list(_changes(found, found.corpus.majority().labels))
    assert sorted(one.kind for one in changes) == kinds


def test_the_most_doubtful_come_first_and_truth_stands_beside(report, found):
    table = section(report, "What to check first").tables[0]
    scores = [row[3] for row in table.rows]
    assert len(scores) == 50 and scores == sorted(scores, reverse=True)
    looks = list(found.tagger.looks("span"))
    assert scores == pytest.approx([one.score for one in looks[:50]])
    for row, look in zip(table.rows, looks, strict=False):
        gold = spans(found.corpus.gold[look.sentence], "iob2")
        inside = any(x.start < look.end and look.start < x.end for x in gold)
        right = (
            (look.label, look.start, look.end) in gold
            if inside
            else (look.label == "O")
        )
        assert (row[-1].text == "right") == right


def test_without_truth_and_with_checked_tokens(corpus):
    exact = [[k if s < 40 else None for k in row] for s, row in enumerate(corpus.gold)]
    told = replace(corpus.with_exact(exact), truth=None)
    found = clean(told, VoteTagger(rounds=1, folds=2))
    known = sum(map(len, corpus.gold[:40]))
    by, scores = found.calibration
    assert by == f"the {known:,} tokens that are known exactly"
    # Confidences are those without what is known: not all of them are 1.
    assert scores.reliability.counts.sum() == known and scores.nll > 1e-3
    report = data_report(found, title="T")
    sure = section(report, "How sure the labels are")
    assert [figure.title for figure in sure.figures][1] == "Reliability diagram"
    assert "Scores" not in titles(report)
    assert not found.chance_wrong[found.settled].any()


@pytest.mark.parametrize("method", [MajorityVote(), DawidSkene()], ids=str)
def test_other_methods_of_votes(corpus, method):
    report = data_report(clean(replace(corpus, truth=None), method), title="T")
    assert "Who is reliable" in titles(report)
    assert "made one label of the votes" in report.summary


def test_candidate_sets_with_and_without_truth():
    gold = tagsift.bundled("ner")[:40]
    given = tagsift.corrupt(gold, cl=3, p=0.1, random_state=0)
    found = clean(given, PartialCRF(l2=1.0))
    report = data_report(found, title="T")
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
        for pair in zip(given.candidates, found.sentences, strict=True)
        for names, label in zip(*pair, strict=True)
        if len(names) > 1
    )
    for names, label, count in became.rows:
        assert slow[names, label] == count
    bare = replace(found, corpus=replace(found.corpus, truth=None))
    assert "Scores" not in titles(data_report(bare, title="T"))
    svm = data_report(clean(given, tagsift.make("pl-svm")), title="T")
    assert any("gives no confidences" in words for words in svm.notices)
    assert "What to check first" not in titles(svm)
    sure = Corpus.from_lists(gold.rows, gold.labels)
    report = data_report(clean(sure, PartialCRF(l2=1.0)), title="T")
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
    rows = [(evil * 3 + ["Paris", "is", "big"]) * 2] * 4 + [["w"]] * 10_000
    names = ("<img src=x onerror=alert(1)>", "`a`\u202e", "c" * 3000)
    rng, kinds = np.random.default_rng(0), ["B-<b>", "B-\u2067X", "O"]
    votes = rng.integers(3, size=(sum(map(len, rows)), 3))
    flat = table_of(votes, kinds, names, rows=[[w for row in rows for w in row]])
    bounds = np.cumsum([0, *map(len, rows)])
    found = counted(replace(flat.corpus, bounds=bounds))
    page = render_html(data_report(found, title="<script>x</script>\u202e"))
    assert "<script" not in page and "<img" not in page and "<b>" not in page
    assert not re.search("[\u202e\u2067\x1b]", page)
    assert len(page) < 500_000


def test_many_annotators_and_types_stay_small():
    rng, votes = np.random.default_rng(0), np.full((600, 150), -1)
    for row in np.split(votes, 30):  # views of its sentences
        who = rng.choice(150, 4, replace=False)
        outside = rng.random((20, 4)) < 0.5
        row[:, who] = np.where(outside, 200, rng.integers(200, size=(20, 4)))
    kinds, names = [f"B-T{k}" for k in range(200)], [f"p{a}" for a in range(150)]
    flat = table_of(votes, [*kinds, "O"], names, gold=[["O"] * 600])
    found = counted(replace(flat.corpus, bounds=np.arange(0, 601, 20)))
    report = data_report(found, title="T")
    assert len(section(report, "Who is reliable").tables[0].rows) == 100
    assert len(render_html(report)) < 1_500_000


def test_plain_tags():
    votes = np.tile([[0, 0, -1], [1, 2, 2], [2, 2, 1]], (3, 1))
    corpus = table_of(votes, ("D", "N", "V"), "xyz", scheme="plain").corpus
    told = counted(replace(corpus, bounds=np.arange(0, 10, 3)))
    codes = told.codes.copy()
    codes[1] = 1
    report = data_report(replace(told, codes=codes), title="T")
    tags = section(report, "At a glance").tables[1]
    assert tags.title == "Tags"
    assert {r[0]: r[1] for r in tags.rows} == {"V": 5, "D": 3, "N": 1}
    against = section(report, "Against the majority vote")
    assert against.tables[0].rows[0][:2] == ("another tag", 1)
    assert against.tables[1].rows == (("V → N", 1),)
