"""Annotators: how they err, what their votes are worth, and what the truth is.

``vote_table``    votes as tables count them
``tables``        the chance of a vote, given the truth and the vote before
``start``         where the rounds begin
``spammers``      who knows the label, and who gives any (MACE)
``copies``        annotators who copy each other
``cross_fit``     text models that never saw the votes they help to judge
``judge``         how much votes are worth, chosen by the text
``rounds``        annotators → evidence → text → labels, and again
``decision``      how readily the tagger sees spans in new text
``people``        a report on each annotator, also against labels that are given
``ranking``       where a second look pays
``reasons``       why it pays, in kinds and in words
``left_out``      what annotators who are left out tell of the labels' errors
``stopping``      wrong labels that are left, and what the next looks should find
``new_votes``     votes on new sentences, of annotators who are known
``vote_tagger``   VoteTagger, the estimator
``counting``      majority vote, Dawid–Skene (``hidden_labels``) and MACE
``wawa``          a majority in which annotators weigh what they agree with it
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.annotators.annotator_report import *
from tagsift.annotators.counting import MACE as MACE
from tagsift.annotators.counting import DawidSkene as DawidSkene
from tagsift.annotators.counting import MajorityVote as MajorityVote
from tagsift.annotators.counting import quick_labels as quick_labels
from tagsift.annotators.dawid_skene import *
from tagsift.annotators.outlook import *
from tagsift.annotators.ranking import *
from tagsift.annotators.reasons import *
from tagsift.annotators.vote_table import VoteTable as VoteTable
from tagsift.annotators.vote_table import vote_table as vote_table
from tagsift.annotators.vote_tagger import *
from tagsift.annotators.wawa import *
