"""From votes to labels and a tagger: clean, rank, agree, fit and info."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import tagsift as package
from tagsift.data.corpus import Corpus
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes

QUICK = ["--set", "rounds=2", "--set", "folds=2", "--quiet"]
VOTES = ["--votes", "3:7", "--header", "--gold"]
PEOPLE = (
    SimulatedAnnotator(name="ann", misses=0.05),
    SimulatedAnnotator(name="bob", misses=0.1, shifts=0.1),
    SimulatedAnnotator(name="eve", confuses={("ORG", "LOC"): 0.8}),
    SimulatedAnnotator(name="tom", misses=0.5, labels=0.5),
    SimulatedAnnotator(name="dict", misses=0.5, abstains=True),
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate_votes(package.bundled("ner")[:24], PEOPLE, random_state=5)


@pytest.fixture(scope="module")
def votes(corpus, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("votes") / "votes.tsv"
    package.io.write_columns(path, corpus)
    names = [one.name for one in corpus.annotators]
    head = "\t".join(("token", "pos", *names, "gold"))
    path.write_text(f"{head}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def fitted(votes, tmp_path_factory) -> Path:
    from tagsift.cli import main

    path = tmp_path_factory.mktemp("models") / "votes.tagsift"
    options = [*VOTES, "--abstain", "dict", *QUICK]
    assert main(["fit", str(votes), "-o", str(path), *options]) == 0
    return path


def rows_of(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line]


def test_clean_gives_label_confidence_tally_and_flag(tagsift, votes, corpus, tmp_path):
    out = tmp_path / "clean.tsv"
    outcome = tagsift("clean", votes, *VOTES, "--abstain", "dict", "-o", out, *QUICK)
    assert outcome.status == 0, outcome.err
    assert "labels of 5 annotators merged by VoteTagger" in outcome.out
    assert "Against gold: span F1" in outcome.out
    assert not outcome.err
    rows = rows_of(out)
    assert len(rows) == corpus.n_tokens
    for word, _, label, confidence, tally, flag in rows:
        assert word and label in corpus.label_set
        assert 0.0 < float(confidence) <= 1.0
        assert all(":" in part for part in tally.split(" "))
        assert flag in ("-", "differs")
    assert {row[5] for row in rows} == {"-", "differs"}
    # The dictionary's O is shown, and does not count for the majority.
    alone = [row for row in rows if row[4] == "O:3 B-ORG:1" and row[2] == "O"]
    assert all(row[5] == "-" for row in alone)


def test_unsure_labels_are_left_open(tagsift, votes, tmp_path):
    out = tmp_path / "clean.tsv"
    options = ["--min-confidence", 0.9, "-m", "majority", "--json"]
    told = tagsift("clean", votes, *VOTES, "--abstain", "dict", "-o", out, *options)
    assert told.status == 0, told.err
    rows = rows_of(out)
    unsure = [row for row in rows if row[2] == "?"]
    assert len(unsure) == told.json["left_open"] > 0
    assert all((float(row[3]) < 0.9) == (row[2] == "?") for row in rows)
    scores = told.json["scores"]
    assert {"span_f1", "log_loss", "ece", "majority_span_f1"} <= set(scores)


@pytest.mark.parametrize("name", ["majority", "dawid-skene", "mace", "partial-crf"])
def test_methods_for_votes(tagsift, votes, tmp_path, name):
    out = tmp_path / "clean.tsv"
    options = ["--abstain", "dict", "-m", name, "-o", out, "--json"]
    more = QUICK[:4] if name == "partial-crf" else []
    told = tagsift("clean", votes, *VOTES, *options, *more)
    assert told.status == 0, told.err
    expected = "vote-tagger" if name == "partial-crf" else name
    assert told.json["method"] == expected
    assert not told.err


def test_other_methods_get_the_union_and_say_so(tagsift, votes, tmp_path):
    out = tmp_path / "clean.tsv"
    outcome = tagsift("clean", votes, *VOTES, "--o-means", "outside", "-o", out)
    assert outcome.status == 0
    options = ["--o-means", "outside", "-o", out, "-m", "word-counts", "--json"]
    outcome = tagsift("clean", votes, *VOTES, *options)
    assert outcome.status == 0
    assert "learns from the union of the votes" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["clean", "fit", "rank", "report", "review"])
def test_methods_for_votes_refuse_candidates(tagsift, partial, tmp_path, verb):
    options = ["--gold", "-m", "dawid-skene"]
    where = "--store" if verb == "review" else "-o"
    told = bad(tagsift, verb, partial, *options, where, tmp_path / "out")
    assert "learns from votes" in told and "--votes" in told
    assert not list(tmp_path.glob("out*"))


def test_methods_for_votes_refuse_pieces(tagsift, partial, tmp_path):
    options = ["-m", "vote-tagger", "--out-of-core", tmp_path]
    told = bad(tagsift, "fit", partial, "-o", tmp_path / "out", *options)
    assert "VoteTagger works in memory" in told


@pytest.mark.parametrize("name", ["majority", "vote-tagger"])
def test_labels_of_one_annotator_are_votes(tagsift, gold, tmp_path, name):
    out = tmp_path / "clean.tsv"
    outcome = tagsift("clean", gold, "-m", name, "-o", out)
    assert outcome.status == 0, outcome.err
    assert "labels of 1 annotator merged" in outcome.out
    assert all(row[-2].endswith(":1") for row in rows_of(out))


def test_settings_of_the_text_model(tagsift, votes, tmp_path):
    out = tmp_path / "m.tagsift"
    options = [*VOTES, "--abstain", "dict", "-o", out, *QUICK]
    outcome = tagsift("fit", votes, *options, "--set", "l2=7")
    assert outcome.status == 2
    assert "'l2'" in outcome.err and "--method" in outcome.err
    outcome = tagsift("fit", votes, *options, "--set", "l2=7", "-m", "partial-crf")
    assert outcome.status == 0
    assert package.load(out).estimator_.l2 == 7


def test_a_column_that_seems_to_abstain_is_pointed_at(tagsift, tmp_path):
    path, out = tmp_path / "votes.tsv", tmp_path / "out.tsv"
    rows = "Rome\tB-LOC\tB-LOC\tO\nfell\tO\tO\tO\n\n"
    path.write_text(rows * 25, encoding="utf-8")
    options = ["--votes", "2:4", "-m", "majority", "-o", out, "-q"]
    outcome = tagsift("clean", path, *options)
    assert outcome.status == 0
    assert "w02 vote O" in outcome.err and "--abstain w02" in outcome.err
    for told in (["--o-means", "outside"], ["--abstain", "w02"]):
        assert not tagsift("clean", path, *options, *told).err
    path.write_text(rows * 200, encoding="utf-8")  # so much that the tagger asks, too
    options = ["--votes", "2:4", "-o", out, *QUICK]
    assert tagsift("clean", path, *options).err.count("\n") == 1
    assert not tagsift("clean", path, *options, "--o-means", "outside").err


def test_a_file_without_blank_lines_is_pointed_at(tagsift, tmp_path):
    path, out = tmp_path / "votes.tsv", tmp_path / "out.tsv"
    path.write_text("Rome\tB-LOC\tO\nfell\tO\tO\n\n" + "a\tO\tO\n" * 1001)
    outcome = tagsift("clean", path, "--votes", "2:3", "-m", "majority", "-o", out)
    assert outcome.status == 0
    assert "sentence 2 has 1001 tokens; sentences end with a blank line" in outcome.err


def test_rank_writes_a_sheet_that_clean_reads_back(tagsift, votes, corpus, tmp_path):
    sheet, out = tmp_path / "check.tsv", tmp_path / "clean.tsv"
    options = [*VOTES, "--abstain", "dict", *QUICK]
    outcome = tagsift("rank", votes, *options, "--top", 3, "-o", sheet)
    assert outcome.status == 0, outcome.err
    assert "Tokens to check first" in outcome.out
    assert "Spans to check first" in outcome.out
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert len(rows) == corpus.n_tokens
    assert rows[0]["right_label"] == "" and rows[0]["why"]
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    # A person looks at the first ten.
    for row in rows[:10]:
        s, t = int(row["sentence"]) - 1, int(row["token"]) - 1
        right = corpus.gold[s][t]
        row["right_label"] = right
        if right == row["label"]:
            row["right_label"] = ("ok", "Ok", "OK")[t % 3]
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    outcome = tagsift("clean", votes, *options, "--exact", sheet, "-o", out)
    assert outcome.status == 0, outcome.err
    found = [list(row) for row in package.io.iter_text(out)]
    for row in rows[:10]:
        s, t = int(row["sentence"]) - 1, int(row["token"]) - 1
        assert found[s][t][2] == corpus.gold[s][t]
        assert float(found[s][t][3]) == 1.0


def test_a_sheet_is_renewed_and_never_lost(tagsift, votes, corpus, tmp_path):
    sheet, out = tmp_path / "check.tsv", tmp_path / "out.tsv"
    options = [*VOTES, "--o-means", "outside", "-m", "majority", "-q"]
    assert tagsift("rank", votes, *options, "-o", sheet).status == 0
    # Nothing is filled in, so that nothing can be lost.
    assert tagsift("rank", votes, *options, "-o", sheet).status == 0

    def rows() -> list[dict[str, str]]:
        with sheet.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream, delimiter="\t"))

    made = rows()
    made[0]["right_label"], made[1]["right_label"] = "OK", "B-PER"
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(made[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(made)
    before = sheet.read_bytes()
    assert "would be lost" in bad(tagsift, "rank", votes, *options, "-o", sheet)
    clean = ["clean", votes, *options, "--exact", sheet, "-o", sheet]
    assert "take its place" in bad(tagsift, *clean)
    assert sheet.read_bytes() == before
    again = tagsift("rank", votes, *options, "--exact", sheet, "-o", sheet)
    assert again.status == 0, again.err
    place = ("sentence", "token")
    answers = {tuple(r[k] for k in place): r["right_label"] for r in rows()}
    first = [tuple(row[k] for k in place) for row in made[:2]]
    assert [answers[one] for one in first] == [made[0]["label"], "B-PER"]
    assert sum(map(bool, answers.values())) == 2
    assert tagsift("clean", votes, *options, "--exact", sheet, "-o", out).status == 0


def test_exactly_known_labels_in_a_column(tagsift, tmp_path):
    path, out = tmp_path / "votes.tsv", tmp_path / "out.tsv"
    rows = "Rome\tB-LOC\tO\t{}\nfell\tO\tO\t?\n\n"
    path.write_text("".join(rows.format(k) for k in ("O", "B-LOC", "?") * 4))
    options = ["--votes", "2:3", "-o", out, "-m", "majority", "-q"]
    assert tagsift("clean", path, *options, "--exact", 4).status == 0
    labels = [row[1] for row in rows_of(out) if row[0] == "Rome"]
    assert labels[:2] == ["O", "B-LOC"]
    named = ["--columns", "token,vote,vote,exact", *options[2:]]
    assert tagsift("clean", path, *named).status == 0
    assert [row[1] for row in rows_of(out) if row[0] == "Rome"] == labels


def test_rank_in_json_names_reasons(tagsift, votes, fitted):
    options = [*VOTES, "--abstain", "dict", "--model", fitted, "--json", "--top", 5]
    found = tagsift("rank", votes, *options).json
    first = found["tokens_first"][0]
    assert first["why"] and first["votes"] and f"[{first['word']}]" in first["context"]
    assert sum(first["probabilities"].values()) <= 1.0 + 1e-9
    assert len(found["spans_first"]) == len(found["sentences_first"]) == 5


def test_text_without_labels_is_ranked_for_annotation(tagsift, fitted, tmp_path):
    path = tmp_path / "text.tsv"
    new = package.bundled("ner")[100:110]
    path.write_text(
        "".join("\n".join("\t".join(r) for r in s) + "\n\n" for s in new.rows)
    )
    found = tagsift("rank", path, "--text", "--model", fitted, "--json").json
    assert (found["sentences"], found["tokens"]) == (10, new.n_tokens)
    scores = [one["score"] for one in found["tokens_first"]]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0
    outcome = tagsift("rank", path, "--text")
    assert outcome.status == 2 and "--model" in outcome.err


@pytest.mark.parametrize("quick", [True, False])
def test_agree_says_who_is_odd(tagsift, votes, quick):
    options = [*VOTES, "--abstain", "dict"] + (["--quick"] if quick else [])
    outcome = tagsift("agree", votes, *options, "--pairs", "--quiet")
    assert outcome.status == 0, outcome.err
    assert "Krippendorff's alpha" in outcome.out
    assert "takes ORG for LOC" in outcome.out
    found = tagsift("agree", votes, *options, "--json").json
    by_name = {one["name"]: one for one in found["annotators"]}
    assert by_name["ann"]["reliability"] > by_name["tom"]["reliability"]
    assert by_name["dict"]["abstains"]
    assert 0.0 < by_name["eve"]["true_f1"] < 1.0
    assert len(found["pairs"]) == 10


def test_a_model_remembers_the_annotators(tagsift, fitted):
    outcome = tagsift("info", fitted)
    assert outcome.status == 0
    assert "Annotators, the most reliable first" in outcome.out
    found = tagsift("info", fitted, "--json").json
    assert [one["name"] for one in found["annotators"]] == [p.name for p in PEOPLE]


def test_update_starts_from_what_is_known(tagsift, votes, fitted, tmp_path):
    out = tmp_path / "new.tagsift"
    options = [*VOTES, "--abstain", "dict", "--update", fitted, "-o", out]
    told = tagsift("fit", votes, *options, "--json")
    assert told.status == 0, told.err
    assert list(package.load(out).names_) == [one.name for one in PEOPLE]
    outcome = tagsift("fit", votes, *options, "-m", "mace")
    assert outcome.status == 2 and "--update" in outcome.err


def test_clean_with_a_model_weighs_the_annotators(tagsift, votes, fitted, tmp_path):
    out = tmp_path / "clean.tsv"
    options = [*VOTES, "--abstain", "dict", "--model", fitted, "-o", out]
    told = tagsift("clean", votes, *options, "--json")
    assert told.status == 0, told.err
    assert told.json["scores"]["span_f1"] > 0.7


def bad(tagsift, *arguments: object) -> str:
    outcome = tagsift(*arguments)
    assert outcome.status == 2
    assert outcome.err.startswith("tagsift: error: ") and outcome.err.count("\n") == 1
    return outcome.err


def test_bad_options_of_votes(tagsift, votes, partial, model, tmp_path):
    out = tmp_path / "out"
    clean = ["clean", votes, *VOTES, "-o", out]
    assert "'nobody'" in bad(tagsift, *clean, "--abstain", "nobody")
    both = ["--abstain", "dict", "--o-means", "abstain"]
    assert "leave out --o-means" in bad(tagsift, *clean, *both)
    candidates = ["clean", partial, "--gold", "-o", out]
    for option in (["--o-means", "abstain"], ["--abstain", "x"], ["--exact", "4"]):
        assert "is for votes" in bad(tagsift, *candidates, *option)
    update = ["fit", votes, *VOTES, "-o", out, "--update", model]
    assert "knows no annotators" in bad(tagsift, *update)
    unsure = ["-m", "wknn", "--min-confidence", "0.5", "-q"]
    assert "gives no confidences" in tagsift(*clean, *unsure).err
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", ["'sentence'"]),
        ("", ["'sentence'"]),
        ("sentence\ttoken\tword\tright_label\n1\t1\tNobody\tO\n", ["another text"]),
        ("sentence\ttoken\tword\tright_label\n99\t1\tNobody\tO\n", ["no such token"]),
        ("sentence\ttoken\tword\tright_label\nx\t1\tNobody\tO\n", ["found 'x' and"]),
        ("sentence\ttoken\tword\tright_label\n1\t1\tThe\tB-LCO\n", ["'B-LCO'"]),
        (
            "sentence\ttoken\tword\tright_label\n1\t1\tThe\tO\n1\t1\tThe\tB-LOC\n",
            ["one answer"],
        ),
    ],
)
def test_bad_sheets(tagsift, votes, tmp_path, text, words):
    sheet, out = tmp_path / "sheet.tsv", tmp_path / "out"
    sheet.write_text(text, encoding="utf-8")
    told = bad(tagsift, "clean", votes, *VOTES, "-o", out, "--exact", sheet)
    assert str(sheet) in told
    assert all(word in told for word in words), told
    assert not out.exists()


def test_a_report_on_one_page(tagsift, votes, partial, tmp_path):
    out = tmp_path / "report.html"
    outcome = tagsift("report", votes, *VOTES, "--abstain", "dict", "-o", out, *QUICK)
    assert outcome.status == 0, outcome.err
    page = out.read_text(encoding="utf-8")
    for heading in ("Who is reliable", "What to check first"):
        assert heading in page
    told = tagsift("report", partial, "--gold", "-o", out, "--json").json
    assert told["method"] == "chain-gp" and told["expected_wrong"] >= 0
    assert "What the candidates became" in out.read_text(encoding="utf-8")
    options = [*VOTES, "--method", "majority", "-o", out, "-q"]
    assert tagsift("report", votes, *options).status == 0
    assert "Against the majority vote" in out.read_text(encoding="utf-8")
