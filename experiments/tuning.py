"""Settings tuned once on the first training fold of a setting, and used for the others.

What is tuned and how it is read off a fitted model stands here; the estimators do the
tuning themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tagsift.errors import InputError

__all__ = ["TUNERS", "Tuner", "tuner_of"]


@dataclass(frozen=True)
class Tuner:
    """How a method is tuned.

    Parameters
    ----------
    ask : mapping
        Settings that make a fit tune itself.
    read : callable
        Fitted model → the settings found.
    hurry : mapping
        Settings that shorten a fit of which only the tuning is wanted.
    """

    ask: Mapping[str, Any]
    read: Callable[[Any], dict[str, Any]]
    hurry: Mapping[str, Any] = field(default_factory=dict)


def _kernel(model: Any) -> dict[str, Any]:
    """Width and amplitude of the kernel, the same for all labels."""
    return {
        "theta": float(np.median(model.kernel_.theta)),
        "amplitude": float(np.median(model.kernel_.amplitude)),
    }


def _groups(model: Any) -> dict[str, Any]:
    """Hyperparameters of all feature groups."""
    return {"kernel": model.kernel_.as_dict()}


def _penalty(model: Any) -> dict[str, Any]:
    return {"l2": float(model.l2_)}


#: Methods that can be tuned, by table name.
TUNERS: dict[str, Tuner] = {
    "sgppsl": Tuner({}, _kernel, {"max_iter": 1}),
    "chain-gp": Tuner({}, _groups, {"max_iter": 1, "temperature": 1.0}),
    "partial-crf": Tuner({"tune": True}, _penalty),
    "crf": Tuner({"tune": True}, _penalty),
}


def tuner_of(method: str) -> Tuner:
    """Return how `method` is tuned."""
    if method not in TUNERS:
        raise InputError(
            f"{method} has no tuning of its own; remove its entry `tuning` from the "
            f"suite (tuned can be: {', '.join(TUNERS)})."
        )
    return TUNERS[method]
