"""One corpus, one majority, one figure for a name, whatever door it came in by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tagsift as package
from tagsift.data import Document, Layer, Mark, spans, tags
from tests.cli.conftest import Outcome, column_text

#: Four people of whom each labels some of the sentences, one who is never asked, and a
#: dictionary that knows half of what is there.
MISSES = (0.1, 0.2, 0.3, None, 0.4, 0.5)
NAMES = [f"w{k:02d}" for k in range(len(MISSES))]
READ = ["--votes", "2:7", "--gold"]
DICT = ["--abstain", NAMES[-1]]

Run = Callable[..., Outcome]


def said(truth: Sequence[str], misses: float | None, rng: Random) -> list[str]:
    """What somebody says of a sentence: spans missed, of another type, or cut short."""
    if misses is None or (misses < 0.5 and rng.random() < 0.5):
        return ["?"] * len(truth)
    found = []
    for kind, start, end in spans(truth, "iob2"):
        if rng.random() < misses:
            continue
        kind = rng.choice(("LOC", "ORG")) if rng.random() < misses / 2 else kind
        start = end - 1 if rng.random() < 0.2 else start
        found.append((kind, start, end))
    return list(tags(found, len(truth), "iob2"))


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text, rng = package.bundled("ner")[:30], Random(4)
    rows = []
    for words, truth in zip(text.rows, text.labels, strict=True):
        columns = [said(truth, misses, rng) for misses in MISSES]
        rows.append(list(zip((w[0] for w in words), *columns, truth, strict=True)))
    path = tmp_path_factory.mktemp("votes") / "votes.tsv"
    path.write_text(column_text(rows), encoding="utf-8")
    return path


@pytest.fixture
def doors(tagsift: Run, votes: Path, tmp_path: Path) -> list[tuple[Path, list[str]]]:
    """The same votes as columns and as documents, and how each is read."""
    documents = tmp_path / "votes.jsonl"
    assert tagsift("convert", votes, documents, *READ).status == 0
    return [(votes, READ), (documents, [])]


def lines_of(path: Path) -> list[list[list[str]]]:
    """The cells of every sentence of a column file."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[row.split("\t") for row in block.split("\n")] for block in blocks]


def cleaned(tagsift: Run, path: Path, out: Path, *options: str) -> Any:
    told = tagsift("clean", path, "-o", out, "--json", *options)
    assert told.status == 0, told.err
    return told.json


# How votes get in: one file by two doors ---------------------------------------------


def test_two_doors_give_the_same_labels(tagsift: Run, doors, tmp_path: Path):
    made = []
    for number, (path, options) in enumerate(doors):
        out = tmp_path / f"{number}.tsv"
        cleaned(tagsift, path, out, *options, *DICT, "-m", "majority")
        made.append(out.read_text(encoding="utf-8"))
    assert made[0] == made[1]


def test_two_doors_give_the_same_agreement(tagsift: Run, doors):
    def figures(path: Path, options: list[str]) -> tuple[Any, ...]:
        told = tagsift("agree", path, *options, *DICT, "--quick", "--json").json
        pairs = {frozenset((p["first"], p["second"])): p for p in told["pairs"]}
        names = ("pairwise_agreement", "fleiss_kappa", "krippendorff_alpha")
        equal = {key: one["agreement"] for key, one in pairs.items() if one["shared"]}
        people = {
            one["name"]: (one["tokens"], one["reliability"], one["f1"])
            for one in told["annotators"]
            if one["tokens"]
        }
        return [told[name] for name in names], equal, people

    assert figures(*doors[0]) == figures(*doors[1])


def test_two_doors_give_the_same_annotators(tagsift: Run, doors):
    for path, options in doors:
        told = tagsift("agree", path, *options, *DICT, "--quick", "--json").json
        assert [one["name"] for one in told["annotators"]] == NAMES


def test_what_was_written_is_what_was_read(votes: Path, tmp_path: Path):
    corpus = package.read(votes, votes="2:7", gold=-1)
    package.write(corpus, tmp_path / "votes.jsonl")
    assert package.read(tmp_path / "votes.jsonl") == corpus


# Who the annotators are --------------------------------------------------------------


def test_columns_come_back_as_they_were(tagsift: Run, votes: Path, tmp_path: Path):
    again = tmp_path / "again.conll"
    assert tagsift("convert", votes, again, *READ).status == 0
    assert lines_of(again) == lines_of(votes)


def test_the_label_found_is_the_last_column(tagsift: Run, votes: Path, tmp_path: Path):
    bare = tmp_path / "bare.tsv"
    rows = [[tuple(row[:-1]) for row in block] for block in lines_of(votes)]
    bare.write_text(column_text(rows), encoding="utf-8")
    out, own = tmp_path / "out.conll", tmp_path / "own.tsv"
    options = ["--votes", "2:7", *DICT, "-m", "majority"]
    cleaned(tagsift, bare, own, *options)
    cleaned(tagsift, bare, out, *options, "--to", "conll")
    assert lines_of(out) == [
        [[*row, label] for row, (_, label, *_) in zip(*blocks, strict=True)]
        for blocks in zip(lines_of(bare), lines_of(own), strict=True)
    ]


# What the majority is ----------------------------------------------------------------


def test_by_majority_nothing_differs_from_it(tagsift: Run, votes: Path, tmp_path: Path):
    for options in (DICT, ["--o-means", "outside"], ["--o-means", "abstain"]):
        facts = cleaned(
            tagsift, votes, tmp_path / "out.tsv", *READ, *options, "-m", "majority"
        )
        assert facts["differs"] == 0
        assert facts["scores"]["span_f1"] == facts["scores"]["majority_span_f1"]


def test_ties_sets_and_plain_tags_differ_from_nothing(tagsift: Run, tmp_path: Path):
    path, out = tmp_path / "odd.tsv", tmp_path / "out.tsv"
    rows = [
        ("Rome", "B-LOC", "B-PER", "?"),
        ("fell", "B-LOC|B-PER", "B-PER", "O"),
        ("to", "I-PER", "B-LOC", "?"),
        ("us", "?", "?", "?"),
    ]
    plain = [[cell.replace("-", ".") for cell in row] for row in rows]
    for lines in (rows, plain):
        path.write_text(column_text([lines] * 3), encoding="utf-8")
        for means in ("outside", "abstain"):
            options = ["--votes", "2:4", "-m", "majority", "--o-means", means]
            assert cleaned(tagsift, path, out, *options)["differs"] == 0


def test_bounds_are_counted_apart_from_types(tagsift: Run, tmp_path: Path):
    """Three of five see a place; that they begin it elsewhere makes it no less one."""
    path, out = tmp_path / "votes.tsv", tmp_path / "out.tsv"
    rows = [
        ("New", "B-LOC", "B-LOC", "O", "O", "O"),
        ("York", "I-LOC", "I-LOC", "B-LOC", "O", "O"),
        ("City", "I-LOC", "B-LOC", "I-LOC", "O", "O"),
    ]
    path.write_text(column_text([rows]), encoding="utf-8")
    cleaned(tagsift, path, out, "--votes", "2:6", "-m", "majority")
    assert [row[1] for row in lines_of(out)[0]] == ["O", "B-LOC", "I-LOC"]


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_clean_and_report_count_the_same_changes(
    tagsift: Run, votes: Path, tmp_path: Path, method: str
):
    out, page = tmp_path / "out.tsv", tmp_path / "report.html"
    options = [*READ, *DICT, "-m", method]
    facts = cleaned(tagsift, votes, out, *options, "--html", str(page))
    flags = [row[-1] for block in lines_of(out) for row in block]
    assert flags.count("differs") == facts["differs"]
    pages = [page.read_text(encoding="utf-8")]
    assert tagsift("report", votes, *options, "-o", page, "-q").status == 0
    pages.append(page.read_text(encoding="utf-8"))
    for text in pages:
        said = re.search(r"([\d,]+) of [\d,]+ labels of tokens are not what", text)
        assert said is not None and int(said[1].replace(",", "")) == facts["differs"]
        (tile,) = re.findall(r">changed<.{0,80}?>([\d,]+)<", text, re.DOTALL)
        assert int(tile.replace(",", "")) == facts["differs"]
    assert (facts["differs"] == 0) == (method == "majority")


def test_most_votes_are_said_to_be_so_where_a_label_differs(
    tagsift: Run, votes: Path, tmp_path: Path
):
    out, options = tmp_path / "out.tsv", [*READ, *DICT, "-m", "dawid-skene"]
    cleaned(tagsift, votes, out, *options)
    flags = [[row[-1] == "differs" for row in block] for block in lines_of(out)]
    told = tagsift("rank", votes, *options, "--top", 10_000, "--json").json
    outvoted = {
        (one["sentence"] - 1, one["token"] - 1)
        for one in told["tokens_first"]
        if one["why"].startswith("most votes say")
    }
    assert outvoted and all(flags[s][t] for s, t in outvoted)


def test_the_page_shows_the_majority(
    tagsift: Run, votes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("uvicorn", reason="the extra 'review' is absent")
    from tagsift.review import serving
    from tests.review.test_guard import TOKEN, client_of

    out, shown = tmp_path / "out.tsv", []
    cleaned(tagsift, votes, out, *READ, *DICT, "-m", "majority")
    wanted = {
        (s, one.type, one.start, one.end)
        for s, block in enumerate(lines_of(out))
        for one in spans([row[1] for row in block], "iob2")
    }

    class Idle:
        model, busy, failed = "", False, None

        def __init__(self, *told: Any, **more: Any) -> None: ...

        def learn(self, *told: Any) -> None: ...

        def close(self) -> None: ...

    def look(desk: Any, *told: Any, **more: Any) -> None:
        client = client_of(desk)
        client.headers.update({"Authorization": f"Bearer {TOKEN}"})
        page, rows = 0, [True]
        while rows:
            rows = client.get(f"/api/search?reviewer=a&page={page}").json()["rows"]
            page += 1
            for row in rows:
                told_ = client.get(f"/api/item/{row['id']}?reviewer=a").json()["item"]
                shown.append(told_)

    monkeypatch.setattr(package.review, "Worker", Idle)
    monkeypatch.setattr(serving, "serve", look)
    store = ["--store", tmp_path / "review.db", "--port", 0]
    assert tagsift("review", votes, *READ, *DICT, *store).status == 0
    found = {
        (item["sentence"], one["label"], one["start"], one["end"])
        for item in shown
        for one in item["majority"]
    }
    assert found == wanted
    assert not any(item["differs"] for item in shown)  # no fit has said otherwise


# What was found: one figure for a name -----------------------------------------------


def test_reliability_is_one_number(tagsift: Run, votes: Path, tmp_path: Path):
    options = [*READ, *DICT, "-q"]
    agree = tagsift("agree", votes, *options, "--json").json["annotators"]
    model = tmp_path / "votes.tagsift"
    page = tmp_path / "report.html"
    fit = tagsift("fit", votes, *options, "-o", model, "--html", page)
    assert fit.status == 0, fit.err
    info = tagsift("info", model, "--json").json["annotators"]
    want = {one["name"]: one["reliability"] for one in agree}
    assert {one["name"]: one["reliability"] for one in info} == want
    shown = page.read_text(encoding="utf-8")
    table = shown[shown.index("the most reliable first") :]
    for name, share in want.items():
        row = re.search(rf'"row"[^>]*>{name}</th><td[^>]*>([^<]*)<', table)
        text = "–" if share is None else f"{100 * share:.1f}"
        assert row is not None and row[1] == text, name


# A sentence with labels --------------------------------------------------------------


def test_candidate_sets_are_no_votes():
    rows = [["Ann", "fell"]]
    with pytest.raises(package.InputError, match="learns from votes"):
        package.VoteTagger().fit(rows, [[("B-PER", "O"), ("O",)]])


def test_a_corpus_has_sentences(votes: Path):
    sentence = package.read(votes, votes="2:7", gold=-1)[0]
    assert sentence.tokens[0] == lines_of(votes)[0][0][0]
    assert list(sentence.votes)[0] in NAMES


def test_a_scorer_sees_the_truth_of_a_corpus(votes: Path):
    corpus = package.read(votes, votes="2:7", gold=-1)
    model = package.MajorityVote().fit(corpus)
    assert 0.0 < package.Scorer("span_f1")(model, corpus) <= 1.0


# Whether a document is valid ---------------------------------------------------------


def marked(start: int, end: int, *labels: str) -> Document:
    marks = (Mark(start, end, labels),)
    return Document("1", "Ann left.", layers=(Layer("a", marks=marks),))


def tagged(*tags: Any, **more: Any) -> Document:
    layer = Layer("a", tags=tags, **more)
    return Document("1", rows=(("Ann",), ("left",)), layers=(layer,))


@pytest.mark.parametrize(
    "make",
    [
        lambda: marked(2, 1, "PER"),
        lambda: marked(0, 99, "PER"),
        lambda: marked(-1, 2, "PER"),
        lambda: marked(0, 3),
        lambda: marked(0, 3, ""),
        lambda: tagged("O"),
        lambda: tagged("O", frozenset()),
        lambda: tagged("O", "O", scores=(0.5,)),
        lambda: tagged("O", "O", scores=(0.5, 3.0)),
        lambda: Document("1", rows=(("Ann",), ("left",)), sentences=(0, 5)),
        lambda: Document("1", "Ann", rows=(("Ann",),), offsets=((2, 99),)),
    ],
)
def test_nothing_is_written_that_is_not_read(tmp_path: Path, make):
    path = tmp_path / "out.jsonl"
    with pytest.raises(package.TagsiftError):
        package.write([make()], path)
    assert not path.exists()


# Which format a file has -------------------------------------------------------------


def test_each_of_several_files_has_its_own_format(tmp_path: Path):
    first, second = tmp_path / "anna.jsonl", tmp_path / "gpt.txt"
    text = "Ann left Rome."
    mark = {"start": 0, "end": 3, "label": "PER"}
    layers = [{"annotator": "anna", "spans": [mark]}]
    first.write_text(json.dumps({"id": "1", "text": text, "layers": layers}) + "\n")
    said = {"text": text, "label": [[9, 13, "LOC"]]}
    second.write_text(json.dumps(said) + "\n", encoding="utf-8")
    corpus = package.read([first, (second, "doccano")])
    assert [one.name for one in corpus.annotators] == ["anna", "gpt"]


def test_every_verb_sees_the_same_format(tagsift: Run, votes: Path, tmp_path: Path):
    path, out = tmp_path / "labels.txt", tmp_path / "labels.jsonl"
    rows = [[(row[0], row[-1]) for row in block] for block in lines_of(votes)]
    path.write_text(column_text(rows), encoding="utf-8")
    assert tagsift("convert", path, out).status == 0
    documents = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [one["tokens"] for one in documents] == [
        [word for word, _ in block] for block in rows
    ]


# Python, the command line, the report and a stored result -----------------------------


@pytest.mark.parametrize("name", ["columns", "jsonl", "label-studio"])
def test_a_figure_is_the_same_wherever_it_is_asked_for(
    tagsift: Run, votes: Path, tmp_path: Path, name: str
):
    """By each door, of each figure with a name."""
    path, options = votes, READ
    if name != "columns":
        path, options = tmp_path / f"votes.{name}", ["--from", name]
        assert tagsift("convert", votes, path, "--to", name, *READ).status == 0
    reads = {"votes": "2:7", "gold": -1} if name == "columns" else {"format": name}
    corpus = package.read(path, abstain=[NAMES[-1]], **reads)
    result = package.clean(corpus, package.make("dawid-skene"))
    result.save(tmp_path / "result.tagsift")
    method = [*options, *DICT, "-m", "dawid-skene"]
    facts = cleaned(tagsift, path, tmp_path / "out.tsv", *method, "--to", "conll")
    report = tagsift("report", path, *method, "-o", tmp_path / "r.html", "--json").json
    rank = tagsift("rank", path, *method, "--top", 7, "--json").json
    out = tmp_path / "columns.tsv"
    assert tagsift("clean", path, *method, "-o", out).status == 0
    rows = [row for block in lines_of(out) for row in block]
    for one in (result, package.load(tmp_path / "result.tagsift")):
        assert int(one.changed.sum()) == facts["differs"]
        assert [row[-4] for row in rows] == one.labels.tolist()
        assert [row[-3] for row in rows] == [f"{p:.6f}" for p in one.confidence]
        assert report["expected_wrong"] == pytest.approx(one.outlook().left)
        looks = list(one.ranking("span"))[:7]
        shown = [(x["sentence"], x["token"], x["score"]) for x in rank["spans_first"]]
        assert shown == [
            (look.sentence + 1, look.start + 1, pytest.approx(look.score))
            for look in looks
        ]
        if corpus.gold is not None:
            assert facts["scores"]["span_f1"] == one.scores().span_f1
            assert facts["scores"]["majority_span_f1"] == one.majority_scores().f1
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        table = page[page.index("the most reliable first") :]
        for who in one.annotators:
            row = re.search(rf'"row"[^>]*>{who.name}</th><td[^>]*>([^<]*)<', table)
            text = f"{100 * who.reliability:.1f}" if who.tokens else "–"
            assert row is not None and row[1] == text


def test_kinds_and_formats_of_further_files_are_said(tagsift: Run, tmp_path: Path):
    text = "Ann left Rome."
    for name, mark in (("anna", [0, 3, "PER"]), ("gpt", [9, 13, "LOC"])):
        line = json.dumps({"text": text, "label": [mark]}) + "\n"
        (tmp_path / f"{name}.txt").write_text(line * 1, encoding="utf-8")
    files = [tmp_path / "anna.txt", "--from", "doccano"]
    files += ["--with", f"{tmp_path / 'gpt.txt'}:doccano"]
    people = tagsift("agree", *files, "--quick", "--json").json["annotators"]
    _, second = (one["name"] for one in people)
    quick = ("agree", *files, "--quick", "--kinds")
    assert tagsift(*quick, f"{second}=model").status == 0
    wrong = {second: "gpt=model", f"{second}=robot": "'robot'", "x=model": "'x'"}
    for kinds, words in wrong.items():
        told = tagsift(*quick, kinds)
        assert told.status == 2 and words in told.err
