"""Records, asked for by task, method and setting, and what the paper prints.

Every table starts here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.folds import TASKS
from experiments.records import Record, pick
from tagsift import registry
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError


def read_toml(name: str) -> dict[str, Any]:
    """Read a table that stands beside this file."""
    path = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))


#: What the page says beside tables and figures, by their names.
PROSE: dict[str, str] = read_toml("prose")
#: Task → number of its figure in the paper.
FIGURE_OF = {"base-np": 6, "chunking": 7, "ner": 8}
#: The three F1 columns: name in records → words.
F1S: dict[str, str] = {
    "span_f1": "span F1",
    "token_weighted_f1": "token-weighted F1",
    "token_macro_f1": "token-macro F1",
}
#: The nine methods that the paper compares with, in its order.
PAPER_RIVALS = (
    "naive", "clpl", "wknn", "pl-ecoc", "pl-svm", "cllp", "paloc", "sure", "pl-aggd",
)  # fmt: skip
#: The models of this package.
OURS = ("sgppsl", "chain-gp")
#: The method that is given gold labels: a ceiling and no rival.
GOLD = "crf"


@dataclass(frozen=True, order=True)
class PaperSetting:
    """A task and a sampling of candidates."""

    task: str
    cl: int  # length of candidate lists; 0 for flip sampling
    p: float  # share of exact sentences; -1 for gold labels
    r: float = 0.0  # flip probability; 0 for candidate lists

    @property
    def way(self) -> str:
        """How the candidates are drawn."""
        return f"cl = {self.cl}" if self.cl else f"r = {self.r:g}"

    @property
    def title(self) -> str:
        """The title of the task."""
        return TASKS[self.task].title

    @property
    def words(self) -> str:
        """The setting as a reader wants it."""
        return f"{self.title}, {self.way}, p = {self.p:g}"


class Results:
    """Finished records of the head, or of all random subsets together."""

    def __init__(self, found: Iterable[Record], subset: str = "head") -> None:
        self.records = [
            record
            for record in found
            if "scores" in record
            and record["config"]["subset"].split("-")[0] == subset
            and not record["config"]["watch"]
        ]
        self._index: dict[tuple[str, PaperSetting], dict[tuple[str, int], Record]] = {}
        for record in self.records:
            config, share = record["config"], record["config"]["p"]
            drawn = (config["cl"] or 0, -1.0 if share is None else share)
            setting = PaperSetting(config["task"], *drawn, config["r"] or 0.0)
            parts = self._index.setdefault((config["method"], setting), {})
            parts[config["subset"], config["fold"]] = record

    def under(self, decoder: str) -> Results:
        """The same fits, those of SGPPSL with another decoder's scores, if any."""
        plain: Record = {decoder: {}}  # methods with no decoders to choose from
        other = [one.get("decoders", plain).get(decoder) for one in self.records]
        both = zip(self.records, other, strict=True)
        return Results(
            {**one, "scores": one["scores"] | new}
            for one, new in both
            if new is not None
        )

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Methods with a record, in the order of tables."""
        there = {record["config"]["method"] for record in self.records}
        order = [*OURS, *PAPER_RIVALS, "partial-crf", GOLD]
        return (*(x for x in order if x in there), *sorted(there - set(order)))

    @property
    def rivals(self) -> tuple[str, ...]:
        """Methods that learn from candidates: all but the one on gold labels."""
        return tuple(name for name in self.methods if name != GOLD)

    @cached_property
    def settings(self) -> tuple[PaperSetting, ...]:
        """All settings with candidates, in the order of the tables."""
        there = {setting for _, setting in self._index if setting.p >= 0}
        tasks = list(TASKS)
        return tuple(sorted(there, key=lambda s: (tasks.index(s.task), s.r, s.cl, s.p)))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Tasks with a record, in the order of Table I."""
        there = {record["config"]["task"] for record in self.records}
        return tuple(name for name in TASKS if name in there)

    @property
    def lists(self) -> tuple[PaperSetting, ...]:
        """Settings with candidate lists (Tables II and III, Figures 6–8)."""
        return tuple(setting for setting in self.settings if not setting.r)

    def of(self, task: str) -> tuple[PaperSetting, ...]:
        """Settings of one task."""
        return tuple(setting for setting in self.settings if setting.task == task)

    @staticmethod
    def title(method: str) -> str:
        """Title of a method; its name where the registry does not know it."""
        if method not in registry.names():
            return method
        title = registry.estimator(method).method.title
        return f"{title} (gold labels)" if method == GOLD else title

    def folds(
        self, method: str, setting: PaperSetting, measure: str
    ) -> dict[tuple[str, int], float]:
        """Values of a measure by subset and fold.

        A measure is a score, ``"recovery"`` (``"recovery:argmax"``: token by token), or
        ``"viterbi:span_f1"`` for the score of another decoder. The method on gold
        labels has the same values in every setting of a task.
        """
        place = setting if method != GOLD else PaperSetting(setting.task, 0, -1.0)
        values = {
            part: _read(record, measure)
            for part, record in self._index.get((method, place), {}).items()
        }
        return {part: value for part, value in values.items() if value is not None}

    def mean(self, method: str, setting: PaperSetting, measure: str) -> float | None:
        """Mean over the folds there are; None where there is none."""
        values = list(self.folds(method, setting, measure).values())
        return float(np.mean(values)) if values else None

    def percent(self, method: str, setting: PaperSetting, measure: str) -> float | None:
        """The mean in percent."""
        mean = self.mean(method, setting, measure)
        return None if mean is None else 100 * mean

    def gaps(
        self, first: str, second: str, measure: str, settings: Iterable[PaperSetting]
    ) -> dict[PaperSetting, float]:
        """Mean of first minus second over common folds, in settings that have some."""
        found = {}
        for setting in settings:
            a = self.folds(first, setting, measure)
            b = self.folds(second, setting, measure)
            both = [part for part in a if part in b]
            if both:
                found[setting] = float(np.mean([a[k] - b[k] for k in both]))
        return found


#: Where records have what is recovered.
_RECOVERY = {"recovery": "recovery.ambiguous", "recovery:argmax": "recovery.argmax"}


def _read(record: Record, measure: str) -> float | None:
    decoder, _, name = measure.rpartition(":")
    place = f"decoders.{decoder}.{name}" if decoder else f"scores.{measure}"
    (value,) = pick(record, _RECOVERY.get(measure, place))
    return None if value is None else float(value)


#: Tables II and III in percent, and the words of Figure 5.
PRINTED = read_toml("printed")


def _cells(table: str) -> dict[tuple[str, str, float], float]:
    return {
        (task, row, p): value
        for task, rows in PRINTED[table].items()
        for row, values in rows.items()
        for p, value in zip(PRINTED["p"], values, strict=True)
    }


#: Recovered true labels of ambiguous training tokens: (task, cl, p) → percent.
TABLE_2 = {(task, int(cl), p): x for (task, cl, p), x in _cells("table-2").items()}
#: F1 at cl = 3: (task, decoder, p) → percent. The paper does not say which F1.
TABLE_3 = _cells("table-3")


@dataclass(frozen=True)
class Watched:
    """A training token whose confidences Figure 5 follows."""

    task: str
    word: str
    around: str  # the words of its sentence that the paper prints around it
    candidates: list[str]
    p: float  # share of exact sentences
    printed: str  # the label that the paper prints as the truth
    right: bool  # whether the paper says that its curves end at the truth


#: Watched words by name.
WATCHED: dict[str, Watched] = {
    word: Watched(word=word, **about) for word, about in PRINTED["figure-5"].items()
}


def find(corpus: Corpus, watched: Watched) -> tuple[int, int]:
    """Return sentence and token number of a watched word."""
    around = watched.around.split()
    for s, words in enumerate(corpus.tokens):
        for t in range(len(words) - len(around) + 1):
            if list(words[t : t + len(around)]) == around:
                return s, t + around.index(watched.word)
    raise InputError(
        f"the watched word {watched.word!r} is not in the {len(corpus)} sentences of "
        f"{watched.task}; take the head of the real corpus, or set watch = false."
    )
