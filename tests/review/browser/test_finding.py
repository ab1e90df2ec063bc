"""Search, filters, the list, and what is taken away."""

from __future__ import annotations

import json

from tests.review.browser.hands import corpus, held, press, show


def test_search_and_filters_narrow_what_comes(review):
    made = review(corpus())
    page = made.open()
    press(page, "/")
    page.keyboard.type("rome")
    press(page, "Enter")
    page.locator("#where", has_text="sentence 2 of 2").wait_for()
    press(page, "Shift+L")
    page.locator("[name=label]").select_option("PER")
    page.locator("#filtered", has_text="1").wait_for()
    page.wait_for_selector("body[data-state=item]")
    assert held(page)[1] == "PER"
    page.locator("[name=state]").select_option("flagged")
    page.locator("#rest", has_text="Nothing matches").wait_for()
    page.get_by_role("button", name="Clear search and filters").click()
    page.wait_for_selector("body[data-state=item]")
    assert page.locator("#query").input_value() == ""
    page.locator("[name=annotator]").select_option("annotator 2")
    page.locator("#sentence", has_text="New York").wait_for()


def test_what_was_done_can_be_looked_at_again(review):
    made = review(corpus())
    page = made.open()
    press(page, "s")
    while not page.locator("#rest").is_visible():
        press(page, "Enter")
    page.get_by_role("button", name="What I skipped").click()
    page.wait_for_selector("body[data-state=item]")
    assert page.locator("[name=state]").input_value() == "skipped"
    press(page, "Enter")
    page.locator("#rest", has_text="Nothing matches").wait_for()
    done = len(made.wait(13))
    press(page, "Shift+L")
    page.locator("[name=state]").select_option("checked")
    for number in range(3):
        page.wait_for_selector("body[data-state=item]")
        page.keyboard.press("Escape")  # leaves the filter
        press(page, "Enter")
        made.wait(done + number + 1)
    places = {(one.sentence, one.start) for one in made.decisions[done:]}
    assert len(places) == 3  # each comes once, though all stay checked


def test_the_list_has_all_that_match(review):
    made = review()
    page = made.open()
    press(page, "Shift+B")
    page.locator("#rows li").first.wait_for()
    assert page.locator("#rows li").count() == 50
    page.get_by_role("button", name="Next", exact=True).click()
    page.locator("#turns button:enabled", has_text="Before").wait_for()
    press(page, "Escape")
    page.locator("#list").wait_for(state="hidden")
    press(page, "Enter")
    made.wait(1)


def test_exports_are_links_that_work(review):
    made = review(corpus())
    page = made.open()
    show(page, "New York")
    press(page, "o Enter")
    made.wait(1)
    press(page, "Shift+E")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All decisions").click()
    (line,) = waiting.value.path().read_text("utf-8").splitlines()
    assert json.loads(line)["reviewer"] == "Mira"
    page.locator("#format").select_option("conll")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="The checked corpus").click()
    assert "New\tB-ORG" in waiting.value.path().read_text("utf-8").replace(" ", "\t")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Label Studio predictions").click()
    assert len(json.loads(waiting.value.path().read_text("utf-8"))) == 2
