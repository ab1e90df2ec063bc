"""What keys do to the spans of a sentence, against painting token by token."""

from __future__ import annotations

import random
from itertools import groupby

DRAFTS = """async (cases) => {
  const { Draft } = await import("/draft.js");
  return cases.map(({ item, moves }) => {
    const draft = new Draft(item);
    const seen = moves.map(([name, ...given]) => {
      draft[name](...given);
      const { spans, range, changed, decision } = draft;
      return structuredClone({ spans, range, changed, decision });
    });
    return seen;
  });
}"""
LABELS = ["PER", "LOC", None]


def painted(spans, length):
    """Every token as (number of its span, label), or None."""
    cells = [None] * length
    for number, span in enumerate(spans):
        for t in range(span["start"], span["end"]):
            cells[t] = (number, span["label"])
    return cells


def runs(cells, at=0):
    """Spans of painted tokens: neighbours with the same number."""
    found = []
    for cell, group in groupby(cells):
        size = len(list(group))
        if cell is not None:
            found.append({"start": at, "end": at + size, "label": cell[1]})
        at += size
    return found


class Twin:
    """The draft, slowly."""

    def __init__(self, item):
        self.length, self.before = len(item["tokens"]), item["spans"]
        self.asked = {"start": item["start"], "end": item["end"]}
        self.reset()

    @property
    def spans(self):
        cells = painted(self.rest, self.length)
        if self.range["label"] is not None:
            for t in range(self.range["start"], self.range["end"]):
                cells[t] = (-1, self.range["label"])
        return runs(cells)

    def reset(self):
        asked = range(self.asked["start"], self.asked["end"])
        held = [s for s in self.before if set(range(s["start"], s["end"])) & set(asked)]
        self.rest = [span for span in self.before if span not in held[:1]]
        self.range = dict(held[0]) if held else self.asked | {"label": None}

    def relabel(self, label):
        self.range["label"] = label

    def stretch(self, first, last):
        start, end = self.range["start"] + first, self.range["end"] + last
        if 0 <= start < end <= self.length:
            self.range |= {"start": start, "end": end}

    def hold(self, start, end):
        place = {"start": start, "end": end}
        now = self.spans
        held = [s for s in now if {k: s[k] for k in place} == place]
        self.rest = [span for span in now if span not in held]
        self.range = dict(held[0]) if held else place | {"label": None}

    def holdAt(self, token):  # noqa: N802
        around = [s for s in self.spans if s["start"] <= token < s["end"]]
        one = around[0] if around else {"start": token, "end": token + 1}
        self.hold(one["start"], one["end"])


def some_case(rng):
    length = rng.randrange(1, 12)
    cells = [(rng.randrange(4), rng.choice(LABELS[:2])) for _ in range(length)]
    cells = [cell if rng.random() < 0.6 else None for cell in cells]
    spans = runs(cells)
    start = rng.randrange(length)
    asked = {"start": start, "end": start + 1}
    if spans and rng.random() < 0.7:
        one = rng.choice(spans)
        asked = {"start": one["start"], "end": one["end"]}
    item = {"from": 0, "tokens": ["x"] * length, "spans": spans, **asked}
    moves = []
    for _ in range(rng.randrange(1, 9)):
        lo = rng.randrange(length)
        moves.append(
            rng.choice(
                [
                    ("relabel", rng.choice(LABELS)),
                    ("stretch", *rng.choice([(1, 1), (-1, -1), (0, 1), (0, -1)])),
                    ("stretch", *rng.choice([(1, 0), (-1, 0)])),
                    ("hold", lo, rng.randrange(lo, length) + 1),
                    ("holdAt", lo),
                    ("reset",),
                ]
            )
        )
    return {"item": item, "moves": moves}


def test_spans_are_what_painting_gives(scripts):
    rng = random.Random(3)
    cases = [some_case(rng) for _ in range(200)]
    for case, seen in zip(cases, scripts(DRAFTS, cases), strict=True):
        twin, before = Twin(case["item"]), case["item"]["spans"]
        for (name, *given), now in zip(case["moves"], seen, strict=True):
            getattr(twin, name)(*given)
            assert now["spans"] == twin.spans, (case, name)
            assert now["range"] == twin.range
            assert now["changed"] == (now["spans"] != before)
            check_decision(now, case["item"])


def check_decision(now, item):
    """Putting the decision in place of what stood there gives the spans."""
    told, length = now["decision"], len(item["tokens"])
    start, end = told["start"], told["end"]
    assert start <= item["start"] and item["end"] <= end
    cells = painted(item["spans"], length)
    fresh = painted(told["spans"], length)
    mixed = [None if c is None else ("old", *c) for c in cells]
    mixed[start:end] = [None if c is None else ("new", *c) for c in fresh[start:end]]
    found = [
        {"start": at, "end": stop, "label": cell[-1]}
        for at, stop, cell in stretches(mixed)
        if cell is not None
    ]
    assert found == now["spans"]
    assert (told["action"] == "accept") == (not now["changed"])
    if told["action"] == "none":
        assert told["spans"] == []
    if told["action"] == "relabel":
        places = [[(s["start"], s["end"]) for s in x] for x in (found, item["spans"])]
        assert places[0] == places[1]


def stretches(cells):
    at = 0
    for cell, group in groupby(cells):
        size = len(list(group))
        yield at, at + size, cell
        at += size


def test_plain_tags_stand_on_one_token_each(scripts):
    code = """async () => {
      const { Draft } = await import("/draft.js");
      const spans = ["DT", "NN"].map((label, i) => ({ start: i, end: i + 1, label }));
      const item = { from: 0, tokens: ["a", "b"], spans, start: 0, end: 1 };
      const draft = new Draft(item, true);
      const wide = draft.stretch(0, 1);
      draft.stretch(1, 1);
      draft.relabel("JJ");
      return [wide, draft.decision];
    }"""
    wide, told = scripts(code)
    assert wide is False
    assert told["action"] == "relabel"
    assert told["spans"] == [
        {"start": 0, "end": 1, "label": "DT"},
        {"start": 1, "end": 2, "label": "JJ"},
    ]


def test_opinions_of_annotators_are_taken_over(scripts):
    code = """async (said) => {
      const { Draft } = await import("/draft.js");
      const item = { from: 0, tokens: [..."abcdef"], start: 1, end: 3,
                     spans: [{ start: 1, end: 3, label: "LOC" }] };
      return said.map((spans) => {
        const draft = new Draft(item);
        draft.relabel("PER");
        draft.adopt(spans);
        return draft.spans;
      });
    }"""
    two = [
        {"start": 1, "end": 2, "label": "PER"},
        {"start": 2, "end": 4, "label": "LOC"},
    ]
    assert scripts(code, [[], two[1:], two]) == [[], two[1:], two]


def test_up_and_down_go_round_all_spans(scripts):
    code = """async () => {
      const { Draft } = await import("/draft.js");
      const span = (start, end) => ({ start, end, label: "PER" });
      const item = { from: 0, tokens: [..."abcdef"], start: 2, end: 3 };
      const draft = new Draft({ ...item, spans: [span(0, 1), span(4, 6)] });
      const go = (step) => (draft.holdNext(step), draft.range.start);
      return [1, 1, 1, -1, -1].map(go);
    }"""
    assert scripts(code) == [4, 0, 2, 0, 4]
