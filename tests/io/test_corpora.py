"""The real corpora: their counts, and writing them gives them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.data import spans
from tagsift.io import (
    Corpus,
    VoteCorpus,
    read_conll,
    read_votes,
    write_conll,
)

#: sentences, tokens, labels, spans, scheme, columns before the label
COUNTS = {
    "conll2000/train": (8_936, 211_727, 22, 106_978, "iob2", 2),
    "conll2000/test": (2_012, 47_377, 19, 23_852, "iob2", 2),
    "conll2003/train": (14_041, 203_621, 9, 23_499, "iob2", 3),
    "conll2003/dev": (3_250, 51_362, 9, 5_942, "iob2", 3),
    "conll2003/test": (3_453, 46_435, 9, 5_648, "iob2", 3),
    "basenp/train": (8_936, 211_727, 3, 54_758, "iob1", 2),
    "basenp/test": (2_012, 47_377, 3, 12_335, "iob1", 2),
}
#: Entities per type in the published tables: LOC, MISC, ORG, PER.
ENTITIES = {
    "train": (7_140, 3_438, 6_321, 6_600),
    "dev": (1_837, 922, 1_341, 1_842),
    "test": (1_668, 702, 1_661, 1_617),
}


@pytest.mark.parametrize("name", list(COUNTS))
def test_counts_and_round_trip(corpora: Path, tmp_path: Path, name: str) -> None:
    source = corpora / f"{name}.conll"
    corpus = read_conll(source)
    found = (
        len(corpus),
        corpus.n_tokens,
        len(corpus.label_set),
        corpus.n_spans,
        corpus.scheme,
        len(corpus.rows[0][0]),
    )
    assert found == COUNTS[name]
    assert any("#" in tokens for tokens in corpus.tokens) or "2003" in name
    write_conll(tmp_path / "copy.conll", corpus)
    assert (tmp_path / "copy.conll").read_bytes() == source.read_bytes()
    assert read_conll(tmp_path / "copy.conll") == corpus


@pytest.mark.parametrize("part", list(ENTITIES))
def test_entities_per_type(corpora: Path, part: str) -> None:
    corpus = read_conll(corpora / "conll2003" / f"{part}.conll")
    types = [span.type for labels in corpus.labels for span in spans(labels, "iob2")]
    assert (
        tuple(types.count(t) for t in ("LOC", "MISC", "ORG", "PER")) == (ENTITIES[part])
    )


def f1(found: Corpus, gold: list[list[str]]) -> float:
    sets = [
        {(n, s) for n, labels in enumerate(side) for s in spans(labels, "iob2")}
        for side in (found.labels, gold)
    ]
    return 200 * len(sets[0] & sets[1]) / (len(sets[0]) + len(sets[1]))


@pytest.fixture(scope="module")
def crowd(corpora: Path) -> VoteCorpus:
    return read_votes(corpora / "crowd_ner" / "train.tsv", columns="2:48", gold=49)


def test_crowd_counts(crowd: VoteCorpus) -> None:
    assert (len(crowd), crowd.n_tokens, len(crowd.annotators)) == (5_985, 79_901, 47)
    assert crowd.n_annotations == 27_990
    assert len(crowd.label_set) == 9
    assert crowd.scheme == "iob2"
    assert crowd.rows[0] == [(word,) for word in crowd.tokens[0]]
    gold = crowd.gold or []
    odd = [g for g in gold if spans(g, "iob2") != spans(g, "iob2", strict=True)]
    assert len(odd) == 48


def test_crowd_candidates(crowd: VoteCorpus) -> None:
    partial = crowd.candidates()
    held = [
        (g, g in c)
        for labels, sets in zip(partial.gold or [], partial.candidates, strict=True)
        for g, c in zip(labels, sets, strict=True)
    ]
    entity = [inside for g, inside in held if g != "O"]
    assert round(100 * sum(inside for _, inside in held) / len(held)) == 97
    assert round(100 * sum(entity) / len(entity)) == 83
    assert round(100 * partial.n_ambiguous / partial.n_tokens) == 18


def test_crowd_majority(crowd: VoteCorpus) -> None:
    gold = crowd.gold or []
    assert f1(crowd.majority(), gold) == pytest.approx(63.8, abs=0.05)
    fewer = crowd.without(["w04", "w13", "w15", "w20"])
    assert f1(fewer.majority(), gold) == pytest.approx(67.2, abs=0.05)
