"""Grammars of tagged sentences: read from text, and expanded at random.

What the text looks like is said at the head of ``bundled/newswire.grammar``, the
grammar of the bundled corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

__all__ = ["Grammar", "TaggedWord", "parse_grammar"]

_ITEM = re.compile(r"\[[A-Z]+|\]|\([A-Z]+|\)|<[^<>]+>|[^\s\])]+")
_WORDS = re.compile(r"(\S*)/(\S+) = (.+)")


class TaggedWord(NamedTuple):
    """A token with its three tags."""

    token: str
    pos: str
    chunk: str
    entity: str


@dataclass(frozen=True)
class Grammar:
    """Rules, word lists and closed classes."""

    # Per rule its alternatives, tuples of items; per list its names, tuples of items
    # ``word/POS``; the part of speech of words that rules use without naming it.
    rules: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    lists: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)

    def draw(self, name: str, rng: np.random.Generator) -> list[TaggedWord]:
        """Expand the rule `name` at random; brackets become IOB2 tags."""
        words = []
        inside = {"[": ("", "B"), "(": ("", "B")}  # chunk and entity: type, prefix
        for item in self._expand(name, rng):
            if item[0] in inside and len(item) > 1:
                inside[item[0]] = (item[1:], "B")
            elif item in ("]", ")"):
                inside["[" if item == "]" else "("] = ("", "B")
            else:
                token, slash, pos = item.rpartition("/")
                tags = [f"{p}-{kind}" if kind else "O" for kind, p in inside.values()]
                pair = (token, pos) if slash else (item, self.closed[item])
                words.append(TaggedWord(*pair, *tags))
                inside = {key: (kind, "I") for key, (kind, _) in inside.items()}
        return words

    def _expand(self, name: str, rng: np.random.Generator) -> Iterator[str]:
        """Yield brackets and words of one random derivation."""
        alternatives = self.rules[name]
        for item in alternatives[int(rng.random() * len(alternatives))]:
            inner = item[1:-1]
            if not (item[0] == "<" and item[-1] == ">"):
                yield item
            elif inner[0] == "#":
                yield _number(inner[1:], rng)
            elif inner in self.lists:
                words = self.lists[inner]
                # The square makes words rarer the later they stand in their list.
                yield from words[int(len(words) * rng.random() ** 2)]
            else:
                yield from self._expand(inner, rng)


def parse_grammar(text: str) -> Grammar:
    """Read a grammar: rules, ``name/POS =`` lists and ``/POS =`` closed classes."""
    grammar = Grammar()
    rule = ""
    kept = (line for line in text.splitlines() if not line.startswith("#"))
    for line in "\n".join(kept).replace("\n  ", " ").splitlines():
        if line.startswith("- "):
            grammar.rules[rule].append(tuple(_ITEM.findall(line[2:])))
        elif found := _WORDS.fullmatch(line):
            name, pos, words = found.groups()
            if name:
                grammar.lists[name] = [
                    tuple(f"{part}/{pos}" for part in word.split("_"))
                    for word in words.split()
                ]
            else:
                grammar.closed.update(dict.fromkeys(words.split(), pos))
        elif line:
            rule = line.removesuffix(":")
            grammar.rules[rule] = []
    return grammar


def _number(kind: str, rng: np.random.Generator) -> str:
    """Draw a number of a kind, with its part of speech."""
    u, v, tenth = rng.random(3)
    made = {
        "pct": f"{2 + int(58 * u * v)}/CD",
        "dec": f"{1 + int(30 * u * v)}.{int(10 * tenth)}/CD",
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
