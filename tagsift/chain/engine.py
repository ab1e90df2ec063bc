"""Who works on the shards of a corpus: a small protocol, and the local engine.

What a fit asks of a corpus is a sum over sentences. An engine holds shards, each a
state made from a piece of the corpus, and knows three things to do with them: turn
every state into another, call a function of every state, and add up what the calls
give. `tagsift.engines` has engines of several machines.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from tagsift.chain.checkpoint import Checkpoint
from tagsift.errors import DataError, InputError

__all__ = ["Each", "Engine", "LocalEngine", "Shards", "Work", "add_up"]

#: Arrays begin at multiples of so many bytes.
_ALIGNED = 64

#: A function of the state of a shard and further arguments.
Work: TypeAlias = Callable[..., Any]


#: What a function takes beside the state of each shard, by shard; None for nothing.
Each: TypeAlias = Sequence[Any] | None


class Shards:
    """States made from the pieces of a corpus, wherever they live.

    The functions are plain ones of a module, so that they can be sent. After the state
    they take `args`, the same for all, and, where `each` is given, its entry for the
    shard. `only` names the shards that are asked, by number. An engine writes `then`,
    `results`, `close` and the length, and `sums` where its workers can add up.
    """

    def __len__(self) -> int:
        """Number of shards."""
        raise NotImplementedError

    def then(self, work: Work, *args: Any, each: Each = None) -> None:
        """Turn every state into what the function makes of it."""
        raise NotImplementedError

    def results(
        self, work: Work, args: tuple[Any, ...], each: Each, asked: Sequence[int]
    ) -> Iterable[Any]:
        """What the function gives for the shards that are asked, in their order."""
        raise NotImplementedError

    def sums(
        self, work: Work, args: tuple[Any, ...], each: Each, asked: Sequence[int]
    ) -> Iterable[Any]:
        """The same, added up in parts."""
        return self.results(work, args, each, asked)

    def close(self) -> None:
        """Let the states go, with the files or the workers that hold them."""
        raise NotImplementedError

    def map(
        self,
        work: Work,
        *args: Any,
        each: Each = None,
        only: Sequence[int] | None = None,
    ) -> list[Any]:
        """What the function gives for every shard, in their order."""
        asked = range(len(self)) if only is None else only
        return list(self.results(work, args, each, asked))

    def sum(
        self,
        work: Work,
        *args: Any,
        each: Each = None,
        only: Sequence[int] | None = None,
    ) -> Any:
        """Add up what the function gives: numbers, arrays, or tuples of them."""
        asked = range(len(self)) if only is None else only
        return add_up(self.sums(work, args, each, asked))


class Engine(Protocol):
    """Who holds shards."""

    @property
    def n_shards(self) -> int:
        """Into how many shards sentences in memory are cut."""

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where a fit keeps its last steps."""

    def scatter(self, pieces: Iterable[Any]) -> Shards:
        """Hand out the pieces of a corpus, as they come: the first states."""


def add_up(results: Iterable[Any]) -> Any:
    """Sum of numbers, arrays or tuples, one after the other; the first is reused."""
    total: Any = None
    for result in results:
        total = _own(result) if total is None else _plus(total, result)
    return total


def _own(found: Any) -> Any:
    """The same numbers, to be written over."""
    if isinstance(found, tuple):
        return tuple(map(_own, found))
    fixed = isinstance(found, np.ndarray) and not found.flags.writeable
    return found.copy() if fixed else found


def _plus(total: Any, found: Any) -> Any:
    if isinstance(total, tuple):
        return tuple(map(_plus, total, found))
    total += found
    return total


@dataclass(frozen=True)
class LocalEngine:
    """Shards in this process, one after the other.

    With a folder they live there, and are mapped into memory one at a time: a fit then
    needs the memory of one shard and of the solver, whatever the size of the corpus.
    The folder is for one fit at a time; its files are removed in the end.
    """

    n_shards: int = 1
    folder: Path | str | None = None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        if self.n_shards < 1:
            raise InputError(f"n_shards must be at least 1; got {self.n_shards}.")

    def scatter(self, pieces: Iterable[Any]) -> Shards:
        """Hand out the pieces of a corpus, as they come: the first states."""
        if self.folder is None:
            return _InMemory(list(pieces))
        shards = _OnDisk([], Path(self.folder))
        for k, piece in enumerate(pieces):
            shards.states.append(None)
            shards._put(k, piece)
        return shards


@dataclass
class _InMemory(Shards):
    """States in a list."""

    states: list[Any]

    def __len__(self) -> int:
        return len(self.states)

    def _get(self, k: int) -> Any:
        return self.states[k]

    def _put(self, k: int, state: Any) -> None:
        self.states[k] = state

    def then(self, work: Work, *args: Any, each: Each = None) -> None:
        for k, state in enumerate(self.results(work, args, each, range(len(self)))):
            self._put(k, state)

    def results(
        self, work: Work, args: tuple[Any, ...], each: Each, asked: Sequence[int]
    ) -> Iterable[Any]:
        for k in asked:
            own = () if each is None else (each[k],)
            yield work(self._get(k), *args, *own)

    def close(self) -> None:
        self.states = []


@dataclass
class _OnDisk(_InMemory):
    """States whose numbers are in files.

    A file holds the bytes of arrays and nothing else; what they belong to stays in this
    process (Python's buffers out of band), so that no file is ever run as code.
    """

    folder: Path
    stored: dict[int, tuple[bytes, list[int]]] = field(default_factory=dict)

    def _get(self, k: int) -> Any:
        outline, sizes = self.stored[k]
        mapped = np.memmap(self._path(k), np.uint8, "r")  # [bytes]
        begins = np.cumsum([0, *map(_padded, sizes[:-1])]).tolist()
        parts = [mapped[lo : lo + n] for lo, n in zip(begins, sizes, strict=False)]
        return pickle.loads(outline, buffers=parts)

    def _put(self, k: int, state: Any) -> None:
        path = self._path(k)
        new = path.with_suffix(".new")  # the old one may still be mapped
        arrays: list[pickle.PickleBuffer] = []
        outline = pickle.dumps(state, protocol=5, buffer_callback=arrays.append)
        parts = [array.raw() for array in arrays]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as stream:
                for part in parts:
                    stream.write(part)
                    stream.write(bytes(_padded(part.nbytes) - part.nbytes))
                stream.write(bytes(_ALIGNED))  # an empty file cannot be mapped
            new.replace(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DataError(
                f"cannot write a shard of {self.folder} ({reason}); give a folder "
                "with enough room."
            ) from error
        self.stored[k] = outline, [part.nbytes for part in parts]
        self.states[k] = None

    def close(self) -> None:
        for k in self.stored:
            self._path(k).unlink(missing_ok=True)
        super().close()

    def _path(self, k: int) -> Path:
        return self.folder / f"shard-{k:05d}.bin"


def _padded(size: int) -> int:
    """Bytes that an array of so many takes in a file."""
    return -(-size // _ALIGNED) * _ALIGNED
