"""Who comes in and who does not: a password, the way out, and errors as pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.review.browser.hands import press

RIGHT, WRONG = "open sesame", "close sesame"


def knock(page: Any, password: str) -> None:
    page.get_by_label("Password").fill(password)
    press(page, "Enter")


@pytest.fixture
def guarded(review: Any) -> Any:
    """A review behind a password; what browsers say of refused requests is no fault."""
    made = review(password=RIGHT)
    yield made
    made.faults[:] = [text for text in made.faults if "status of 4" not in text]


def test_a_password_lets_in_and_a_wrong_one_does_not(guarded):
    page = guarded.open()
    assert page.title() == "tagsift review"
    knock(page, WRONG)
    page.get_by_role("alert").get_by_text("That was not the password").wait_for()
    page.goto(page.url)  # the address of a form that was sent
    knock(page, RIGHT)
    page.wait_for_selector("body[data-state=item]")
    press(page, "Enter")
    assert guarded.wait(1)[0].reviewer == "Mira"


def test_who_logs_out_must_log_in_again(guarded):
    page = guarded.open()
    knock(page, RIGHT)
    page.wait_for_selector("body[data-state=item]")
    second = page.context.new_page()
    second.goto(guarded.address)
    second.wait_for_selector("body[data-state=item]")
    assert guarded.desk.leases.at_work == {"Mira"}
    page.get_by_role("button", name="Log out").click()
    page.get_by_label("Password").wait_for()
    assert guarded.desk.leases.at_work == set()
    page.go_back()
    page.get_by_label("Password").wait_for()
    press(second, "Enter")  # which waits there, and is not lost
    second.locator(".notice", has_text="Log in again").wait_for()
    knock(page, RIGHT)
    page.wait_for_selector("body[data-state=item]")
    assert len(guarded.wait(1)) == 1


def test_another_page_cannot_send_the_form(guarded):
    """A page of somebody else posts to the login and to the log-out."""
    page = guarded.open()
    knock(page, RIGHT)
    page.wait_for_selector("body[data-state=item]")
    for path in ("login", "logout"):
        other = page.context.new_page()
        other.route(
            "http://evil.test/",
            lambda route, to=path: route.fulfill(
                content_type="text/html",
                body=f"<form method=post action='{guarded.address}{to}'>"
                f"<input name=password value='{RIGHT}'></form>",
            ),
        )
        other.goto("http://evil.test/")
        other.evaluate("() => document.forms[0].submit()")
        other.get_by_text("Requests of other pages are not answered").wait_for()
    press(page, "Enter")
    guarded.wait(1)


def test_an_error_at_an_address_is_a_page(guarded):
    page = guarded.open()
    page.goto(f"{guarded.address}export/decisions")
    page.get_by_text("Log in first: this review has a password.").wait_for()
    page.get_by_role("link", name="Log in").click()
    knock(page, RIGHT)
    page.wait_for_selector("body[data-state=item]")
    page.goto(f"{guarded.address}nothing/here")
    page.get_by_text("There is nothing here.").wait_for()
    ground = "() => getComputedStyle(document.querySelector('.rest')).borderRadius"
    assert page.evaluate(ground) != "0px"  # the style sheet is found
    page.get_by_role("link", name="To the review").click()
    page.wait_for_selector("body[data-state=item]")


def test_without_a_password_there_is_no_way_out(review):
    assert review().open().get_by_role("button", name="Log out").count() == 0


def test_labels_wait_for_the_first_fit(review):
    made = review(fitted=False)
    made.pupil.allowed.clear()
    made.desk.begin()
    page = made.open()
    press(page, "Shift+E")
    page.locator("#export-list", has_text="Waits for the first fit").wait_for()
    links = page.locator("#export-list a[href]")
    assert links.all_text_contents() == ["All decisions"]
    assert page.locator("#format").is_disabled()
    made.pupil.allowed.set()
    page.locator("#export-list", has_text="The labels as they stand now").wait_for()
    assert links.count() == 3 and page.locator("#format").is_enabled()
    with page.expect_download() as saved:
        links.first.click()
    assert saved.value.failure() is None
