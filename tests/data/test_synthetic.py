"""The bundled corpus: the generator makes it, and it has what it promises."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from tagsift.data import bundled, generate, is_tag, spans
from tagsift.data.synthetic import TASKS, make_bundled, newswire_grammar
from tagsift.errors import InputError
from tagsift.io import write_columns


def test_the_shipped_file_is_what_the_generator_makes(tmp_path: Path) -> None:
    """If the grammar was changed on purpose, write the file anew with make_bundled."""
    write_columns(tmp_path / "newswire.conll", make_bundled())
    shipped = resources.files("tagsift.data").joinpath("bundled", "newswire.conll")
    assert shipped.read_bytes() == (tmp_path / "newswire.conll").read_bytes()


def test_the_grammar_makes_the_same_sentences_for_ever() -> None:
    """Token by token and label by label, beyond the sentences that are shipped."""
    digest = hashlib.sha256()
    for task in TASKS:
        for sentence in generate(2_000, 123, task):
            rows, labels = tuple(sentence.rows), tuple(sentence.labels)
            digest.update(repr((rows, labels)).encode())
    assert digest.hexdigest() == (
        "908fe5224e25cc6699793ae7b1bb4ecbc873517901c7b15d3f972e757dc4861d"
    )


@pytest.mark.parametrize("task", TASKS)
def test_bundled_tasks(task: str) -> None:
    corpus = bundled(task)
    assert len(corpus) == 600
    assert all(5 <= len(sentence) <= 35 for sentence in corpus)
    assert corpus.scheme == ("plain" if task == "pos" else "iob2")
    assert len(corpus.rows[0][0]) == (1 if task == "pos" else 2)
    for labels in corpus.labels:
        assert all(is_tag(label, corpus.scheme) for label in labels)
        assert spans(labels, corpus.scheme, strict=True) == (
            spans(labels, corpus.scheme)
        )


def test_label_sets() -> None:
    types = {label[2:] for label in bundled("chunk").label_set if label != "O"}
    assert types == {"ADJP", "ADVP", "NP", "PP", "PRT", "SBAR", "VP"}
    entities = {label[2:] for label in bundled("ner").label_set if label != "O"}
    assert entities == {"LOC", "MISC", "ORG", "PER"}


def roles(task: str) -> dict[str, set[str]]:
    corpus = bundled(task)
    found: dict[str, set[str]] = defaultdict(set)
    for tokens, labels in zip(corpus.tokens, corpus.labels, strict=True):
        for token, label in zip(tokens, labels, strict=True):
            found[token.lower()].add(label if task == "pos" else label[2:] or "O")
    return found


def test_words_stand_in_several_roles() -> None:
    entity, pos = roles("ner"), roles("pos")
    assert entity["jordan"] == {"LOC", "ORG", "PER"}
    assert entity["washington"] == {"LOC", "ORG", "PER"}
    assert {"O", "PER"} <= entity["may"]
    assert {"O", "LOC"} <= entity["reading"]
    assert {"NN", "VB"} <= pos["lead"]
    assert {"NN", "VBG", "NNP"} <= pos["trading"]
    assert {"NN", "VBG", "NNP"} <= pos["holding"]
    assert {"NNS", "VBZ"} <= pos["plans"]
    assert {"NN", "VB", "VBD"} <= pos["cut"]
    ambiguous = [word for word, found in pos.items() if len(found) > 1]
    assert len(ambiguous) > 50


def test_vocabulary_leaves_words_unseen() -> None:
    tokens = bundled().tokens
    assert 800 < len({word for sentence in tokens for word in sentence}) < 2_000
    seen = {word for sentence in tokens[:480] for word in sentence}
    held_out = [word for sentence in tokens[480:] for word in sentence]
    assert 0.02 < np.mean([word not in seen for word in held_out]) < 0.2


def test_seeds() -> None:
    assert generate(20, 3) == generate(20, 3)
    assert generate(20, 3) == generate(20, np.random.Generator(np.random.PCG64(3)))
    assert generate(20, 3) == generate(40, 3)[:20]
    assert generate(20, 3) != generate(20, 4)
    assert generate(20, 3, "ner").tokens == generate(20, 3, "pos").tokens
    assert len(generate(0)) == 0


def test_sentences_read_well() -> None:
    """A capital first, a stop last, articles that fit, nobody named twice."""
    corpus = generate(300, 11, "ner")
    for tokens, labels in zip(corpus.tokens, corpus.labels, strict=True):
        first = next(token for token in tokens if token[0].isalnum())
        assert not first[0].islower()
        assert tokens[-1] == "."
        for token, after in zip(tokens, tokens[1:], strict=False):
            assert not (token == "," and after in {",", "."})
            assert not (token in {"a", "A"} and after[0] in "aeiou")
        names = [tuple(tokens[s.start : s.end]) for s in spans(labels, "iob2")]
        assert len(set(names)) == len(names)


def test_every_rule_and_list_is_used_and_known() -> None:
    grammar = newswire_grammar()
    rules = grammar.rules
    items = [item for texts in rules.values() for text in texts for item in text]
    used = {item[1:-1] for item in items if item[0] == "<" and item[1] != "#"}
    assert used == (set(rules) - {"story"}) | set(grammar.lists)
    words = [item for item in items if item[0] not in "[(<" and item not in "])"]
    assert all("/" in word or word in grammar.closed for word in words)


def test_refusals() -> None:
    with pytest.raises(InputError, match="one of chunk, ner, pos, found 'np'"):
        bundled("np")
    with pytest.raises(InputError, match="one of chunk, ner, pos, found 'np'"):
        generate(1, task="np")
    with pytest.raises(InputError, match="found -1"):
        generate(-1)
