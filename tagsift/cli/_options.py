"""Options that several verbs share, alone and in groups.

A group is a dataclass whose fields are options. A verb names it as one parameter, and
`grouped` turns that into one parameter per option, which is what typer reads.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

import tagsift
from tagsift.errors import InputError

__all__ = [
    "FileFormat",
    "Fitting",
    "Json",
    "Labels",
    "MethodName",
    "Model",
    "OMeans",
    "Out",
    "OutOrScreen",
    "Quiet",
    "Reading",
    "Scheme",
    "Seed",
    "Source",
    "Train",
    "Training",
    "grouped",
    "parse_labels",
    "parse_settings",
]


def _writable(path: Path | None) -> Path | None:
    """Complain of an output that cannot be written before any work is done."""
    if path is not None:
        tagsift.storage.check_writable(path)
    return path


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, no text.")]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        help="The file to write, whole or not at all.",
        callback=_writable,
    ),
]
OutOrScreen = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="The file to write, whole or not at all; else the screen.",
        callback=_writable,
    ),
]
Scheme = Annotated[
    str,
    typer.Option("--scheme", help="Tag scheme: auto, iob1, iob2, iobes or plain."),
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
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", help="The label set and its order, joined by commas (B,I,O)."
    ),
]
Train = Annotated[
    Path, typer.Argument(metavar="TRAIN", help="Column file of candidates or votes.")
]


class OMeans(StrEnum):
    """What the vote ``O`` of an annotator means."""

    outside = "outside"
    abstain = "abstain"


class FileFormat(StrEnum):
    """What a file of candidates or votes is."""

    columns = "columns"
    jsonl = "jsonl"
    label_studio = "label-studio"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the columns of a file are read."""

    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="A name for every column (token,pos,-,label): token, label, vote and "
            "gold say what it is, - leaves it out, other names are features.",
            metavar="NAMES",
        ),
    ] = None
    header: Annotated[
        bool, typer.Option("--header", help="The first line names the columns.")
    ] = False
    comments: Annotated[
        bool,
        typer.Option(
            "--comments", help="Skip lines that start with # and have one column."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Source(Reading):
    """How a file of candidates or votes is read."""

    form: Annotated[
        FileFormat,
        typer.Option(
            "--format",
            help="columns: one token a line; jsonl: candidates as JSON lines; "
            "label-studio: an export of Label Studio, votes of several annotators.",
        ),
    ] = FileFormat.columns
    votes: Annotated[
        str | None,
        typer.Option(
            "--votes",
            help="The columns are votes: which ones, counted from 1 (2:48, or 2,3,5).",
            metavar="COLUMNS",
        ),
    ] = None
    gold: Annotated[
        bool,
        typer.Option(
            "--gold",
            help="The last column holds gold labels, used to score and never to fit.",
        ),
    ] = False
    o_means: Annotated[
        OMeans | None,
        typer.Option(
            "--o-means",
            help="What the vote O means: outside (people: a statement), or abstain "
            "(rules and dictionaries: nothing to say). Default: outside.",
        ),
    ] = None
    abstain: Annotated[
        str | None,
        typer.Option(
            "--abstain",
            help="The annotators who abstain by O, where not all do, joined by commas.",
            metavar="NAMES",
        ),
    ] = None
    scheme: Scheme = "auto"


@dataclass(frozen=True, kw_only=True)
class Training(Source):
    """How a file to learn from is read."""

    labels: Labels = None
    exact: Annotated[
        str | None,
        typer.Option(
            "--exact",
            help="Labels of votes that are known exactly: a file that rank wrote and a "
            "person filled in, or the number of a column (? where not known).",
            metavar="FILE|COLUMN",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Which method is fitted, and how."""

    method: MethodName = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the method as NAME=VALUE; repeat for more.",
            metavar="NAME=VALUE",
        ),
    ] = None
    seed: Seed = 0
    quiet: Quiet = False


def grouped(run: Callable[..., None]) -> Callable[..., None]:
    """Give a verb one parameter per option of the groups that it names."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(run, eval_str=True).parameters.items():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter)
            continue
        hints = get_type_hints(group, include_extras=True)
        groups[name] = (group, [field.name for field in fields(group)])
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(group)
        ]

    @functools.wraps(run)
    def with_groups(**options: Any) -> None:
        made = {
            name: group(**{field: options.pop(field) for field in names})
            for name, (group, names) in groups.items()
        }
        run(**options, **made)

    ordered = sorted(parameters, key=lambda parameter: parameter.kind)
    with_groups.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {p.name: p.annotation for p in ordered}
    del with_groups.__wrapped__
    return with_groups


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
