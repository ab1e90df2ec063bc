"""The fenced blocks of the pages: where they are, and how they are run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tagsift.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
)
LANGUAGES = {"python", "sh", "text", "yaml"}
_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n\s*)?"
    r"(?:<!-- (?:(?P<printed>printed)|in (?P<file>\S+)) -->\n\s*)?"
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<code>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block; `reason` says why the tests do not run it.

    Of text, `shown` is where it stands: on the screen ("-") after the block before it,
    or in a file of that name.
    """

    page: Path
    language: str
    code: str
    reason: str | None
    shown: str | None = None

    @property
    def is_example(self) -> bool:
        """Whether it shows a script of examples/, which is run as such."""
        return self.code.startswith('--8<-- "examples/')

    @property
    def runs(self) -> bool:
        code = self.language in ("python", "sh")
        return code and self.reason is None and not self.is_example


def blocks(page: Path) -> list[Block]:
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [
        Block(
            page,
            m["language"],
            m["code"],
            m["reason"],
            m["printed"] and "-" or m["file"],
        )
        for m in found
    ]


def command_lines(code: str) -> Iterator[list[str]]:
    """The commands of a block as words, comments left out."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def run(block: Block, names: dict[str, object]) -> None:
    """Run a block in this process, in the folder that is current."""
    if block.language == "python":
        exec(compile(block.code, str(block.page), "exec"), names)
        return
    for words in command_lines(block.code):
        assert words[0] == "tagsift", f"{block.page}: not run and not marked: {words}"
        assert main(words[1:]) == 0, f"{block.page}: {' '.join(words)}"
