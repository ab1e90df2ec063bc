"""The package limits the threads of the linear algebra, and lets the user decide."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tagsift import threads
from tagsift.baselines import Naive
from tagsift.errors import InputError
from tests.tensors import torch


def in_force() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture
def two_threads(monkeypatch):
    """As on a machine of two cores where nobody has said anything about threads."""
    for name in ("TAGSIFT_THREADS", *threads._THREAD_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(limits=2):
        yield


def test_one_thread_unless_told_otherwise(two_threads, monkeypatch):
    with threads.blas_threads():
        assert in_force() == {1}
        assert torch is None or torch.get_num_threads() == 1
    assert in_force() == {2}
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threads.blas_threads():
        assert in_force() == {2}
    monkeypatch.setenv("TAGSIFT_THREADS", "1")
    with threads.blas_threads():
        assert in_force() == {1}
    monkeypatch.setenv("TAGSIFT_THREADS", "all")
    with threads.blas_threads():
        assert in_force() == {2}


def test_a_block_around_the_fit_decides(two_threads):
    with threads.blas_threads(2), threads.blas_threads():
        assert in_force() == {2}
        with threads.blas_threads(1):
            assert in_force() == {1}


def test_estimators_work_in_such_a_block(two_threads):
    seen = []

    class Watched(Naive):
        def _fit(self, train):
            seen.append(in_force())
            return super()._fit(train)

        def _predict(self, features):
            seen.append(in_force())
            return super()._predict(features)

    model = Watched().fit([["a", "b"]], [["X", "Y"]])
    model.predict([["a"]])
    assert seen == [{1}, {1}]
    assert in_force() == {2}


def test_numbers_are_checked(monkeypatch):
    with (
        pytest.raises(InputError, match="at least 1; got 0"),
        threads.blas_threads(0),
    ):
        pass
    for text in ("0", "-1", "many", ""):
        monkeypatch.setenv("TAGSIFT_THREADS", text)
        with (
            pytest.raises(InputError, match="TAGSIFT_THREADS: expected a number"),
            threads.blas_threads(),
        ):
            pass
