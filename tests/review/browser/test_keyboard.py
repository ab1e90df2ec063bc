"""The whole way with the keyboard, and with the mouse."""

from __future__ import annotations

from typing import Any

import pytest

from tagsift.data import Span
from tests.review.browser.hands import corpus, held, press, show


@pytest.fixture
def page(review: Any) -> Any:
    page = review(corpus()).open()
    show(page, "New York")
    return page


def test_a_name_is_asked_for_once(review):
    made = review(corpus())
    page = made.open(None)
    page.wait_for_selector("#name[open]")
    press(page, "Escape")
    page.wait_for_selector("#name[open]")  # nobody decides without a name
    page.keyboard.type("Ann")
    press(page, "Enter")
    page.wait_for_selector("body[data-state=item]")
    press(page, "Enter")
    assert made.wait(1)[0].reviewer == "Ann"
    page.reload()
    page.wait_for_selector("body[data-state=item]")


def test_decisions_by_keys(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    assert held(page) == ("New York", "LOC")
    press(page, "o")  # ORG by its letter
    assert held(page) == ("New York", "ORG")
    press(page, "Shift+ArrowRight Enter")
    first = made.wait(1)[0]
    assert (first.action, first.reviewer) == ("bounds", "Mira")
    assert first.before == (Span("LOC", 1, 3),)
    assert first.after == (Span("ORG", 1, 4),)
    show(page, "Rome")
    press(page, "0 0")  # none, and the same key again stores it
    assert made.wait(2)[1].after == ()
    show(page, "Ann Lee")
    assert page.locator("mark.checked").inner_text().startswith("New York City")
    show(page, "Eve")
    press(page, "2 Enter")
    third = made.wait(3)[2]
    assert (third.action, third.before[0].type) == ("relabel", "PER")
    show(page, "Bob")
    press(page, "Space")
    assert made.wait(4)[3].action == "accept"
    show(page, "Ann Lee")
    press(page, "s")
    assert made.wait(5)[4].action == "skip"
    show(page, "spoke")
    press(page, "f")
    page.keyboard.type("is this a name?")
    press(page, "Enter")
    sixth = made.wait(6)[5]
    assert (sixth.action, sixth.note) == ("flag", "is this a name?")
    shown = page.locator("#trail li .kind").all_text_contents()
    assert shown[:3] == ["flagged", "skipped", "PER ✓"]


def test_arrows_move_widen_and_narrow(page):
    steps = {
        "ArrowRight": "York City",
        "ArrowLeft": "New York",
        "Shift+ArrowRight": "New York City",
        "Alt+ArrowRight": "York City",
        "Shift+ArrowLeft": "York",
        "Control+ArrowLeft": "New York",
        "Alt+ArrowLeft": "In New York",
    }
    for key, words in steps.items():
        press(page, key)
        assert held(page) == (words, "LOC"), key
    press(page, "ArrowDown")
    assert held(page) == ("Ann Lee", "PER")
    press(page, "Alt+ArrowLeft Alt+ArrowLeft")  # over the end of its neighbour
    assert held(page) == ("York City Ann Lee", "PER")
    assert "In New" in page.locator("mark.span").first.inner_text()
    press(page, "Escape")
    assert held(page) == ("New York", "LOC")
    assert page.locator("#accept").inner_text() == "Accept"


def test_votes_are_taken_over(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    press(page, "v")
    assert held(page) == ("New York", "LOC")  # what two of three say
    press(page, "v")
    assert held(page) == ("York City", "ORG")
    press(page, "Escape")
    page.locator(".vote", has_text="annotator 2").click()
    press(page, "Enter")  # the button has not kept the focus
    assert made.wait(1)[0].after == (Span("ORG", 2, 4),)


def test_undo_brings_the_item_back(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    press(page, "o Enter s u")
    page.locator("#trail .taken").wait_for()
    press(page, "u")
    page.locator("#trail .taken").nth(1).wait_for()
    assert held(page) == ("New York", "LOC")
    actions = [(one.action, one.undoes) for one in made.wait(4)]
    assert actions == [("relabel", None), ("skip", None), ("undo", 2), ("undo", 1)]
    press(page, "u")
    page.locator(".notice", has_text="take back").wait_for()
    press(page, "Enter")
    assert made.wait(5)[4].after == (Span("LOC", 1, 3),)


def test_the_mouse_sweeps_and_clicks(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    token = page.locator(".token")
    token.nth(2).hover()
    page.mouse.down()
    token.nth(3).hover()
    page.mouse.up()
    assert held(page) == ("York City", "LOC")
    token.nth(5).click()
    assert held(page) == ("Ann Lee", "PER")
    token.nth(0).click()
    assert held(page) == ("In", None)
    token.nth(1).click(modifiers=["Shift"])
    assert held(page) == ("In New", None)
    page.get_by_role("button", name="LOC").first.click()
    page.get_by_role("button", name="End one word to the left").click()
    page.get_by_role("button", name="Store the change").click()
    after = made.wait(1)[0].after
    assert after == (Span("LOC", 0, 1), Span("LOC", 2, 4))


def test_a_label_key_can_decide_at_once(review):
    made = review(corpus())
    page = made.open()
    press(page, "? Tab Space Escape")
    page.locator("#help").wait_for(state="hidden")
    show(page, "Rome")
    press(page, "p")
    assert made.wait(1)[0].after == (Span("PER", 4, 5),)


def test_held_keys_decide_once(review):
    made = review(corpus())
    page = made.open()
    for _ in range(4):  # what a keyboard sends while Enter stays down
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    press(page, "s")  # decisions arrive in turn
    assert [one.action for one in made.wait(2)] == ["accept", "skip"]


def test_plain_tags_have_no_bounds(review):
    words, said = [["the", "old", "man"]], [["D A N", "D A N", "D N N"]]
    made = review(corpus(words, said, scheme="plain"))
    page = made.open()
    show(page, "old")
    assert not page.locator("#bounds").is_visible()
    press(page, "ArrowRight")
    assert held(page) == ("man", "N")
    press(page, "Shift+ArrowLeft")
    assert held(page) == ("man", "N")
    press(page, "ArrowLeft n Enter")
    assert made.wait(1)[0].after == (Span("N", 1, 2),)
