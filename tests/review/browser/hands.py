"""A small corpus, and hands at the keyboard."""

from __future__ import annotations

from typing import Any

from tagsift.data.corpus import Corpus

__all__ = ["corpus", "held", "press", "show"]

WORDS = ["In New York City Ann Lee spoke .".split(), "Bob met Eve in Rome .".split()]
SAID = [
    [
        "O B-LOC I-LOC O B-PER I-PER O O",
        "O B-LOC I-LOC O B-PER I-PER O O",
        "O O B-ORG I-ORG B-PER I-PER O O",
    ],
    ["B-PER O B-PER O B-LOC O", "B-PER O B-PER O B-LOC O", "B-PER O B-PER O B-PER O"],
]


def corpus(words: Any = WORDS, said: Any = SAID, scheme: str = "iob2") -> Corpus:
    votes = [list(zip(*(v.split() for v in row), strict=True)) for row in said]
    names = tuple(f"annotator {i}" for i in range(len(said[0])))
    return Corpus.from_lists(words, votes=votes, annotators=names, scheme=scheme)


def held(page: Any) -> tuple[str, str | None]:
    """The words in hand, and their label."""
    mark = page.locator("mark.held")
    words = " ".join(mark.locator(".token").all_text_contents())
    tags = mark.locator(".tag").all_text_contents()
    return words, tags[0] if tags else None


def press(page: Any, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def show(page: Any, words: str) -> None:
    """Bring the item with these words to the desk, by the list."""
    press(page, "Shift+B")
    page.locator("#rows b", has_text=words).first.wait_for()
    chosen = "() => document.activeElement.querySelector('b').textContent"
    while page.evaluate(chosen) != words:
        press(page, "ArrowDown")
    item = page.evaluate("() => document.activeElement.dataset.item")
    press(page, "Enter")
    page.locator(f"#item[data-item='{item}']").wait_for()
