"""The progress bar passes items through and draws on standard error only."""

from __future__ import annotations

import pytest

from tagsift.progress import progress


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("total", [None, 5])
def test_items_pass_through(enabled: bool, total: int | None, capsys):
    items = iter(range(3)) if total else range(3)
    assert list(progress(items, "counting", enabled=enabled, total=total)) == [0, 1, 2]
    captured = capsys.readouterr()
    assert captured.out == ""
    if not enabled:
        assert captured.err == ""


def test_the_title_is_drawn(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    for _ in progress(range(2), "Fitting [something]"):
        pass
    assert "Fitting [something]" in capsys.readouterr().err


def test_a_loop_may_stop_early():
    for item in progress(range(10), "counting"):
        if item == 2:
            break
    assert list(progress(range(2), "again")) == [0, 1]


def test_errors_pass_through():
    def broken():
        yield 1
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        list(progress(broken(), "counting"))


def test_bars_may_be_nested():
    pairs = [
        (i, j) for i in progress(range(2), "outer") for j in progress(range(2), "inner")
    ]
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1)]
