"""The tables of annotators, the evidence of votes and the judge, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from tagsift.annotators import DawidSkene
from tagsift.annotators.ballots import read_ballots
from tagsift.annotators.judge import (
    choose_temper,
    judge_score,
    least_temper,
    mechanical,
    preferred_temper,
)
from tagsift.annotators.rounds import weight_limits
from tagsift.annotators.spammers import mace
from tagsift.annotators.start import first_tables, vote_shares
from tagsift.annotators.tables import confusion_tables, count_votes, vote_evidence
from tagsift.data import VoteCorpus
from tagsift.errors import InputError

CLASSES = ("B-X", "I-X", "O")
NAMES = ("ann", "bob", "rule")


@pytest.fixture
def ballots():
    rng = np.random.default_rng(3)
    lengths = np.array([4, 1, 6, 3])
    votes = []
    for length in lengths:
        sentence = []
        for _ in range(length):
            token = [str(rng.choice(CLASSES)) for _ in NAMES]
            if rng.random() < 0.3:
                token[int(rng.integers(2))] = None
            if rng.random() < 0.3:
                token[0] = frozenset(["B-X", "O"])
            sentence.append(tuple(token))
        votes.append(sentence)
    exact = [[None] * length for length in lengths]
    exact[2][1] = "I-X"
    return read_ballots(
        votes, CLASSES, lengths, names=NAMES, abstaining=["rule"], exact=exact
    )


def previous(ballots, n, a):
    """What annotator a said of the token before n: a label, or the start."""
    start = len(CLASSES)
    if n in ballots.offsets or ballots.abstains[a]:
        return start
    vote = ballots.votes[n - 1, a]
    return int(vote) if 0 <= vote < start else start


def test_counts_are_those_of_a_loop(ballots):
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(3), ballots.n_tokens)
    expected = np.zeros((3, 3, 4, 3))
    for n in range(ballots.n_tokens):
        weight = 5.0 if ballots.exact[n] >= 0 else 1.0
        for a in range(3):
            vote = ballots.votes[n, a]
            if vote >= 0:
                names = np.flatnonzero(ballots.members[vote])
                for v in names:
                    cell = expected[a, :, previous(ballots, n, a), v]
                    cell += weight * q[n] / len(names)
    np.testing.assert_allclose(count_votes(q, ballots), expected, atol=1e-12)


def test_evidence_is_that_of_a_loop(ballots):
    counts = count_votes(vote_shares(ballots), ballots)
    log_pi = confusion_tables(counts, ballots.abstains)
    np.testing.assert_allclose(np.exp(log_pi).sum(axis=3), 1.0)
    weights = np.array([1.0, 0.5, 1.0])
    expected = np.zeros((ballots.n_tokens, 3))
    for n in range(ballots.n_tokens):
        for a in range(3):
            vote = ballots.votes[n, a]
            if vote >= 0:
                names = np.flatnonzero(ballots.members[vote])
                rows = log_pi[a, :, previous(ballots, n, a)][:, names]
                expected[n] += weights[a] * logsumexp(rows, axis=1)
    found = vote_evidence(log_pi, ballots, weights)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_whoever_labelled_nothing_is_judged_like_the_others():
    counts = np.zeros((2, 2, 1, 2))
    counts[0] = np.array([[80.0, 20.0], [10.0, 90.0]])[:, None]
    log_pi = confusion_tables(counts, np.zeros(2, dtype=bool))
    np.testing.assert_allclose(
        np.exp(log_pi[1, :, 0]), [[0.8, 0.2], [0.1, 0.9]], atol=0.02
    )


def test_tables_of_models_are_averaged_with_those_without_context(ballots):
    counts = count_votes(vote_shares(ballots), ballots)
    context = confusion_tables(counts, ballots.abstains)
    plain = confusion_tables(counts, ballots.abstains, followed=0.0)
    for a, kind in ((0, [0, 1]), (1, [0, 1]), (2, [2])):
        for y in range(3):
            pooled = counts[kind][:, y].sum(axis=(0, 1)) + 0.1 + 2.0 * np.eye(3)[y]
            own = counts[a, y].sum(axis=0) + 20 * pooled / pooled.sum()
            for b in range(counts.shape[2]):
                np.testing.assert_allclose(np.exp(plain[a, y, b]), own / own.sum())
    third = confusion_tables(counts, ballots.abstains, followed=1 / 3)
    np.testing.assert_allclose(third, context / 3 + plain * 2 / 3)
    evidence = [vote_evidence(pi, ballots) for pi in (context, plain)]
    singles = ballots.votes.max(axis=1) < len(CLASSES)  # no sets
    expected = evidence[0] / 3 + evidence[1] * 2 / 3
    np.testing.assert_allclose(
        vote_evidence(third, ballots)[singles], expected[singles]
    )


def test_votes_that_the_text_knows_token_by_token_are_those_of_models():
    rng = np.random.default_rng(5)
    plain = 3.0 * rng.normal(size=(300, 3))
    text = np.exp(0.4 * plain + 0.5 * rng.normal(size=(300, 3)))
    text /= text.sum(axis=1, keepdims=True)
    ratio = []
    for blur in (0.0, 0.5, 0.75, 3.0):
        context = plain + blur * rng.normal(size=(300, 3))
        apart = []
        for e in (context, plain):
            temper = preferred_temper(text, e)
            prior = np.log(text.mean(axis=0))
            total = 0.0
            for q, row in zip(text, temper * e + prior, strict=True):
                said = row - logsumexp(row)
                total += sum(q * (np.log(q) - said))
            apart.append(total)
        ratio.append(apart[0] / apart[1])
        expected = min(max((ratio[-1] - 1.15) / 0.2, 0.0), 1.0)
        assert mechanical(text, context, plain) == pytest.approx(expected, abs=1e-9)
        beside = mechanical(text, context, plain, vectors=True)
        assert beside == pytest.approx(np.clip((ratio[-1] - 1.3) / 0.4, 0, 1), abs=1e-9)
    assert ratio[0] == 1.0 and 1.15 < ratio[1] < 1.35 < ratio[-1]


def test_shares_leave_out_those_who_abstain_and_pin_the_known(ballots):
    shares = vote_shares(ballots)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    known = np.flatnonzero(ballots.exact >= 0)
    assert shares[known].argmax(axis=1).tolist() == [1]
    silent = read_ballots(
        [[("O", "O"), ("B-X", "O")]],
        CLASSES,
        np.array([2]),
        names=("r", "s"),
        abstaining=("r", "s"),
    )
    assert vote_shares(silent).argmax(axis=1).tolist() == [2, 0]


def test_sources_that_abstain_are_counted_once(ballots):
    shares = vote_shares(ballots)
    counts = count_votes(mace(ballots, shares), ballots)
    once = confusion_tables(counts, ballots.abstains)
    found = first_tables(shares, ballots, n_steps=2)
    np.testing.assert_allclose(found[2], once[2])
    assert not np.allclose(found[0], once[0])
    np.testing.assert_allclose(first_tables(shares, ballots), once)  # few tokens


def test_the_judge_finds_the_temper_that_made_the_text():
    rng = np.random.default_rng(1)
    e = 6.0 * rng.normal(size=(4000, 3))
    text = np.exp(0.5 * e)
    text /= text.sum(axis=1, keepdims=True)
    voted = np.ones(4000, dtype=bool)
    temper, score = choose_temper(text, e, voted, 0.25)
    assert temper == pytest.approx(0.5, abs=0.051)
    assert score >= judge_score(text, e, 0.25)
    assert choose_temper(text, e, voted, 0.9)[0] == 0.9
    assert choose_temper(text, e, ~voted, 0.4) == (0.4, 0.0)


@pytest.mark.parametrize(
    ("votes", "options", "message"),
    [
        ([[("B-Y", "O")]], {}, "the vote 'B-Y' is neither"),
        ([[("O",)]], {}, "one vote .* for each of the 2 annotators"),
        ([[("O", "O")], []], {}, "must be as many"),
        ([[("O", "O"), ("O", "O")]], {}, "X has 1 tokens"),
        ([[("O", "O")]], {"abstaining": ["eve"]}, "no annotator 'eve'"),
        ([[("O", "O")]], {"exact": [["B-Z"]]}, "'B-Z' exactly"),
        ([[("O", "O")]], {"exact": [[]]}, "one entry"),
    ],
)
def test_votes_that_cannot_be_read_are_refused(votes, options, message):
    with pytest.raises(InputError, match=message):
        read_ballots(votes, CLASSES, np.array([1]), names=("a", "b"), **options)


def test_a_text_that_knows_much_takes_votes_at_most_at_the_given_weight():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)  # [N]
    text = np.where(np.eye(3)[truth] > 0, 0.96, 0.02)  # [N, L]
    evidence = np.log(np.where(np.eye(3)[truth] > 0, 0.6, 0.2))  # [N, L]
    voted = np.ones(400, dtype=bool)
    free, _ = choose_temper(text, evidence, voted, least=0.25)
    assert free > 0.3
    assert choose_temper(text, evidence, voted, least=0.25, most=0.3)[0] == 0.3


@pytest.mark.parametrize(
    ("names", "weights", "limits"),  # before any text, least later, least of models
    [
        ("ab", [1.0, 1.0], (0.55, 0.55, 0.7)),  # two votes a token
        ("ab", [0.5, 0.5], (0.6, 0.6, 0.7)),  # copies count as one
        ("abcd", [0.9] * 4, (1.1 / 3.6, 1.1 / 3.6, 2.1 / 3.6)),
        ("abcdef", [1.0] * 6, (0.3, 0.25, 0.5)),  # many, as in large crowds
    ],
)
def test_the_fewer_votes_on_a_token_the_more_each_is_worth(names, weights, limits):
    votes = [[("O",) * len(names), ("B-X",) * len(names), (None,) * len(names)]]
    made = read_ballots(votes, CLASSES, np.array([3]), names=tuple(names))
    assert weight_limits(made, np.array(weights)) == pytest.approx(limits)


@pytest.mark.parametrize("found", [0.0, 0.25, 0.4, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("least", [0.2, 0.6, 1.3])
def test_votes_weigh_more_beside_a_text_that_finds_few_rare_labels(found, least):
    """Twenty spans, of which the text finds some: (½ / share)² times, at most four."""
    said = np.repeat([2, 0], [80, 20])  # [N]  O, and 20 spans
    heard = said.copy()
    heard[80 + round(20 * found) :] = 2  # the text says O of the rest
    text = np.where(np.eye(3)[heard] > 0, 0.9, 0.05)  # [N, L]
    evidence = np.where(np.eye(3)[said] > 0, 20.0, 0.0)  # [N, L]
    voted = np.ones(100, dtype=bool)
    by_chance = (0.9 * 20 * found + 0.05 * (100 - 20 * found)) / 100
    share = (found - by_chance) / (1 - by_chance)
    more = (0.5 / min(max(share, 0.25), 0.5)) ** 2
    expected = max(least, min(least * more, 1.2))
    assert least_temper(text, evidence, voted, least) == pytest.approx(expected)
    assert least_temper(text, evidence, ~voted, least) == least
    assert least_temper(text, evidence, said == 2, least) == least


@pytest.mark.parametrize("others", [(), (None,)])
def test_dawid_and_skene_believe_who_stands_alone(others):
    """Nobody can be judged where no two annotators meet: rare labels were mixed up."""
    said = ["B-X"] * 8 + ["I-X"] * 4 + ["O"] * 120
    votes = [[(label, *others)] for label in said]
    names = ("a", "b")[: 1 + len(others)]
    corpus = VoteCorpus([[("x",)]] * len(said), votes, names, None, "iob2")
    found = DawidSkene().fit(corpus.rows, corpus).recovered_
    assert found == [[label] for label in said]
