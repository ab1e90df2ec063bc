"""A small review: two sentences with votes, a store, and a client of the page."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import pytest

import tagsift
from benchmarks.reviewers import serving
from tagsift.data import Span, simulate_votes
from tagsift.data.corpus import Corpus
from tagsift.io.columns import write_columns
from tagsift.review.corpus_view import CorpusView
from tagsift.review.learning import Student
from tagsift.review.session import Desk
from tagsift.review.store import Store

ROOT = Path(__file__).parents[2]
ROWS = [
    "In New York Ann Lee spoke .".split(),
    "Ann met Bob in Paris .".split(),
    "Nobody came .".split(),
]
#: What three annotators said; the first two sentences are disputed.
SAID = [
    [
        "O B-LOC I-LOC B-PER I-PER O O".split(),
        "O B-LOC I-LOC B-PER O O O".split(),
        "O O B-LOC B-PER I-PER O O".split(),
    ],
    [
        "B-PER O B-PER O B-LOC O".split(),
        "B-PER O B-PER O B-PER O".split(),
        "B-PER O O O B-LOC O".split(),
    ],
    ["O O O".split()] * 3,
]


def corpus_of(rows=ROWS, said=SAID, scheme: str = "iob2", **more) -> Corpus:
    votes = [list(zip(*columns, strict=True)) for columns in said]
    names = ("ann", "bob", "eve")
    return Corpus.from_lists(rows, votes=votes, annotators=names, scheme=scheme, **more)


def fitted(desk: Desk) -> Desk:
    """The same review after a first fit, which counts the votes."""
    desk.install(Student(desk.view, tagsift.make("majority")).study({}))
    return desk


def spans_in(text: str) -> list[Span]:
    """Read ``LOC:1-3 PER:4-5``."""
    found = re.findall(r"(\w+):(\d+)-(\d+)", text)
    return [Span(kind, int(a), int(b)) for kind, a, b in found]


def written(path: Path, sentences: int) -> Path:
    """A file of votes."""
    corpus = tagsift.generate(sentences, 0, "ner").with_columns(1)
    write_columns(path, simulate_votes(corpus, random_state=0), gold=False)
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return written(tmp_path / "votes.tsv", 60)


def server(votes: Path, store: Path, *options: str, settings=("rounds=2", "folds=2")):
    """The command in a process of its own, and its address."""
    told = [word for one in settings for word in ("--set", one)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return serving(
        votes, store, "--votes", "2:6", *told, *options, environment=environment
    )


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def view() -> CorpusView:
    return CorpusView(corpus_of(), title="votes.tsv")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.db"


@pytest.fixture
def desk(view: CorpusView, path: Path, clock: Clock):
    store = Store.open(path, view.fingerprint)
    yield Desk(view, store, every=0, clock=clock)
    store.close()


@pytest.fixture
def key():
    """Make the key of a new decision."""
    numbers = itertools.count(10**8)
    return lambda: str(next(numbers))
