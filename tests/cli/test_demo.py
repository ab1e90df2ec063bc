"""The demo: every step on the bundled corpus, a table and a report."""

from __future__ import annotations

import pytest

CANDIDATES = ["--job", "candidates", "-m", "word-counts"]


def test_demo_of_votes(tagsift, tmp_path, monkeypatch):
    monkeypatch.setattr("tagsift.cli._demo_jobs._SENTENCES", 40)
    out = tmp_path / "report.html"
    outcome = tagsift("demo", "-o", out, "--quiet")
    assert outcome.status == 0, outcome.err
    assert "Five annotators label 40 sentences" in outcome.out
    assert "takes ORG for LOC" in outcome.out
    page = out.read_text(encoding="utf-8")
    for heading in ("Who is reliable", "What to check first", "One label from many"):
        assert heading in outcome.out
        assert heading in page
    assert "synthetic" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_choices_of_the_other_job_are_refused(tagsift, tmp_path):
    outcome = tagsift("demo", "--cl", 3, "-o", tmp_path / "r.html")
    assert outcome.status == 2
    assert "--cl is for --job candidates" in outcome.err
    assert not list(tmp_path.iterdir())


def test_demo_writes_a_report(tagsift, tmp_path):
    out = tmp_path / "pages" / "report.html"
    outcome = tagsift("demo", *CANDIDATES, "--against", "wknn", "-o", out)
    assert outcome.status == 0
    assert "200 sentences with 3 candidates" in outcome.out
    assert "Word counts" in outcome.out and "WKNN" in outcome.out
    page = out.read_text(encoding="utf-8")
    assert "synthetic" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_demo_in_json(tagsift, tmp_path):
    out = tmp_path / "report.html"
    methods = [*CANDIDATES, "--against", "word-counts"]
    options = [*methods, "--task", "pos", "-o", out, "--cl", 2, "--p", 0.5]
    found = tagsift("demo", *options, "--json").json
    assert list(found["methods"]) == ["word-counts"]
    assert found["methods"]["word-counts"]["recovery"]["ambiguous"] > 0.9
    assert found["ambiguous_tokens"] < found["tokens"]


def test_a_bad_task_is_one_sentence(tagsift, tmp_path):
    outcome = tagsift(
        "demo", "--job", "candidates", "--task", "dance", "-o", tmp_path / "r.html"
    )
    assert outcome.status == 2
    assert "'dance'" in outcome.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["crf"])
def test_a_method_for_gold_labels_gets_them_and_says_so(tagsift, tmp_path, name):
    options = [*CANDIDATES, "--against", name, "-o", tmp_path / "r.html"]
    found = tagsift("demo", *options, "--json").json
    assert found["methods"][name]["title"].endswith("(gold labels)")
    assert found["methods"][name]["recovery"] is None
