"""Options that several verbs share."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tagsift.errors import InputError

__all__ = [
    "Comments",
    "FileFormat",
    "Format",
    "Gold",
    "Json",
    "Labels",
    "MethodName",
    "Model",
    "Out",
    "Quiet",
    "Scheme",
    "Seed",
    "Settings",
    "Votes",
    "parse_labels",
    "parse_settings",
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, no text.")]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", help="The file to write, whole or not at all."),
]
Scheme = Annotated[
    str,
    typer.Option("--scheme", help="Tag scheme: auto, iob1, iob2, iobes or plain."),
]
Comments = Annotated[
    bool,
    typer.Option(
        "--comments", help="Skip lines that start with # and have one column."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
MethodName = Annotated[
    str | None,
    typer.Option("--method", "-m", help="Method to fit (see: tagsift methods)."),
]
Model = Annotated[
    Path | None,
    typer.Option("--model", help="Use this fitted model instead of fitting one."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A setting of the method as NAME=VALUE; repeat for more.",
        metavar="NAME=VALUE",
    ),
]
Votes = Annotated[
    str | None,
    typer.Option(
        "--votes",
        help="The columns are votes: which ones, counted from 1 (2:48, or 2,3,5).",
        metavar="COLUMNS",
    ),
]
Gold = Annotated[
    bool,
    typer.Option(
        "--gold",
        help="The last column holds gold labels, used to score and never to fit.",
    ),
]


class FileFormat(StrEnum):
    """What a file of candidates or votes is."""

    columns = "columns"
    jsonl = "jsonl"
    label_studio = "label-studio"


Format = Annotated[
    FileFormat,
    typer.Option(
        "--format",
        help="columns: one token a line; jsonl: candidates as JSON lines; "
        "label-studio: an export of Label Studio, votes of several annotators.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", help="The label set and its order, joined by commas (B,I,O)."
    ),
]


def parse_labels(text: str | None) -> list[str] | None:
    """Read ``B,I,O``."""
    if text is None:
        return None
    labels = text.split(",")
    if not all(labels) or len(set(labels)) != len(labels):
        raise InputError(
            f"--labels: expected distinct labels joined by commas, found {text!r}."
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
