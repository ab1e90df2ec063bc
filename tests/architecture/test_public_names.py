"""The public names of the package: one list, lazily imported, quick to start."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tagsift
from tagsift import errors

SOURCE = Path(tagsift.__file__)
HEAVY = ("numpy", "scipy", "sklearn", "torch", "matplotlib", "jinja2")


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }


def test_the_lists_agree():
    lazy = set(tagsift._HOME_OF)
    assert set(tagsift.__all__) == lazy | set(errors.__all__) | {"__version__"}
    assert names_for_type_checkers() == lazy | set(tagsift._PARTS)


@pytest.mark.parametrize("name", tagsift.__all__)
def test_a_public_name_is_that_of_its_home(name: str):
    value = getattr(tagsift, name)
    if name in tagsift._HOME_OF:
        assert value is getattr(import_module(tagsift._HOME_OF[name]), name)
    assert name in dir(tagsift)


def test_the_list_is_short_and_nothing_leaks():
    """Errors and warnings aside, it is what a newcomer has to read."""
    names = set(tagsift.__all__) - set(errors.__all__) - {"__version__"}
    assert len(names) <= 32
    assert set(dir(tagsift)) == set(tagsift.__all__) | set(tagsift._PARTS)
    rooms = {path.parent.name for path in SOURCE.parent.glob("*/__init__.py")}
    inner = {"backend", "chain", "chain_gp", "cli", "gp", "sgppsl"}
    assert set(tagsift._PARTS) == (rooms | {"threads"}) - inner


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tagsift.nonsense  # noqa: B018


@pytest.mark.parametrize("module", ["tagsift", "tagsift.cli"])
def test_import_is_light(module: str):
    """Start-up stays under a second because nothing heavy is imported."""
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [name for name in HEAVY if name in loaded]
