"""Sentences, folds, features and candidates: the one place where experiments get them.

The protocol of section IV: the head of each training file (500, 450 and 500 sentences),
five folds over sentences, word and part of speech as features. A training fold is
corrupted by itself, with negatives from the label set of the whole head; the test fold
keeps its gold labels. Every draw hangs on a stable hash of what it is for, never on the
method, so that all methods see the same corrupted folds. `whole_fold` goes from the
training file of a task to its test file instead.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from tagsift.data import LabelSet, bundled, corrupt
from tagsift.data.corpus import Corpus
from tagsift.errors import DataError, InputError
from tagsift.features import FeatureMatrix, SequenceVectorizer
from tagsift.io import read


@dataclass(frozen=True)
class Task:
    """A task of the paper."""

    name: str  # in file names
    title: str  # in tables
    path: str  # of its training file, below the folder of the corpora
    n_sentences: int  # what Table I says
    n_labels: int
    stand_in: str  # labels of the bundled corpus, where there are no corpora

    @property
    def files(self) -> tuple[str, str]:
        """Its training file and its test file, below the folder of the corpora."""
        return self.path, self.path.replace("train", "test")


#: The tasks of Table I, in its order.
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("base-np", "Base NP", "basenp/train.conll", 500, 3, "chunk"),
        Task("chunking", "Chunking", "conll2000/train.conll", 450, 20, "chunk"),
        Task("ner", "NER", "conll2003/train.conll", 500, 9, "ner"),
    )
}


@dataclass(frozen=True)
class Split:
    """Which sentences of which task are learnt from and which are tagged."""

    task: str
    n_sentences: int
    n_folds: int
    fold: int  # the one that is tagged
    seed: int  # shuffles the sentences
    subset: str = "head"  # or "random-1": a draw from the whole file with seed 1


@dataclass(frozen=True)
class Fold:
    """One training and one test part with their features."""

    train: Corpus
    test: Corpus
    train_features: FeatureMatrix  # templates over word and part of speech
    test_features: FeatureMatrix
    label_set: LabelSet  # of both parts together

    @classmethod
    def of(
        cls, train: Corpus, test: Corpus, label_set: LabelSet, encoder: Any = None
    ) -> Fold:
        """Compute the features of both parts, word vectors among them if asked for."""
        vectorizer = SequenceVectorizer(encoder=encoder)
        learnt = vectorizer.fit_transform(train.rows)
        return cls(train, test, learnt, vectorizer.transform(test.rows), label_set)

    def sizes(self) -> dict[str, int]:
        """Return the sizes that a record of times names."""
        return {
            "sentences": len(self.train),
            "tokens": self.train_features.n_tokens,
            "test_tokens": self.test_features.n_tokens,
            "labels": len(self.label_set),
            "features": self.train_features.n_features,
        }


def stable_seed(*parts: Any) -> int:
    """Return a seed that depends on the parts alone, on every machine."""
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def data_folder(given: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of the corpora: as given, or as TAGSIFT_DATA says, or None."""
    value = given or os.environ.get("TAGSIFT_DATA")
    if not value:
        return None
    folder = Path(value)
    if not folder.is_dir():
        raise DataError("expected the folder of the corpora, found none.", folder)
    return folder


@lru_cache(maxsize=12)
def read_head(
    data: Path | None, task: str, n_sentences: int, subset: str = "head"
) -> Corpus:
    """Read sentences of a task, with word and part of speech as columns."""
    whole = training_file(data, task)
    if n_sentences > len(whole):
        raise InputError(
            f"the task {task!r} has {len(whole)} sentences, {n_sentences} were asked "
            "for; ask for fewer in the suite."
        )
    if subset == "head":
        return narrowed(whole[:n_sentences])
    rng = np.random.default_rng(stable_seed("subset", task, subset))
    chosen = rng.choice(len(whole), n_sentences, replace=False)  # [S]
    return narrowed(whole.take(sorted(chosen)))


def narrowed(part: Corpus) -> Corpus:
    """A part of a corpus, with the labels that it uses: the task is no larger."""
    return part.with_labels(LabelSet.union(part.labels))


def training_file(data: Path | None, task: str) -> Corpus:
    """Read all training sentences of a task, with word and part of speech."""
    return _stand_in(task) if data is None else _columns(data / TASKS[task].path)


def _columns(path: Path, scheme: str = "auto") -> Corpus:
    return read(path, scheme=scheme).with_columns(2)


def _stand_in(task: str) -> Corpus:
    """The bundled corpus with labels that resemble those of the task."""
    corpus = bundled(TASKS[task].stand_in)
    if task != "base-np":
        return corpus
    plain = {"B-NP": "B", "I-NP": "I"}
    labels = [[plain.get(x, "O") for x in row] for row in corpus.labels]
    return Corpus.from_lists(corpus.rows, labels, scheme=corpus.scheme)


@lru_cache(maxsize=24)
def make_fold(data: Path | None, split: Split, encoder: Any = None) -> Fold:
    """Cut a task into folds and compute the features of one, once per process."""
    corpus = read_head(data, split.task, split.n_sentences, split.subset)
    folds = KFold(split.n_folds, shuffle=True, random_state=split.seed)
    inside, outside = list(folds.split(np.zeros(len(corpus))))[split.fold]
    train, test = corpus.take(inside), corpus.take(outside)
    return Fold.of(train, test, corpus.label_set, encoder)


def paper_fold(
    data: Path | None,
    task: str,
    fold: int = 0,
    *,
    cl: int | None = 3,
    p: float | None = 0.1,
    r: float | None = None,
    seed: int = 0,
    drawn: int | None = None,
    encoder: Any = None,
) -> tuple[Fold, Corpus]:
    """One of the five folds of a task, and its training part with labels hidden.

    `seed` is that of the folds, `drawn` that of the candidates, see `corrupted`.
    """
    split = Split(task, TASKS[task].n_sentences, 5, fold, seed)
    made = make_fold(data, split, encoder)
    return made, corrupted(made, split, cl=cl, p=p, r=r, seed=drawn)


def whole_fold(data: Path | None, task: str, n_tokens: int | None = None) -> Fold:
    """Learn from the training file of a task, or its first tokens; tag its test file.

    The label set is that of the training file. CoNLL-2000 has two test tokens with a
    label outside it (I-LST), wrong for all methods: 0.0015 of every log loss. The
    bundled corpus, without `data`, is cut at four fifths.
    """
    if data is None:
        corpus = _stand_in(task)
        cut = 4 * len(corpus) // 5
        train, test = corpus[:cut], corpus[cut:]
    else:
        learnt, tagged = TASKS[task].files
        train = _columns(data / learnt)
        test = _columns(data / tagged, train.scheme)
    if n_tokens is not None:
        train = train[: int(np.searchsorted(train.bounds[1:], n_tokens)) + 1]
    train = narrowed(train)
    return Fold.of(train, test, train.label_set)


def development_fold(data: Path | None, task: str) -> Fold:
    """Sentences 500–2,000 (450–1,350 of Chunking): 400 (360) to learn from, to tag."""
    n = TASKS[task].n_sentences
    behind = narrowed(read_head(data, task, (3 if task == "chunking" else 4) * n)[n:])
    return Fold.of(behind[: 4 * n // 5], behind[4 * n // 5 :], behind.label_set)


def corrupted(
    fold: Fold,
    split: Split,
    *,
    cl: int | None,
    p: float | None,
    r: float | None,
    seed: int | None = None,
) -> Corpus:
    """Hide the labels of a training part among candidates, alike for every method.

    Without a `p` the labels stay exact; without a seed the draws follow from split and
    settings.
    """
    if p is None:
        cl, p = 1, 1.0
    if seed is None:
        drawn = (cl, p, r, split.fold, split.seed)
        seed = stable_seed("corrupt", split.task, split.subset, *drawn)
    return corrupt(
        fold.train, cl=cl, p=p, r=r, random_state=seed, labels=fold.label_set
    )
