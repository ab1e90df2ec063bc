"""What is released: a wheel with the package alone, and a source archive with all."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import tagsift

pytest.importorskip("hatchling", reason="building a wheel needs hatchling (extra dev)")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with wheel and source archive, built offline and without isolation."""
    folder = tmp_path_factory.mktemp("dist")
    outcome = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (file,) = built.glob("*.whl")
    assert file.name == f"tagsift-{tagsift.__version__}-py3-none-any.whl"
    return zipfile.ZipFile(file)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = set(wheel.namelist())
    info = f"tagsift-{tagsift.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"tagsift", info}
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tagsift").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("tagsift/")} == there
    for needed in (
        "tagsift/py.typed",
        "tagsift/data/bundled/newswire.conll",
        "tagsift/report/templates/report.html",
        f"{info}/licenses/LICENSE",
    ):
        assert needed in names


def test_the_metadata_are_true(wheel):
    info = f"tagsift-{tagsift.__version__}.dist-info"
    meta = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert meta["Name"] == "tagsift"
    assert meta["Version"] == tagsift.__version__
    assert meta["Requires-Python"] == ">=3.11"
    extras = {"arrow", "encoder", "gpu", "hf", "pandas", "plots", "ray", "review"}
    assert extras | {"dev", "spacy"} == set(meta.get_all("Provides-Extra"))
    assert "Typing :: Typed" in meta.get_all("Classifier")
    scripts = wheel.read(f"{info}/entry_points.txt").decode()
    assert "tagsift = tagsift.__main__:main" in scripts
    assert "tagsift = tagsift.integrations.spacy_component:make_component" in scripts


def test_what_the_wheel_holds_works_alone(wheel, tmp_path: Path):
    """Unpacked elsewhere, as an installer does, among the packages that are here."""
    wheel.extractall(tmp_path)
    code = (
        "import tagsift, tagsift.cli, tagsift.report; print(tagsift.__file__); "
        "print(len(tagsift.bundled()), len(tagsift.generate(2, 0))); "
        "raise SystemExit(tagsift.cli.main(['--version']))"
    )
    outcome = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    home, sizes, version, *_ = outcome.stdout.splitlines()
    assert Path(home).is_relative_to(tmp_path)
    assert sizes == "600 2"
    assert version == f"tagsift {tagsift.__version__}"


def test_the_source_archive_holds_what_builds_tests_and_documents(built: Path):
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        "pyproject.toml",
        "Makefile",
        "constraints.txt",
        "LICENSE",
        "README.md",
        "mkdocs.yml",
        "docs/index.md",
        "examples/votes_to_tagger.py",
        "experiments/__main__.py",
        "tagsift/py.typed",
        "tests/conftest.py",
    ):
        assert needed in names, needed
    assert not [name for name in names if name.endswith((".pyc", ".jsonl"))]
