"""Equations (1)–(31) each have one home, and the page says where it is."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import tagsift.chain
import tagsift.gp

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/paper/equations.md"
NUMBERS = range(1, 32)
#: A paragraph of a module docstring that begins so names the equations at home there.
TAG = re.compile(r"Equations? ((?:\(\d+\)(?:–\(\d+\))?(?:, | and )?)+)")


def numbers_of(tag: str) -> list[int]:
    """Numbers in a text such as "(7)–(13) and (15)"."""
    found: list[int] = []
    for first, last in re.findall(r"\((\d+)\)(?:–\((\d+)\))?", tag):
        found.extend(range(int(first), int(last or first) + 1))
    return found


def homes() -> list[tuple[int, str]]:
    """Equation and file of every tag."""
    found = []
    for package in (tagsift.gp, tagsift.chain):
        prefix = f"{package.__name__}."
        for module in pkgutil.iter_modules(package.__path__, prefix):
            text = importlib.import_module(module.name).__doc__ or ""
            for paragraph in re.split(r"\n\s*\n", text):
                tag = TAG.match(paragraph)
                if tag is not None:
                    path = module.name.replace(".", "/") + ".py"
                    found += [(number, path) for number in numbers_of(tag[1])]
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


def test_every_equation_has_one_home():
    found = sorted(homes())
    assert [number for number, _ in found] == list(NUMBERS), found


def test_the_page_says_the_same():
    assert [number for number, *_ in rows()] == list(NUMBERS)
    assert {(number, path) for number, path, *_ in rows()} == set(homes())


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_names_and_twins_exist(row):
    number, path, names, twin = row
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert names
    for name in names:
        assert name in module.__all__, f"({number}): {path} has no {name}"
    reference = (ROOT / "tests/reference" / twin).read_text(encoding="utf-8")
    assert any(number in numbers_of(tag) for tag in TAG.findall(reference)), (
        f"({number}): {twin} does not name it"
    )


def test_readings_are_documented_and_pinned():
    page = (ROOT / "docs/paper/readings.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests/gp/test_readings.py").read_text(encoding="utf-8")
    for number in range(1, 9):
        assert re.search(rf"^## R{number}\b", page, re.MULTILINE)
        assert f"def test_r{number}_" in tests
