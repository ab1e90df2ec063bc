"""The last step of a fit on disk, from which a killed one goes on.

One file of NumPy arrays, no code in it: a header of JSON, and of a minimiser the point,
its gradient and the steps that shape the curvature. They are written one by one, so
that no copy of them is made, and the file is written whole or not at all. All numbers
are kept in full: a fit that was killed ends exactly where it would have ended. The last
step of all is kept, too: whoever has stored the model removes the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tagsift.chain.step import Step
from tagsift.errors import DataError
from tagsift.storage import atomic_write

__all__ = ["Checkpoint"]

_FORMAT = 2


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit keeps its last step, and how often."""

    path: Path | str
    every: int = 10  # steps
    key: str = ""  # of the data and the settings of the fit

    def of(self, key: str) -> Checkpoint:
        """The same file, for the fit that has this key."""
        return replace(self, key=key)

    def write(self, step: Step) -> None:
        numbers = {name: getattr(step, name) for name in ("value", "change", "n_iter")}
        numbers["curvatures"] = [curvature for _, _, curvature in step.past]
        pairs = [part for s, y, _ in step.past for part in (s, y)]
        self.keep(numbers, step.x, step.gradient, *pairs)

    def read(self, n_parameters: int) -> Step | None:
        stored = self.kept()
        if stored is None:
            return None
        numbers, arrays = stored
        if any(array.shape != (n_parameters,) for array in arrays):
            raise self._damaged()
        pairs = zip(arrays[2::2], arrays[3::2], numbers.pop("curvatures"), strict=True)
        return Step(arrays[0], arrays[1], **numbers, past=tuple(pairs))

    def keep(self, told: dict[str, Any], *arrays: Any) -> None:
        """Keep numbers and texts, and arrays, in place of what was kept before."""
        header = {"format": _FORMAT, "key": self.key, "arrays": len(arrays)} | told
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with atomic_write(self.path, "wb") as stream:
            for array in (text, *arrays):
                np.save(stream, array, allow_pickle=False)

    def kept(self) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]]] | None:
        path = Path(self.path)
        if not path.exists():
            return None
        try:
            with open(path, "rb") as stream:
                told: dict[str, Any] = json.loads(_next(stream).tobytes())
                if told.pop("format") != _FORMAT:
                    raise ValueError("another format")
                if told.pop("key") != self.key:
                    raise DataError(
                        "expected the steps of this fit, found those of other data or "
                        "settings; remove the file to begin anew, or name another.",
                        path,
                    )
                return told, [_next(stream) for _ in range(told.pop("arrays"))]
        except DataError:
            raise
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise self._damaged() from error

    def _damaged(self) -> DataError:
        return DataError(
            "expected the steps of a fit, found a damaged file; remove it to begin "
            "anew.",
            Path(self.path),
        )


def _next(stream: Any) -> np.ndarray[Any, Any]:
    return np.asarray(np.load(stream, allow_pickle=False))
