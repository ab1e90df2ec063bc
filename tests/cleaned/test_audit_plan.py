"""Audits from the draw to the statement: what counts, what is refused, what is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tagsift
from tagsift.cleaned import clean
from tagsift.cleaned.auditing.labels import frozen
from tagsift.cleaned.auditing.shares import expected, found, part_found, parts
from tagsift.data import generate, to_scheme
from tagsift.data.corpus import Corpus
from tagsift.errors import DataError, InputError
from tagsift.metrics import span_scores
from tests.cleaned.simulated import voted


@pytest.fixture(scope="module")
def cleaned():
    return clean(voted(), tagsift.MajorityVote())


@pytest.fixture
def plan(cleaned):
    return tagsift.audit(cleaned, n=40, seed=1)


def answer_all(plan, gold, n=None):
    for s in plan.sentences[:n]:
        plan.answer(s, gold[s])


def truth_of(labels):
    return np.array([labels.names.index(name) for name in labels.corpus.truth])


def test_what_is_found_in_all_sentences_are_the_scores(cleaned):
    labels = frozen(cleaned)
    every = np.arange(len(labels.corpus))
    scores = span_scores(cleaned.corpus.gold, cleaned.sentences, scheme="iob2").micro
    shares = {
        name: tally.errors.sum() / tally.size.sum()
        for name in ("errors", "span_f1", "precision", "recall")
        for tally in [found(labels, name, every, truth_of(labels))]
    }
    wrong = np.mean(cleaned.labels != np.array(cleaned.corpus.truth))
    assert shares == pytest.approx(
        {
            "errors": wrong,
            "span_f1": 1 - scores.f1,
            "precision": 1 - scores.precision,
            "recall": 1 - scores.recall,
        }
    )


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes", "plain"])
def test_a_sure_model_expects_its_own_labels(scheme):
    corpus = generate(30, task="ner")
    rows = [to_scheme(row, "iob2", scheme) for row in corpus.labels]
    labels = frozen(Corpus.from_lists(corpus.tokens, rows, scheme=scheme))
    for share in ("errors", "span_f1", "precision", "recall"):
        tally = expected(labels, share)
        assert tally.errors == pytest.approx(0)
        assert tally.size.sum() > 0


@pytest.mark.parametrize("kind", ["label", "annotator"])
def test_parts_are_counted_one_by_one(cleaned, kind):
    labels = frozen(cleaned)
    truth, names = truth_of(labels), np.array(labels.names)
    for part in parts(labels, kind):
        tally = part_found(labels, part, truth)
        said = names[part.code]
        right = names[truth[part.token]]
        assert tally.errors.sum() == np.sum(said != right)
        assert tally.size.sum() == len(part.token)
    if kind == "label":
        assert sum(len(part.token) for part in parts(labels, kind)) == len(truth)


def test_everything_looked_at_is_known_exactly(cleaned):
    plan = tagsift.audit(cleaned, n=len(cleaned.corpus))
    answer_all(plan, cleaned.corpus.gold)
    statement, scores = plan.result(), cleaned.scores()
    for name in ("precision", "recall", "f1"):
        one = getattr(statement, {"f1": "span_f1"}.get(name, name))
        assert one.low == one.high == pytest.approx(getattr(scores.spans.micro, name))
    wrong = np.mean(cleaned.labels != np.array(cleaned.corpus.truth))
    assert statement.errors.value == pytest.approx(wrong)
    assert statement.looks_until(0.99) == 0


def test_a_statement_holds_the_truth_and_narrows(cleaned):
    wide, narrow = (tagsift.audit(cleaned, n=n, seed=5) for n in (40, 160))
    for plan in (wide, narrow):
        answer_all(plan, cleaned.corpus.gold)
    wrong = np.mean(cleaned.labels != np.array(cleaned.corpus.truth))
    first, last = wide.result().errors, narrow.result().errors
    assert first.low <= wrong <= first.high and last.low <= wrong <= last.high
    assert last.high - last.low < first.high - first.low
    assert last.between[0] <= last.low and last.high <= last.between[1]
    aim = (last.high + last.value) / 2
    more = narrow.result().looks_until(aim)
    assert more is not None and 0 < more <= len(cleaned.corpus) - 160
    assert narrow.result().looks_until(last.value / 2) is None


def test_sentences_in_another_order_change_nothing(cleaned):
    order = np.random.default_rng(0).permutation(len(cleaned.corpus))
    tokens = cleaned.corpus.take(order)
    at = np.concatenate([np.arange(*cleaned.corpus.bounds[s : s + 2]) for s in order])
    moved = replace(
        cleaned,
        corpus=tokens,
        codes=cleaned.codes[at],
        marginals=cleaned.marginals[at],
    )
    one, two = tagsift.audit(cleaned, n=50), tagsift.audit(moved, n=50)
    place = np.argsort(order)
    two.order = place[one.order]  # the same draw
    for plan, gold in ((one, cleaned.corpus.gold), (two, tokens.gold)):
        answer_all(plan, gold)
    for name in ("errors", "span_f1", "precision", "recall"):
        pair = (getattr(plan.result(), name) for plan in (one, two))
        values = [(x.value, x.low, x.high) for x in pair]
        assert values[0] == pytest.approx(values[1])


def test_only_what_is_answered_in_order_counts(plan, cleaned):
    gold = cleaned.corpus.gold
    first, second, third = plan.sentences[:3]
    plan.answer(first, gold[first])
    plan.answer(third, gold[third])
    assert (plan.looks, plan.result().waiting) == ([first], 1)
    plan.answer(second, gold[second])
    assert (plan.looks, plan.result().waiting) == ([first, second, third], 0)
    assert plan.result().sentence().startswith("Nothing can be stated after 3 looks")


def test_more_sentences_are_of_the_same_draw(plan, cleaned):
    answer_all(plan, cleaned.corpus.gold)
    more = plan.more(15)
    assert more.sentences[:40] == plan.sentences and len(more.sentences) == 55
    assert more.looks == plan.looks
    assert more.result().errors == plan.result().errors
    with pytest.raises(InputError, match="more sentences from 1 to"):
        plan.more(10_000)


def test_settled_sentences_cost_no_look():
    corpus = voted()
    known = [row if s % 2 else [None] * len(row) for s, row in enumerate(corpus.gold)]
    plan = tagsift.audit(clean(corpus.with_exact(known), tagsift.MajorityVote()), n=80)
    assert all(s % 2 == 0 for s in plan.sentences)
    answer_all(plan, corpus.gold)
    wrong = np.mean(plan.cleaned.labels != np.array(corpus.truth))
    errors = plan.result().errors
    assert errors.low <= wrong <= errors.high


def test_where_all_is_known_there_is_nothing_to_look_at():
    corpus = voted(20)
    known = clean(corpus.with_exact(corpus.gold), tagsift.MajorityVote())
    with pytest.raises(InputError, match="nothing to look at"):
        tagsift.audit(known)


def test_parts_share_their_error(plan, cleaned):
    answer_all(plan, cleaned.corpus.gold)
    stated = plan.result().by("label")
    assert "O" in stated
    assert all(0 <= x.low <= x.value <= x.high <= 1 for x in stated.values())
    strict = plan.result(0.99).by("label")
    for name, one in stated.items():
        assert strict[name].low <= one.low <= one.high <= strict[name].high
    annotators = plan.result().by("annotator")
    assert set(annotators) == {one.name for one in cleaned.corpus.annotators}
    worst = max(annotators, key=lambda name: annotators[name].value)
    assert worst == "careless"
    with pytest.raises(InputError, match="documents"):
        plan.result().by("document")
    with pytest.raises(InputError, match="kind must be"):
        plan.result().by("word")


# The sheet ---------------------------------------------------------------------------


def test_a_sheet_read_again_says_the_same(plan, cleaned, tmp_path):
    answer_all(plan, cleaned.corpus.gold, 25)
    path = tmp_path / "audit.tsv"
    plan.write(path)
    again = tagsift.audit(cleaned, n=40, seed=1)
    assert again.read(path).errors == plan.result().errors
    assert again.answers == plan.answers
    assert again.read(path).errors == plan.result().errors  # nothing counts twice


def test_every_answer_is_stored_at_once(plan, cleaned, tmp_path):
    path = tmp_path / "audit.tsv"
    plan.write(path)
    s = plan.sentences[0]
    plan.answer(s, cleaned.corpus.gold[s])
    again = tagsift.audit(cleaned, n=40, seed=1)
    again.read(path)
    assert again.answers == {s: tuple(cleaned.corpus.gold[s])}


def _edited(path, change):
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(change(lines)) + "\n", "utf-8")


def _cell(lines, number, column, value):
    cells = lines[number].split("\t")
    cells[column] = value
    return [*lines[:number], "\t".join(cells), *lines[number + 1 :]]


BAD = {
    "expected a sentence that was drawn": lambda x: _cell(x, 1, 1, "9999"),
    "once all of it has been read, found corrections": lambda x: _cell(x, 1, 5, "O"),
    "expected 'yes'": lambda x: _cell(x, 1, 2, "maybe"),
    "expected one of the labels": lambda x: _cell(
        _cell(x, 1, 2, "yes"), 1, 5, "B-NOTHING"
    ),
    "words of sentence": lambda x: _cell(x, 1, 3, "elsewhere"),
    "once": lambda x: [*x, x[1]],
    "another corpus, other labels or another seed": lambda x: _cell(x, 1, 0, "other"),
    "a sheet that tagsift audit wrote": lambda x: ["nothing", *x[1:]],
}


@pytest.mark.parametrize("words", BAD)
def test_a_bad_sheet_is_refused_and_nothing_counted(plan, tmp_path, words):
    path = tmp_path / "audit.tsv"
    plan.write(path)
    _edited(path, BAD[words])
    fresh = tagsift.audit(plan.cleaned, n=40, seed=1)
    with pytest.raises(DataError, match=words) as refused:
        fresh.read(path)
    assert "Nothing was counted." in str(refused.value)
    assert not fresh.answers


def test_a_sheet_of_another_seed_or_of_changed_labels_is_refused(
    plan, cleaned, tmp_path
):
    path = tmp_path / "audit.tsv"
    plan.write(path)
    codes = cleaned.codes.copy()
    codes[0] = (codes[0] + 1) % len(cleaned.classes)
    for other in (
        tagsift.audit(cleaned, n=40, seed=2),
        tagsift.audit(replace(cleaned, codes=codes), n=40, seed=1),
    ):
        with pytest.raises(DataError, match="another seed"):
            other.read(path)


def test_bad_answers_are_refused(plan, cleaned):
    drawn = set(plan.sentences)
    other = next(s for s in range(len(cleaned.corpus)) if s not in drawn)
    s = plan.sentences[0]
    gold = cleaned.corpus.gold[s]
    with pytest.raises(InputError, match="were drawn"):
        plan.answer(other, cleaned.corpus.gold[other])
    with pytest.raises(InputError, match="one a token"):
        plan.answer(s, gold[:-1])
    with pytest.raises(InputError, match="expected labels among"):
        plan.answer(s, ["B-NOTHING", *gold[1:]])
    assert not plan.answers
    plan.answer(s, gold)
    plan.answer(s, gold)  # the same again is no second look
    changed = ["B-PER" if gold[0] != "B-PER" else "O", *gold[1:]]
    with pytest.raises(InputError, match="a second one that differs"):
        plan.answer(s, changed)
    assert plan.answers == {s: tuple(gold)}


@pytest.mark.parametrize("how", [{"n": 0}, {"n": True}, {"seed": -1}, {"n": 1.5}])
def test_bad_plans_are_refused(cleaned, how):
    with pytest.raises(InputError, match="must be"):
        tagsift.audit(cleaned, **how)
