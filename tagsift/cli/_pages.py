"""Pages that verbs write beside their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import tagsift
from tagsift.cli._sources import with_sources

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.cleaned import Cleaned
    from tagsift.data import Row
    from tagsift.io import Documents
    from tagsift.report import Report

__all__ = ["findings_in_text", "page_of"]


def findings_in_text(
    model: SequenceTagger,
    rows: list[list[Row]],
    gold: list[list[str]] | None = None,
    documents: Documents | None = None,
) -> Cleaned:
    """What a model finds in text without labels; `gold` is the truth, if known."""
    names = tagsift.data.LabelSet(tuple(str(name) for name in model.classes_))
    every = [[names.full] * len(row) for row in rows]
    given = tagsift.io.PartialCorpus(rows, every, gold, names, model.scheme_)
    labels = [[str(name) for name in row] for row in model.predict(rows)]
    sure = model.predict_proba(rows) if model.method.probabilities else None
    corpus = with_sources(given.as_corpus(), documents)
    return tagsift.cleaned.found_by(corpus, model, labels, sure)


def page_of(
    findings: Cleaned,
    path: Path,
    *,
    seed: int,
    model: Path | None = None,
    seconds: float | None = None,
) -> Report:
    """The page on data that were read from a file."""
    facts = [("file", path.name), ("method", findings.tagger.method.title)]
    if model is not None:
        facts.append(("model", model.name))
    else:
        facts.append(("seed", str(seed)))
    if seconds is not None:
        facts.append(("time of the fit", f"{seconds:.1f} s"))
    what = "Votes" if findings.has_votes else "Candidates"
    title = f"{what} in {path.name}"
    return tagsift.report.data_report(findings, title=title, facts=facts)
