"""Cases: column files, exchange formats and command lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

import tagsift
from tagsift.cli import app
from tagsift.data.annotators import Annotator
from tagsift.io.formats import CorpusInfo
from tests.fuzz import inputs
from tests.fuzz.dice import ODD_NUMBERS, ODD_TEXT, Dice
from tests.fuzz.nobody import reviews_are_not_served
from tests.fuzz.outcome import attempt, command
from tests.io.formats.examples import CASES, EXAMPLES, Example
from tests.io.formats.examples import documents as build


def column_files(dice: Dice, folder: Path) -> None:
    """A verb on a column file that may be odd or damaged."""
    source, out = folder / "file.conll", folder / "out"
    kind = dice.choice(("gold", "candidates", "votes", "text"))
    text = inputs.columns(dice, kind)
    if dice.often(0.3):
        text = dice.damage_lines(text)
    data = text.encode("utf-8", "surrogatepass")
    if dice.often(0.15):
        data = dice.damage_bytes(data)
    source.write_bytes(data)
    if dice.often(0.1):
        kind = dice.choice(("gold", "candidates", "votes", "text"))
    command(*_verb_on(dice, kind, source, out), out=out)


def _verb_on(dice: Dice, kind: str, source: Path, out: Path) -> list[Any]:
    """Arguments of a verb that reads such a column file."""
    model = inputs.fitted(dice.choice(inputs.QUICK), out.parent.parent)
    words = inputs.fitted(dice.choice(inputs.QUICK), out.parent.parent, 1)
    method = inputs.methods(dice)
    if kind == "votes" and dice.often(0.3):
        method = dice.choice(inputs.FROM_VOTES)
    learn: list[Any] = [source, "-o", out, "-m", method]
    verbs = {
        "gold": (
            ["corrupt", source, "-o", out, "--cl", dice.randint(1, 4), "--p", 0.3],
            ["corrupt", source, "-o", out, "--r", 0.4, "--keep-gold"],
            ["fit", *learn],
            ["score", model, source],
            ["tag", model, source, "--gold"],
            ["score", "--pred", source, source],
        ),
        "candidates": (
            ["fit", *learn],
            ["clean", *learn],
            ["rank", *learn],
            ["clean", source, "-o", out, "--model", model],
        ),
        "votes": (
            ["fit", *learn, "--votes", "2:4"],
            ["clean", *learn, "--votes", "2:4", "--gold"],
            ["rank", *learn, "--votes", "2,3", "--by", "disagreement"],
            ["agree", source, "--votes", "2:4", "--gold"],
            ["agree", source, "--votes", "2:5", "--pairs"],
            ["agree", source, "--votes", dice.choice(("1", "4", "3:2", "2:50"))],
        ),
        "text": (
            ["tag", model, source, "-o", out],
            ["tag", model, source, "--marginals"],
            ["tag", model, source, "--json"],
            ["tag", words, source, "--from", "text", "--spans"],
            ["tag", words, source, "--from", "text", "--to", "jsonl", "-o", out],
        ),
    }
    arguments = list(dice.choice(verbs[kind]))
    arguments += [flag for flag in ("--json", "--comments") if dice.often(0.1)]
    if kind != "text" and dice.often(0.1):
        schemes = ("iob1", "iob2", "iobes", "plain", "auto")
        arguments += ["--scheme", dice.choice(schemes)]
    return arguments


def exchange_formats(dice: Dice, folder: Path) -> None:
    """A file of any format, its values or its bytes damaged, read and converted."""
    example = dice.choice((*EXAMPLES, Example("hf", "a.parquet")))
    path, out = folder / example.file, folder / "out"
    names = dice.sample([name for name in CASES if name != "several"], 3)
    sound = [build(str(n), *CASES[name]) for n, name in enumerate(names)]
    info = CorpusInfo((Annotator("ann"), Annotator("eve", "source")), ("X",), "iob2")
    told: dict[str, Any] = {"info": info} if dice.often() else {}
    if example.file == "a.parquet" and dice.often():
        told["shape"] = "documents"
    if attempt(lambda: example.put(folder, sound, **told)) is None:
        return
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    _damage_file(dice, dice.choice(files))
    written = [one.format for one in EXAMPLES if one.source is None]
    to = dice.choice(["jsonl", "jsonl", *written])
    how = dice.randrange(3)
    if how == 0:
        corpus = attempt(lambda: tagsift.read(path, example.format))
        if corpus is not None:
            attempt(dice.choice((corpus.majority, corpus.union)))
            attempt(lambda: tagsift.write(corpus, folder / "again", to))
    elif how == 1:
        more = ["--from", example.format] if dice.often() else []
        if dice.often(0.2):
            kinds = (["--strict"], ["--merge"], ["--misaligned", "contract"])
            more += dice.choice(kinds)
        command("convert", path, out, "--to", to, *more)
    else:
        learn = ("--from", example.format, "-o", out, "-m", inputs.methods(dice))
        command(dice.choice(("fit", "clean", "rank")), path, *learn, out=out)


def _damage_file(dice: Dice, path: Path) -> None:
    """Damage the values of a JSON file, or the bytes of any."""
    data = path.read_bytes()
    lines = path.suffix == ".jsonl"
    if data.strip() and (lines or path.suffix == ".json") and dice.often(0.8):
        text = data.decode()
        records = filter(None, text.split("\n"))  # no other end of a line
        value = [*map(json.loads, records)] if lines else json.loads(text)
        value = (dice.nudge_json if dice.often() else dice.damage_json)(value)
        values = value if lines and isinstance(value, list) else [value]
        text = "\n".join(map(dice.json_text, values))
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        if dice.often(0.9):
            return
    path.write_bytes(dice.damage_bytes(path.read_bytes()))


def command_lines(dice: Dice, folder: Path) -> None:
    """Any verb with any options and any values."""
    out = folder / "out"
    source = folder / "file.conll"
    kind = dice.choice(("gold", "candidates", "votes", "text"))
    source.write_bytes(inputs.columns(dice, kind).encode("utf-8", "surrogatepass"))
    group = typer.main.get_command(app)
    verbs = sorted(set(group.commands) - {"demo", "reproduce"})
    if dice.often(0.05):
        command(
            *(dice.choice(_values(dice, folder)) for _ in range(dice.randint(1, 4)))
        )
        return
    name = dice.choice(verbs)
    arguments: list[Any] = [name]
    for parameter in group.commands[name].params:
        wanted = parameter.required or dice.often(0.1)
        if not wanted or dice.often(0.02):
            continue
        if parameter.param_type_name == "option":
            arguments.append(dice.choice(parameter.opts))
        if not getattr(parameter, "is_flag", False):
            arguments.append(_value_for(parameter.name, dice, folder))
    if name in ("fit", "clean", "rank") and "-m" not in arguments:
        arguments += ["-m", dice.choice(inputs.QUICK)]
    if "--help" not in arguments and dice.often(0.05):
        arguments.append(dice.choice(_values(dice, folder)))
    with reviews_are_not_served():
        command(*arguments, out=out if str(out) in map(str, arguments) else None)


def _value_for(name: str, dice: Dice, folder: Path) -> Any:
    """A value of an option, mostly one that fits."""
    if dice.often(0.1):
        return dice.choice(_values(dice, folder))
    fitting: dict[str, Any] = {
        "model": inputs.fitted(dice.choice(inputs.QUICK), folder.parent),
        "out": folder / "out",
        "method": inputs.methods(dice),
        "votes": dice.choice(("2", "2:3", "2,3", "1:2", "3:2", "0", "2:50000000")),
        "settings": dice.choice(_SETTINGS),
        "seed": dice.choice((0, 1, -1, 2**32)),
        "scheme": dice.choice(("auto", "iob1", "iob2", "iobes", "plain")),
        "labels": dice.choice(("B-NP,I-NP,O", "O", "O,O", ",", "B-VP,B-NP,I-NP,O")),
        "form": dice.choice(("columns", "jsonl", "label-studio")),
        "cl": dice.choice((1, 2, 3, 50, 2_000_000_000)),
        "p": dice.choice((0, 0.5, 1, 2, "nan")),
        "r": dice.choice((0, 0.5, 1, -1, "inf")),
        "columns": dice.choice(_COLUMNS),
        "pred_columns": dice.choice(_COLUMNS),
        "fail_under": dice.choice((0, 0.5, 1, "nan", "inf")),
        "top": dice.choice((1, 5, 10**9)),
        "by": dice.choice(("entropy", "confidence", "disagreement")),
    }
    return fitting.get(name, folder / "file.conll")


_COLUMNS = (
    "token,pos,label",
    "token,label",
    "label,token",
    "token,-,-,label",
    "-,token,label,gold",
    "token,vote,vote,gold",
    "token,vote",
    "token,token",
    "token",
    "label",
    "gold",
    ",",
    "token" + ",vote" * 3,
    "a,b,c",
)
_SETTINGS = (
    "n_neighbours=3",
    "n_neighbours=0",
    "max_iter=2",
    "max_iter=-1",
    "tol=nan",
    "tol=1e-2",
    "C=1e400",
    "scale=inf",
    "labels=[]",
    "scheme=null",
    "device=cuda:99",
    "random_state=[1]",
    "nosuch=1",
    "=",
    "features=1",
    "verbose=7",
)


def _values(dice: Dice, folder: Path) -> tuple[Any, ...]:
    """Values that fit nowhere, or perhaps somewhere."""
    odd = dice.choice(ODD_TEXT).replace("\x00", "")
    return (
        odd,
        dice.text().replace("\x00", ""),
        dice.choice(ODD_NUMBERS),
        "\udcff.conll",
        folder,
        folder / "missing" / "file",
        "/dev/null",
        "--help",
        "--version",
        "--json",
        "-",
        "--",
        "-o",
    )
