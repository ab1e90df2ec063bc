"""Annotators: how they err, what their votes are worth, and what the truth is.

``ballots``       votes as arrays
``tables``        the chance of a vote, given the truth and the vote before
``start``         where the rounds begin
``copies``        annotators who copy each other
``cross_fit``     text models that never saw the votes they help to judge
``judge``         how much votes are worth, chosen by the text
``rounds``        annotators → evidence → text → labels, and again
``people``        a report on each annotator
``ranking``       where a second look pays
``vote_tagger``   VoteTagger, the estimator
``counting``      majority vote, Dawid–Skene and MACE (``mace``)
"""

from __future__ import annotations

from tagsift.annotators.counting import MACE, DawidSkene, MajorityVote
from tagsift.annotators.people import AnnotatorReport
from tagsift.annotators.ranking import Look
from tagsift.annotators.vote_tagger import VoteTagger

__all__ = [
    "MACE",
    "AnnotatorReport",
    "DawidSkene",
    "Look",
    "MajorityVote",
    "VoteTagger",
]
