"""Keys of labels, and signs that are made visible."""

from __future__ import annotations

import re
from pathlib import Path

import tagsift

KEYS = """async (labels) => {
  const { assign, COMMANDS } = await import("/keys.js");
  return [[...assign(labels).values()], Object.keys(COMMANDS)];
}"""
VISIBLE = """async (texts) => {
  const { visible } = await import("/visible.js");
  return texts.map((text) => visible(text));
}"""


def test_labels_have_a_digit_and_a_letter_of_their_name(scripts):
    keys, _ = scripts(KEYS, ["PER", "LOC", "ORG", "MISC", "Persona"])
    assert keys == [["1", "p"], ["2", "l"], ["3", "o"], ["4", "m"], ["5", "e"]]


def test_no_key_is_given_twice_nor_taken_from_a_command(scripts):
    for count in (1, 9, 10, 22, 23, 31, 60):
        keys, commands = scripts(KEYS, [f"label {i}" for i in range(count)])
        given = [key for own in keys for key in own]
        assert len(given) == len(set(given))
        assert not set(given) & {*commands, "0"}
        assert all(keys[: min(count, 31)])  # nine digits and twenty-two letters


def test_shift_counts_and_neither_caps_lock_nor_the_script(scripts):
    code = """async () => {
      const { meaning } = await import("/keys.js");
      const byKey = new Map([["l", "LOC"]]);
      const press = (key, shiftKey, code) =>
        meaning(new KeyboardEvent("keydown", { key, shiftKey, code }), byKey);
      return [press("l"), press("L"), press("L", true), press("l", true),
              press("д", false, "KeyL"), press("Д", true, "KeyL"), press("x")];
    }"""
    label, filters = {"name": "label", "label": "LOC"}, {"name": "filters"}
    found = scripts(code)
    assert found == [label, label, filters, filters, label, filters, None]


def test_signs_that_show_nothing_are_written_out(scripts):
    texts = ["plain", "a\u202eb", "\x00", "zero\u200bwidth", "é שלום 漢字", "\ufeff"]
    shown = scripts(VISIBLE, texts)
    assert shown == [
        "plain",
        "a\\u{202e}b",
        "\\u{0}",
        "zero\\u{200b}width",
        "é שלום 漢字",
        "\\u{feff}",
    ]


def test_long_tokens_are_cut_in_the_middle(scripts):
    (shown,) = scripts(VISIBLE, ["a" * 5000 + "z"])
    assert len(shown) < 200 and shown.startswith("aaa") and shown.endswith("z")


def test_the_page_asks_for_all_scripts_at_once():
    folder = Path(tagsift.__file__).parent / "review"
    text = (folder / "templates" / "review.html").read_text("utf-8")
    (listed,) = re.findall(r"{% for name in (\[.*?\]) %}", text)
    named = {*re.findall(r'"(\w+)"', listed), "review"}
    assert named == {path.stem for path in (folder / "static").glob("*.js")}
