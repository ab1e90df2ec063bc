"""The last result of a review in its store, so that a new start begins where it ended.

What it rests on is stored beside it as one number: that of other votes, of another
model, or of another version of tagsift is not taken up.
"""

from __future__ import annotations

import hashlib
import json

from safetensors import SafetensorError
from safetensors.numpy import load, save

from tagsift._version import __version__
from tagsift.errors import ModelFileError
from tagsift.review.corpus_view import Material
from tagsift.review.state import Found
from tagsift.review.store import Store
from tagsift.storage import parse_json
from tagsift.storage.state import read_state, write_state

__all__ = ["Results"]


class Results:
    """Keeps one result, that of the last fit.

    Parameters
    ----------
    store : Store
        The file that it is in.
    material : Material
        What was looked at.
    model : str
        Tells the model, and how it was set, from all others.
    """

    def __init__(self, store: Store, material: Material, model: str) -> None:
        self._store, self._material = store, material
        self._basis = f"{__version__} {material.digest} {model}"

    def keep(self, found: Found, entries: int) -> None:
        """Put a result in the place of the last one; it knew so many entries."""
        state, arrays = write_state(Found.saved, found)
        content = save(arrays)
        about = {"basis": self._basis, "entries": entries, "state": state}
        about["sha256"] = hashlib.sha256(content).hexdigest()
        self._store.keep_result(json.dumps(about), content)

    def last(self) -> tuple[Found, int] | None:
        """The last result and the entries it knew; None where there is none to use."""
        about, content = self._store.result()
        try:
            told = parse_json(about)
            if told["basis"] != self._basis:
                return None
            if told["sha256"] != hashlib.sha256(content).hexdigest():
                return None
            material, entries = self._material, int(told["entries"])
            sizes = {"N": int(material.offsets[-1]), "L": len(material.classes)}
            found = read_state(Found.saved, told["state"], load(content), sizes)
        except (ModelFileError, SafetensorError, ValueError, TypeError, KeyError):
            return None
        found["people"] = tuple(found["people"])
        return Found(material, **found).ready(), entries
