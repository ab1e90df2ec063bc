"""The memory of a fit is estimated from above, and said before it starts."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from tagsift.errors import ResourceError
from tagsift.gp.kernels import RBF
from tagsift.sgppsl import carriers as memory
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.labels import Settings
from tests.reference.problems import small
from tests.tensors import needs_torch, torch


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("points", [None, 60])
def test_the_estimate_is_near_the_peak(points, shared):
    problem = small(0, lengths=(40, 60, 100, 50, 50), n_labels=4)
    if shared:
        kernel = RBF(np.full(4, 0.3), problem.kernel.amplitude)
        problem = type(problem)(problem.X, problem.mask, problem.offsets, kernel)
    N = len(problem.X)
    chosen = None if points is None else np.arange(points)
    alternate(
        problem.problem("jensen", chosen)[0], problem.labels(), Settings(), max_iter=1
    )
    tracemalloc.start()
    fixed, _ = problem.problem("jensen", chosen)
    alternate(fixed, problem.labels(), Settings(), max_iter=4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = memory.fit_bytes(N, 4, points, 1 if shared else 4)
    assert 0.8 * peak < estimate < 2.5 * peak


def test_the_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda where: 2**30)
    with pytest.raises(ResourceError) as caught:
        memory.check_memory("cpu", 100_000, 20, None, 1)
    sentence = str(caught.value)
    assert "100000 tokens and 20 labels (dense)" in sentence
    assert "1.0 GiB are free; use posterior='inducing'." in sentence
    with pytest.raises(ResourceError, match="lower n_inducing, or fit on fewer"):
        memory.check_memory("cpu", 1_000_000, 20, 500, 1)
    memory.check_memory("cpu", 1000, 3, 100, 1)


def test_unknown_memory_stops_nothing(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda where: None)
    memory.check_memory("cpu", 10**6, 20, None, 1)
    assert memory.fit_bytes(10**6, 20, None, 1) > 10**12


def test_free_memory_is_found_here():
    free = memory.free_bytes(np.zeros(0))
    assert free is not None and free > 2**20


@needs_torch
def test_what_pytorch_keeps_of_earlier_fits_is_free(monkeypatch):
    told = {"memory_reserved": 70, "memory_allocated": 20, "mem_get_info": (5, 100)}
    for name, value in told.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    monkeypatch.setattr(memory, "is_torch", lambda where: True)
    there = SimpleNamespace(device=torch.device("cuda"))
    assert memory.free_bytes(there) == 55  # 5 on the card, 50 of 70 not in use


def test_free_memory_without_the_table(monkeypatch):
    def missing(*args, **kwargs):
        raise OSError

    monkeypatch.setattr("builtins.open", missing)
    whole = memory.free_bytes(np.zeros(0))
    assert whole is None or whole > 2**20
    monkeypatch.delattr(memory.os, "sysconf", raising=False)
    assert memory.free_bytes(np.zeros(0)) is None
