"""Records, asked for by task, method and setting; every table starts here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.folds import TASKS
from experiments.records import Record, pick
from tagsift import registry

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

        A measure is a score, ``"recovery"``, or ``"viterbi:span_f1"`` for the score of
        another decoder. The method on gold labels has the same values in every setting
        of a task.
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


def _read(record: Record, measure: str) -> float | None:
    decoder, _, name = measure.rpartition(":")
    place = f"decoders.{decoder}.{name}" if decoder else f"scores.{measure}"
    (value,) = pick(record, "recovery.ambiguous" if measure == "recovery" else place)
    return None if value is None else float(value)
