"""Estimators of our own: the paper's model, ChainGP, and a floor to compare with."""

from __future__ import annotations

from tagsift.models.chain_gp import ChainGP
from tagsift.models.majority import Majority
from tagsift.models.sgppsl import SGPPSL

__all__ = ["SGPPSL", "ChainGP", "Majority"]
