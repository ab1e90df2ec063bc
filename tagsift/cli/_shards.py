"""``tagsift tag`` on a folder of shards, by an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import Exchange, Reading, Sharding, TaggingEngine
from tagsift.cli._output import print_json, say
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.engines.tagging import Engine

__all__ = ["tag_folder"]


def tag_folder(
    model: Path,
    source: str,
    target: str | None,
    sharding: Sharding,
    exchange: Exchange,
    reading: Reading,
    single: Mapping[str, Any],
    json: bool,
) -> None:
    """Tag the shards of a folder; `single` are options for single files."""
    if target is None or source == "-":
        raise InputError(
            "--engine: expected a folder to read and one to write, as in: "
            "tagsift tag MODEL texts tagged --engine ray."
        )
    told = {**single, **asdict(reading), **asdict(exchange)}
    for name, value in told.items():
        if value and name not in ("text_key", "tokenizer"):
            name = {"also": "with", "source": "from"}.get(name, name)
            raise InputError(
                f"--{name.replace('_', '-')} is for single files; shards are Parquet "
                "or JSONL, and get new columns."
            )
    found = tagsift.engines.tag_shards(
        model,
        source,
        target,
        engine=_engine(sharding),
        column=exchange.text_key,
        prefix=sharding.prefix or "",
        tokenizer=exchange.tokenizer,
        verbose=not sharding.quiet,
    )
    if json:
        print_json({"out": target, **asdict(found)})
    else:
        before = f", {found.there_before} of them before" * bool(found.there_before)
        rate = found.tokens / found.cpu_s if found.cpu_s else 0.0
        say(
            f"{target}: {found.shards} shards{before}; {found.rows:,} rows, "
            f"{found.tokens:,} tokens, {rate:,.0f} tokens per CPU second"
        )


def _engine(sharding: Sharding) -> Engine:
    """The engine of that name."""
    if sharding.engine == TaggingEngine.ray:
        return tagsift.engines.RayTagging(sharding.workers)
    if sharding.engine == TaggingEngine.spark:
        return tagsift.engines.SparkTagging(sharding.workers)
    if sharding.workers is not None:
        raise InputError("--workers belongs to --engine ray and --engine spark.")
    return tagsift.engines.tagging.local_tagging
