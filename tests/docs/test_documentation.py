"""The documentation is true: its code runs and its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
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
GOLD = "the\tDT\tB-NP\nbank\tNN\tI-NP\nfell\tVBD\tB-VP\n\nbanks\tNNS\tB-NP\n\n"
PARTIAL = "the\tDT\tB-NP\nbank\tNN\tB-NP|I-NP\nfell\tVBD\t?\n\n"
VOTES = "the\tB-NP\tB-NP\tO\tB-NP\nbank\tI-NP\t?\tI-NP\tI-NP\nfell\tO\tO\tO\tO\n\n"
COMMANDS = typer.main.get_command(app).commands


def code_blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("default::tagsift.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if code_blocks(page, "python")],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_python_in_the_documentation_runs(page: Path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("train.conll", GOLD),
        ("partial.conll", PARTIAL),
        ("votes.tsv", VOTES),
    ):
        Path(name).write_text(text, encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in code_blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)


def test_the_example_of_the_readme_is_short():
    (example,) = code_blocks(ROOT / "README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12


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


@pytest.mark.parametrize("name", ["fit", "tag"])
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


def test_commands_in_the_documentation_exist():
    for page in PAGES:
        for block in code_blocks(page, "sh"):
            for line in block.splitlines():
                words = line.split("#")[0].split()
                if words[:1] != ["tagsift"]:
                    continue
                command = COMMANDS[words[1]]
                options = {o for p in command.params for o in p.opts}
                used = {w for w in words[2:] if re.match(r"--?[a-z]", w)}
                assert used <= options, f"{page.name}: {line}"


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_pages_build_strictly(tmp_path):
    outcome = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert (tmp_path / "guide" / "cli" / "index.html").exists()
