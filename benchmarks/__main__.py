"""``python -m benchmarks NAME``: a benchmark, ``tables``, or the short version.

Without a name, as ``make bench`` does it: the budgets on one fold and growth to 5,000
tokens, a few minutes. ``tables`` puts the committed records into docs/benchmarks.md.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import targets
from experiments.command import main, parser_of
from experiments.records import Records
from tagsift.report import render_markdown
from tagsift.storage import atomic_write

#: Records of short runs stay apart from those of the documentation.
SHORT = (
    ["budgets", "--only", "task=base-np+none", "--repeat", "1"],
    ["growth", "--max-tokens", "5000", "--minutes", "3"],
)
RECORDS = Path(__file__).parent / "records"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def tables_of(name: str) -> str:
    """Return the prose and the tables of one benchmark as Markdown."""
    kind = import_module(f"benchmarks.targets.{name}").EXPERIMENT
    options = parser_of(kind).parse_args([])
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


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked == ["tables"]:
        fill_page()
    elif asked:
        sys.exit(main(asked, "benchmarks"))
    else:
        for run in SHORT:
            print("python -m benchmarks", *run, flush=True)
            if main([*run, "--out", "runs/benchmarks"], "benchmarks") == 2:
                sys.exit(2)
