"""The bundled corpus: newswire-like sentences that a grammar makes. It is synthetic.

No sentence was taken from a newspaper or a corpus: ``bundled/newswire.grammar``, all
written for tagsift, is expanded at random, and tags in the manner of the CoNLL shared
tasks come with it. Scores on it say that the software works, and nothing about real
text. The ambiguity is real, though: the same word stands in several roles (``lead``,
``Jordan``, ``May``), and many words are rare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

import numpy as np

from tagsift.data.corpus import Corpus
from tagsift.data.grammar import Grammar, TaggedWord, parse_grammar
from tagsift.data.label_set import LabelSet
from tagsift.data.schemes import spans
from tagsift.errors import InputError

__all__ = ["TASKS", "bundled", "generate", "make_bundled"]

#: Feature columns and label column of every task.
_COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "chunk": (("token", "pos"), "chunk"),
    "ner": (("token", "pos"), "entity"),
    "pos": (("token",), "pos"),
}
TASKS: tuple[str, ...] = tuple(_COLUMNS)
#: How the shipped sample was made: as many sentences from this seed.
_BUNDLED_SENTENCES, _BUNDLED_SEED = 600, 7
_BUNDLED = resources.files("tagsift.data").joinpath("bundled")
_SHORTEST, _LONGEST = 5, 35
#: What "an" stands before, numbers such as 8 and 11 among it.
_VOWEL = re.compile(r"[aeiouAEIOU]|8|1[18](?!\d)")


def generate(
    n_sentences: int, random_state: int | np.random.Generator = 0, task: str = "chunk"
) -> Corpus:
    """Make synthetic newswire sentences of 5 to 35 tokens, with gold labels.

    The labels of the task are chunks (``"chunk"``; rows are word and part of speech),
    named entities (``"ner"``; the same rows) or parts of speech (``"pos"``; words).

    Examples
    --------
    >>> corpus = generate(3, random_state=1)
    >>> corpus.scheme, len(corpus)
    ('iob2', 3)
    """
    if n_sentences < 0:
        raise InputError(f"expected a number of sentences, found {n_sentences}.")
    return _task_corpus(_sentences(n_sentences, random_state), task)


def make_bundled() -> Corpus:
    """Make the shipped sample anew: word, part of speech, chunk; entities as labels."""
    sentences = _sentences(_BUNDLED_SENTENCES, _BUNDLED_SEED)
    return _corpus(sentences, ("token", "pos", "chunk"), "entity")


def bundled(task: str = "chunk") -> Corpus:
    """Read the synthetic sample of 600 sentences that is shipped with the package.

    The task is as in `generate`: chunk, ner or pos.
    """
    return _task_corpus(_shipped(), task)


@cache
def _shipped() -> list[list[TaggedWord]]:
    text = _BUNDLED.joinpath("newswire.conll").read_text(encoding="utf-8")
    return [
        [TaggedWord._make(line.split("\t")) for line in block.split("\n")]
        for block in text.strip("\n").split("\n\n")
    ]


def _task_corpus(sentences: Iterable[list[TaggedWord]], task: str) -> Corpus:
    """Choose the label and feature columns of a task."""
    if task not in TASKS:
        raise InputError(
            f"expected task to be one of {', '.join(TASKS)}, found {task!r}."
        )
    features, label = _COLUMNS[task]
    whole = ([getattr(word, label) for word in words] for words in _shipped())
    return _corpus(sentences, features, label, LabelSet.union(whole))


def _corpus(
    sentences: Iterable[list[TaggedWord]],
    features: tuple[str, ...],
    label: str,
    label_set: LabelSet | None = None,
) -> Corpus:
    """Make rows of some columns and labels of another one."""
    made = [list(words) for words in sentences]
    rows = [[tuple(getattr(w, k) for k in features) for w in words] for words in made]
    labels = [[getattr(word, label) for word in words] for words in made]
    scheme = "plain" if label == "pos" else "iob2"
    return Corpus.from_lists(rows, labels, label_set=label_set, scheme=scheme)


def _sentences(
    n_sentences: int, random_state: int | np.random.Generator
) -> Iterator[list[TaggedWord]]:
    """Draw sentences of a fitting length that name nobody twice."""
    rng = np.random.default_rng(random_state)
    while n_sentences > 0:
        words = _polish(newswire_grammar().draw("story", rng))
        found = spans([word.entity for word in words], "iob2")
        names = [tuple(word.token for word in words[s.start : s.end]) for s in found]
        if _SHORTEST <= len(words) <= _LONGEST and len(set(names)) == len(names):
            n_sentences -= 1
            yield words


@cache
def newswire_grammar() -> Grammar:
    """Read the grammar that is shipped with the package."""
    return parse_grammar(_BUNDLED.joinpath("newswire.grammar").read_text("utf-8"))


def _polish(words: list[TaggedWord]) -> list[TaggedWord]:
    """Mend commas and articles, and begin with a capital."""
    kept = [
        word
        for word, after in zip(words, [*words[1:], None], strict=True)
        if not (word.token == "," and after is not None and after.token in (",", "."))
    ]
    for i, word in enumerate(kept[:-1]):
        if word.token == "a" and _VOWEL.match(kept[i + 1].token):
            kept[i] = word._replace(token="an")
    if kept[-2].token.endswith("."):
        kept[-2] = kept[-2]._replace(token=kept[-2].token[:-1])
    first = next(i for i, word in enumerate(kept) if word.token[0].isalnum())
    token = kept[first].token
    kept[first] = kept[first]._replace(token=token[0].upper() + token[1:])
    return kept
