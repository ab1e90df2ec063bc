"""``python -m tagsift.experiments``: run a suite without the packages that draw.

Needs NumPy, SciPy and scikit-learn only, so that a grid can be run on a machine that
has little else; ``tagsift reproduce`` makes tables and figures of the records.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tagsift.errors import InputError, TagsiftError
from tagsift.experiments import records
from tagsift.experiments.protocol import data_folder
from tagsift.experiments.runner import BACKENDS, pending, run_suite, wanted_cells
from tagsift.experiments.suite import SUITES, read_suite
from tagsift.experiments.work import Place


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except TagsiftError as error:
        print(f"tagsift: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tagsift: stopped; every finished cell is kept.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tagsift.experiments",
        description="Run the cells of a suite; a broken run goes on where it stopped.",
    )
    add = parser.add_argument
    add("--suite", default="smoke", help=f"{', '.join(SUITES)}, or a .toml file")
    add("--data", help="folder of the corpora (default: TAGSIFT_DATA)")
    add("--out", type=Path, required=True, help="folder of the records")
    add("--jobs", type=int, default=1, help="workers, one BLAS thread each")
    add("--backend", default="loky", choices=BACKENDS, help="where the workers live")
    add(
        "--only",
        default="",
        help="cells to run, such as task=ner,method=crf+sure,fold=0",
    )
    add("--minutes", type=float, help="begin no new cell after this time")
    add("--retry-failed", action="store_true", help="run cells that failed again")
    add("--count", action="store_true", help="say what is missing and run nothing")
    add("--compact", type=Path, help="write the records there as JSON lines and stop")
    add("--quiet", action="store_true", help="show no progress")
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.compact is not None:
        found = records.load(options.out)
        paths = records.compact(found.values(), options.compact)
        print(f"{len(found)} records in {len(paths)} files")
        return 0
    suite = read_suite(options.suite)
    place = Place(data_folder(options.data), options.out)
    only = _conditions(options.only)
    if options.count:
        wanted = wanted_cells(suite, place.corpus, only)
        missing = pending(wanted, suite, place, retry_failed=options.retry_failed)
        print(f"{len(wanted)} cells, {len(missing)} of them not run yet")
        return 0
    outcome = run_suite(
        suite,
        place,
        jobs=options.jobs,
        backend=options.backend,
        only=only,
        minutes=options.minutes,
        retry_failed=options.retry_failed,
        quiet=options.quiet,
    )
    print(f"{outcome.done} cells run, {outcome.failed} failed, {outcome.left} left")
    for key, error in outcome.errors:
        print(f"failed: {key}: {error}", file=sys.stderr)
    return 1 if outcome.failed or outcome.left else 0


def _conditions(text: str) -> dict[str, str]:
    """Read ``task=ner,method=crf+sure``."""
    found = {}
    for pair in filter(None, text.split(",")):
        name, equals, values = pair.partition("=")
        if not equals:
            raise InputError(
                f"--only: expected name=value pairs joined by commas, found {pair!r}."
            )
        found[name] = values
    return found


if __name__ == "__main__":
    sys.exit(main())
