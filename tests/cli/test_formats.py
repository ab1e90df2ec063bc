"""Files of annotation tools on the command line, by the one table of formats."""

from __future__ import annotations

import tagsift as package


def test_labels_from_doccano_are_exact_candidates(tagsift, tmp_path):
    corpus = package.bundled("ner")[:12]
    package.write(corpus, tmp_path / "a.jsonl", "doccano")
    out = tmp_path / "clean.tsv"
    options = ["--format", "doccano", "--method", "word-counts", "-o", out]
    outcome = tagsift("clean", tmp_path / "a.jsonl", *options)
    assert outcome.status == 0, outcome.err
    assert "0 of them were ambiguous" in outcome.out


def test_an_unknown_format_is_refused_by_name(tagsift, tmp_path):
    (tmp_path / "a.x").write_text("x\n", encoding="utf-8")
    outcome = tagsift("fit", tmp_path / "a.x", "--format", "wiki", "-o", tmp_path / "m")
    assert outcome.status == 2
    assert "label-studio, doccano" in outcome.err


def test_labels_are_no_votes(tagsift, tmp_path):
    package.write(package.bundled("ner")[:3], tmp_path / "a.jsonl", "doccano")
    outcome = tagsift("agree", tmp_path / "a.jsonl", "--format", "doccano")
    assert outcome.status == 2 and "holds no votes" in outcome.err
