"""Options that several verbs share, alone and in groups.

A group is a dataclass whose fields are options. A verb names it as one parameter, and
`grouped` turns that into one parameter per option, which is what typer reads.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo

import tagsift
from tagsift.cli._output import command
from tagsift.cli._overwrite import check_apart
from tagsift.errors import InputError

__all__ = [
    "EngineName",
    "Exchange",
    "Fitting",
    "Html",
    "Json",
    "Labels",
    "MethodName",
    "Model",
    "ModelFile",
    "OMeans",
    "Out",
    "OutFile",
    "OutOrScreen",
    "Quiet",
    "Reading",
    "Scaling",
    "Scheme",
    "Seed",
    "Shape",
    "Sharding",
    "Source",
    "TaggingEngine",
    "To",
    "Train",
    "Training",
    "argument",
    "given",
    "grouped",
    "option",
]


def option(text: str, names: str = "", **more: Any) -> Any:
    """An option: what it says, and its names where they are not the parameter's."""
    return typer.Option(*names.split(), help=text, **more)


def argument(name: str, text: str) -> Any:
    """An argument: its name in the help, and what it is."""
    return typer.Argument(metavar=name, help=text)


def _writable(path: Path | None) -> Path | None:
    """Complain of an output that cannot be written before any work is done."""
    if path is not None:
        tagsift.storage.check_writable(path)
    return path


def _file(path: Path | None) -> Path | None:
    """Complain of standard output as well, for what is no text to be read in a pipe."""
    if str(path) == "-":
        raise InputError("expected the name of a file to write, found '-'.")
    return _writable(path)


Json = Annotated[bool, option("Print one JSON object, no text.")]
_WHOLE = "The file to write, whole or not at all"
Out = Annotated[Path, option(f"{_WHOLE}.", "--out -o", callback=_writable)]
OutFile = Annotated[Path, option(f"{_WHOLE}.", "--out -o", callback=_file)]
OutOrScreen = Annotated[
    Path | None, option(f"{_WHOLE}; else the screen.", "--out -o", callback=_writable)
]
Html = Annotated[
    Path | None,
    option("Also write a page to look at, whole or not at all.", callback=_file),
]
Scheme = Annotated[str, option("Tag scheme: auto, iob1, iob2, iobes or plain.")]
Seed = Annotated[int, option("Seed of everything random.")]
Quiet = Annotated[bool, option("Show no progress and no notes.", "--quiet -q")]
MethodName = Annotated[
    str | None, option("Method to fit (see: tagsift methods).", "--method -m")
]
Model = Annotated[Path | None, option("Use this fitted model instead of fitting one.")]
Labels = Annotated[
    str | None,
    option(
        "The label set and its order, joined by commas (B,I,O); or other names for "
        "labels (person=PER,date=O; O takes one away)."
    ),
]
ModelFile = Annotated[Path, argument("MODEL", "A model that tagsift fit wrote.")]
Train = Annotated[
    Path, argument("TRAIN", "Candidates or votes: columns, or any other format.")
]
To = Annotated[
    str | None,
    option(
        "Write documents of this format, with the labels as one more annotator.",
        metavar="FORMAT",
    ),
]
Shape = Annotated[
    str | None,
    option(
        "Which shape of a format to write (label-studio: predictions, annotations, "
        "full or min; doccano: label or entities).",
        metavar="NAME",
    ),
]


class EngineName(StrEnum):
    """Who works on the sentences."""

    ray = "ray"


class TaggingEngine(StrEnum):
    """Who tags a folder of shards."""

    local = "local"
    ray = "ray"
    spark = "spark"


class OMeans(StrEnum):
    """What the vote ``O`` of an annotator means."""

    outside = "outside"
    abstain = "abstain"


def given(text: str, names: str = "", *, default: Any = None, **more: Any) -> Any:
    """A field of a group, which is an option."""
    return field(default=default, metadata={"option": option(text, names, **more)})


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the columns of a file are read."""

    columns: str | None = given(
        "A name for every column (token,pos,-,label): token, label, vote and gold say "
        "what it is, - leaves it out, other names are features.",
        metavar="NAMES",
    )
    header: bool = given("The first line names the columns.", default=False)
    comments: bool = given(
        "Skip lines that start with # and have one column.", default=False
    )
    features_hold_labels: bool = given(
        "Features most of whose values are labels of the file are meant; else they are "
        "refused, since they tell a model what it shall find.",
        default=False,
    )


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """How files of any format are read."""

    source: str | None = given(
        "Format of the file (conll for columns, jsonl, label-studio, doccano, …; see "
        "tagsift convert --help), where its name and content do not tell.",
        "--from",
        metavar="FORMAT",
    )
    also: list[str] | None = given(
        "Another file, of any format, with more annotators of the same texts; repeat "
        "for more. With the name of its format where that does not show: "
        "answers.jsonl:llm.",
        "--with",
        metavar="FILE[:FORMAT]",
    )
    text_key: str | None = given(
        "The key under which the text stands, where several could be it.", metavar="KEY"
    )
    tokenizer: str | None = given(
        "How text is cut: words (rules) or spaces.", metavar="NAME"
    )
    sentences: str | None = given(
        "Sentences of text without tokens: auto (rules, default), lines, or none (a "
        "document is one).",
        metavar="HOW",
    )
    offsets: str | None = given(
        "How offsets count: characters, utf-16 or bytes; default: by the text quoted, "
        "else characters.",
        metavar="UNIT",
    )
    misaligned: str | None = given(
        "Spans that cut the source's tokens: expand (default), contract, drop or "
        "error. Tokens made here are cut where spans begin and end.",
        metavar="HOW",
    )
    overlap: str | None = given(
        "Of spans that overlap, keep the longest (default) or the first, or error.",
        metavar="WHICH",
    )
    again: str | None = given(
        "Of several annotations of a text by one annotator, count the last (default) "
        "or the first, or error.",
        metavar="WHICH",
    )
    empty: str | None = given(
        "What a document without spans means in doccano and brat, which write one that "
        "nobody has touched alike: nothing (is there; default), or skipped.",
        metavar="WHAT",
    )
    label_key: str | None = given(
        "Which column is the label; hf: several, joined by commas, are those of "
        "annotators. CoNLL-U: UPOS (default), XPOS, or a key of MISC.",
        metavar="NAME",
    )
    spans_key: str | None = given(
        "spaCy: the group of spans instead of the entities; Argilla: the question.",
        metavar="NAME",
    )
    strict: bool = given("Refuse what cannot be kept.", default=False)


@dataclass(frozen=True, kw_only=True)
class Source(Exchange, Reading):
    """How a file of candidates or votes is read."""

    votes: str | None = given(
        "The columns are votes: which ones, counted from 1 (2:48, or 2,3,5).",
        metavar="COLUMNS",
    )
    gold: bool = given(
        "The last column holds gold labels, used to score and never to fit.",
        default=False,
    )
    o_means: OMeans | None = given(
        "What the vote O means: outside (people: a statement), or abstain (rules and "
        "dictionaries: nothing to say). Default: outside."
    )
    kinds: str | None = given(
        "What annotators are, where nothing says it: person, model or source (a rule, "
        "a dictionary), as in gpt=model,dict=source.",
        metavar="NAME=KIND",
    )
    abstain: str | None = given(
        "The annotators who abstain by O, where not all do, joined by commas.",
        metavar="NAMES",
    )
    scheme: Scheme = "auto"
    labels: Labels = None


@dataclass(frozen=True, kw_only=True)
class Training(Source):
    """How a file to learn from is read."""

    exact: str | None = given(
        "Labels of votes that are known exactly: the store of a review, a file that "
        "rank wrote and a person filled in, or the number of a column (? where not "
        "known).",
        metavar="FILE|COLUMN",
    )


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Which method is fitted, and how."""

    method: MethodName = None
    settings: list[str] | None = given(
        "A setting of the method as NAME=VALUE; repeat for more.",
        "--set",
        metavar="NAME=VALUE",
    )
    min_count: int | None = given(
        "Leave out features that occur less often; the model file is smaller.",
        metavar="N",
        min=1,
    )
    hashing: int | None = given(
        "So many columns for all features, by a hash: no vocabulary is kept.",
        metavar="N",
        min=1,
    )
    seed: Seed = 0
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """How a corpus larger than memory, or than one machine, is fitted."""

    engine: EngineName | None = given(
        "Who works on the sentences: ray, workers of a Ray cluster or of this machine."
    )
    workers: int | None = given(
        "Workers of the engine; default: all cores but one.", metavar="N", min=1
    )
    out_of_core: Path | None = given(
        "Read the file in pieces, and keep their features in this folder: the memory "
        "of one piece is enough.",
        metavar="FOLDER",
    )
    checkpoint: Path | None = given(
        "Keep the last steps in this file, and go on from there if it exists; it is "
        "removed once the model is written.",
        metavar="FILE",
        callback=_writable,
    )


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """How a folder of Parquet or JSONL files is tagged."""

    engine: TaggingEngine | None = given(
        "Tag the Parquet and JSONL files of a folder, or of an address such as "
        "s3://…, into OUT: local (here), ray or spark (workers of a cluster, or of "
        "this machine). What is there stays: after a kill, say the same again."
    )
    workers: int | None = given(
        "Workers of the engine; default: all cores but one.", metavar="N", min=1
    )
    prefix: str | None = given(
        "With --engine: what the names of the new columns begin with.", metavar="NAME"
    )
    quiet: Quiet = False


def grouped(
    run: Callable[..., None], renews: Collection[str] = ()
) -> Callable[..., None]:
    """Give a verb one parameter per option of the groups that it names.

    It writes over nothing that it reads but for the files of the options `renews`.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(run, eval_str=True).parameters.items():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter)
            continue
        hints = get_type_hints(group, include_extras=True)
        groups[name] = (group, [one.name for one in fields(group)])
        for one in fields(group):
            hint = hints[one.name]
            if "option" in one.metadata:
                hint = Annotated[hint, one.metadata["option"]]
            parameters.append(
                parameter.replace(name=one.name, annotation=hint, default=one.default)
            )
    for parameter in parameters:
        _name_option(parameter)

    @functools.wraps(run)
    def with_groups(**options: Any) -> None:
        check_apart(options, renews)
        beside, quiet = str(options.get("out")) == "-", bool(options.get("quiet"))
        made = {
            name: group(**{option: options.pop(option) for option in names})
            for name, (group, names) in groups.items()
        }
        with command(beside=beside, quiet=quiet):
            run(**options, **made)

    ordered = sorted(parameters, key=lambda parameter: parameter.kind)
    with_groups.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {p.name: p.annotation for p in ordered}
    del with_groups.__wrapped__
    return with_groups


def _name_option(parameter: inspect.Parameter) -> None:
    """Name an option after its parameter, so that a flag has no `--no-` of its own."""
    (declared,) = parameter.annotation.__metadata__
    if isinstance(declared, OptionInfo) and declared.default is ...:
        declared.param_decls = (f"--{parameter.name.replace('_', '-')}",)
