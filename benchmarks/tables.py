"""The tables of docs/benchmarks.md, made of the committed records."""

from __future__ import annotations

import argparse
import pkgutil
import re
from importlib import import_module
from pathlib import Path

from benchmarks import targets
from experiments.records import Records
from tagsift.report import render_markdown
from tagsift.storage import atomic_write

RECORDS = Path(__file__).parent / "records"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def tables_of(name: str) -> str:
    """Return the prose and the tables of one benchmark as Markdown."""
    kind = import_module(f"benchmarks.targets.{name}").EXPERIMENT
    parser = argparse.ArgumentParser()
    kind.add_options(parser)
    options = parser.parse_args([], argparse.Namespace(data=None))
    found = Records(RECORDS / f"{name}.jsonl").load()
    text = render_markdown(kind.from_options(options).report(found))
    text = text.partition("## Facts")[0]
    return "\n".join(x for x in text.splitlines() if not x.startswith("#")).strip()


def fill_page(page: Path = PAGE) -> None:
    """Put the tables between the marks of the page."""
    text = page.read_text(encoding="utf-8")
    for module in pkgutil.iter_modules(targets.__path__):
        begin, end = f"<!-- begin {module.name} -->", f"<!-- end {module.name} -->"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        new = f"{begin}\n{tables_of(module.name)}\n{end}"
        text = re.sub(pattern, lambda _, new=new: new, text, flags=re.DOTALL)
    with atomic_write(page) as stream:
        stream.write(text)
