"""Fixtures for all tests: where the real corpora are, and how many threads to use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before NumPy is imported: the workers of pytest-xdist share the cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the real corpora, or skip the test."""
    value = os.environ.get("TAGSIFT_DATA")
    if not value:
        pytest.skip("TAGSIFT_DATA is not set: no real corpora to read")
    folder = Path(value)
    if not folder.is_dir():
        pytest.skip(f"TAGSIFT_DATA names {value!r}, which is not a folder")
    return folder
