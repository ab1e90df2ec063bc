"""The last result of a review in its store, so that a new start begins where it ended.

What it rests on is stored beside it as one number: that of other votes, of another
model, or of another version of tagsift is not taken up.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from tagsift._version import __version__
from tagsift.cleaned import Cleaned
from tagsift.errors import DataError, TagsiftError
from tagsift.registry import load
from tagsift.review.corpus_view import CorpusView
from tagsift.review.state import State
from tagsift.review.store import Store
from tagsift.storage import parse_json

__all__ = ["Results", "packed", "unpacked"]

_FILE = "result.tagsift"


def packed(cleaned: Cleaned) -> bytes:
    """A result as the bytes of its file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, _FILE)
        cleaned.save(path)
        return path.read_bytes()


def unpacked(content: bytes) -> Cleaned:
    """The result that `packed` made bytes of, checked like any file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, _FILE)
        path.write_bytes(content)
        cleaned = load(path)
    if not isinstance(cleaned, Cleaned):
        raise DataError("expected a result, found a model.")
    return cleaned


class Results:
    """Keeps one result, that of the last fit.

    Parameters
    ----------
    store : Store
        The file that it is in.
    view : CorpusView
        What was looked at.
    model : str
        Tells the model, and how it was set, from all others.
    """

    def __init__(self, store: Store, view: CorpusView, model: str) -> None:
        self._store, self._view = store, view
        self._basis = f"{__version__} {view.digest} {model}"

    def keep(self, state: State, entries: int, content: bytes | None = None) -> None:
        """Put a result in the place of the last one; it knew so many entries.

        `content` is the result packed, where somebody has done so.
        """
        content = packed(state.cleaned) if content is None else content
        about = {
            "basis": self._basis,
            "entries": entries,
            "revision": state.revision,
            "seconds": state.seconds,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        self._store.keep_result(json.dumps(about), content)

    def last(self) -> tuple[State, int] | None:
        """The last result and the entries it knew; None where there is none to use."""
        about, content = self._store.result()
        try:
            facts = parse_json(about)
            if facts["basis"] != self._basis:
                return None
            if facts["sha256"] != hashlib.sha256(content).hexdigest():
                return None
            revision, entries = int(facts["revision"]), int(facts["entries"])
            seconds = facts["seconds"] and float(facts["seconds"])
            cleaned = unpacked(content)
        except (TagsiftError, ValueError, TypeError, KeyError):
            return None
        if cleaned.corpus.n_tokens != self._view.corpus.n_tokens:
            return None
        return State(self._view, cleaned, revision, seconds).ready(), entries
