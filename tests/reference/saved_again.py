"""An object with a declared state, written and read as a model file would."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from tagsift.storage.state import part, read_state, write_state


def saved_again(value: Any, **sizes: int) -> Any:
    """Return what comes back of `value`."""
    table = {"value": part(type(value))}
    meta, arrays = write_state(table, SimpleNamespace(value=value))
    return read_state(table, json.loads(json.dumps(meta)), arrays, sizes)["value"]
