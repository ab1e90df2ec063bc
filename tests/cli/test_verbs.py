"""What each verb does with good input."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagsift as package
from tagsift.cli import app

VERBS = [command.name for command in app.registered_commands]


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example(tagsift, verb: str):
    outcome = tagsift(verb, "--help")
    assert outcome.status == 0
    assert f"Example: tagsift {verb}" in outcome.out


def test_version_names_the_versions(tagsift):
    outcome = tagsift("--version")
    assert outcome.status == 0
    assert outcome.out.splitlines()[0] == f"tagsift {package.__version__}"
    assert "numpy" in outcome.out


def test_corrupt_keeps_the_truth_among_the_candidates(tagsift, gold, tmp_path):
    out = tmp_path / "out.conll"
    outcome = tagsift("corrupt", gold, "-o", out, "--cl", 3, "--p", 0.5, "--json")
    assert outcome.status == 0
    assert outcome.json["sentences"] == 20
    truth = package.read(gold, "conll")
    made = package.read(out, "conll", labels=truth.label_set)
    for labels, sets in zip(truth.labels, made.candidates, strict=True):
        for label, names in zip(labels, sets, strict=True):
            assert label in names
    exact = [all(len(c) == 1 for c in sentence) for sentence in made.candidates]
    assert sum(exact) >= 10


def test_corrupt_by_flips_is_repeatable(tagsift, gold, tmp_path):
    first, second, third = (tmp_path / name for name in "abc")
    for path, seed in ((first, 1), (second, 1), (third, 2)):
        outcome = tagsift("corrupt", gold, "-o", path, "--r", 0.5, "--seed", seed)
        assert outcome.status == 0
        assert "20 sentences, 60 tokens" in outcome.out
    assert first.read_bytes() == second.read_bytes() != third.read_bytes()


def test_fit_says_what_it_did(tagsift, partial, tmp_path):
    out = tmp_path / "m.tagsift"
    outcome = tagsift("fit", partial, "--gold", "-o", out, "--method", "word-counts")
    assert outcome.status == 0
    assert "Word counts: 20 sentences, 60 tokens" in outcome.out
    assert "% of the ambiguous" in outcome.out
    assert package.load(out).classes_ == ("B-NP", "B-VP", "I-NP", "O")


def test_fit_in_json_with_settings(tagsift, partial, tmp_path):
    out = tmp_path / "m.tagsift"
    options = ["--gold", "-m", "word-counts", "--set", "verbose=0", "--json"]
    outcome = tagsift("fit", partial, "-o", out, *options)
    assert outcome.status == 0
    assert outcome.json["method"] == "word-counts"
    assert outcome.json["recovery"]["n_tokens"] == 60
    assert outcome.json["bytes"] == out.stat().st_size


def test_fit_on_votes(tagsift, votes, tmp_path):
    out = tmp_path / "m.tagsift"
    options = ["--votes", "2:4", "--gold", "-m", "word-counts", "--json"]
    outcome = tagsift("fit", votes, "-o", out, *options)
    assert outcome.status == 0
    assert outcome.json["labels"] == ["B-NP", "I-NP", "O"]
    assert "learns from the union of the votes" in outcome.err


def test_a_forgotten_gold_column_is_pointed_out(tagsift, votes, tmp_path):
    out = tmp_path / "m.tagsift"
    outcome = tagsift("fit", votes, "-o", out, "--votes", "2:4", "-m", "word-counts")
    assert outcome.status == 2
    assert "say --gold" in outcome.err
    assert outcome.err.count("\n") == 1
    options = ["--columns", "token,vote,vote,vote,feature", "-m", "word-counts"]
    outcome = tagsift("fit", votes, "-o", out, *options)
    assert outcome.status == 2 and "token,vote,vote,vote,-" in outcome.err
    insisted = [*options, "--features-hold-labels"]
    assert tagsift("fit", votes, "-o", out, *insisted).status == 0


def test_tag_writes_columns_and_the_label(tagsift, model, text, tmp_path):
    out = tmp_path / "tagged.conll"
    assert tagsift("tag", model, text, "-o", out).status == 0
    tagged = package.read(out, "conll")
    assert tagged.rows == [list(row) for row in package.io.iter_text(text)]
    expected = package.load(model).predict(tagged.rows)
    assert tagged.labels == expected
    printed = tagsift("tag", model, text)
    assert printed.out == out.read_text(encoding="utf-8")


def test_tag_adds_probabilities(tagsift, model, text):
    line = tagsift("tag", model, text, "--marginals").out.splitlines()[0].split("\t")
    word, _, label, probability, *every = line
    assert word == "the"
    table = dict(cell.rsplit("=", 1) for cell in every)
    assert table[label] == probability
    assert sum(map(float, table.values())) == pytest.approx(1.0, abs=1e-5)


def test_tag_ignores_gold_on_request(tagsift, model, text, gold):
    with_gold = tagsift("tag", model, gold, "--gold").out
    assert with_gold.startswith(tagsift("tag", model, text).out)


def test_tag_in_json(tagsift, model, text, tmp_path):
    found = tagsift("tag", model, text, "--json", "--marginals").json
    assert found["sentences"][0]["tokens"] == ["the", "dog", "barks"]
    assert len(found["sentences"][0]["marginals"][0]) == len(found["classes"])
    told = tagsift("tag", model, text, "--json", "-o", tmp_path / "t").json
    assert (told["sentences"], told["tokens"]) == (4, 12)


def test_tag_accepts_empty_text(tagsift, model, tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    outcome = tagsift("tag", model, empty)
    assert (outcome.status, outcome.out) == (0, "")


def test_score_a_model(tagsift, model, gold):
    outcome = tagsift("score", model, gold)
    assert outcome.status == 0
    assert "spans (CoNLL)" in outcome.out
    assert "calibration error" in outcome.out
    scores = tagsift("score", model, gold, "--json").json
    assert 0.0 <= scores["headline"]["span_f1"] <= 1.0


def test_score_a_file(tagsift, gold):
    scores = tagsift("score", "--pred", gold, gold, "--json").json
    assert scores["headline"]["span_f1"] == 1.0
    assert scores["calibration"] is None


def test_score_below_the_line_is_status_1(tagsift, model, gold, tmp_path):
    wrong = tmp_path / "wrong.conll"
    wrong.write_text(gold.read_text().replace("B-NP", "O"))
    outcome = tagsift("score", "--pred", wrong, gold, "--fail-under", 0.9)
    assert outcome.status == 1
    assert "below 0.9" in outcome.err
    assert tagsift("score", "--pred", gold, gold, "--fail-under", 0.9).status == 0


def test_score_counts_unknown_labels_as_wrong(tagsift, model, gold, tmp_path):
    other = tmp_path / "other.conll"
    other.write_text(gold.read_text().replace("B-VP", "B-XP"))
    outcome = tagsift("score", model, other)
    assert outcome.status == 0
    assert "15 gold labels are unknown to the model" in outcome.err


def test_clean_gives_label_and_confidence(tagsift, partial, tmp_path):
    out = tmp_path / "clean.conll"
    outcome = tagsift("clean", partial, "--gold", "-o", out, "-m", "word-counts")
    assert outcome.status == 0
    candidates = package.read(partial, "conll", gold=True).candidates
    rows = [list(row) for row in package.io.iter_text(out)]
    for sentence, sets in zip(rows, candidates, strict=True):
        for (_, _, label, confidence), names in zip(sentence, sets, strict=True):
            assert label in names
            assert 0.0 < float(confidence) <= 1.0
            if len(names) == 1:
                assert float(confidence) == 1.0


def test_clean_with_a_model(tagsift, partial, model, tmp_path):
    fitted, loaded = tmp_path / "a", tmp_path / "b"
    options = ["--gold", "--json"]
    tagsift("clean", partial, "-o", fitted, "-m", "word-counts", *options)
    outcome = tagsift("clean", partial, "-o", loaded, "--model", model, *options)
    assert outcome.json["recovery"]["n_tokens"] == 60
    assert fitted.read_text() == loaded.read_text()


def test_rank_shows_tokens_and_sentences(tagsift, partial, tmp_path):
    out = tmp_path / "review.tsv"
    options = ["--gold", "-m", "word-counts", "--top", 3, "-o", out]
    outcome = tagsift("rank", partial, *options)
    assert outcome.status == 0
    assert "Tokens to check first" in outcome.out
    assert "Sentences to check first" in outcome.out
    header, *lines = out.read_text().splitlines()
    assert header.split("\t")[0] == "rank"
    assert len(lines) == 60
    scores = [float(line.split("\t")[-1]) for line in lines]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("by", ["entropy", "confidence"])
def test_rank_in_json(tagsift, partial, by):
    options = ["--gold", "-m", "word-counts", "--top", 5, "--by", by, "--json"]
    found = tagsift("rank", partial, *options).json
    assert len(found["tokens_first"]) == len(found["sentences_first"]) == 5
    first = found["tokens_first"][0]
    assert first["label"] in first["votes"].split("|")
    assert first["score"] >= found["tokens_first"][1]["score"]


def test_rank_votes_by_disagreement(tagsift, votes):
    options = ["--votes", "2:4", "--gold", "-m", "word-counts", "--json"]
    found = tagsift("rank", votes, "--by", "disagreement", *options).json
    assert 0.0 < found["tokens_first"][0]["score"] <= 1.0
    assert "O:1" in found["tokens_first"][0]["votes"]


def test_agree(tagsift, votes):
    outcome = tagsift("agree", votes, "--votes", "2:4", "--gold", "--pairs")
    assert outcome.status == 0
    assert "Krippendorff's alpha" in outcome.out
    assert "Pairs of annotators" in outcome.out
    found = tagsift("agree", votes, "--votes", "2:4", "--gold", "--json").json
    assert [one["tokens"] for one in found["annotators"]] == [24, 12, 18]
    assert found["annotators"][1]["true_f1"] == 1.0
    without = tagsift("agree", votes, "--votes", "2:4,5", "--json").json
    assert "true_f1" not in without["annotators"][0]


def test_other_formats(tagsift, gold, votes, tmp_path):
    partial = package.corrupt(package.io.read_columns(gold), cl=2, random_state=0)
    lines = tmp_path / "partial.jsonl"
    package.write(partial, lines)
    out = tmp_path / "out"
    options = ["-m", "word-counts", "-o", out, "--json"]
    told = tagsift("clean", lines, "--from", "jsonl", *options).json
    assert told["ambiguous_tokens"] == partial.n_ambiguous
    export = tmp_path / "studio.json"
    corpus = package.read(votes, columns="token,vote,vote,-,gold")
    package.write(corpus, export, "label-studio")
    found = tagsift("agree", export, "--from", "label-studio", "--json").json
    assert len(found["annotators"]) == 2
    told = tagsift("clean", export, "--from", "label-studio", *options).json
    assert told["tokens"] == found["tokens"] == 24


def test_info_says_whether_training_features_are_inside(tagsift, partial, tmp_path):
    out = tmp_path / "knn.tagsift"
    assert tagsift("fit", partial, "--gold", "-o", out, "-m", "wknn").status == 0
    assert "holds features of training tokens" in tagsift("info", out).out
    found = tagsift("info", out, "--json").json
    assert 0 < found["training_feature_bytes"] < found["bytes"]


def test_info(tagsift, model):
    outcome = tagsift("info", model)
    assert outcome.status == 0
    assert "Word counts" in outcome.out
    found = tagsift("info", model, "--json").json
    assert found["method"] == "word-counts"
    assert found["training_feature_bytes"] == 0
    assert found["classes"] == ["B-NP", "B-VP", "I-NP", "O"]
    assert found["bytes"] == Path(model).stat().st_size


def test_methods(tagsift):
    listed = tagsift("methods", "--json").json
    assert [entry["name"] for entry in listed] == [m.name for m in package.methods()]
    assert "word-counts" in tagsift("methods").out


def test_columns_by_name(tagsift, gold, model, tmp_path):
    swapped = tmp_path / "swapped.conll"
    swapped.write_text(
        "".join(
            "\t".join(reversed(line.split("\t"))) + "\n"
            for line in gold.read_text().split("\n")[:-1]
        )
    )
    names = ["--columns", "label,pos,token"]
    expected = tagsift("score", model, gold, "--json").json
    assert tagsift("score", model, swapped, *names, "--json").json == expected
    tagged = tagsift("tag", model, swapped, *names).out
    assert tagged == tagsift("tag", model, gold, "--gold").out
    out, other = tmp_path / "a", tmp_path / "b"
    tagsift("clean", gold, "-o", out, "-m", "word-counts")
    tagsift("clean", swapped, "-o", other, "-m", "word-counts", *names)
    assert out.read_text() == other.read_text()
    scored = tagsift("score", "--pred", out, gold, "--pred-columns", "token,-,label,-")
    assert scored.status == 0


def test_text_with_other_columns_than_the_model(tagsift, model, gold, text, tmp_path):
    table = tmp_path / "table.tsv"
    table.write_text("token\tpos\tann\tbob\nthe\tDT\tO\tB-NP\n\n")
    outcome = tagsift("tag", model, table)
    assert outcome.status == 2
    assert "found 4 and cannot tell which of them are meant" in outcome.err
    words = tmp_path / "words.txt"
    words.write_text("the\ndog\n")
    outcome = tagsift("tag", model, words)
    assert outcome.status == 2
    assert "the 2 columns that the model was trained on" in outcome.err
    outcome = tagsift("tag", model, words, "--from", "conll")
    assert outcome.status == 2
    assert "expected 2 columns, as the model was trained on, found 1" in outcome.err
    outcome = tagsift("tag", model, gold)
    assert outcome.status == 2
    assert "holds labels of the model: say --gold" in outcome.err
    for verb in ("clean", "rank", "score"):
        words.write_text("the\tB-NP\ndog\tI-NP\n\nis\tO\n")
        arguments = [words, "--model", model]
        if verb == "clean":
            arguments += ["-o", tmp_path / "out"]
        outcome = tagsift(verb, *([model, words] if verb == "score" else arguments))
        assert outcome.status == 2
        assert "expected 2 columns" in outcome.err


def test_labels_that_teach_nothing(tagsift, tmp_path):
    path, out = tmp_path / "file", tmp_path / "out"
    path.write_text("a\tO\nb\tO\n")
    for verb in ("fit", "clean"):
        outcome = tagsift(verb, path, "-o", out, "-m", "word-counts")
        assert outcome.status == 2
        assert "only 'O'" in outcome.err
    insisted = ["--labels", "O,B-X", "-m", "word-counts"]
    assert tagsift("fit", path, "-o", out, *insisted).status == 0


def test_annotators_are_named_by_the_header(tagsift, votes):
    votes.write_text("token\tann\tbob\teve\tgold\n" + votes.read_text())
    options = [votes, "--votes", "2:4", "--gold", "--json"]
    assert "--header" in tagsift("agree", *options).err
    found = tagsift("agree", *options, "--header").json
    assert [one["name"] for one in found["annotators"]] == ["ann", "bob", "eve"]
