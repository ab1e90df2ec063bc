"""The contract of tagsift's estimators, as checks that anyone can run on their own.

>>> from tagsift.checks import check_estimator
>>> from tagsift.models import Majority
>>> check_estimator(Majority())

Which checks fit an estimator follows from its ``method``: whether it takes exact labels
only, has probabilities, and sees transitions. A slow estimator may declare cheaper
settings in ``_check_params``, and checks that it cannot meet, each with the reason, in
``_check_skips``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TypeAlias

from tagsift.base import SequenceTagger
from tagsift.checks import (
    common,
    errors,
    inputs,
    partial,
    persistence,
    probabilistic,
    structured,
)
from tagsift.errors import TagsiftWarning

__all__ = ["Check", "check_estimator", "yield_checks"]

#: A check takes an estimator and raises an `AssertionError` where it fails.
Check: TypeAlias = Callable[[SequenceTagger], None]


def _checks_in(module: ModuleType) -> list[Check]:
    return [getattr(module, name) for name in module.__all__]


def _apply(estimator: SequenceTagger) -> Iterator[Check]:
    """Yield the checks that fit the estimator's kind."""
    method = estimator.method
    for module in (common, inputs):
        yield from _checks_in(module)
    for check in _checks_in(partial):
        if check is partial.check_refuses_candidates:
            fits = method.exact_only
        elif check is partial.check_full_sets:
            fits = not method.exact_only
        else:
            fits = True
        if fits:
            yield check
    for check in _checks_in(probabilistic):
        if check is probabilistic.check_no_marginals:
            fits = not method.probabilities
        elif check is probabilistic.check_marginals_of_full_sets:
            fits = method.probabilities and not method.exact_only
        else:
            fits = method.probabilities
        if fits:
            yield check
    yield (
        structured.check_sees_neighbours
        if method.structured
        else structured.check_ignores_neighbours
    )
    for module in (persistence, errors):
        yield from _checks_in(module)


def yield_checks(estimator: SequenceTagger) -> Iterator[Check]:
    """Yield the checks that an estimator of this kind must pass.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted or not; it is not changed.

    Yields
    ------
    check : callable
        To be called with the estimator.
    """
    skips = type(estimator)._check_skips
    for check in _apply(estimator):
        if getattr(check, "__name__", "") not in skips:
            yield check


def check_estimator(estimator: SequenceTagger) -> None:
    """Run all checks that fit the estimator.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted or not; it is not changed.

    Raises
    ------
    AssertionError
        From the first check that fails, with its name and what was expected.
    """
    for check in yield_checks(estimator):
        title = f"{type(estimator).__name__}, {getattr(check, '__name__', check)}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TagsiftWarning)
                check(estimator)
        except AssertionError as error:
            raise AssertionError(f"{title}: {error}") from error
        except Exception as error:
            raise AssertionError(
                f"{title}: stopped by {type(error).__name__}: {error}"
            ) from error
