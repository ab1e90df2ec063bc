"""Fits of what is larger than memory, or than one machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._models import make_settings, named_method
from tagsift.cli._options import Fitting, Scaling, Training
from tagsift.cli._parsing import parse_labels
from tagsift.cli._reading import are_votes, format_name
from tagsift.errors import InputError
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.chain.engine import Engine

__all__ = ["engine_of", "fit_pieces", "forget_steps", "is_large"]


def is_large(scaling: Scaling) -> bool:
    """Whether an engine is asked for; without one its options are refused."""
    asked = scaling.engine is not None or scaling.out_of_core is not None
    if not asked and (scaling.workers or scaling.checkpoint):
        raise InputError(
            "--workers and --checkpoint belong to an engine; give --engine ray, or "
            "--out-of-core with a folder."
        )
    if scaling.engine is not None and scaling.out_of_core is not None:
        raise InputError("--engine and --out-of-core: give one of them.")
    if scaling.workers and scaling.engine is None:
        raise InputError("--workers belongs to --engine ray.")
    return asked


def engine_of(scaling: Scaling) -> Engine:
    """The engine that the options name."""
    steps = scaling.checkpoint
    kept = None if steps is None else tagsift.engines.Checkpoint(steps)
    if scaling.engine is None:
        return tagsift.engines.LocalEngine(folder=scaling.out_of_core, checkpoint=kept)
    return tagsift.engines.RayEngine(scaling.workers, checkpoint=kept)


def fit_pieces(
    path: Path, source: Training, fitting: Fitting, scaling: Scaling
) -> SequenceTagger:
    """Fit a method to a column file of candidates that is read in pieces."""
    if are_votes(source) or format_name(path, source) != "conll" or source.also:
        raise InputError(
            "--engine and --out-of-core read column files of candidates; turn others "
            "into one by: tagsift convert, and votes by: tagsift clean."
        )
    if source.gold:
        raise InputError("--gold: the labels of a file in pieces are not compared.")
    given: dict[str, Any] = {}
    labels = parse_labels(source.labels)
    if isinstance(labels, list):
        given["labels"] = labels
    if source.scheme != "auto":
        given["scheme"] = source.scheme
    model = named_method(fitting, make_settings(fitting, given))
    if "engine" not in model.settings or model.method.votes:
        raise InputError(
            f"{model.method.title} works in memory; --engine and --out-of-core are for "
            "chain-gp, partial-crf and crf."
        )
    engine = engine_of(scaling)
    model.set_params(engine=engine)
    cut = partial(
        tagsift.io.read_chunks,
        path,
        labels=labels,
        scheme=source.scheme,
        comments=source.comments,
        columns=source.columns,
        header=source.header,
        features_hold_labels=source.features_hold_labels,
    )
    chunks = cut()
    if len(chunks) < engine.n_shards:  # every worker has one, as far as there are some
        with open(path, "rb") as stream:
            n_tokens = sum(bool(line.strip()) for line in stream)
        chunks = cut(n_tokens=max(1, n_tokens // engine.n_shards))
    stage(f"{path}: {len(chunks)} pieces", enabled=not fitting.quiet)
    return model.fit(chunks)


def forget_steps(scaling: Scaling) -> None:
    """Remove the steps of a fit whose model is written."""
    if scaling.checkpoint is not None:
        scaling.checkpoint.unlink(missing_ok=True)
