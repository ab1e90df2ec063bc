"""Every block of code in the documentation runs, or says why it does not."""

from __future__ import annotations

import re
import runpy
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

import tagsift
from tagsift.data import simulate_votes
from tests.docs.blocks import LANGUAGES, PAGES, ROOT, Block, blocks, run

#: Blocks that are not run; each says why, in a comment above it.
NOT_RUN = {
    "README.md": 4,
    "CONTRIBUTING.md": 2,
    "docs/baselines.md": 1,
    "docs/experiments.md": 1,
    "docs/guide/audit.md": 2,
    "docs/guide/cli.md": 3,
    "docs/guide/install.md": 3,
    "docs/guide/label-studio.md": 1,
    "docs/guide/review.md": 2,
    "docs/guide/scale.md": 2,
    "docs/paper/readings.md": 1,
}
#: What the code of a page needs; the component is found without an installed package.
NEEDS = {
    "docs/guide/raw-text.md": ["pyarrow"],
    "docs/guide/scale.md": ["pyarrow"],
    "docs/guide/spacy.md": ["tagsift.integrations.spacy_component"],
    "docs/guide/tables.md": ["pandas", "pyarrow", "datasets"],
}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def alike(printed: str, expected: str, share: float = 0.0) -> bool:
    """Whether words are the same, and numbers but for what machines differ by.

    Machines differ a little; so do versions of NumPy. Of a large number it may be a
    `share`.
    """

    def words(text: str) -> str:
        return " ".join(re.sub("[─━]+", "─", _NUMBER.sub("#", text)).split())

    if words(printed) != words(expected):
        return False
    pairs = zip(_NUMBER.findall(printed), _NUMBER.findall(expected), strict=True)
    return all(
        abs(float(one) - float(other))
        <= max(0.05 if "." in other else 3, share * float(other))
        for one, other in pairs
    )


def check_excerpt(text: str, block: Block) -> None:
    """Find the lines of a block in a text, in their order."""
    left = iter(text.splitlines())
    for expected in block.code.splitlines():
        if expected != "…":
            assert any(alike(line, expected, 0.02) for line in left), expected


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A folder with the files that the pages speak of, ten sentences each."""
    monkeypatch.chdir(tmp_path)
    corpus = tagsift.bundled("ner").with_columns(1)
    gold = corpus[10:20]
    for file in ("train.conll", "gold.conll"):
        tagsift.write(gold, file, gold=False)
    text = "\n\n".join("\n".join(tokens) for tokens in gold.tokens) + "\n"
    for file in ("text.conll", "new.conll"):
        Path(file).write_text(text, encoding="utf-8")
    lines = [" ".join(tokens) for tokens in gold.tokens]
    Path("letters.txt").write_text("\n".join(lines), encoding="utf-8")
    partial = tagsift.corrupt(corpus[:10], cl=3, p=0.2, random_state=0)
    tagsift.write(partial, "partial.conll", gold=False)
    tagsift.write(simulate_votes(corpus[:10]), "votes.tsv", gold=False)
    return tmp_path


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.runs for b in blocks(p))], ids=name
)
def test_the_code_of_a_page_runs(page: Path, folder: Path, monkeypatch, capsys):
    for needed in NEEDS.get(name(page), ()):
        pytest.importorskip(needed, exc_type=ImportError)
    module = types.ModuleType("page")  # classes look their module up by its name
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks(page):
        if block.runs:
            run(block, vars(module))
            printed = capsys.readouterr().out
        elif block.shown == "-":
            check_excerpt(printed, block)
    for block in blocks(page):
        if block.shown not in (None, "-"):
            check_excerpt(Path(block.shown).read_text("utf-8"), block)


def test_what_is_not_run_is_counted():
    skipped = Counter(name(p) for p in PAGES for b in blocks(p) if b.reason)
    assert skipped == NOT_RUN


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_fence_is_found_and_names_its_language(page: Path):
    found = blocks(page)
    fences = re.findall(r"^\s*```", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(found)
    assert {block.language for block in found} <= LANGUAGES


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_its_page_says(script: Path, capsys):
    page = ROOT / "docs/examples" / f"{script.stem.replace('_', '-')}.md"
    code, said = blocks(page)
    assert code.code == f'--8<-- "examples/{script.name}"\n'
    runpy.run_path(str(script), run_name="__main__")
    printed, expected = capsys.readouterr().out.strip(), said.code.strip()
    assert _NUMBER.sub("#", printed) == _NUMBER.sub("#", expected)
    assert alike(printed, expected)


def test_every_example_is_in_the_gallery():
    gallery = (ROOT / "docs/examples/index.md").read_text(encoding="utf-8")
    for script in EXAMPLES:
        assert f"({script.stem.replace('_', '-')}.md)" in gallery
