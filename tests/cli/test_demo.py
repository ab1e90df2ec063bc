"""The demo: every step on the bundled corpus, a table and a report."""

from __future__ import annotations

import pytest


def test_demo_writes_a_report(tagsift, tmp_path):
    out = tmp_path / "pages" / "report.html"
    outcome = tagsift("demo", "-m", "majority", "--against", "wknn", "-o", out)
    assert outcome.status == 0
    assert "200 sentences with 3 candidates" in outcome.out
    assert "Majority" in outcome.out and "WKNN" in outcome.out
    page = out.read_text(encoding="utf-8")
    assert "synthetic" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_demo_in_json(tagsift, tmp_path):
    out = tmp_path / "report.html"
    options = ["-m", "majority", "--against", "majority", "--task", "pos", "-o", out]
    found = tagsift("demo", *options, "--cl", 2, "--p", 0.5, "--json").json
    assert list(found["methods"]) == ["majority"]
    assert found["methods"]["majority"]["recovery"]["ambiguous"] > 0.9
    assert found["ambiguous_tokens"] < found["tokens"]


def test_a_bad_task_is_one_sentence(tagsift, tmp_path):
    outcome = tagsift("demo", "--task", "dance", "-o", tmp_path / "r.html")
    assert outcome.status == 2
    assert "'dance'" in outcome.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["crf"])
def test_a_method_for_gold_labels_gets_them_and_says_so(tagsift, tmp_path, name):
    options = ["-m", "majority", "--against", name, "-o", tmp_path / "r.html"]
    found = tagsift("demo", *options, "--json").json
    assert found["methods"][name]["title"].endswith("(gold labels)")
    assert found["methods"][name]["recovery"] is None
