"""Annotators: how they err, what their votes are worth, and what the truth is.

``vote_table``            votes as tables count them
``settings``              every constant, with what set it
``confusion``             the chance of a vote, given the truth and the vote before
``copies``, ``kinds``     who copies whom; which annotators are models
``mace``, ``dawid_skene``, ``wawa``, ``counting``   labels from votes alone
``initialise``            where the rounds begin
``cross_fit``, ``text_views``, ``text_model``, ``sharded_chains``
                          text models that never saw the votes they help to judge
``vote_weight``           how much votes are worth
``rounds``                annotators → evidence → text → labels, and again
``whole_spans``           labels of whole spans
``temperature``           how sure text and votes together may be
``vote_tagger``           VoteTagger, the estimator; ``from_votes`` its base
``new_votes``             votes on new sentences, of annotators who are known
``annotator_report``      a report on each annotator
``ranking``, ``reasons``, ``held_out_annotators``   where a second look pays, and why
``outlook``               wrong labels that are left, and what looks should find
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
