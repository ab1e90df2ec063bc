"""Equations (1)–(31): code that runs, a twin that checks it, a page that names both."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from tagsift import SGPPSL

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/paper/equations.md"
NUMBERS = range(1, 32)
#: How twins name the equations that they check.
TAG = re.compile(r"Equations? ((?:\(\d+\)(?:–\(\d+\))?(?:, | and )?)+)")


def numbers_of(tag: str) -> list[int]:
    """Numbers in a text such as "(7)–(13) and (15)"."""
    found: list[int] = []
    for first, last in re.findall(r"\((\d+)\)(?:–\((\d+)\))?", tag):
        found.extend(range(int(first), int(last or first) + 1))
    return found


def rows() -> list[tuple[int, str, list[str], str]]:
    """Equation, file, names and twin of every row of the page."""
    pattern = r"^\| \((\d+)\) \| `([^`]+)` \| ([^|]+) \| [^|]+ \| `([^`]+)` \|$"
    found = re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [
        (int(number), path, re.findall(r"`([^`]+)`", names), twin)
        for number, path, names, twin in found
    ]


def test_tags_are_read():
    assert numbers_of("(7)–(9) and (15)") == [7, 8, 9, 15]
    assert numbers_of("(14), (16) and (21)") == [14, 16, 21]


def test_the_page_names_every_equation_once():
    assert [number for number, *_ in rows()] == list(NUMBERS)


@pytest.fixture(scope="module")
def called() -> set[CodeType]:
    """The code that fits and predictions of SGPPSL run, in the paper's settings."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in (4, 3, 5, 1)]
    y = [rng.random((len(x), 3)) < 0.7 for x in X]
    for mask in y:
        mask[:, 0] |= ~mask.any(axis=1)
    found: set[CodeType] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(watch)
    try:
        for settings in (
            {"hyperparameters": "bound", "posterior": "dense"},
            {"hyperparameters": "fixed", "posterior": "inducing", "n_inducing": 3},
            {"hyperparameters": "fixed", "confidence": "literal"},
        ):
            SGPPSL(**settings, tol=1e-3).fit(X, y).predict(X)
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_the_code_runs_and_the_twin_names_it(row, called):
    number, path, names, twin = row
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert names
    for name in names:
        thing = getattr(module, name)
        parts = vars(thing).values() if isinstance(thing, type) else [thing]
        codes = {getattr(part, "__code__", None) for part in parts}
        assert codes & called, f"({number}): no fit calls {name} of {path}"
    reference = (ROOT / "tests/reference" / twin).read_text(encoding="utf-8")
    assert any(number in numbers_of(tag) for tag in TAG.findall(reference)), (
        f"({number}): {twin} does not name it"
    )


def test_readings_are_documented_and_pinned():
    page = (ROOT / "docs/paper/readings.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests/sgppsl/test_readings.py").read_text(encoding="utf-8")
    for number in range(1, 11):
        assert re.search(rf"^## R{number}\b", page, re.MULTILINE)
        assert f"def test_r{number}_" in tests
