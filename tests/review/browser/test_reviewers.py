"""Several reviewers, a model that learns meanwhile, and a server that goes away."""

from __future__ import annotations

from tests.review.browser.hands import corpus, held, press, show

LATE = """async (milliseconds) => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    const late = (done) => setTimeout(done, milliseconds);
    if (options?.method === "POST") await new Promise(late);
    return send(path, options);
  };
}"""

HELD = """() => {
  const send = window.fetch;
  const held = new Promise((done) => { window.free = done; });
  window.fetch = async (path, options) => {
    if (options?.method === "POST") await held;
    return send(path, options);
  };
}"""


def test_the_next_item_is_there_without_waiting(review):
    made = review()
    page = made.open()
    page.evaluate(HELD)
    shown = []
    for _ in range(3):
        shown.append(page.locator("#live").inner_text())
        press(page, "Enter")
    assert len(set(shown)) == 3 and not made.decisions
    page.evaluate("() => window.free()")
    assert [one.action for one in made.wait(3)] == ["accept"] * 3
    places = [(one.sentence, one.start) for one in made.decisions]
    assert len(set(places)) == 3


def test_two_reviewers_never_have_the_same_sentence(review):
    made = review()
    pages = [made.open("Ann"), made.open("Bob")]
    for _ in range(6):
        for page in pages:
            page.wait_for_selector("body[data-state=item]")
            press(page, "Enter")
    decisions = made.wait(12)
    by_name = {
        name: {one.sentence for one in decisions if one.reviewer == name}
        for name in ("Ann", "Bob")
    }
    assert by_name["Ann"] and by_name["Bob"]
    assert not by_name["Ann"] & by_name["Bob"]
    pages[0].locator("#progress", has_text="At work too: Bob").wait_for()


def test_a_stale_decision_is_refused_politely(review):
    made = review(corpus())
    page = made.open("Ann")
    show(page, "Rome")
    made.desk.release("Ann")  # ten minutes have passed
    made.desk.decide("Bob", "k" * 8, "1:4-5", 0, "none", ruled=[])
    made.desk.release("Bob")
    press(page, "Enter")
    page.locator(".notice", has_text="nothing was stored").wait_for()
    page.locator("#trail .taken").wait_for()
    assert [one.reviewer for one in made.decisions] == ["Bob"]
    show(page, "Eve")  # and one goes on with what holds now
    assert page.locator("mark.span").count() == 2
    press(page, "Enter")
    made.wait(2)


def test_several_spans_of_one_sentence_in_a_row(review):
    made = review(corpus())
    page = made.open()
    page.evaluate(LATE, 50)
    while not page.locator("#rest").is_visible():
        press(page, "Enter")
    page.locator("#rest", has_text="Everything has been looked at").wait_for()
    assert page.locator(".notice").count() == 0
    told = made.desk.progress()
    assert told["open"] == 0 and told["decisions"] == len(made.decisions) == 12


def test_the_model_learns_and_nobody_is_disturbed(review):
    made = review()
    page = made.open()
    made.pupil.allowed.clear()
    press(page, "Shift+R")
    page.locator(".notice", has_text="nothing was decided").wait_for()
    press(page, "Enter")
    made.wait(1)
    page.locator("#learning", has_text="1 new").wait_for()
    press(page, "Shift+R")
    page.locator("#learning.busy").wait_for()
    press(page, "Enter")
    made.wait(2)
    before = held(page)
    made.pupil.allowed.set()
    page.locator(".notice", has_text="The model has learnt").wait_for()
    assert held(page) == before
    assert made.desk.ledger.latest.revision == 2
    press(page, "Enter")
    made.wait(3)


def test_decisions_wait_until_the_server_answers(review):
    made = review()
    page = made.open()
    page.route("**/api/decisions", lambda route: route.abort())
    made.faults.clear()
    press(page, "Enter Enter")
    page.locator(".notice", has_text="2 decisions wait").wait_for()
    page.reload()  # even the page may go
    page.locator(".notice", has_text="2 decisions wait").wait_for()
    page.unroute("**/api/decisions")
    page.wait_for_selector("body[data-state=item]")
    made.wait(2)
    page.locator(".notice").wait_for(state="detached")
    made.faults.clear()  # the browser's own words on requests that failed


def test_without_the_token_nothing_is_shown(review):
    made = review()
    page = made.open()
    page.context.clear_cookies()
    press(page, "/")
    page.keyboard.type("the")
    press(page, "Enter")
    page.locator("#rest", has_text="Open the address").wait_for()
    made.faults.clear()
