"""The documentation is true: its code runs and its links lead somewhere."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest
import typer.main

from tagsift import baselines
from tagsift.checks import check_estimator
from tagsift.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
COMMANDS = typer.main.get_command(app).commands


def code_blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_readme_is_short():
    (example,) = code_blocks(ROOT / "README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12


def test_the_readme_lists_every_guide():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = sorted((ROOT / "docs/guide").glob("*.md"))
    assert [g.name for g in guides if f"](docs/guide/{g.name})" not in readme] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str):
    guide = (ROOT / "docs/guide/cli.md").read_text(encoding="utf-8")
    shared, _, rest = guide.partition("## `tagsift")
    section = re.search(rf"^## `tagsift {name}`$(.*?)(?=^## |\Z)", guide, re.M | re.S)
    assert section is not None, f"docs/guide/cli.md has no section on {name}"
    assert f"tagsift {name}" in section[1]
    assert f"`tagsift {name}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    known = shared + section[1]
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"`{option}" in known or f" {option}" in known, (
                    f"docs/guide/cli.md does not mention {option} of {name}"
                )


@pytest.mark.parametrize("name", ["clean", "fit", "tag"])
def test_figures_name_code_that_exists(name: str):
    drawing = (ROOT / f"docs/figures/{name}.svg").read_text(encoding="utf-8")
    rooms = re.findall(r'class="room"[^>]*>([^<]+)<', drawing)
    codes = re.findall(r'class="code"[^>]*>([^<]+)<', drawing)
    for room, code in zip(rooms, codes, strict=True):
        files = [ROOT / f"tagsift/{room}.py", *(ROOT / "tagsift" / room).glob("*.py")]
        text = "".join(f.read_text(encoding="utf-8") for f in files if f.is_file())
        for word in re.findall(r"[A-Z]\w+|\w*_\w*|load|predict|minimise|viterbi", code):
            assert re.search(rf"\b{word}\b", text), f"{name}: no {word} in {room}"


@pytest.mark.parametrize("kind", baselines.__all__)
def test_every_baseline_is_documented(kind: str):
    page = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
    method = getattr(baselines, kind).method
    assert f"`{method.name}`" in page


def test_the_example_of_a_method_is_one(monkeypatch):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## Recipe: add a method")[1]
    code = section.split("```python\n")[1].split("```")[0]
    module = types.ModuleType("recipe")
    monkeypatch.setitem(sys.modules, "recipe", module)
    exec(compile(code, "CONTRIBUTING.md", "exec"), vars(module))
    check_estimator(module.NearestMean())
    assert module.NearestMean.method.settings == "share=equal"


def test_how_clean_works_names_files_and_code_that_exist():
    text = (ROOT / "docs/how-clean-works.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`(?:tagsift/)?([a-z_]+/\w+\.py)`", text))
    assert len(files) > 15
    assert [name for name in files if not (ROOT / "tagsift" / name).is_file()] == []
    code = "".join(p.read_text("utf-8") for p in (ROOT / "tagsift").rglob("*.py"))
    for word in re.findall(r"`(\w*[A-Z_]\w*)`", text):
        assert re.search(rf"\b{word}\b", code), word


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
