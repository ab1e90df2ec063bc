"""Tables I, II and III beside the numbers that the paper prints, and more of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.folds import TASKS
from experiments.paper.results import (
    F1S,
    GOLD,
    PAPER_RIVALS,
    PROSE,
    TABLE_2,
    TABLE_3,
    PaperSetting,
    Results,
)
from experiments.tables import table
from tagsift.report import Badge, Table

#: The F1 that is held against the paper's: the strictest one that it can have been.
COMPARED: dict[str, str] = {
    "base-np": "span_f1",
    "chunking": "span_f1",
    "ner": "token_weighted_f1",
}
#: The decoders of Table III.
DECODERS = {"viterbi": "Viterbi", "weighted": "weighted Viterbi"}


def table_1(facts: Iterable[Mapping[str, Any]]) -> Table:
    """Table I: the data sets as built, beside what the paper prints."""
    rows, notes = [], []
    for one in facts:
        task = TASKS[one["task"]]
        sentences, labels = one["n_sentences"], one["n_labels"]
        counts = (sentences, task.n_sentences, labels, task.n_labels)
        rows.append((task.title, *counts, one["n_tokens"], one["n_spans"]))
        if sentences == task.n_sentences and labels != task.n_labels:
            notes.append(
                f"The first {sentences} sentences of {task.title} have {labels} "
                f"labels, not {task.n_labels}; negatives are drawn from those that are "
                "there."
            )
    head = ("task", "sentences|,d", "paper|,d", "labels|d", "paper|d", "tokens|,d")
    title = "Table I: the data sets"
    return table((*head, "spans|,d"), rows, title=title, note=" ".join(notes))


def table_2(
    results: Results,
    method: str = "sgppsl",
    *,
    title: str = "Table II: true labels recovered (%)",
) -> Table:
    """Table II: recovered true labels of ambiguous training tokens."""
    rows = []
    for s in results.lists:
        values = [100 * v for v in results.folds(method, s, "recovery").values()]
        if values:
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            ours = float(np.mean(values))
            beside = _beside(ours, TABLE_2.get((s.task, s.cl, s.p)))
            single = results.percent(method, s, "recovery:argmax")
            about = (s.title, s.cl, s.p, ours, spread, len(values))
            rows.append((*about, *beside[:2], single, beside[2]))
    head = ("task", "cl|d", "p|g", "ours %|.2f", "± folds|.2f", "folds|d")
    rest = ("paper %|.2f", "difference|+.2f", "argmax of (17) %|.2f")
    return table(
        (*head, *rest, "against the paper"), rows, title=title, note=PROSE["table-2"]
    )


def _beside(ours: float, paper: float | None) -> tuple[Any, Any, Any]:
    """The paper's figure, the difference and what it means."""
    if paper is None:
        return None, None, None
    mark = Badge("above", "good") if ours >= paper else Badge("below", "bad")
    return paper, ours - paper, mark


def table_3(results: Results) -> Table:
    """Table III: Viterbi against weighted Viterbi at cl = 3, three F1 each."""
    rows: list[tuple[Any, ...]] = []
    strong = set()
    for s in (setting for setting in results.lists if setting.cl == 3):
        column, pair = list(F1S).index(COMPARED[s.task]), {}
        for decoder, words in DECODERS.items():
            values = [results.percent("sgppsl", s, f"{decoder}:{f1}") for f1 in F1S]
            ours = values[column]
            if ours is not None:
                pair[len(rows)] = ours
                paper = TABLE_3.get((s.task, decoder, s.p))
                figure, gap, mark = _beside(ours, paper)
                about = (figure, F1S[COMPARED[s.task]], gap, mark)
                rows.append((s.title, s.p, words, *values, *about))
        if len(set(pair.values())) == 2:
            strong.add((max(pair, key=lambda row: pair[row]), 3 + column))
    f1s = [f"{words} %|.2f" for words in F1S.values()]
    rest = ("paper %|.2f", "compared", "difference|+.2f", "against the paper")
    made = table(
        ("task", "p|g", "decoder", *f1s, *rest),
        rows,
        title="Table III: decoders (%), cl = 3",
        note=PROSE["table-3"] + _ceilings(results),
    )
    return replace(made, strong=frozenset(strong))


def _three_f1(results: Results, method: str, setting: PaperSetting) -> str | None:
    """All three F1 in one cell."""
    values = [results.percent(method, setting, name) for name in F1S]
    told = [f"{value:.1f}" for value in values if value is not None]
    return " / ".join(told) if len(told) == len(F1S) else None


def _ceilings(results: Results) -> str:
    """What a CRF reaches on gold labels, for scale."""
    parts = [
        f"{TASKS[task].title} {told}"
        for task in results.tasks
        if (told := _three_f1(results, GOLD, PaperSetting(task, 0, 0.0)))
    ]
    return f" The CRF on gold labels has {'; '.join(parts)}." if parts else ""


def decoders_table(results: Results) -> Table:
    """All decoders of SGPPSL in every setting, span F1 and token-weighted F1."""
    names = sorted({n for r in results.records for n in r.get("decoders", {})})
    kinds = {"span": "span_f1", "token": "token_weighted_f1"}
    measures = [f"{name}:{f1}" for f1 in kinds.values() for name in names]
    found = {
        s: [results.percent("sgppsl", s, name) for name in measures]
        for s in results.settings
    }
    return table(
        ("setting", *(f"{name}, {kind}|.1f" for kind in kinds for name in names)),
        [(s.words, *values) for s, values in found.items() if set(values) - {None}],
        title="SGPPSL under all its decoders (span F1, token-weighted F1, %)",
        note="From the same fits; the paper has `viterbi` and `weighted`.",
    )


def below_table(results: Results) -> Table:
    """Cells of Tables II and III below the paper, and what others reach there."""
    rows = []
    for s in results.lists:
        f1 = COMPARED[s.task]
        cells = [("", "recovery", TABLE_2.get((s.task, s.cl, s.p)))]
        if s.cl == 3:
            cells += [(d, f1, TABLE_3.get((s.task, d, s.p))) for d in DECODERS]
        for decoder, measure, paper in cells:
            name = f"{decoder}:{measure}" if decoder else measure
            ours = results.percent("sgppsl", s, name)
            if paper is not None and ours is not None and ours < paper:
                cell = s.words + (f", {decoder}" if decoder else "")
                about = ("Table III" if decoder else "Table II", cell, ours, paper)
                rows.append((*about, *_elsewhere(results, s, decoder, measure)))
    head = ("table", "cell", "ours %|.2f", "paper %|.2f")
    rest = ("the same fits, decoded otherwise", "best other method on the same folds")
    columns = (*head, *rest, "CRF on gold labels")
    return table(columns, rows, title="Cells below the paper")


def _elsewhere(
    results: Results, s: PaperSetting, decoder: str, measure: str
) -> Iterator[str]:
    """The same fits decoded otherwise, the best other method, and the ceiling."""

    def found(method: str, name: str, words: str = "") -> list[tuple[float, str]]:
        value = results.percent(method, s, name)
        return [] if value is None else [(value, f"{words}{value:.2f}")]

    decoders = [
        d
        for d in ("viterbi", "weighted", "argmax", "log", "log-weighted")
        if d != decoder
    ]
    same = [x for d in decoders for x in found("sgppsl", f"{d}:{measure}", f"{d} ")]
    yield ", ".join(words for _, words in same if decoder) or "–"
    others = (*PAPER_RIVALS, "partial-crf", "chain-gp")
    best = [x for method in others for x in found(method, measure, f"{method} ")]
    yield max(best, key=lambda x: x[0], default=(0, "–"))[1]
    ceiling = found(GOLD, measure) if decoder else []
    yield ceiling[0][1] if ceiling else "–"


def scores_table(results: Results, task: str) -> Table:
    """All methods of a task in all settings, the three F1 in one cell."""
    places = results.of(task)
    rows = [
        (results.title(method), *(_three_f1(results, method, s) for s in places))
        for method in results.methods
    ]
    return table(
        ("method", *(f"{s.way.replace(' =', '')}, p {s.p:g}|>" for s in places)),
        rows,
        title=f"{TASKS[task].title}: " + " / ".join(F1S.values()) + " (%)",
        note="Means over the folds that were run.",
    )


def robustness_table(results: Results, random: Results) -> Table:
    """Tables II and III on random subsets beside the head of the files."""
    rows = []
    for s in random.lists:
        f1 = COMPARED[s.task]
        measures = ("recovery", f"viterbi:{f1}", f"weighted:{f1}")
        head = [results.percent("sgppsl", s, measure) for measure in measures]
        other = [random.percent("sgppsl", s, measure) for measure in measures]
        if set(other) - {None}:
            pairs = zip(head, other, strict=True)
            rows.append((s.title, s.cl, s.p, *(x for pair in pairs for x in pair)))
    kinds = ("recovery", "Viterbi F1", "weighted F1")
    heads = [f"{kind} {part}|.2f" for kind in kinds for part in ("head", "random")]
    return table(
        ("task", "cl|d", "p|g", *heads),
        rows,
        title="SGPPSL on random subsets (%)",
        note=PROSE["robustness"],
    )
