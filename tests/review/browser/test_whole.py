"""The whole thing: the command, fits in a process, a server that is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.data import simulate_votes
from tagsift.io import write_columns
from tests.review.browser.conftest import NOTICES_STAY
from tests.review.browser.hands import press
from tests.waiting import LIMIT

pytestmark = pytest.mark.slow


@pytest.fixture
def command(tmp_path: Path) -> Any:
    """Start the command again and again on the same store; it says where it is."""
    votes, running = tmp_path / "votes.tsv", []
    said = simulate_votes(tagsift.bundled("ner").with_columns(1)[:60])
    write_columns(votes, said, gold=False)

    def start(port: int = 0) -> tuple[subprocess.Popen[str], str]:
        words = [sys.executable, "-m", "tagsift", "review", str(votes)]
        words += ["--votes", "2:6", "--json", "--port", str(port), "--every", "3"]
        words += ["--store", str(tmp_path / "review.db")]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        running.append(server)
        text = ""
        while not text.endswith("}\n"):
            line = server.stdout.readline()
            assert line, "the server has ended"
            text += line
        return server, json.loads(text)["address"]

    yield start
    for server in running:
        server.terminate()
        server.wait(LIMIT)
        server.stdout.close()


def test_learns_is_killed_and_goes_on(browser, command):
    server, address = command()
    context = browser.new_context()
    context.add_init_script("localStorage.setItem('tagsift-name', 'Mira')")
    context.add_init_script(NOTICES_STAY)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-state=item]")
    page.locator("svg.fall").wait_for()  # the first fit is done
    page.locator("#labels .share", has_text="%").first.wait_for()
    for number in range(1, 4):
        press(page, "Enter")
        page.locator("#progress dd", has_text=str(number)).first.wait_for()
    page.locator(".notice", has_text="The model has learnt").last.wait_for()
    page.locator("#learning", has_text="All decisions are learnt").wait_for()
    port = int(address.split(":")[2].split("/")[0])
    server.send_signal(signal.SIGKILL)
    server.wait(LIMIT)
    press(page, "Enter")
    page.locator(".notice", has_text="one decision waits").wait_for()
    _, fresh = command(port)
    page.locator(".notice", has_text="Open the address").wait_for()
    again = context.new_page()
    again.goto(fresh)
    again.wait_for_selector("body[data-state=item]")
    again.locator("#progress dd", has_text="4").first.wait_for()
    lines = again.evaluate("() => fetch('export/decisions').then((one) => one.text())")
    decisions = [json.loads(line) for line in lines.splitlines()]
    assert [one["action"] for one in decisions] == ["accept"] * 4
    context.close()
