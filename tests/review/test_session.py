"""One review: who gets what, what is stored, and what holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tagsift
from tagsift.data import Span
from tagsift.review.corpus_view import CorpusView
from tagsift.review.http_errors import Refusal
from tagsift.review.learning import Student
from tagsift.review.leases import LEASE
from tagsift.review.queue import Filter
from tagsift.review.session import Desk
from tagsift.review.state import State
from tagsift.review.store import Store
from tests.review.conftest import corpus_of, spans_in


def first(desk: Desk, reviewer: str = "ann", count: int = 1, have=(), **wanted):
    return desk.next_items(reviewer, count, have, Filter.of(wanted))["items"]


def refused(code: str):
    """Expect a refusal with this code."""
    return pytest.raises(Refusal, check=lambda refusal: refusal.code == code)


def decided(desk: Desk, key, item, action="accept", reviewer="ann", **more):
    if "ruled" in more:
        more["ruled"] = [Span(*one) for one in more["ruled"]]
    more.setdefault("revision", item["revision"])
    return desk.decide(reviewer, key(), item["id"], item["version"], action, **more)


def new_york(desk: Desk, reviewer: str = "ann"):
    return desk.one_item(reviewer, "0:1-3")


def test_an_item_says_everything(desk: Desk):
    item = new_york(desk)
    assert (item["id"], item["label"], item["version"]) == ("0:1-3", "LOC", 0)
    assert item["tokens"][item["start"] : item["end"]] == ["New", "York"]
    assert item["spans"] == [
        {"start": 1, "end": 3, "label": "LOC", "checked": False, "chance": None},
        {"start": 3, "end": 5, "label": "PER", "checked": False, "chance": None},
    ]
    assert item["before"] is None and item["after"] == "Ann met Bob in Paris ."
    votes = {one["annotator"]: one for one in item["votes"]}
    assert [votes[name]["agrees"] for name in ("ann", "bob", "eve")] == [
        True,
        True,
        False,
    ]
    assert votes["eve"]["said"] == "LOC 3–3" and votes["eve"]["tags"] == ["O", "B-LOC"]
    assert item["majority"] == [{"start": 1, "end": 3, "label": "LOC"}]
    assert not item["differs"] and item["reason"] == "annotators are split"
    assert item["score"] is None and item["probabilities"] == []


def test_two_reviewers_get_different_sentences(desk: Desk, clock):
    one, other = first(desk)[0], first(desk, "bob")[0]
    assert one["sentence"] != other["sentence"]
    assert first(desk)[0]["id"] == one["id"]  # the same again
    more = first(desk, have=[one["id"]])[0]
    assert more["sentence"] == one["sentence"] and more["id"] != one["id"]
    with refused("leased"):
        desk.one_item("bob", one["id"])
    clock.now += LEASE + 1
    assert desk.one_item("bob", one["id"])["id"] == one["id"]


def test_a_lease_that_ran_out_counts_until_somebody_else_has_it(desk, clock, key):
    item = new_york(desk)
    clock.now += LEASE + 1
    assert decided(desk, key, item).changed is False
    item = new_york(desk)
    clock.now += LEASE + 1
    new_york(desk, "bob")
    with refused("leased"):
        decided(desk, key, item)
    assert len(list(desk.store.decisions())) == 1


def test_leases_end_when_they_are_given_back(desk):
    item = new_york(desk)
    assert desk.release("bob") == 0
    assert desk.release("ann", ["1:0-1"]) == 0
    assert desk.release("ann", [item["id"]]) == 1
    assert new_york(desk, "bob")["id"] == item["id"]


def test_a_stale_item_is_refused(desk, key):
    shown = new_york(desk)
    decided(desk, key, shown, "none", region=(1, 3), ruled=[])
    desk.release("ann")
    desk.one_item("bob", "0:3-5")
    with refused("stale"):
        decided(desk, key, shown, reviewer="bob")
    assert len(list(desk.store.decisions())) == 1


@pytest.mark.parametrize(
    ("action", "region", "ruled", "labels"),
    [
        ("accept", (1, 3), None, "O B-LOC I-LOC B-PER I-PER O O"),
        ("relabel", (1, 3), "PER:1-3", "O B-PER I-PER B-PER I-PER O O"),
        ("none", (1, 3), "", "O O O B-PER I-PER O O"),
        ("bounds", (0, 3), "LOC:0-3", "B-LOC I-LOC I-LOC B-PER I-PER O O"),
        ("bounds", (1, 3), "LOC:2-3", "O O B-LOC B-PER I-PER O O"),
        ("bounds", (1, 4), "LOC:1-4", "O B-LOC I-LOC I-LOC B-PER O O"),
        ("bounds", (1, 7), "LOC:1-2 PER:2-3 LOC:6-7", "O B-LOC B-PER O O O B-LOC"),
    ],
)
def test_decisions_change_the_labels(desk, key, action, region, ruled, labels):
    told = {} if ruled is None else {"ruled": spans_in(ruled)}
    made = decided(desk, key, new_york(desk), action, region=region, **told)
    assert list(made.after) == spans_in("LOC:1-3" if ruled is None else ruled)
    assert made.before[0] == Span("LOC", 1, 3)
    assert made.changed == (action != "accept")
    expected, (lo, hi) = labels.split(), region
    assert desk.ledger.labels()[0] == expected
    known = [expected[t] if lo <= t < hi else None for t in range(7)]
    assert desk.ledger.exact() == {0: known}
    assert all(x["id"] != "0:1-3" for x in first(desk, count=10))


def test_what_is_cut_is_asked_again(desk, key):
    decided(desk, key, new_york(desk), "bounds", region=(1, 4), ruled=[("LOC", 1, 4)])
    found = [x for x in first(desk, count=10) if x["sentence"] == 0]
    assert ("0:4-5", "PER") in [(x["id"], x["label"]) for x in found]


@pytest.mark.parametrize(
    "told",
    [
        {"ruled": [("PER", 1, 2), ("PER", 1, 3)]},
        {"ruled": [("PER", 0, 2)]},
        {"ruled": [("PER", 2, 2)]},
        {"ruled": [("XYZ", 1, 3)]},
        {"ruled": [("O", 1, 3)]},
        {"region": (1, 99), "ruled": []},
        {"region": (3, 3), "ruled": []},
        {},
    ],
)
def test_bad_spans_are_refused(desk, key, told):
    with refused("bad"):
        decided(desk, key, new_york(desk), "bounds", **told)
    assert not list(desk.store.decisions())


@pytest.mark.parametrize("name", ["", "x", "0:1", "1:2-x", "0:1-3-4", "0;1-3"])
def test_names_that_are_none(desk, name):
    with refused("bad"):
        desk.one_item("ann", name)


@pytest.mark.parametrize("name", ["9:0-1", "-1:0-1", "0:3-3", "0:0-99", "0:-2-1"])
def test_places_that_are_not_there(desk, name):
    with pytest.raises(Refusal) as refusal:
        desk.one_item("ann", name)
    assert refusal.value.code in ("missing", "bad")


def test_plain_tags_have_one_label_a_token(tmp_path, key):
    said = [[["DT", "NN"], ["DT", "VB"], ["DT", "NN"]]]
    view = CorpusView(corpus_of([["the", "saw"]], said, scheme="plain"))
    store = Store.open(tmp_path / "plain.db", view.fingerprint)
    desk = Desk(view, store, every=0)
    item = first(desk)[0]
    assert (item["id"], item["label"]) == ("0:1-2", "NN")
    both = {"region": (0, 2), "ruled": [("NN", 0, 2)]}
    for told in ({"ruled": []}, both):  # no label, and one label for two
        with refused("bad"):
            decided(desk, key, item, "bounds", **told)
    decided(desk, key, item, "relabel", ruled=[("VB", 1, 2)])
    assert desk.ledger.labels() == [["DT", "VB"]]
    store.close()


def test_spans_may_have_no_type(tmp_path, key):
    said = [[["B", "I", "O"], ["B", "I", "O"], ["B", "B", "O"]]]
    view = CorpusView(corpus_of([["the", "saw", "is"]], said))
    store = Store.open(tmp_path / "bare.db", view.fingerprint)
    desk = Desk(view, store, every=0)
    item = first(desk)[0]
    assert (item["id"], item["label"], view.types) == ("0:0-2", "", ("",))
    decided(desk, key, item, "bounds", region=(0, 3), ruled=[("", 1, 3)])
    assert desk.ledger.labels() == [["O", "B", "I"]]
    store.close()


def test_undo_is_a_new_entry(desk, key):
    before = desk.ledger.labels()
    decided(desk, key, new_york(desk), "none", ruled=[])
    decided(desk, key, desk.one_item("ann", "0:3-5"), "none", ruled=[])
    made, taken = desk.undo("ann", key())
    assert (taken.start, made.undoes, made.action) == (3, taken.id, "undo")
    assert desk.ledger.labels()[0] == "O O O B-PER I-PER O O".split()
    desk.undo("ann", key())
    assert desk.ledger.labels() == before
    assert desk.ledger.exact() == {} and not desk.ledger.marks.checked.any()
    with refused("nothing"):
        desk.undo("ann", key())
    assert [x.action for x in desk.store.decisions()] == [
        "none",
        "none",
        "undo",
        "undo",
    ]


def test_undo_does_not_reach_under_what_another_decided(desk, key):
    made = decided(desk, key, new_york(desk), "none", ruled=[])
    desk.release("ann")
    decided(desk, key, desk.one_item("bob", "0:3-5"), reviewer="bob")
    desk.release("bob")
    with refused("stale"):
        desk.undo("ann", key(), made.id)
    with refused("nothing"):
        desk.undo("eve", key())


def test_sent_twice_is_stored_once(desk, key):
    item = new_york(desk)
    same = key()
    one = desk.decide("ann", same, item["id"], 0, "accept", revision=0)
    assert desk.decide("ann", same, item["id"], 0, "accept", revision=0) == one
    undone = key()
    assert desk.undo("ann", undone) == desk.undo("ann", undone)
    assert len(list(desk.store.decisions())) == 2
    with refused("bad"):
        desk.decide("bob", same, item["id"], 2, "accept")


def test_skipped_is_for_one_and_flagged_for_all(desk, key):
    item = new_york(desk)
    decided(desk, key, item, "skip")
    assert item["id"] not in [x["id"] for x in first(desk, count=10)]
    assert first(desk, state="skipped")[0]["id"] == item["id"]
    desk.release("ann")
    assert item["id"] in [x["id"] for x in first(desk, "bob", count=10)]
    decided(desk, key, item, "flag", "bob", note="ask Eve")
    assert item["id"] not in [x["id"] for x in first(desk, "bob", count=10)]
    flagged = first(desk, "bob", state="flagged")[0]
    assert flagged["flagged"] == {"by": "bob", "note": "ask Eve"}
    assert flagged["version"] == 0 and desk.ledger.exact() == {}
    decided(desk, key, flagged, "accept", "bob")
    assert first(desk, "bob", state="flagged") == []
    assert first(desk, "bob", state="checked")[0]["flagged"] is None
    told = {one["name"]: one["decisions"] for one in desk.progress()["reviewers"]}
    assert told == {"ann": 0, "bob": 1}  # neither a skip nor a flag decides anything


def test_a_new_start_goes_on(desk, key, view, path: Path, clock):
    decided(desk, key, new_york(desk), "none", ruled=[])
    decided(desk, key, desk.one_item("ann", "0:3-5"), "skip")
    decided(desk, key, desk.one_item("ann", "1:2-3"))
    desk.undo("ann", key())
    told, labels = desk.progress(), desk.ledger.labels()
    desk.store.close()
    again = Desk(view, Store.open(path, view.fingerprint), every=0, clock=clock)
    assert again.progress() == told and again.ledger.labels() == labels
    assert again.ledger.version(1) == desk.ledger.version(1) > 0
    with refused("leased"):  # a lease outlives the server
        again.one_item("bob", "0:3-5")
    again.store.close()


class Pupil:
    """A learner that finds what a test says."""

    def __init__(self) -> None:
        self.busy, self.failed, self.asked = False, None, []
        self.model = ""

    def learn(self, exact, then, revision) -> None:
        self.busy = True
        self.asked.append((exact, then))

    def answer(self, found) -> None:
        self.busy = False
        self.asked[-1][1](found)


def fitted(view, revision: int = 1, labels=None) -> State:
    """What a fit might find: the votes counted, or other labels."""
    cleaned = Student(view, tagsift.make("majority")).study({}).cleaned
    if labels is not None:
        cleaned = replace(cleaned, codes=labels)
    return State(view, cleaned, revision)


def test_it_learns_after_every_n_and_on_demand(view, path, clock, key):
    pupil = Pupil()
    desk = Desk(view, Store.open(path, view.fingerprint), pupil, every=2, clock=clock)
    desk.learn()
    assert desk.progress()["left"] is None and desk.progress()["refitting"]
    decided(desk, key, new_york(desk), "none", ruled=[])
    decided(desk, key, desk.one_item("ann", "0:3-5"))
    assert len(pupil.asked) == 1  # one at a time
    held = first(desk, "bob")[0]
    pupil.answer(fitted(view))  # which found again what was decided against
    assert len(pupil.asked) == 2 and set(pupil.asked[1][0]) == {0}
    assert desk.ledger.labels()[0] == "O O O B-PER I-PER O O".split()
    told = desk.progress()
    assert told["left"] > 0 and told["revision"] == 1 and told["new"] == 0
    assert told["history"] == [{"decisions": 2, "left": told["left"]}]
    # Who was at work is not disturbed by the new order.
    seen = [(held["label"], held["start"], held["end"])] * (held["label"] != "O")
    made = decided(desk, key, held, reviewer="bob", ruled=seen)
    assert made.sentence == held["sentence"] and made.revision == 1
    pupil.answer(fitted(view, 2))
    desk.refit()
    assert len(pupil.asked) == 3
    pupil.answer(fitted(view, 3))
    with refused("nothing"):
        desk.refit()
    pupil.failed = "not enough memory."
    assert desk.progress()["failed"] == pupil.failed
    desk.refit()  # once more
    desk.store.close()


def test_what_was_shown_is_accepted_and_nothing_else(desk, view, key):
    """A fit comes between: the page says what it showed, or is asked to look again."""
    item = new_york(desk)
    labels = desk.ledger.latest.labels.copy()
    labels[1:3] = [view.classes.index(name) for name in ("B-PER", "I-PER")]
    desk.install(fitted(view, labels=labels))
    assert desk.ledger.spans(0)[0] == Span("PER", 1, 3)
    for revision in (item["revision"], None):
        with refused("stale"):
            decided(desk, key, item, revision=revision)
    made = decided(desk, key, item, ruled=[("LOC", 1, 3)])
    assert made.before == (Span("PER", 1, 3),) and made.changed
    assert desk.ledger.spans(0)[0] == Span("LOC", 1, 3)


def test_what_is_not_in_hand_is_free_again(desk):
    one = first(desk)[0]
    two = first(desk, have=[one["id"]], count=4)
    assert {x["sentence"] for x in two} >= {0, 1}
    first(desk, have=["1:2-3"])  # they have gone on
    assert desk.one_item("bob", "0:1-3")["id"] == "0:1-3"
    with refused("leased"):
        desk.one_item("bob", "1:2-3")


def test_what_is_left_falls_with_decisions(desk, view, key):
    desk.install(fitted(view))
    before = desk.progress()
    assert before["next"]["looks"] == before["open"] == 14
    item = new_york(desk)
    assert 0 < item["score"] < 1 and item["probabilities"][0]["label"] == "LOC"
    made = decided(desk, key, item)
    assert made.score == item["score"] and made.revision == 1
    after = desk.progress()
    assert after["left"] < before["left"] and after["decisions"] == 1
    assert after["open"] == 13 and after["checked_tokens"] == 2
