"""A room is entered by its door: what others need, its `__init__` gives."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tagsift

PACKAGE = Path(tagsift.__file__).parent
#: Rooms that look at no module behind the door of another. The list only grows.
DONE = (
    "backend",
    "base",
    "baselines",
    "chain",
    "chain_gp",
    "checks",
    "data",
    "engines",
    "features",
    "gp",
    "metrics",
    "report",
    "sgppsl",
    "storage",
)


def past_the_door(room: str) -> list[str]:
    """Imports of a module inside another room, with their places."""
    found = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                _, _, inside = (name or "").partition("tagsift.")
                other, _, module = inside.partition(".")
                if module and other != room:
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}")
    return found


@pytest.mark.parametrize("room", DONE)
def test_other_rooms_are_entered_by_their_doors(room: str):
    assert not past_the_door(room)


def test_a_room_that_looks_behind_a_door_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "chain").mkdir()
    text = "from tagsift.data import spans\nfrom tagsift.data.schemes import spans\n"
    (tmp_path / "chain" / "a.py").write_text(text)
    assert past_the_door("chain") == ["chain/a.py:2: tagsift.data.schemes"]
