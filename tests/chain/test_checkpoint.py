"""Steps kept on disk: a killed fit ends where it would have ended."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.lbfgs import minimise
from tagsift.errors import DataError

START = np.tile([-1.2, 1.0], 10)


class Killed(BaseException):
    pass


def valley(most=None):
    """A long way down; the work is killed after so many evaluations."""
    calls = 0

    def objective(x):
        nonlocal calls
        calls += 1
        if calls == most:
            raise Killed
        return float(rosen(x)), rosen_der(x)

    return objective


def fit(objective, checkpoint=None):
    return minimise(objective, START, max_iter=60, tol=0.0, checkpoint=checkpoint)


@pytest.mark.parametrize("most", [9, 33, 57])
def test_a_killed_fit_ends_where_it_would_have_ended(tmp_path, most):
    kept = Checkpoint(tmp_path / "steps", every=4, key="a")
    with pytest.raises(Killed):
        fit(valley(most), kept)
    again, whole = fit(valley(), kept), fit(valley())
    np.testing.assert_array_equal(again.x, whole.x)
    assert (again.value, again.n_iter) == (whole.value, whole.n_iter)


def test_a_fit_that_has_ended_is_not_done_again(tmp_path):
    kept = Checkpoint(tmp_path / "steps", key="a")
    end = fit(valley(), kept)
    np.testing.assert_array_equal(fit(valley(1), kept).x, end.x)


def test_steps_of_other_data_are_refused(tmp_path):
    kept = Checkpoint(tmp_path / "steps")
    fit(valley(), kept.of("a"))
    with pytest.raises(DataError, match="other data or settings; remove the file"):
        fit(valley(), kept.of("b"))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_damaged_file_is_one_sentence(tmp_path, share):
    kept = Checkpoint(tmp_path / "steps")
    fit(valley(), kept)
    data = (tmp_path / "steps").read_bytes()
    (tmp_path / "steps").write_bytes(data[: int(share * len(data))])
    with pytest.raises(DataError, match="damaged file; remove it to begin anew"):
        fit(valley(), kept)
