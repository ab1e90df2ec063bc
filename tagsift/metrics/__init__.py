"""Scores: spans, tokens, recovered labels, calibration, review.

`evaluate` computes everything for one labelling; the other functions compute one family
each. All scores are fractions between 0 and 1 unless their docstring says otherwise.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.metrics._pairs import Tally as Tally
from tagsift.metrics._pairs import equal_labels as equal_labels
from tagsift.metrics._pairs import label_indices as label_indices
from tagsift.metrics.calibration import *
from tagsift.metrics.recovery import *
from tagsift.metrics.report import *
from tagsift.metrics.review import *
from tagsift.metrics.spans import *
from tagsift.metrics.tokens import *
