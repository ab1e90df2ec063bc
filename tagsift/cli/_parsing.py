"""What options say in one text, parsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tagsift
from tagsift.errors import InputError

__all__ = [
    "parse_kinds",
    "parse_labels",
    "parse_renaming",
    "parse_settings",
    "parse_with",
]


def parse_labels(text: str | None) -> list[str] | dict[str, str] | None:
    """Read a label set, ``B,I,O``, or other names for labels, ``person=PER,date=O``."""
    if text is None:
        return None
    pairs = [part.strip().partition("=") for part in text.split(",")]
    names = [name for name, _, _ in pairs]
    if not all(names) or len(set(names)) != len(names):
        raise InputError(
            f"--labels: expected distinct labels joined by commas, found {text!r}."
        )
    if not any(equals for _, equals, _ in pairs):
        return names
    if not all(other for _, _, other in pairs):
        raise InputError(
            "--labels: expected other names for labels, such as person=PER,date=O, or "
            f"the label set, such as B,I,O, and not both, found {text!r}."
        )
    return {name: other for name, _, other in pairs}


def parse_kinds(text: str) -> dict[str, str]:
    """Read what annotators are, ``gpt=model,dict=source``."""
    pairs = [part.strip().rpartition("=") for part in text.split(",")]
    if not all(name and kind for name, _, kind in pairs):
        raise InputError(
            f"--kinds: expected such as gpt=model,dict=source, found {text!r}."
        )
    return {name: kind for name, _, kind in pairs}


def parse_with(text: str) -> Any:
    """Read a file, with the name of its format if there is one: ``a.jsonl:llm``."""
    path, colon, name = text.rpartition(":")
    known = name == "columns" or name in tagsift.io.FORMATS
    return (path, name) if colon and known and not Path(text).exists() else text


def parse_renaming(text: str | None) -> dict[str, str] | None:
    """Read other names for labels, where no label set is due."""
    labels = parse_labels(text)
    if isinstance(labels, list):
        raise InputError(
            "--labels: a label set is for candidates, since votes and gold labels name "
            f"theirs; to rename labels, say such as person=PER, found {text!r}."
        )
    return labels


def parse_settings(pairs: list[str] | None) -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs; a value that is JSON is read as such.

    Examples
    --------
    >>> parse_settings(["n_neighbours=5", "weighting=literal"])
    {'n_neighbours': 5, 'weighting': 'literal'}
    """
    settings: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(
                f"--set: expected NAME=VALUE, such as n_neighbours=5; found {pair!r}."
            )
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings
