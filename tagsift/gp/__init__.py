"""What both Gaussian processes share.

`kernels` (one per label, or a sum over feature groups), `inducing` (which tokens carry
a posterior), `search` (for hyperparameters).
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.gp.inducing import *
from tagsift.gp.kernels import *
from tagsift.gp.search import *
