"""Fixtures of the experiments: no corpora unless asked for, and a tiny suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.samples import TINY


@pytest.fixture(autouse=True)
def no_corpora(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Let the bundled corpus stand in, unless a test asks for the real ones."""
    if "corpora" not in request.fixturenames:
        monkeypatch.delenv("TAGSIFT_DATA", raising=False)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return the file of a suite of a few seconds."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path
