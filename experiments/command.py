"""The command line of experiments and benchmarks: one for all of them."""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import sys
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, choose
from experiments.records import Found, Record, Records, is_done
from experiments.runner import ENGINES, pending, run
from tagsift.errors import InputError, TagsiftError
from tagsift.report import render_markdown, write_html, write_markdown
from tagsift.visible import count


def main(arguments: list[str], package: str) -> int:
    """Run what the command line asks for; return the exit status.

    Every file in the folder ``targets`` of the package is a target.
    """
    home = import_module(f"{package}.targets")
    names = [module.name for module in pkgutil.iter_modules(home.__path__)]
    if not arguments or arguments[0] not in names:
        asked = not arguments or arguments[0] in ("-h", "--help")
        print(
            f"usage: python -m {package} NAME [options]; NAME is one of "
            f"{', '.join(names)}. Options of one: python -m {package} NAME --help",
            file=sys.stdout if asked else sys.stderr,
        )
        return 0 if asked else 2
    name, *rest = arguments
    kind = import_module(f"{package}.targets.{name}").EXPERIMENT
    options = parser_of(kind).parse_args(rest)
    options.out = options.out or kind.place(options)
    options.records = options.records or options.out / "records"
    try:
        status = _carry_out(kind.from_options(options), options)
        sys.stdout.flush()
        return status
    except TagsiftError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; every finished cell is kept.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of standard output has gone (``| head``)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def parser_of(kind: type[Experiment]) -> argparse.ArgumentParser:
    """The options of all targets, and those of one."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {kind.package} {kind.name}",
        description=sys.modules[kind.__module__].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--data", help="folder of the corpora (default: TAGSIFT_DATA)")
    add("--out", "-o", type=Path, help=f"folder of the page (runs/{kind.name})")
    add("--records", type=Path, help="a folder or .jsonl file (default: OUT/records)")
    add("--jobs", type=int, default=1, help="workers")
    add("--engine", default=ENGINES[0], choices=ENGINES, help="where they live")
    only = "cells to run, such as task=ner,method=crf+sure,fold=0"
    add("--only", action="append", default=[], metavar="NAME=VALUES", help=only)
    add("--minutes", type=float, help="begin no new cell after this time")
    add("--retry-failed", action="store_true", help="run cells that failed again")
    add("--renew", action="store_true", help="run cells of other environments again")
    add("--redo", action="store_true", help="run cells again that have a record")
    add("--count", action="store_true", help="say what is missing and run nothing")
    add("--no-run", action="store_true", help="only draw what the records hold")
    add("--no-page", action="store_true", help="only run, and draw nothing")
    add("--quiet", "-q", action="store_true", help="show no progress")
    add("--json", action="store_true", help="say what was done as JSON")
    kind.add_options(parser)
    return parser


def _carry_out(experiment: Experiment, options: argparse.Namespace) -> int:
    """Run, draw, say what was done, and return the exit status."""
    records = Records(options.records)
    cells = choose(experiment.cells(), _conditions(options.only))
    again = {x: getattr(options, x) for x in ("retry_failed", "renew", "redo")}
    if options.count:
        missing = pending(experiment, cells, records.load(), **again)
        print(f"{count(len(cells), 'cell')} asked for, {len(missing)} to run")
        return 0
    made: list[Record] = []
    if not options.no_run:
        where = {name: getattr(options, name) for name in ("jobs", "engine", "minutes")}
        quiet = options.quiet or options.json
        made = run(experiment, records, cells, **where, **again, quiet=quiet)
    found = records.load()
    if not found and options.no_run:
        raise InputError(f"{records.path}: expected records, found none; run it first.")
    known = {
        cell.key: found[cell.key]
        for cell in cells
        if is_done(found.get(cell.key), experiment.config(cell))
    }
    failed = {key: one["error"] for key, one in known.items() if "error" in one}
    before = failed.keys() - {record["key"] for record in made}
    left = len(cells) - len(known)
    facts = {"experiment": experiment.name, "cells": len(cells)}
    facts |= {"run_now": len(made), "failed": list(failed), "missing": left}
    if found and not options.no_page:
        facts |= _draw(experiment, found, options)
    if options.json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    elif not options.no_run:
        print(f"{count(len(made), 'cell')} run, {len(failed)} failed, {left} left")
    short = [f"falls short: {key}" for key in experiment.falls_short(known)]
    new = [f"failed: {key}: {why}" for key, why in failed.items() if key not in before]
    for words in new + _said_of_old(before, failed, options) + short:
        print(words, file=sys.stderr)
    return 1 if failed or short or (left and not options.no_run) else 0


def _said_of_old(
    before: Collection[str], failed: Mapping[str, str], options: argparse.Namespace
) -> list[str]:
    """One line on cells that an earlier run could not do and this one left alone."""
    if not before:
        return []
    key = min(before)
    return [
        f"{len(before)} of the cells failed in an earlier run, as {options.records} "
        "says, and were not run again; --retry-failed does (the first, then: "
        f"{key}: {failed[key]})"
    ]


def _draw(
    experiment: Experiment, found: Found, options: argparse.Namespace
) -> dict[str, Any]:
    """Write the page, and show it: its tables, or its summary if it has one."""
    report = experiment.report(found)
    page = options.out / f"{getattr(options, 'page', experiment.name)}.html"
    text = getattr(options, "markdown", None) or page.with_suffix(".md")
    for path in (page, text):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_html(page, report)
    write_markdown(text, report, figures=f"{text.stem}-figures")
    stats = {stat.name: stat.value for stat in report.stats}
    if not options.json:
        lines = [f"{name}: {value}" for name, value in stats.items()]
        lines += [f"- {notice}" for notice in report.notices]
        print("\n".join(lines) if stats else render_markdown(report))
        print(f"Report: {page}")
    return {"stats": stats, "report": str(page)}


def _conditions(texts: list[str]) -> dict[str, str]:
    """Read ``task=ner,method=crf+sure``."""
    found = {}
    for pair in filter(None, ",".join(texts).split(",")):
        name, equals, values = pair.partition("=")
        if not equals:
            raise InputError(
                f"--only: expected name=value pairs joined by commas, found {pair!r}."
            )
        found[name] = values
    return found
