"""Tagging on Ray: `map_batches` of Ray Data, with one model per actor."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tagsift.engines.ray import cores_of, started
from tagsift.engines.tagging import Shard, Tagging
from tagsift.errors import InputError, MissingExtraError, TagsiftError

if TYPE_CHECKING:
    import os

    from tagsift.base import SequenceTagger

__all__ = ["RayTagging", "tag_dataset"]

_ROWS = 1000  # that an actor takes at once
_BLOCKS = 100  # of shards per actor


@dataclass(frozen=True)
class RayTagging:
    """Tag shards on the actors of a Ray cluster; see `tagsift.engines.tag_shards`.

    Parameters
    ----------
    n_workers : int, optional
        Actors, a core each; by default all cores of the cluster but one. That one is
        left for reading: where actors hold all of them, Ray Data waits for ever.
    address : str, optional
        The cluster; by default one that Ray knows of, or a new one on this machine.
    """

    n_workers: int | None = None
    address: str | None = None

    def __call__(
        self, tagging: Tagging, shards: Sequence[Shard]
    ) -> Iterator[dict[str, Any]]:
        """One result per shard, as they come."""
        ray, n_workers = _workers(self.n_workers, self.address)
        blocks = min(len(shards), _BLOCKS * n_workers)
        items = ray.data.from_items(
            [asdict(shard) for shard in shards], override_num_blocks=blocks
        )
        pool = _pool(ray, min(n_workers, len(shards)), tagging)
        done = items.map_batches(_ShardActor, batch_size=1, **pool)
        return _ours(ray, done.iter_rows())


def tag_dataset(
    model: SequenceTagger | str | os.PathLike[str],
    dataset: Any,
    *,
    column: str | None = None,
    prefix: str = "",
    tokenizer: Any = None,
    n_workers: int | None = None,
) -> Any:
    """Tag a dataset of Ray, with the columns of `tagsift.tag_table`.

    Parameters
    ----------
    model : SequenceTagger or path-like
        A fitted estimator, or its file.
    dataset : ray.data.Dataset
        With a column of texts, or of lists of tokens.
    column, prefix, tokenizer
        As in `tagsift.engines.tag_shards`.
    n_workers : int, optional
        Actors, a core each; by default all cores of the cluster but one, which is left
        for reading.

    Returns
    -------
    ray.data.Dataset
        Lazy, as what it is made from.
    """
    tagging = Tagging.by(model, column=column, prefix=prefix, tokenizer=tokenizer)
    ray, n_workers = _workers(n_workers, None)
    schema = dataset.schema(fetch_if_missing=False)  # None where it takes work to know
    if hasattr(getattr(schema, "base_schema", None), "empty_table"):
        tagging.new_columns(schema.base_schema)
    pool = _pool(ray, n_workers, tagging)
    return dataset.map_batches(_TableActor, batch_size=_ROWS, **pool)


class _TableActor:
    """An actor with its model, for batches of rows."""

    def __init__(self, tagging: Any) -> None:
        import ray

        self.tagging: Tagging = ray.get(tagging)

    def __call__(self, table: Any) -> Any:
        return self.tagging.table(table)


class _ShardActor(_TableActor):
    """An actor with its model, for batches of shards."""

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        shards = (Shard(**row) for row in table.to_pylist())
        return pa.Table.from_pylist([self.tagging.shard(shard) for shard in shards])


def _workers(asked: int | None, address: str | None) -> tuple[Any, int]:
    """Ray, and the number of actors that leaves a core free."""
    ray = started(address)
    what = "tagging with the engine 'ray'"
    MissingExtraError.imported("pandas", extra="ray", what=what)
    import_module("ray.data")
    cores = cores_of(ray)
    most = max(1, cores - 1)
    if asked is not None and not 1 <= asked <= most:
        raise InputError(
            f"the Ray cluster has {cores} cores, and one is left for reading: expected "
            f"1 to {most} workers, found {asked}."
        )
    return ray, asked or most


def _pool(ray: Any, n_workers: int, tagging: Tagging) -> dict[str, Any]:
    """Settings of `map_batches`: actors that hold a core, and get the model once."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return {
        "batch_format": "pyarrow",
        "compute": ray.data.ActorPoolStrategy(size=n_workers),
        "num_cpus": 1 if cores_of(ray) > 1 else 0.5,
        "fn_constructor_args": (ray.put(tagging),),
    }


def _ours(ray: Any, rows: Iterator[Any]) -> Iterator[dict[str, Any]]:
    """Results; what goes wrong is one sentence."""
    try:
        yield from rows
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, TagsiftError):
            raise cause from None
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise InputError(
            f"Ray gave up ({lines[-1].strip()[:200]}); the shards that are written "
            "stay, and the same command does the rest."
        ) from error
