"""The last step of the minimiser on disk, from which a killed fit goes on.

One file of NumPy arrays, no code in it: a header of JSON, the point, its gradient, and
the steps that shape the curvature. They are written one by one, so that no copy of them
is made, and the file is written whole or not at all. All numbers are kept in full: a
fit that was killed ends exactly where it would have ended. The last step of all is
kept, too: whoever has stored the model removes the file.
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

_FORMAT = 1


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
        """Keep a step."""
        header = {
            "format": _FORMAT,
            "key": self.key,
            "value": step.value,
            "change": step.change,
            "n_iter": step.n_iter,
            "curvatures": [curvature for _, _, curvature in step.past],
        }
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        pairs = [part for s, y, _ in step.past for part in (s, y)]
        with atomic_write(self.path, "wb") as stream:
            for array in (text, step.x, step.gradient, *pairs):
                np.save(stream, array, allow_pickle=False)

    def read(self, n_parameters: int) -> Step | None:
        """The step that was kept, or None where there is none."""
        path = Path(self.path)
        if not path.exists():
            return None
        try:
            with open(path, "rb") as stream:
                header: dict[str, Any] = json.loads(_next(stream).tobytes())
                if header["format"] != _FORMAT:
                    raise ValueError("another format")
                if header["key"] != self.key:
                    raise DataError(
                        "expected the steps of this fit, found those of other data or "
                        "settings; remove the file to begin anew, or name another.",
                        path,
                    )
                arrays = [
                    _next(stream) for _ in range(2 + 2 * len(header["curvatures"]))
                ]
            if any(array.shape != (n_parameters,) for array in arrays):
                raise ValueError("another number of parameters")
            pairs = zip(arrays[2::2], arrays[3::2], header["curvatures"], strict=True)
            told = {name: header[name] for name in ("value", "change", "n_iter")}
            return Step(arrays[0], arrays[1], **told, past=tuple(pairs))
        except DataError:
            raise
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise DataError(
                "expected the steps of a fit, found a damaged file; remove it to begin "
                "anew.",
                path,
            ) from error


def _next(stream: Any) -> np.ndarray[Any, Any]:
    return np.asarray(np.load(stream, allow_pickle=False))
