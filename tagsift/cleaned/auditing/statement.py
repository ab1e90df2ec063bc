"""What can be stated after the looks that were taken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tagsift.cleaned.auditing.bound import Bounds, Looks, bounds, increments
from tagsift.cleaned.auditing.drawing import DESIGN
from tagsift.cleaned.auditing.refitting import (
    Lesson,
    calibration_errors,
    lesson,
    refitted,
)
from tagsift.cleaned.auditing.shares import (
    Share,
    Tally,
    expected,
    found,
    part_expected,
    part_found,
    parts,
)
from tagsift.cleaned.cleaned import Cleaned
from tagsift.errors import InputError, NotSupportedError
from tagsift.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tagsift.cleaned.auditing.plan import AuditPlan

__all__ = ["Estimate", "Statement"]

#: Resamples of the looks taken.
_RESAMPLES = 200
#: How many times as many looks they are followed.
_FARTHEST = 40


@dataclass(frozen=True)
class Estimate:
    """A share, and between what it lies, at every moment of the audit.

    `low` and `high` hold one by one, each with a chance of `level`; `between` holds for
    both ends together.
    """

    value: float
    low: float
    high: float
    level: float
    between: tuple[float, float]

    def complement(self) -> Estimate:
        """One minus the share."""
        ends = (1 - self.between[1], 1 - self.between[0])
        return Estimate(1 - self.value, 1 - self.high, 1 - self.low, self.level, ends)


class Statement:
    """The shares of wrong labels, after the looks of a plan that count."""

    def __init__(self, plan: AuditPlan, level: float) -> None:
        self.plan, self.level = plan, level
        self.looks = np.array(plan.looks, dtype=np.int64)  # [n]

    @cached_property
    def errors(self) -> Estimate:
        """The share of tokens whose label is wrong."""
        return self._overall("errors")

    @cached_property
    def span_f1(self) -> Estimate:
        """The F1 of the spans."""
        return self._overall("span_f1").complement()

    @cached_property
    def precision(self) -> Estimate:
        """The share of the spans found that are right."""
        return self._overall("precision").complement()

    @cached_property
    def recall(self) -> Estimate:
        """The share of the true spans that are found."""
        return self._overall("recall").complement()

    def sentence(self) -> str:
        """The statement in one line."""
        n, level = len(self.looks), f"{100 * self.level:g} % sure"
        errors, f1 = self.errors, self.span_f1
        if n < min(DESIGN.least_looks, len(self.plan.order)):
            return (
                f"Nothing can be stated after {n} looks; {DESIGN.least_looks} are the "
                f"least (best guess: {100 * errors.value:.1f} % of the labels are "
                "wrong)."
            )
        return (
            f"At most {_up(errors.high)} % of the labels are wrong ({level}; best "
            f"guess {100 * errors.value:.1f} %). Span F1 at least {_down(f1.low)} "
            f"(best guess {100 * f1.value:.1f})."
        )

    @property
    def waiting(self) -> int:
        """Answers that do not count yet, since one drawn before them is missing."""
        return len(self.plan.answers) - len(self.looks)

    def by(self, kind: str) -> dict[str, Estimate]:
        """Shares of wrong labels, part by part, that hold all at once.

        Parameters
        ----------
        kind : {"label", "annotator", "document"}
            Tokens by the type of their label, votes by annotator, tokens by document.

        Returns
        -------
        dict of str to Estimate
            The parts of which so many sentences are among those planned that something
            can be stated. Their errors are shared out: with K parts each has the level
            1 − (1 − level) / K, so that all bounds hold together at `level`.
        """
        labels = self.plan.audited
        drawn = self.plan.order[: self.plan.planned]
        chosen = []
        for part in parts(labels, kind):
            tally = part_expected(labels, part)
            inside = tally.size > 0  # [S]
            if int(inside[drawn].sum()) >= min(DESIGN.least_looks, inside.sum()) > 0:
                chosen.append((part, tally, inside))
        truth = np.full(len(labels.codes), -1, dtype=np.int64)
        for s in self.looks:
            lo, hi = labels.corpus.bounds[s : s + 2]
            truth[lo:hi] = self.plan.truth(int(s))
        stated = {}
        for part, tally, inside in chosen:
            seen = part_found(labels, part, truth)
            looks = self.looks[inside[self.looks]]
            seen = Tally(seen.errors[looks], seen.size[looks])
            stated[part.name] = self._estimate(
                tally, seen, inside, looks, True, len(chosen)
            )
        return stated

    def looks_until(self, aim: float, level: float | None = None) -> int | None:
        """How many more looks would show that at most `aim` of the labels are wrong.

        The looks taken are drawn again and again; the number by which half of the
        draws are there. None where so many are wrong, or too few looks were taken.
        """
        if not 0 < aim < 1:
            raise InputError(f"aim must be a share between 0 and 1; got {aim!r}.")
        alpha = 1 - (self.level if level is None else level)
        if self.errors.high <= aim:
            return 0
        n, left = len(self.looks), len(self.plan.order) - len(self.looks)
        if n < 2 or self.errors.value >= aim:
            return None
        taken = self._taken("errors")
        rng = np.random.default_rng(self.plan.seed)
        ahead = min(left, _FARTHEST * max(n, DESIGN.least_looks))
        picks = rng.integers(n, size=(_RESAMPLES, ahead))
        weights = self.plan.weights[self.plan.order]
        mass = 1 - (np.cumsum(weights) - weights) / weights.sum()
        ticks = np.maximum(mass, weights / weights.sum())[: n + ahead] ** -2.0
        clock = np.broadcast_to(np.cumsum(ticks), (_RESAMPLES, n + ahead))

        def followed(column: FloatArray) -> FloatArray:
            """The column, and more of it: what varies shrinks with what is left."""
            mean = column.sum() / ticks[:n].sum()
            spread = (column / ticks[:n] - mean) * np.sqrt(ticks[:n])  # [n]
            again = mean * ticks[n:] + spread[picks] * np.sqrt(ticks[n:])  # [R, ahead]
            past = np.broadcast_to(column, (_RESAMPLES, n))
            return np.concatenate([past, again], axis=1)

        future = Looks(
            followed(taken.errors),
            followed(taken.size),
            followed(taken.control),
            clock,
            taken.planned,
            taken.mean_size,
        )
        met = bounds(future, alpha).high[:, n:] <= aim  # [R, ahead]
        first = np.where(met.any(axis=1), met.argmax(axis=1) + 1, left)
        return int(np.median(first))

    @cached_property
    def _lesson(self) -> Lesson:
        truth = [self.plan.truth(int(s)) for s in self.looks]
        return lesson(self.plan.audited, self.plan.weights, self.looks, truth)

    @cached_property
    def calibration(self) -> tuple[float, float] | None:
        """Calibration error on the looks, before and after a fit to other looks.

        None without a model that has confidences, or before the least looks.
        """
        if self.plan.audited.steps is None or len(self.looks) < DESIGN.least_looks:
            return None
        return calibration_errors(self.plan.audited, self._lesson)

    @cached_property
    def cleaned(self) -> Cleaned:
        """The result after the looks: their labels exact, confidences fitted to them.

        It has other labels than those that the statement is about, and needs a draw of
        its own to be stated.
        """
        if self.plan.cleaned is None or self.plan.audited.steps is None:
            raise NotSupportedError(
                "expected a plan made of a result with confidences, found none; audit "
                "what tagsift.cleaned.clean returns, by a method that gives them."
            )
        if not len(self.looks):
            return self.plan.cleaned
        return refitted(self.plan.cleaned, self.plan.audited, self._lesson)

    # How ----------------------------------------------------------------------------

    def _overall(self, share: Share) -> Estimate:
        labels = self.plan.audited
        tally = expected(labels, share)
        known = share in ("errors", "precision")
        every = np.ones(len(labels.corpus), dtype=bool)
        return self._estimate(tally, self._seen(share), every, self.looks, known, 1)

    def _seen(self, share: Share) -> Tally:
        truth = [self.plan.truth(int(s)) for s in self.looks]
        stacked = np.concatenate([np.zeros(0, dtype=np.int64), *truth])
        return found(self.plan.audited, share, self.looks, stacked)

    def _taken(self, share: Share) -> Looks:
        tally = expected(self.plan.audited, share)
        every = np.ones(len(tally.size), dtype=bool)
        return _looks(self.plan, tally, self._seen(share), every, self.looks)

    def _estimate(
        self,
        model: Tally,
        seen: Tally,
        inside: BoolArray,
        looks: IntArray,
        known: bool,
        shared_by: int,
    ) -> Estimate:
        """The share in the sentences `inside`; its error is one of so many."""
        alpha = (1 - self.level) / shared_by
        open_ = inside & (self.plan.weights > 0)
        if len(looks) == int(open_.sum()):  # everything has been seen
            settled = inside & ~open_
            size = seen.size.sum() + model.size[settled].sum()
            exact = float(seen.errors.sum() / size) if size else 0.0
            return Estimate(exact, exact, exact, self.level, (exact, exact))
        if not len(looks):
            value = model.errors[inside].sum() / max(model.size[inside].sum(), 1e-300)
            return Estimate(float(value), 0.0, 1.0, self.level, (0.0, 1.0))
        taken = _looks(self.plan, model, seen, inside, looks)
        one, two = bounds(taken, alpha), bounds(taken, alpha / 2)
        floor, ceiling = 0.0, 1.0
        if known:  # what was seen is there, and no more than everything else is wrong
            size = model.size[inside].sum()
            rest = model.size[open_].sum() - seen.size.sum()
            floor = float(seen.errors.sum() / size)
            ceiling = float((seen.errors.sum() + rest) / size)
        low, high = _last(one, floor, ceiling)
        between = _last(two, floor, ceiling)
        value = float(np.clip(np.nan_to_num(one.value[-1]), floor, ceiling))
        return Estimate(value, low, high, self.level, between)


def _looks(
    plan: AuditPlan,
    model: Tally,
    seen: Tally,
    inside: BoolArray,
    looks: IntArray,
) -> Looks:
    """Looks at the sentences `inside`, which are a sample of their own of them."""
    weights = np.where(inside, plan.weights, 0.0)  # [S]
    open_, settled = weights > 0, inside & (plan.weights == 0)
    size = model.size[open_].sum()
    ratio = model.errors[open_].sum() / size if size else 0.0
    control = model.errors - ratio * model.size  # [S]
    total = float(weights.sum())
    known = float(model.size[settled].sum())
    drawn: list[FloatArray] = [seen.errors, seen.size, control[looks]]
    errors, seen_size, model_size = (
        increments(column, weights[looks], total, extra)[0]
        for column, extra in zip(drawn, (0.0, known, 0.0), strict=True)
    )
    ahead = [s for s in plan.order[: plan.planned] if inside[s]]
    ends = [increments(np.zeros(len(x)), weights[x], total)[1] for x in (looks, ahead)]
    planned = ends[1][-1] if len(ahead) else ends[0][-1]
    mean = float(model.size[open_].mean()) if open_.any() else 1.0
    return Looks(
        errors, seen_size, model_size, ends[0], np.asarray(planned), max(mean, 1e-9)
    )


def _last(found_: Bounds, floor: float, ceiling: float) -> tuple[float, float]:
    low, high = float(found_.low[-1]), float(found_.high[-1])
    return min(max(low, floor), ceiling), max(min(high, ceiling), floor)


def _up(share: float) -> str:
    """A share in percent, rounded so that what is said holds."""
    return f"{np.ceil(1000 * share - 1e-9) / 10:.1f}"


def _down(share: float) -> str:
    return f"{np.floor(1000 * share + 1e-9) / 10:.1f}"
