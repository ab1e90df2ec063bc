"""Fields of records for the reference.

A record says what a field is in a comment beside it
(``counts: IntArray  # [B], tokens in every bin``), which is no docstring to Python.
"""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Docstring, Extension


class Fields(Extension):
    """Takes the comment beside an attribute of a class for its docstring."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Look at an attribute that has just been read."""
        if attr.docstring is None and attr.lineno and attr.parent.is_class:
            line = attr.lines_collection[attr.filepath][attr.lineno - 1]
            said = line.partition("  # ")[2]
            if said:
                words = said if said[0] in "`[" else said[0].upper() + said[1:]
                attr.docstring = Docstring(words + ".", parent=attr)
