"""Random choices and damage to bytes, text and JSON values."""

from __future__ import annotations

import copy
import json
import random
import string
from collections.abc import Callable
from typing import Any

import numpy as np

WORDS = ("the", "dog", "barks", "naïve", "犬", "U.S.", "-", "#", "O", "1,000", "''")
ODD_TEXT = (
    "",
    " ",
    "\t",
    "\r",
    "\n",
    "\x00",
    "\x1b[2J",
    "\ufeff",
    "\u2028",
    "\x85",
    "\xa0",
    "\u202e",
    "\U0010ffff",
    "|",
    "||",
    "?",
    "B-",
    "-",
    "#",
    "-DOCSTART-",
    "null",
    "é" * 3,
    "e\u0301",
    "x" * 5000,
    '"',
    "{",
    "[[[[",
    "0",
    "-1",
    "1e999",
    "../../x",
    "%s%n",
)
ODD_NUMBERS = (0, -1, 1, 2, 255, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.5, 1e308)
NOT_NUMBERS = (float("nan"), float("inf"), -float("inf"))
ODD_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\r", b"\n\n")


class Dice(random.Random):
    """A generator of random numbers that knows how to do damage."""

    def often(self, share: float = 0.5) -> bool:
        """True in `share` of the cases."""
        return self.random() < share

    def numpy(self) -> np.random.Generator:
        """A generator of NumPy, seeded by this one."""
        return np.random.default_rng(self.getrandbits(32))

    def word(self) -> str:
        """A token, at times an odd one."""
        if self.often(0.05):
            return self.choice(ODD_TEXT)
        return self.choice(WORDS)

    def token(self) -> str:
        """A token that a column file can hold, at times an odd one."""
        word = self.word()
        return "".join(c for c in word if c not in "\t\r\n\x00") or "x"

    def text(self) -> str:
        """Any short text."""
        letters = string.printable + "äß犬\ud800\x00\x1b\u202e"
        return "".join(self.choices(letters, k=self.randint(0, 12)))

    def value(self) -> Any:
        """Any JSON value."""
        return self.choice(
            (
                None,
                True,
                [],
                {},
                [[]],
                "",
                self.text(),
                self.choice(ODD_TEXT),
                self.choice(ODD_NUMBERS),
                self.choice(NOT_NUMBERS),
                [self.choice(ODD_NUMBERS)] * self.randint(1, 4),
                {"start": self.choice(ODD_NUMBERS)},
            )
        )

    def damage_bytes(self, data: bytes, most: int = 4) -> bytes:
        """Flip, cut, repeat and insert bytes."""
        found = bytearray(data)
        for _ in range(self.randint(1, most)):
            place = self.randrange(len(found) + 1)
            size = self.choice((1, 1, 2, 8, 64))
            how = self.randrange(5)
            if how == 0 and found:
                found[place % len(found)] ^= 1 << self.randrange(8)
            elif how == 1:
                del found[place : place + size]
            elif how == 2:
                found[place:place] = self.choice(ODD_BYTES)
            elif how == 3:
                found[place:place] = found[place : place + size] * self.randint(1, 3)
            else:
                found[place:place] = self.choice(ODD_TEXT).encode()
        return bytes(found)

    def damage_lines(self, text: str) -> str:
        """Drop, repeat, swap and change lines and columns."""
        lines = text.split("\n")
        for _ in range(self.randint(1, 4)):
            k = self.randrange(len(lines))
            cells = lines[k].split("\t")
            c = self.randrange(len(cells))
            how = self.randrange(7)
            if how == 0:
                del lines[k]
                lines = lines or [""]
            elif how == 1:
                lines.insert(k, lines[self.randrange(len(lines))])
            elif how == 2:
                lines[k] = "\t".join(cells[:c] + cells[c + 1 :])
            elif how == 3:
                lines[k] = "\t".join([*cells[:c], self.word(), *cells[c:]])
            elif how == 4:
                cells[c] = self.choice(ODD_TEXT)
                lines[k] = "\t".join(cells)
            elif how == 5:
                lines[k] = self.choice((" ", "  ", ",", "\t\t")).join(cells)
            else:
                lines = [line.replace("\t", self.choice((" ", ","))) for line in lines]
        return self.choice(("\n", "\n", "\n", "\r\n")).join(lines)

    def damage_json(self, value: Any, most: int = 3) -> Any:
        """Change, drop and nest values anywhere inside a JSON value."""
        value = copy.deepcopy(value)
        for _ in range(self.randint(1, most)):
            places = list(_places(value))
            if not places:
                return self.value()
            parent, key = self.choice(places)
            how = self.randrange(5)
            if how == 0:
                del parent[key]
            elif how == 1:
                parent[key] = [parent[key]]
            elif how == 2 and isinstance(parent, dict):
                parent[self.text()] = parent.pop(key)
            elif how == 3 and isinstance(parent, list):
                parent[key:key] = [copy.deepcopy(parent[key])] * self.randint(1, 3)
            else:
                parent[key] = self.value()
        return value

    def nudge_json(self, value: Any) -> Any:
        """Change one number or text inside a JSON value into another of its kind."""
        value = copy.deepcopy(value)
        places = [(p, k) for p, k in _places(value) if isinstance(p[k], int | float)]
        words = [(p, k) for p, k in _places(value) if isinstance(p[k], str)]
        if words and (self.often() or not places):
            parent, key = self.choice(words)
            parent[key] = self.choice([p[k] for p, k in words])
        elif places:
            parent, key = self.choice(places)
            old = parent[key]
            parent[key] = self.choice((old + 1, old - 1, 0, -old, old * 10, 10**6, 0.5))
        return value

    def json_text(self, value: Any) -> str:
        """Write a JSON value, at times as no library would."""
        if self.often(0.02):
            return "[" * 100_000
        text = json.dumps(value, ensure_ascii=self.often())
        return self.choice(_REWRITES)(text) if self.often(0.1) else text


_REWRITES: tuple[Callable[[str], str], ...] = (
    lambda text: text[: len(text) // 2],
    lambda text: text.replace('"', "'"),
    lambda text: text + text,
    lambda text: text.replace(":", ": 1" + "0" * 5000 + ", ", 1),
    lambda text: text.replace("[", "[" * 2000, 1),
)


def _places(value: Any) -> Any:
    """Every container inside a value with every key of it."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
