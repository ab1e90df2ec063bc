"""Control characters become visible, everything else stays."""

from __future__ import annotations

import json

import pytest

from tagsift.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dog", "dog"),
        ("naïve 犬 🐕", "naïve 犬 🐕"),
        ("a\u00a0b", "a\u00a0b"),  # a space, though no ordinary one
        ("می\u200cخواهم", "می\u200cخواهم"),  # a joiner that spelling needs
        ("\x1b[2J", "\\u001b[2J"),
        ("\x9b2J", "\\u009b2J"),  # the same sequence in one byte of Latin-1
        ("a\r\x07\x7f", "a\\u000d\\u0007\\u007f"),
        ("\u202etxt", "\\u202etxt"),  # turns the direction of writing
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\udb40\\udc01"),
        ("a\nb", "a\\u000ab"),
    ],
)
def test_what_is_shown(text, shown):
    assert visible(text) == shown


def test_newlines_may_stay():
    assert visible("a\n\x1b", keep="\n") == "a\n\\u001b"


def test_json_keeps_its_meaning():
    value = {"token": "\x9b\u202e\U000e0001", "lone": "\ud800"}
    text = visible(json.dumps(value, ensure_ascii=False, indent=1), keep="\n")
    assert json.loads(text) == value
    assert text.encode()
