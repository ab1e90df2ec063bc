r"""What left-out annotators teach: where the labels of the others are wrong.

In every sentence the most reliable people are left out one at a time, and their votes
are compared with the labels that the text and the others give. With x what is known of
such a label (its probability and that of every other one, the votes on it, its
neighbours, the word) and r the reliability of the one left out, boosted trees learn the
chance z(x, r) that vote and label differ. They differ where the label is wrong, and
where the vote is, which is the rarer the more reliable the voter. Good ones r and poor
ones r' tell the two apart: if errors of votes are in proportion to 1 − r,

.. math::

    w(x) = \frac{z(x, r) - \rho z(x, r')}{1 - \rho}, \qquad
    \rho = \frac{1 - r}{1 - r'},

is the chance that the label is wrong. No label needs to be known for it. Who puts one
label for another far oftener than others do has a habit, which counts in part. With
w(x) goes what confidence and text say; and the log-odds are drawn towards their mean
over the span, and over the word where it has that label again: who misreads a name does
it every time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from tagsift.annotators.confusion import vote_evidence
from tagsift.annotators.ranking import SURE, error_odds, label_lessons, matched
from tagsift.annotators.rounds import Consensus
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "beyond_habit",
    "leave_out",
    "left_out_errors",
    "lessons",
    "measures",
    "share",
]


def lessons(
    found: Consensus, weights: FloatArray, reliability: FloatArray
) -> FloatArray:
    """By how much labels are likelier wrong than text and votes say, as log-odds, [N].

    `weights` and `reliability` are those of the annotators, [A]. Tokens that are known
    exactly tell of the others with the same label.
    """
    table, votes = found.table, vote_evidence(found.log_pi, found.table, weights)
    blind = found.marginals(votes)  # [N, L]
    said = np.where(table.exact >= 0, blind.argmax(axis=1), found.labels)  # [N]
    odds = error_odds(said, blind, found.text)  # [N]
    taught = left_out_errors(said, blind, votes, found, weights, reliability)
    both = odds  # [N]
    if taught is not None:
        part, total = CONSTANTS.taught, float(expit(odds).sum())
        chance = part * expit(taught) + (1 - part) * expit(odds)  # [N]
        both = matched(share(_odds(chance), said, table), total)  # [N]
    by_label = label_lessons(said, expit(both), table)  # [L]
    return both - odds + by_label[found.labels]


def left_out_errors(
    said: IntArray,
    confidences: FloatArray,
    votes: FloatArray,
    found: Consensus,
    weights: FloatArray,
    reliability: FloatArray,
) -> FloatArray | None:
    """Log-odds of w(x) for the labels `said`, [N]; None where there are few votes.

    `votes` is the evidence of all votes, [N, L].
    """
    table, seen, told = found.table, [], []
    weight, votes = found.weights[0], found.weights[0] * votes  # [], [N, L]
    for turn in range(min(CONSTANTS.turns, table.n_annotators)):
        who = leave_out(table, reliability, turn)  # [N]
        own = table.of(np.arange(len(who)), who)  # [N]
        asked = (who >= 0) & (own >= 0) & (own < table.n_labels)  # [N]
        mine = table.annotator == who[table.token]  # [K]
        others = replace(table, corpus=table.corpus.with_votes(~mine))
        e = vote_evidence(found.log_pi, others, weights)  # [N, L]
        label = found.model.best(weight * e)  # [N]
        x = measures(label, found.marginals(e), found.text, weight * e, others)
        seen.append(x[asked])
        told.append(np.stack([who, label, own])[:, asked])
    cast = np.concatenate([np.zeros((3, 0), dtype=int), *told], axis=1)  # [3, K]
    z = cast[1] != cast[2]  # [K]
    if len(z) < CONSTANTS.held_out_votes or z.all() or not z.any():
        return None
    r = reliability[cast[0]]  # [K]
    trees = _fit_trees(
        np.column_stack([np.concatenate(seen), r]), z, beyond_habit(*cast)
    )
    x = measures(said, confidences, found.text, votes, table)  # [N, F]
    poor, good = np.quantile(r, [CONSTANTS.poor, CONSTANTS.good])
    of_poor, of_good = (
        _chance(trees, np.column_stack([x, np.full(len(x), level)]))
        for level in (poor, good)
    )  # [N], [N]
    rho = min((1 - good) / max(1 - poor, SURE), CONSTANTS.alike)
    return _odds((of_good - rho * of_poor) / (1 - rho))


def beyond_habit(who: IntArray, label: IntArray, own: IntArray) -> FloatArray:
    """What every vote of `who` counts that differs from its label, [K].

    Who says the same in place of that label much oftener than is typical of the
    annotators has a habit, and counts as if within it.
    """
    counts = np.ones(len(who))  # [K]
    cast = np.zeros((who.max() + 1, label.max() + 1))  # [A, L]
    np.add.at(cast, (who, label), 1.0)
    differ = np.flatnonzero(label != own)  # [K']
    pairs, which = np.unique(
        np.column_stack([label, own])[differ], axis=0, return_inverse=True
    )  # [P, 2], [K']
    for p, (of, _) in enumerate(pairs):
        mine, n = differ[which.ravel() == p], cast[:, of]  # [K''], [A]
        said = np.bincount(who[mine], minlength=len(n))  # [A]
        rate = (said + CONSTANTS.habit_votes * said.sum() / n.sum()) / (
            n + CONSTANTS.habit_votes
        )  # [A]
        heavy = np.minimum(n, np.quantile(n[n > 0], 0.75))  # [A]
        usual = np.quantile(rate, 0.5, weights=heavy, method="inverted_cdf")
        counts[mine] = np.minimum(1.0, CONSTANTS.habit * usual / rate[who[mine]])
    return counts


def share(odds: FloatArray, said: IntArray, table: VoteTable) -> FloatArray:
    """Draw log-odds to their means: of the word with that label, and of the span, [N].

    What is outside all spans keeps its own. Tokens side by side are taken for one span.
    """
    inside = said != table.outside  # [N]
    if len(table.words):
        place = _forms(table) * table.n_labels + said  # [N]
        odds = np.where(inside, _draw(odds, place, CONSTANTS.by_word), odds)  # [N]
    if table.outside < 0:
        return odds
    begins = table.begins  # [N]
    return _draw(
        odds, np.cumsum(begins | ~inside | ~np.roll(inside, 1)), CONSTANTS.by_span
    )


def _fit_trees(
    X: FloatArray, z: BoolArray, counts: FloatArray
) -> list[HistGradientBoostingClassifier]:
    """Trees for the chance of z, where it counts in part; the rest is no difference."""
    part = z & (counts < 1)  # [K]
    told = (
        np.concatenate([X, X[part]]),
        np.concatenate([z, np.zeros(part.sum(), dtype=bool)]),
        np.concatenate([counts, 1 - counts[part]]),
    )
    with threadpool_limits(1):  # sums over threads differ in their last digits
        return [
            HistGradientBoostingClassifier(
                max_iter=100,
                learning_rate=0.06,
                max_features=0.3,
                min_samples_leaf=50,
                early_stopping=False,
                random_state=seed,
            ).fit(*told)
            for seed in range(CONSTANTS.forests)
        ]


def _chance(forests: list[HistGradientBoostingClassifier], X: FloatArray) -> FloatArray:
    """Chance of z by the mean of all forests, [N]."""
    return np.asarray(np.mean([one.predict_proba(X)[:, 1] for one in forests], axis=0))


def leave_out(table: VoteTable, reliability: FloatArray, turn: int) -> IntArray:
    """Who is left out at every token, [N]: of its sentence the most reliable person.

    In the second turn it is the next, and so on; −1 where there are not as many.
    """
    lengths, n_annotators = np.diff(table.bounds), table.n_annotators  # [S], []
    sentence = np.repeat(np.arange(len(lengths)), lengths)  # [N]
    people = ~table.abstains[table.annotator]  # [K]
    pairs = sentence[table.token] * n_annotators + table.annotator  # [K]
    s, a = np.divmod(np.unique(pairs[people]), n_annotators)  # [P], [P]
    order = np.lexsort((a, -reliability[a], s))  # [P]
    s, a = s[order], a[order]
    place = np.arange(len(s)) - np.searchsorted(s, s)  # [P]: from the most reliable
    who = np.full(len(lengths), -1)  # [S]
    who[s[place == turn]] = a[place == turn]
    return np.asarray(who[sentence])


def measures(
    said: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    votes: FloatArray,
    table: VoteTable,
) -> FloatArray:
    """What is known of the label of every token, and of the next likely one, [N, F].

    `votes` is the evidence of the votes alone, [N, L].
    """
    rows, counts = np.arange(len(said)), table.counts  # [N], [N, L]
    total = counts.sum(axis=1)  # [N]
    against = (total - counts[rows, said] + 0.5) / (total + 1)  # [N]
    doubt = 1 - confidences[rows, said]  # [N]
    lengths = np.diff(table.bounds)  # [S]
    place = rows - np.repeat(table.bounds[:-1], lengths)  # [N]
    left = np.repeat(lengths, lengths) - place - 1  # [N]  tokens to come
    columns = [_odds(doubt), _odds(1 - text[rows, said]), against, total, said, place]
    for apart, missing in ((1, place == 0), (-1, left == 0)):
        columns.append(_odds(np.where(missing, 0, np.roll(doubt, apart))))
        columns.append(np.where(missing, -1, np.roll(said, apart)))
    rest = confidences.copy()  # [N, L]
    rest[rows, said] = -1.0
    second, sure = rest.argmax(axis=1), np.log(np.maximum(text, SURE))  # [N], [N, L]
    columns += [second, _odds(confidences[rows, second])]
    columns += [by[rows, second] - by[rows, said] for by in (sure, votes)]
    columns += [left, *_elsewhere(said, confidences, table)]
    return np.column_stack([*columns, confidences, text])


def _elsewhere(
    said: IntArray, confidences: FloatArray, table: VoteTable
) -> list[FloatArray]:
    """How often the same word has another label, how often it occurs, and its case."""
    if not len(table.words):
        return []
    form = _forms(table)  # [N]
    given = np.zeros((form.max() + 1, table.n_labels))  # [W, L]
    np.add.at(given, form, confidences)
    others = given[form].sum(axis=1) - 1  # [N]
    differ = 1 - given[form, said] / (others + 1)  # [N]
    words = dict.fromkeys(table.words)
    case = [(w.isupper(), w[:1].isupper(), w.isalpha()) for w in words]
    return [differ, others, *np.array(case, dtype=float)[form].T]


def _draw(values: FloatArray, group: IntArray, weight: float) -> FloatArray:
    """Values drawn to the mean of their group by `weight`, [N]."""
    mean = np.bincount(group, weights=values)[group] / np.bincount(group)[group]  # [N]
    return np.asarray((1 - weight) * values + weight * mean)


def _forms(table: VoteTable) -> IntArray:
    """Number of every token's word, by first occurrence, [N]."""
    number = {word: w for w, word in enumerate(dict.fromkeys(table.words))}
    return np.array([number[word] for word in table.words])


def _odds(chance: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(chance, SURE, 1 - SURE)))
