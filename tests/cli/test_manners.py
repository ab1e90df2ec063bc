"""The command line on odd terminals, with odd names and when it is interrupted."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tagsift.cli import app
from tests.waiting import LIMIT

PYTHON = [sys.executable, "-m", "tagsift"]
ROOT = Path(__file__).parents[2]
HOSTILE = "\x1b[2J\x9b1mdog\u202e"


def shell(*arguments, env=None, **options) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [*PYTHON, *map(os.fsencode, arguments)],
        capture_output="stdout" not in options,
        env=environment(**(env or {})),
        timeout=LIMIT,
        check=False,
        **options,
    )


def heed_ctrl_c() -> None:
    """In a new process: heed Ctrl-C, though the tests may run where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def hostile(tmp_path) -> Path:
    path = tmp_path / "votes.tsv"
    rows = [(HOSTILE, "B-\x1b[1m", "O"), ("dog", "O", "O"), ("naïve", "O", "?")]
    text = "".join("\t".join(row) + "\n" for row in rows) + "\n"
    path.write_text(text * 3, encoding="utf-8")
    return path


@pytest.mark.parametrize("arguments", [(), ("fit",), ("score",)])
def test_without_arguments_the_help_is_all(tagsift, arguments):
    found = tagsift(*arguments)
    assert found.status == 2
    assert "Usage: tagsift" in found.out + found.err
    assert "error" not in found.err


def test_nothing_is_written_over_what_is_read(tagsift, gold, votes, tmp_path):
    model, sheet = tmp_path / "m.tagsift", tmp_path / "sheet.tsv"
    link = tmp_path / "link.tsv"
    link.symlink_to(votes)
    asked = (votes, "--votes", "2:4", "--gold", "-m", "majority")
    assert tagsift("fit", *asked, "-o", model).status == 0
    assert tagsift("rank", *asked, "-o", sheet).status == 0
    before = {path: path.read_bytes() for path in (gold, votes, model, sheet)}
    for *arguments, out in (
        ("fit", *asked, "-o", votes),
        ("fit", *asked, "-o", link),
        ("fit", *asked, "-o", tmp_path / "new", "--html", votes),
        ("clean", *asked, "-o", votes),
        ("corrupt", gold, "--cl", "2", "-o", gold),
        ("tag", model, gold, "--gold", "-o", gold),
        ("tag", model, gold, "--gold", "-o", model),
        ("convert", gold, gold, "--to", "conll"),
    ):
        found = tagsift(*arguments, out)
        assert found.status == 2 and "take its place" in found.err
        assert "Traceback" not in found.err
    assert {path: path.read_bytes() for path in before} == before
    asked = (votes, "--votes", "2:4", "--gold", "--update", model, "-o", model)
    assert "knows no annotators" in tagsift("fit", *asked).err  # which it may read


@pytest.mark.parametrize("verb", ["clean", "rank", "corrupt"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_data_stand_alone_on_standard_output(
    tagsift, gold, votes, tmp_path, monkeypatch, verb, more
):
    monkeypatch.chdir(tmp_path)
    asked = (votes, "--votes", "2:4", "--gold", "-m", "majority", *more)
    if verb == "corrupt":
        asked = (gold, "--cl", "2", *more)
    written = tagsift(verb, *asked, "-o", tmp_path / "file.tsv")
    printed = tagsift(verb, *asked, "-o", "-")
    assert (written.status, printed.status) == (0, 0)
    assert printed.out == (tmp_path / "file.tsv").read_text()
    assert len(printed.err.splitlines()) >= len(written.out.splitlines()) > 0
    assert not (tmp_path / "-").exists()


def test_models_and_pages_need_a_name(tagsift, votes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = (votes, "--votes", "2:4", "--gold", "-m", "majority")
    before = sorted(tmp_path.iterdir())
    for verb, out in (("fit", "-"), ("report", "-"), ("clean", "x")):
        more = ("--html", "-") if out == "x" else ()
        found = tagsift(verb, *asked, "-o", out, *more)
        assert found.status == 2 and "expected the name of a file" in found.err
    assert sorted(tmp_path.iterdir()) == before


def test_hostile_tokens_are_shown_not_obeyed(tagsift, hostile, tmp_path):
    model = tmp_path / "m.tagsift"
    options = ("--votes", "2:3", "-m", "word-counts")
    assert tagsift("fit", hostile, "-o", model, *options).status == 0
    for arguments in (
        ("rank", hostile, *options, "--by", "disagreement"),
        ("rank", hostile, *options, "--by", "disagreement", "--json"),
        ("agree", hostile, "--votes", "2:3", "--pairs"),
        ("info", model),
        ("info", model, "--json"),
        ("info", tmp_path / HOSTILE),
    ):
        found = tagsift(*arguments)
        for text in (found.out, found.err):
            assert not {"\x1b", "\x9b", "\u202e"} & set(text), arguments
    ranked = tagsift("rank", hostile, *options, "--by", "disagreement", "--json").json
    assert HOSTILE in {token["word"] for token in ranked["tokens_first"]}


def test_tagged_text_is_exact_in_a_pipe_and_visible_on_a_terminal(
    tagsift, hostile, tmp_path
):
    model, text = tmp_path / "m.tagsift", tmp_path / "text"
    tagsift("fit", hostile, "-o", model, "--votes", "2:3", "-m", "word-counts")
    text.write_text(f"{HOSTILE}\n\nnaïve\n", encoding="utf-8")
    piped = shell("tag", model, text, env={"PYTHONIOENCODING": "ascii"})
    assert piped.returncode == 0
    assert piped.stdout.decode().startswith(f"{HOSTILE}\t")
    assert "naïve\t" in piped.stdout.decode()
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        found = shell("tag", model, text, stdout=theirs, stderr=subprocess.PIPE)
        shown = screen.read(10_000).decode()
        os.close(theirs)
    assert found.returncode == 0
    assert "\\u001b[2J\\u009b1mdog\\u202e\t" in shown


def test_terminals_without_most_characters(hostile, tmp_path):
    for env in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        found = shell("agree", hostile, "--votes", "2:3", env=env)
        assert found.returncode == 0, found.stderr
        found = shell("info", "naïve.tagsift", env=env)
        assert found.returncode == 2
        assert found.stderr.startswith(b"tagsift: error: na")
        assert b"Traceback" not in found.stderr
    found = shell("methods", env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0


@pytest.mark.parametrize("verb", ["info", "score", "nosuch"])
def test_names_that_are_not_text(verb, tmp_path):
    found = shell(verb, b"\xff\xfe.tagsift", cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith(b"tagsift: error:")
    assert found.stderr.count(b"\n") == 1


def test_a_closed_pipe_and_closed_streams():
    found = subprocess.run(
        f"{sys.executable} -m tagsift methods | head -c 10; echo ${{PIPESTATUS[0]}}; "
        f"{sys.executable} -m tagsift methods >&- ; echo $?; "
        f"{sys.executable} -m tagsift nosuch 2>&- ; echo $?",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        env=environment(),
        timeout=LIMIT,
        check=False,
    )
    assert found.stderr == b""
    assert found.stdout.split()[-1] == b"2"


QUICK = "demo --job candidates -m word-counts --against naive".split()
#: Python runs it before everything else: Ctrl-C comes when a module is imported.
CTRL_C = """
import os, signal, sys

class Finder:
    def find_spec(name, path=None, target=None):
        if name == os.environ["CTRL_C_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize("module", ["typer", "numpy", "scipy.sparse", "matplotlib"])
def test_ctrl_c_at_any_time(tmp_path, module):
    """In the middle of importing, and of the work: figures are drawn at its end."""
    if module == "matplotlib":
        pytest.importorskip(module)
    (tmp_path / "sitecustomize.py").write_text(CTRL_C)
    found = subprocess.run(
        [*PYTHON, *QUICK, "-o", str(tmp_path / "report.html")],
        capture_output=True,
        env=environment(PYTHONPATH=f"{tmp_path}:{ROOT}", CTRL_C_AT=module),
        preexec_fn=heed_ctrl_c,
        timeout=LIMIT,
    )
    assert found.returncode == 130
    assert b"Traceback" not in found.stderr
    assert b"stopped by Ctrl-C" in found.stderr
    assert not (tmp_path / "report.html").exists()


def test_ctrl_c_is_not_lost_in_a_callback_of_python():
    code = """
import sys, time, weakref
from tagsift.__main__ import _keep_interrupt

def interrupt(_):
    raise KeyboardInterrupt

sys.unraisablehook = _keep_interrupt
thing = type("Thing", (), {})()
watched = weakref.ref(thing, interrupt)
try:
    del thing
    time.sleep(600)
except KeyboardInterrupt:
    sys.exit(130)
"""
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=environment(),
        timeout=LIMIT,
        preexec_fn=heed_ctrl_c,
    )
    assert (found.returncode, found.stderr) == (130, b"")


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_is_on(shell_name):
    shown = shell(env={"_TAGSIFT_COMPLETE": f"source_{shell_name}"})
    assert shown.returncode == 0
    assert b"_TAGSIFT_COMPLETE" in shown.stdout
    assert b"--show-completion" in shell("--help").stdout


def test_verbs_and_options_are_completed():
    asked = {"_TAGSIFT_COMPLETE": "complete_bash", "COMP_WORDS": "tagsift co"}
    assert b"corrupt" in shell(env={**asked, "COMP_CWORD": "1"}).stdout
    asked["COMP_WORDS"] = "tagsift fit --me"
    assert b"--method" in shell(env={**asked, "COMP_CWORD": "2"}).stdout


def test_stages_with_times_where_there_is_no_terminal(tagsift, gold, tmp_path):
    out = tmp_path / "m.tagsift"
    found = tagsift("fit", gold, "-o", out, "-m", "word-counts")
    assert found.status == 0
    assert " s: fitting " in found.err
    for silent in ("--quiet", "--json"):
        assert tagsift("fit", gold, "-o", out, "-m", "word-counts", silent).err == ""
    assert json.loads(tagsift("info", out, "--json").out)


def test_help_flows_with_the_terminal():
    """A line break of the source is none on the screen, whatever its width."""
    for command in app.registered_commands:
        assert command.help
        for paragraph in command.help.split("\n\n"):
            assert paragraph == " ".join(paragraph.split())
