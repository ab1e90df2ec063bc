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

is the chance that the label is wrong. No label needs to be known for it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier

from tagsift.annotators.ballots import Ballots
from tagsift.annotators.ranking import SURE, error_odds, label_lessons
from tagsift.annotators.rounds import Consensus
from tagsift.annotators.tables import vote_evidence
from tagsift.typing import FloatArray, IntArray

__all__ = ["leave_out", "left_out_errors", "lessons", "measures"]

#: How many people of a sentence are left out in turn, and from how many votes on.
_TURNS, _LEAST = 3, 1000
#: Shares of the votes that come from less reliable people than r' and r; the largest ρ.
_POOR, _GOOD, _ALIKE = 0.2, 0.95, 0.8
#: What w(x) counts beside the confidence of the label and the text.
_TAUGHT = 2 / 3


def lessons(
    found: Consensus, ballots: Ballots, weights: FloatArray, reliability: FloatArray
) -> FloatArray:
    """By how much labels are likelier wrong than text and votes say, as log-odds, [N].

    `weights` and `reliability` are those of the annotators, [A]. Tokens that are known
    exactly tell of the others with the same label.
    """
    votes = vote_evidence(found.log_pi, ballots, weights)  # [N, L]
    blind = found.model.marginals(found.temper * votes, found.calm)  # [N, L]
    said = np.where(ballots.exact >= 0, blind.argmax(axis=1), found.labels)  # [N]
    odds = error_odds(said, blind, found.text)  # [N]
    taught = left_out_errors(said, blind, found, ballots, weights, reliability)
    more = 0 * odds if taught is None else _TAUGHT * (taught - odds)  # [N]
    by_label = label_lessons(said, expit(odds + more), ballots)  # [L]
    return more + by_label[found.labels]


def left_out_errors(
    said: IntArray,
    confidences: FloatArray,
    found: Consensus,
    ballots: Ballots,
    weights: FloatArray,
    reliability: FloatArray,
) -> FloatArray | None:
    """Log-odds of w(x) for the labels `said`, [N]; None where there are few votes."""
    model, seen, differs, skill = found.model, [], [], []
    for turn in range(min(_TURNS, ballots.n_annotators)):
        who = leave_out(ballots, reliability, turn)  # [N]
        own = ballots.votes[np.arange(len(who)), who]  # [N]
        asked = (who >= 0) & (own >= 0) & (own < ballots.n_labels)  # [N]
        mine = who[:, None] == np.arange(ballots.n_annotators)  # [N, A]
        others = replace(ballots, votes=np.where(mine, -1, ballots.votes))
        e = found.temper * vote_evidence(found.log_pi, others, weights)  # [N, L]
        label = model.best(e)  # [N]
        x = measures(label, model.marginals(e, found.calm), found.text, others)
        seen.append(x[asked])
        differs.append((own != label)[asked])
        skill.append(reliability[who[asked]])
    z = np.concatenate(differs or [np.zeros(0, dtype=bool)])  # [K]
    if len(z) < _LEAST or z.all() or not z.any():
        return None
    r = np.concatenate(skill)  # [K]
    trees = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.06,
        max_features=0.3,
        min_samples_leaf=50,
        early_stopping=False,
        random_state=0,
    ).fit(np.column_stack([np.concatenate(seen), r]), z)
    x = measures(said, confidences, found.text, ballots)  # [N, F]
    poor, good = np.quantile(r, [_POOR, _GOOD])
    of_poor, of_good = (
        trees.predict_proba(np.column_stack([x, np.full(len(x), level)]))[:, 1]
        for level in (poor, good)
    )  # [N], [N]
    rho = min((1 - good) / max(1 - poor, SURE), _ALIKE)
    return _odds((of_good - rho * of_poor) / (1 - rho))


def leave_out(ballots: Ballots, reliability: FloatArray, turn: int) -> IntArray:
    """Who is left out at every token, [N]: of its sentence the most reliable person.

    In the second turn it is the next, and so on; −1 where there are not as many.
    """
    lengths = np.diff(ballots.offsets)  # [S]
    begins = ballots.offsets[:-1][lengths > 0]  # [S']
    voted = (ballots.votes >= 0) & ~ballots.abstains  # [N, A]
    there = np.logical_or.reduceat(voted, begins, axis=0)  # [S', A]
    order = np.argsort(np.where(there, -reliability, np.inf), axis=1, kind="stable")
    found = np.where(there.sum(axis=1) > turn, order[:, turn], -1)  # [S']
    return np.asarray(np.repeat(found, lengths[lengths > 0]))


def measures(
    said: IntArray, confidences: FloatArray, text: FloatArray, ballots: Ballots
) -> FloatArray:
    """What is known of the label of every token, [N, F]."""
    rows, counts = np.arange(len(said)), ballots.counts  # [N], [N, L]
    total = counts.sum(axis=1)  # [N]
    against = (total - counts[rows, said] + 0.5) / (total + 1)  # [N]
    doubt = 1 - confidences[rows, said]  # [N]
    lengths = np.diff(ballots.offsets)  # [S]
    place = rows - np.repeat(ballots.offsets[:-1], lengths)  # [N]
    left = np.repeat(lengths, lengths) - place - 1  # [N]  tokens to come
    columns = [_odds(doubt), _odds(1 - text[rows, said]), against, total, said, place]
    for apart, missing in ((1, place == 0), (-1, left == 0)):
        columns.append(_odds(np.where(missing, 0, np.roll(doubt, apart))))
        columns.append(np.where(missing, -1, np.roll(said, apart)))
    columns += [left, *_elsewhere(said, confidences, ballots)]
    return np.column_stack([*columns, confidences, text])


def _elsewhere(
    said: IntArray, confidences: FloatArray, ballots: Ballots
) -> list[FloatArray]:
    """How often the same word has another label, how often it occurs, and its case."""
    if not len(ballots.words):
        return []
    number = {word: w for w, word in enumerate(dict.fromkeys(ballots.words))}
    form = np.array([number[word] for word in ballots.words])  # [N]
    given = np.zeros((len(number), ballots.n_labels))  # [W, L]
    np.add.at(given, form, confidences)
    others = given[form].sum(axis=1) - 1  # [N]
    differ = 1 - given[form, said] / (others + 1)  # [N]
    case = [(w.isupper(), w[:1].isupper(), w.isalpha()) for w in number]
    return [differ, others, *np.array(case, dtype=float)[form].T]


def _odds(chance: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(chance, SURE, 1 - SURE)))
