"""The pages as they are built: strictly, whole, and with nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tagsift
from tagsift import baselines

ROOT = Path(__file__).parents[2]
PUBLIC = [name for name in tagsift.__all__ if name != "__version__"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    outcome = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return folder


@pytest.fixture(scope="module")
def reference(site: Path) -> str:
    pages = (site / "reference").rglob("*.html")
    return "".join(page.read_text(encoding="utf-8") for page in pages)


def test_pages_load_nothing_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        html = page.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:link|script|img|iframe|source)\b[^>]*>", html):
            assert "//" not in re.sub(r"data:\S+", "", tag), f"{page}: {tag}"
        assert (
            'class="mermaid"' not in html
        )  # would be drawn by a script from elsewhere
    for style in site.rglob("*.css"):
        assert not re.findall(
            r"url\([\"']?(?:https?:)?//|@import", style.read_text(encoding="utf-8")
        ), style


def test_pages_can_be_searched_and_darkened(site: Path):
    assert "VoteTagger" in (site / "search/search_index.json").read_text("utf-8")
    home = (site / "index.html").read_text(encoding="utf-8")
    for scheme in ("default", "slate"):
        assert f'data-md-color-scheme="{scheme}"' in home


@pytest.mark.parametrize(
    "name",
    [f"tagsift.{name}" for name in PUBLIC]
    + [f"tagsift.baselines.{name}" for name in baselines.__all__],
)
def test_the_reference_has_every_public_name(name: str, reference: str):
    assert f'id="{name}"' in reference


def test_the_reference_shows_settings_and_inherited_methods(reference: str):
    text = re.sub(r"<[^>]+>", "", reference)
    assert re.search(r"VoteTagger\(\s*estimator=None,\s*\*,\s*rounds=4,", text)
    for method in ("fit", "predict", "predict_proba", "recover", "score", "save"):
        assert f'id="tagsift.SequenceTagger.{method}"' in reference


def test_the_reference_says_what_the_fields_of_records_are(reference: str):
    text = re.sub(r"<[^>]+>", "", reference)
    assert re.search(r"weighted_f1\s*\(float\)\s*–\s*F1 per label, weighted", text)
