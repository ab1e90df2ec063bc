"""How it looks: telephones, the dark, contrast, hostile and very long text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.data import Span
from tests.review.browser.hands import corpus, held, press, show

CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")
GROUND = "() => getComputedStyle(document.body).backgroundColor"
WIDE = "() => document.documentElement.scrollWidth"
#: Keys, and what they open; what was open is left before.
OPENS = {
    "Shift+L": "#filters",
    "Escape ?": "#help",
    "Escape f": "#flag",
    "Escape Shift+B": "#rows li",
    "Escape Shift+E": "#exports",
}
NAMELESS = """() => [...document.querySelectorAll("button, a, input, select")]
  .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length))
  .map((one) => one.outerHTML)"""


def test_a_telephone_is_wide_enough(review):
    made = review(corpus())
    page = made.open(width=390, has_touch=True, is_mobile=True)
    assert page.evaluate(WIDE) <= 390
    page.locator(".token").nth(1).tap()
    page.locator(".label").nth(0).tap()
    accept = page.locator(".actions .main")
    assert accept.bounding_box()["height"] >= 44
    assert accept.bounding_box()["y"] > 700  # where the thumb is
    accept.tap()
    made.wait(1)
    for keys, there in OPENS.items():
        press(page, keys)
        page.locator(there).first.wait_for()
        assert page.evaluate(WIDE) <= 390, keys


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_names_are_right(review, scheme):
    types = [f"KIND{i}" for i in range(12)]
    said = " ".join(f"B-{name}" for name in types)
    other = " ".join(f"B-{name}" for name in reversed(types))
    words = [[f"word{i}" for i in range(12)]]
    made = review(corpus(words, [[said, said, other]]))
    page = made.open(color_scheme=scheme)
    first = page.locator("#item").get_attribute("data-item")
    changes = {
        "0": ".label[aria-pressed=true] >> text=No entity",
        "Enter": f"#item:not([data-item='{first}'])",
    }
    for keys, there in {**changes, **OPENS}.items():
        press(page, keys)
        page.locator(there).first.wait_for()
        assert page.evaluate(CONTRAST) == [], keys
        assert page.evaluate(NAMELESS) == []


def test_the_dark_follows_the_system_and_the_switch(review):
    made = review()
    light, dark = made.open("Ann"), made.open("Bob", color_scheme="dark")
    colours = [page.evaluate(GROUND) for page in (light, dark)]
    assert colours[0] != colours[1]
    press(dark, "Shift+D")
    assert dark.evaluate(GROUND) == colours[0]
    dark.reload()
    assert dark.evaluate(GROUND) == colours[0]
    light.get_by_role("button", name="Light or dark").click()
    assert light.evaluate(GROUND) == colours[1]


def test_hostile_text_is_only_text(review):
    nasty = [
        "<script>window.hurt=1</script>",
        "<img/src=x/onerror=window.hurt=1>",
        "evil\u202etxt.exe",
        "'\"`${window.hurt=1}&lt;",
        "javascript:window.hurt=1",
        "x" * 3000,
    ]
    label = "<b>LOC</b>"
    said = f"B-{label} I-{label} B-PER O O O"
    other = f"O B-{label} B-PER I-PER O B-PER"
    made = review(corpus([nasty], [[said, said, other]]))
    page = made.open("<i>Mira</i>")
    for _ in range(3):
        press(page, "v Enter")
    made.wait(3)
    assert page.locator("#trail li").count() == 3
    text = page.locator("body").inner_text()
    assert "<script>window.hurt=1</script>" in text and "evil\\u{202e}txt" in text
    assert page.locator("main script, main img, main b b, main i").count() == 0
    assert page.evaluate("() => window.hurt") is None
    assert page.evaluate(WIDE) <= 1280
    press(page, "Shift+B")
    page.locator("#rows li").first.wait_for()
    assert page.evaluate("() => window.hurt") is None
    assert made.decisions[0].reviewer == "<i>Mira</i>"


def test_a_sentence_of_ten_thousand_tokens(review):
    words = [[f"word{i}" for i in range(10_000)]]
    tags = ["O"] * 10_000
    tags[5000:5002] = ["B-LOC", "I-LOC"]
    other = [*tags]
    other[5001] = "O"
    said = [" ".join(row) for row in (tags, tags, other)]
    made = review(corpus(words, [said]), fitted=False)
    page = made.open()
    show(page, "word5000 word5001")
    press(page, "Shift+ArrowRight " * 20)
    assert held(page)[0].endswith("word5021")
    box = page.locator("mark.held").bounding_box()
    assert 0 < box["y"] < 844
    assert page.locator(".actions .main").is_visible()
    press(page, "Enter")
    assert made.wait(1)[0].after == (Span("LOC", 5000, 5022),)


def test_thirty_labels_have_keys_and_can_be_found(review):
    types = [f"T{i:02}" for i in range(40)]
    words = [[f"word{i}" for i in range(40)]]
    said = " ".join(f"B-{name}" for name in types)
    other = " ".join(["O", *(f"B-{name}" for name in types[1:])])
    made = review(corpus(words, [[said, said, other]]))
    page = made.open()
    show(page, "word0")
    assert page.locator(".label kbd").count() == 9 + 22 + 1
    press(page, ".")
    page.keyboard.type("t39")
    assert page.locator(".label:visible").count() == 1
    press(page, "Enter Enter")
    assert made.wait(1)[0].after == (Span("T39", 0, 1),)


def test_arrows_follow_the_direction_of_writing(review):
    words = [["قال", "محمد", "علي", "ذلك"]]
    made = review(corpus(words, [["O B-PER O O", "O B-PER O O", "O O O O"]]))
    page = made.open()
    show(page, "محمد")
    assert page.locator("#sentence").get_attribute("dir") == "rtl"
    press(page, "Shift+ArrowLeft")
    assert held(page)[0] == "محمد علي"


def test_what_is_heard(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    live = page.locator("#live")
    assert live.get_attribute("aria-live") == "polite"
    assert live.inner_text().startswith("New York: LOC, ")
    press(page, "o")
    assert live.inner_text() == "New York: ORG"
    pressed = page.get_by_role("button", name="ORG", pressed=True)
    assert pressed.count() == 1
    drawing = page.locator("svg.fall")
    assert "wrong labels" in drawing.get_attribute("aria-label").lower()
