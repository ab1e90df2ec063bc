"""Run what is missing, then make the page of a table, a figure or the whole section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tagsift.errors import InputError
from tagsift.experiments import records
from tagsift.experiments.coverage import Coverage
from tagsift.experiments.grid import Cell, config_of
from tagsift.experiments.page import make_report
from tagsift.experiments.protocol import data_folder
from tagsift.experiments.records import Record
from tagsift.experiments.runner import Outcome, run_suite, wanted_cells
from tagsift.experiments.suite import Suite, read_suite
from tagsift.experiments.targets import needed
from tagsift.experiments.work import Place
from tagsift.report import Report, write_html, write_markdown

__all__ = ["Order", "reproduce", "write_pages"]


@dataclass(frozen=True)
class Order:
    """What shall be made and how.

    Parameters
    ----------
    target : str
        One of `tagsift.experiments.targets.TARGETS`.
    suite : str
        Name of a suite, or a TOML file.
    data : str or None
        Folder of the corpora; by default what TAGSIFT_DATA names, else the bundled
        corpus.
    records : Path
        Folder of the records.
    run : bool
        Whether missing cells are run; without it the page shows what there is.
    jobs, backend, minutes, retry_failed, quiet
        As in `tagsift.experiments.runner.run_suite`.
    """

    target: str
    suite: str
    data: str | None
    records: Path
    run: bool = True
    jobs: int = 1
    backend: str = "loky"
    minutes: float | None = None
    retry_failed: bool = False
    quiet: bool = False


def reproduce(order: Order) -> tuple[Report, Outcome, Coverage]:
    """Run what is missing and build the report.

    Parameters
    ----------
    order : Order
        What shall be made and how.

    Returns
    -------
    report : Report
        The page.
    outcome : Outcome
        What was run.
    coverage : Coverage
        What was asked for and what is there.
    """
    suite, chosen = read_suite(order.suite), needed(order.target)
    outcome = Outcome(0, 0, 0)
    if order.run:
        place = Place(data_folder(order.data), order.records)
        outcome = run_suite(
            suite,
            place,
            jobs=order.jobs,
            backend=order.backend,
            chosen=chosen,
            minutes=order.minutes,
            retry_failed=order.retry_failed,
            quiet=order.quiet,
        )
    found = records.load(order.records)
    if not found:
        raise InputError(
            f"{order.records}: expected records, found none; run the suite first."
        )
    corpus = _corpus(found)
    wanted = wanted_cells(suite, corpus)
    cells = tuple(filter(chosen, wanted))
    mine = _of_suite(found, wanted, suite, corpus)
    coverage = Coverage(suite, cells, mine, _command(order))
    return make_report(mine, coverage, target=order.target), outcome, coverage


def write_pages(report: Report, out: Path, name: str, markdown: Path | None) -> Path:
    """Write the report as HTML and as Markdown.

    Parameters
    ----------
    report : Report
        What to write.
    out : Path
        Folder; made where it is missing.
    name : str
        Name of the files, without their ends.
    markdown : Path or None
        Another place for the Markdown page.

    Returns
    -------
    Path
        The HTML page.
    """
    out.mkdir(parents=True, exist_ok=True)
    page = out / f"{name}.html"
    write_html(page, report)
    target = markdown or out / f"{name}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_markdown(target, report, figures=f"{target.stem}-figures")
    return page


def _corpus(found: Mapping[str, Record]) -> str:
    """What the records are about; refuses a mixture."""
    corpora = {str(record["config"].get("corpus")) for record in found.values()}
    if len(corpora) > 1:
        raise InputError(
            "the records are of the real corpora and of the bundled one, which cannot "
            "be compared; give each a folder of its own."
        )
    return corpora.pop()


def _of_suite(
    found: Mapping[str, Record], wanted: list[Cell], suite: Suite, corpus: str
) -> dict[str, Record]:
    """Records that the suite asks for as they stand, and those of its data sets."""
    configs = {cell.key: config_of(cell, suite, corpus) for cell in wanted}
    return {
        key: record
        for key, record in found.items()
        if "facts" in record
        or (key in configs and records.is_done(record, configs[key]))
    }


def _command(order: Order) -> str:
    return f"tagsift reproduce {order.target} --suite {Path(order.suite).name}"
