"""The outer loop of SGPPSL as a user sees it: progress, watched tokens, its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagsift.base import TrainingSet
from tagsift.errors import ConvergenceWarning, InputError
from tagsift.progress import progress, warn_user
from tagsift.sgppsl.alternating import Labels, OuterStep, Settings, Solution, alternate
from tagsift.sgppsl.solver import Problem
from tagsift.typing import IntArray

__all__ = ["run_outer_loop", "watched_tokens"]


def run_outer_loop(
    problem: Problem,
    labels: Labels,
    settings: Settings,
    *,
    max_iter: int,
    tol: float,
    watch: IntArray | None,
    verbose: bool,
) -> Solution:
    """Run the loop of section III-D; warn where it ends before it has settled.

    Parameters
    ----------
    problem, labels, settings, max_iter, tol, watch
        As in `tagsift.sgppsl.alternating.alternate`.
    verbose : bool
        Whether to draw a progress bar.
    """
    bar = progress(range(max_iter), "SGPPSL: outer steps", enabled=verbose)
    next(bar)

    def advance(_: OuterStep) -> None:
        next(bar, None)

    solution = alternate(
        problem,
        labels,
        settings,
        max_iter=max_iter,
        tol=tol,
        watch=watch,
        on_step=advance,
    )
    bar.close()
    if not solution.converged:
        last = solution.history[-1]
        warn_user(
            f"SGPPSL stopped after max_iter={max_iter} outer steps with the bound at "
            f"{last.bound:.6g} and confidences still moving by {last.change:.2g}; "
            f"raise max_iter or tol={tol:g}.",
            ConvergenceWarning,
        )
    return solution


def watched_tokens(watch: Any, train: TrainingSet) -> IntArray | None:
    """Stacked numbers of the watched tokens; None where none are.

    Parameters
    ----------
    watch : sequence of (sentence, token), or None
        As the user names them.
    train : TrainingSet
        The training sentences.
    """
    if watch is None:
        return None
    rows = []
    for s, t in watch:
        if not (
            0 <= s < train.features.n_sequences and 0 <= t < train.features.lengths[s]
        ):
            raise InputError(
                f"watch names sentence {s}, token {t}, which X does not have."
            )
        rows.append(int(train.offsets[s]) + int(t))
    return np.asarray(rows, dtype=np.int64)
