"""The contract of tagsift's estimators, as checks that anyone can run on their own.

>>> from tagsift.checks import check_estimator
>>> from tagsift.baselines import WordCounts
>>> check_estimator(WordCounts())

Which checks fit an estimator follows from its ``method``: whether it takes exact labels
only, has probabilities, and sees transitions. A slow estimator may declare cheaper
settings in ``_check_params``, and checks that it cannot meet, each with the reason, in
``_check_skips``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tagsift.base import Method, SequenceTagger
from tagsift.checks import common, inputs, partial, persistence
from tagsift.errors import TagsiftWarning

__all__ = ["Check", "check_estimator", "yield_checks"]

#: A check takes an estimator and raises an `AssertionError` where it fails.
Check: TypeAlias = Callable[[SequenceTagger], None]

_MODULES = (common, inputs, partial, persistence)
#: Checks on candidate sets, which methods that learn from votes do not take.
_ON_CANDIDATES = (
    "check_all_exact",
    "check_bad_input",
    "check_confidences",
    "check_failed_fit",
    "check_full_sets",
    "check_input_is_not_modified",
    "check_kinds_of_candidates",
    "check_labels_are_complete",
    "check_marginals_of_full_sets",
    "check_masks",
    "check_one_token",
    "check_recovered",
)
#: Which methods a check is for, where it is not for all of them.
_FITS: dict[str, Callable[[Method], bool]] = {
    "check_refuses_candidates": lambda method: method.exact_only,
    "check_full_sets": lambda method: not method.exact_only,
    "check_no_marginals": lambda method: not method.probabilities,
    "check_marginals_of_full_sets": lambda method: (
        method.probabilities and not method.exact_only
    ),
    "check_sees_neighbours": lambda method: method.structured,
    "check_ignores_neighbours": lambda method: not method.structured,
}


def yield_checks(estimator: SequenceTagger) -> Iterator[Check]:
    """Yield the checks that an estimator of this kind must pass."""
    method, skips = estimator.method, type(estimator)._check_skips
    for module in _MODULES:
        for name in module.__all__:
            usual = method.probabilities or "marginal" not in name
            fits = _FITS[name](method) if name in _FITS else usual
            fits = fits and not (method.votes and name in _ON_CANDIDATES)
            if fits and name not in skips:
                yield getattr(module, name)


def check_estimator(estimator: SequenceTagger) -> None:
    """Run all checks that fit the estimator.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted or not; it is not changed.

    Raises
    ------
    AssertionError
        From the first check that fails, with its name, what it asks for and, where
        there is more to say, what was found.
    """
    for check in yield_checks(estimator):
        title = f"{type(estimator).__name__}, {getattr(check, '__name__', check)}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TagsiftWarning)
                check(estimator)
        except AssertionError as error:
            raise AssertionError(f"{title}: {check.__doc__} {error}") from error
        except Exception as error:
            raise AssertionError(
                f"{title}: stopped by {type(error).__name__}: {error}"
            ) from error
