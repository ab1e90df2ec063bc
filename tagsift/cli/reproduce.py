"""``tagsift reproduce``: the tables and figures of the paper's section IV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import tagsift
from tagsift.cli._options import Json, Quiet
from tagsift.cli._output import complain, print_json, say

__all__ = ["EXAMPLE", "run"]

EXAMPLE = "tagsift reproduce table-2 --suite quick --data corpora --jobs 2"


def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="table-1, table-2, table-3, figure-5 to figure-9, or all.",
        ),
    ],
    suite: Annotated[
        str,
        typer.Option(help="smoke, quick or paper, or a TOML file of your own."),
    ] = "quick",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the corpora; default: what TAGSIFT_DATA names, else the "
            "bundled corpus stands in."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Workers, one BLAS thread each.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder of the pages; default: runs/reproduce/SUITE."
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Folder of the records; default: OUT/records."),
    ] = None,
    backend: Annotated[str, typer.Option(help="loky, sequential or ray.")] = "loky",
    minutes: Annotated[
        float | None, typer.Option(help="Begin no new cell after this time.")
    ] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Only draw what the records hold.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells that failed again.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Where the Markdown page goes instead.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the experiments of the paper's section IV, or draw finished ones again.

    Every finished cell is kept at once: a run that was stopped goes on where it was.
    """
    from tagsift.experiments.reproduce import Order, reproduce, write_pages

    folder = out or Path("runs/reproduce") / Path(suite).stem
    order = Order(
        target=target,
        suite=suite,
        data=None if data is None else str(data),
        records=records or folder / "records",
        run=not no_run,
        jobs=jobs,
        backend=backend,
        minutes=minutes,
        retry_failed=retry_failed,
        quiet=quiet or json,
    )
    report, outcome, coverage = reproduce(order)
    name = "report" if target == "all" else target
    page = write_pages(report, folder, name, markdown)
    if json:
        print_json(
            {
                "target": target,
                "suite": coverage.suite.name,
                "cells": len(coverage.cells),
                "run_now": outcome.done,
                "failed": [record["key"] for record in coverage.failed],
                "missing": len(coverage.missing),
                "stats": {stat.name: stat.value for stat in report.stats},
                "report": str(page),
            }
        )
    else:
        if target == "all":
            for stat in report.stats:
                say(f"{stat.name}: {stat.value}")
            for notice in report.notices:
                say(f"- {notice}")
        else:
            tagsift.report.print_report(report)
        say(f"Report: {page}")
    for record in coverage.failed:
        complain(f"{record['key']}: {record['error']}", kind="warning")
    if coverage.failed or (coverage.missing and not no_run):
        raise typer.Exit(1)
