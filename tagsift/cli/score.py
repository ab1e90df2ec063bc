"""``tagsift score``: a model or a file of predictions against gold labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tagsift
from tagsift.cli._models import check_columns, load_tagger
from tagsift.cli._options import (
    Exchange,
    Html,
    Json,
    Labels,
    Quiet,
    Reading,
    Scheme,
    argument,
    option,
)
from tagsift.cli._output import complain, print_json, say
from tagsift.cli._reading import read_labels
from tagsift.errors import DataError, InputError

if TYPE_CHECKING:
    from tagsift import Corpus
    from tagsift.base import SequenceTagger
    from tagsift.report import Tagged

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 50
EXAMPLE = "tagsift score model.tagsift gold.conll"


def run(
    files: Annotated[
        list[Path], argument("[MODEL] GOLD", "MODEL GOLD, or GOLD alone with --pred.")
    ],
    *,
    pred: Annotated[
        Path | None, option("File of predictions (label last) instead of a model.")
    ] = None,
    pred_columns: Annotated[
        str | None, option("Names of the columns of that file.", metavar="NAMES")
    ] = None,
    fail_under: Annotated[
        float | None,
        option(
            "Exit with status 1 if the span F1 (0 to 1) is below this.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    html: Html = None,
    scheme: Scheme = "auto",
    labels: Labels = None,
    exchange: Exchange,
    reading: Reading,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Span and token F1; for a model with probabilities calibration and risk–coverage.

    Gold labels that a model does not know count as wrong.
    """
    expected = 1 if pred is not None else 2
    if len(files) != expected:
        raise InputError(
            "give MODEL and GOLD, or --pred FILE and GOLD; found "
            f"{len(files)} file{'s' * (len(files) != 1)}"
            f"{' and --pred' if pred is not None else ''}."
        )
    gold = read_labels(files[-1], exchange, reading, scheme, labels)
    if pred is not None:
        same = replace(exchange, source=None, also=None)
        columns = replace(reading, columns=pred_columns, header=False)
        found = read_labels(pred, same, columns, gold.scheme, labels)
        tagged, title = _same_text(pred, found, gold, files[-1]), pred.name
    else:
        model = load_tagger(files[0])
        check_columns(model, files[-1], gold.rows, named=reading.columns is not None)
        tagged, title = _tag(model, gold), model.method.title
    scores = tagged.scores()
    if html is not None:
        page = tagsift.report.scores_report(
            tagged,
            method=title,
            title=f"Scores on {files[-1].name}",
            facts=[("gold", files[-1].name), ("labels", (pred or files[0]).name)],
        )
        tagsift.report.write_html(html, page)
    if json:
        print_json(tagsift.metrics.dict_report(scores))
    else:
        say(tagsift.metrics.text_report(scores).rstrip("\n"))
    if fail_under is not None and scores.span_f1 < fail_under:
        complain(
            f"the span F1 is {scores.span_f1:.4f}, below {fail_under:g}.",
            kind="warning",
        )
        raise typer.Exit(1)


def _same_text(path: Path, found: Corpus, gold: Corpus, gold_path: Path) -> Tagged:
    """Labels of two files, after checking that they hold the same text."""
    difference = ""
    if len(found) != len(gold):
        difference = f"found {len(found)} sentences here and {len(gold)} sentences"
    for s, (mine, theirs) in enumerate(zip(found.tokens, gold.tokens, strict=False), 1):
        if len(mine) != len(theirs) and not difference:
            difference = f"sentence {s}: {len(mine)} tokens here and {len(theirs)}"
        for t, (word, other) in enumerate(zip(mine, theirs, strict=False), 1):
            if word != other and not difference:
                difference = f"sentence {s}: token {t} is {word!r} here and {other!r}"
    if difference:
        raise DataError(
            f"{difference} in {gold_path}; both files must hold the same text.", path
        )
    names = sorted({*found.label_set, *gold.label_set})
    both = gold.labels, found.labels
    return tagsift.report.Tagged(gold.tokens, *both, names, scheme=gold.scheme)


def _tag(model: SequenceTagger, gold: Corpus) -> Tagged:
    """Tag the text of the gold file."""
    known = set(model.classes_)
    extra = sorted({name for row in gold.labels for name in row} - known)
    if extra:
        count = sum(name not in known for row in gold.labels for name in row)
        complain(
            f"{count} gold labels are unknown to the model and count as wrong "
            f"({', '.join(extra[:5])}{', …' if len(extra) > 5 else ''}).",
            kind="warning",
        )
    sure = model.predict_proba(gold.rows) if model.method.probabilities else None
    both = gold.labels, model.predict(gold.rows)
    names = model.classes_
    return tagsift.report.Tagged(gold.tokens, *both, names, sure, gold.scheme)
