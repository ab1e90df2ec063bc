"""The bundled corpus: newswire-like sentences that a grammar makes. It is synthetic.

No sentence was taken from a newspaper or a corpus. Templates (`newswire_phrases`,
`newswire_stories`) and word lists (`newswire_words`), all written for tagsift, are
expanded at random; parts of speech, chunks and named entities come with them. Scores on
it say that the software works; they say nothing about real text. The tags follow the
conventions of the CoNLL shared tasks: chunks and entities in IOB2.

The ambiguity is real, though: the same word stands in several roles (``lead`` the
metal, the margin, the verb; ``Jordan`` the country, the man, the company; ``May`` the
month, the woman, the verb at the start of a sentence), and many words are rare, so that
held-out sentences have words that training never saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from tagsift.data.conll import read_conll
from tagsift.data.newswire_phrases import PHRASES
from tagsift.data.newswire_stories import STORIES
from tagsift.data.newswire_words import CLOSED, LEXICON
from tagsift.data.schemes import spans
from tagsift.data.sentence import Corpus, Sentence
from tagsift.errors import InputError

__all__ = [
    "BUNDLED_SEED",
    "BUNDLED_SENTENCES",
    "TASKS",
    "bundled",
    "generate",
    "make_bundled",
]

#: The tasks: which column is the label, how it is written, which columns are features.
TASKS: tuple[str, ...] = ("chunk", "ner", "pos")
#: How the shipped sample was made: as many sentences from this seed.
BUNDLED_SENTENCES = 600
BUNDLED_SEED = 7
_SHORTEST, _LONGEST = 5, 35
_ITEM = re.compile(r"\[[A-Z]+|\]|\([A-Z]+|\)|<[^<>]+>|[^\s\])]+")
#: What "an" stands before, numbers such as 8 and 11 among it.
_VOWEL = re.compile(r"[aeiouAEIOU]|8|1[18](?!\d)")


class _Word(NamedTuple):
    """A token with its three tags."""

    token: str
    pos: str
    chunk: str
    entity: str


def generate(
    n_sentences: int,
    random_state: int | np.random.Generator = 0,
    task: str = "chunk",
) -> Corpus:
    """Make synthetic newswire sentences with gold labels.

    Parameters
    ----------
    n_sentences : int
        How many, each of 5 to 35 tokens.
    random_state : int or Generator
        Fixes the sentences.
    task : {"chunk", "ner", "pos"}
        What the labels are: chunks (rows are word and part of speech), named entities
        (the same rows) or parts of speech (rows are words).

    Returns
    -------
    Corpus

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
    sentences = _sentences(BUNDLED_SENTENCES, BUNDLED_SEED)
    made = (
        Sentence(
            tuple((w.token, w.pos, w.chunk) for w in words),
            tuple(w.entity for w in words),
        )
        for words in sentences
    )
    return Corpus(tuple(made), "iob2")


def bundled(task: str = "chunk") -> Corpus:
    """Read the synthetic sample of 600 sentences that is shipped with the package.

    Parameters
    ----------
    task : {"chunk", "ner", "pos"}
        What the labels are; see `generate`.

    Returns
    -------
    Corpus
    """
    folder = resources.files("tagsift.data").joinpath("bundled")
    with resources.as_file(folder.joinpath("newswire.conll")) as path:
        whole = read_conll(path, scheme="iob2")
    return _task_corpus(
        (
            [
                _Word(row[0], row[1], row[2], label)
                for row, label in zip(rows, labels, strict=True)
            ]
            for rows, labels in zip(whole.rows, whole.labels, strict=True)
        ),
        task,
    )


def _task_corpus(sentences: Iterator[list[_Word]], task: str) -> Corpus:
    """Choose the label and feature columns of a task."""
    if task not in TASKS:
        raise InputError(
            f"expected task to be one of {', '.join(TASKS)}, found {task!r}."
        )
    if task == "pos":
        made = (
            Sentence(tuple((w.token,) for w in words), tuple(w.pos for w in words))
            for words in sentences
        )
        return Corpus(tuple(made), "plain")
    made = (
        Sentence(
            tuple((w.token, w.pos) for w in words),
            tuple(w.chunk if task == "chunk" else w.entity for w in words),
        )
        for words in sentences
    )
    return Corpus(tuple(made), "iob2")


def _sentences(
    n_sentences: int, random_state: int | np.random.Generator
) -> Iterator[list[_Word]]:
    rng = (
        random_state
        if isinstance(random_state, np.random.Generator)
        else np.random.Generator(np.random.PCG64(random_state))
    )
    return (_sentence(rng) for _ in range(n_sentences))


def _sentence(rng: np.random.Generator) -> list[_Word]:
    """Draw one sentence of a fitting length that names nobody twice."""
    while True:
        words = _polish(list(_tag(_expand("story", rng))))
        found = spans([word.entity for word in words], "iob2")
        names = [tuple(word.token for word in words[s.start : s.end]) for s in found]
        if _SHORTEST <= len(words) <= _LONGEST and len(set(names)) == len(names):
            return words


@cache
def _rules() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Parse the grammar: name -> alternatives, each a tuple of items."""
    rules: dict[str, list[str]] = {}
    name = ""
    for line in (PHRASES + STORIES).splitlines():
        if line.endswith(":") and not line.startswith(("-", " ")):
            name = line[:-1]
            rules[name] = []
        elif line.startswith("- "):
            rules[name].append(line[2:])
        elif line.strip():
            rules[name][-1] += line
    return {
        rule: tuple(tuple(_ITEM.findall(text)) for text in texts)
        for rule, texts in rules.items()
    }


@cache
def _words(name: str) -> tuple[str, tuple[str, ...]]:
    pos, words = LEXICON[name]
    return pos, tuple(words.split())


def _expand(name: str, rng: np.random.Generator) -> Iterator[str]:
    """Yield brackets and ``word/POS`` items of one random derivation."""
    alternatives = _rules()[name]
    for item in alternatives[int(rng.random() * len(alternatives))]:
        if not (item[0] == "<" and item[-1] == ">"):
            yield item
        elif item[1] == "#":
            yield _number(item[2:-1], rng)
        elif item[1:-1] in LEXICON:
            pos, words = _words(item[1:-1])
            # The square makes words rarer the later they stand in their list.
            word = words[int(len(words) * rng.random() ** 2)]
            for part in word.split("_"):
                yield f"{part}/{pos}"
        else:
            yield from _expand(item[1:-1], rng)


def _number(kind: str, rng: np.random.Generator) -> str:
    """Draw a number of a kind, with its part of speech."""
    u, v = rng.random(), rng.random()
    made = {
        "pct": f"{2 + int(58 * u * v)}/CD",
        "dec": f"{1 + int(30 * u * v)}.{int(10 * rng.random())}/CD",
        "amount": f"{5 * (1 + int(180 * u * v))}/CD",
        "size": f"${5 * (1 + int(180 * u * v))}-million/JJ",
        "big": f"{1 + int(40 * u)},{int(10 * v)}00,000/CD",
        "cents": f"{2 + int(90 * u)}/CD",
        "day": f"{2 + int(27 * u)}/CD",
        "year": f"{1985 + int(15 * u)}/CD",
        "score": f"{1 + int(3 * u) + int(4 * v)}-{int(4 * v)}/CD",
        "draw": f"{int(5 * u)}-{int(5 * u)}/CD",
        "people": f"{2 + int(18 * u)},{int(10 * v)}00/CD",
        "age": f"{29 + int(42 * u)}/CD",
        "initial": f"{'ABCDEFGHJKLMNPRSTW'[int(18 * u)]}./NNP",
    }
    return made[kind]


def _tag(items: Iterator[str]) -> Iterator[_Word]:
    """Turn brackets into IOB2 tags."""
    chunk = entity = ""
    chunk_prefix = entity_prefix = "B"
    for item in items:
        if item[0] == "[" and len(item) > 1:
            chunk, chunk_prefix = item[1:], "B"
        elif item == "]":
            chunk = ""
        elif item[0] == "(" and len(item) > 1:
            entity, entity_prefix = item[1:], "B"
        elif item == ")":
            entity = ""
        else:
            token, slash, pos = item.rpartition("/")
            if not slash:
                token, pos = item, CLOSED[item]
            yield _Word(
                token,
                pos,
                f"{chunk_prefix}-{chunk}" if chunk else "O",
                f"{entity_prefix}-{entity}" if entity else "O",
            )
            chunk_prefix = entity_prefix = "I"


def _polish(words: list[_Word]) -> list[_Word]:
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
