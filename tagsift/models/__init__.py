"""Estimators of our own: the paper's model, and a floor to compare with."""

from __future__ import annotations

from tagsift.models.majority import Majority
from tagsift.models.sgppsl import SGPPSL

__all__ = ["SGPPSL", "Majority"]
