"""The tables of the duel, from its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from _duel_cells import METHODS, SCORES, SEEDS, Cell, all_cells

from tagsift.experiments.protocol import TASKS


@dataclass(frozen=True)
class Row:
    """Both sides of one setting, over folds and seeds run by both."""

    setting: tuple[Any, ...]
    values: dict[str, dict[str, Any]]
    n: int

    def mean(self, method: str, score: str) -> float:
        """Average of a score over the cells."""
        return float(np.mean(self.values[method][score]))

    def error(self, method: str, score: str) -> float:
        """Standard error of that average."""
        values = self.values[method][score]
        return float(np.std(values, ddof=1) / np.sqrt(self.n)) if self.n > 1 else 0.0

    def lead(self, score: str, *, more: bool) -> tuple[float, float]:
        """By how much ChainGP is better on average, and its standard error."""
        ours, theirs = (np.array(self.values[m][score]) for m in METHODS[::-1])
        gap = (ours - theirs) * (1 if more else -1)  # [n]
        spread = np.std(gap, ddof=1) / np.sqrt(self.n) if self.n > 1 else 0.0
        return float(gap.mean()), float(spread)


def rows_of(
    records: dict[str, dict[str, Any]], seeds: Sequence[int] = SEEDS
) -> list[Row]:
    """Collect the settings of which both sides have cells in common."""
    found = []
    cells = [cell for cell in all_cells() if cell.seed in seeds]
    for setting in dict.fromkeys(cell.setting for cell in cells):
        mine = [cell for cell in cells if cell.setting == setting]
        names = [*(name for name, *_ in SCORES), "seconds"]
        values: dict[str, dict[str, list[float]]] = {
            method: {name: [] for name in names} for method in METHODS
        }
        n = 0
        for cell in mine:
            both = [records.get(replace(cell, method=m).key) for m in METHODS]
            if cell.method != METHODS[0] or None in both:
                continue
            n += 1
            for method, record in zip(METHODS, both, strict=True):
                assert record is not None
                for name, *_ in SCORES:
                    values[method][name].append(record["scores"][name])
                if not record["learnt"]:
                    values[method]["seconds"].append(record["seconds"])
        if n:
            found.append(Row(setting, values, n))
    return found


def tables(records: dict[str, dict[str, Any]]) -> str:
    """Lay out the records as Markdown: who wins how often, and every setting."""
    rows = rows_of(records)
    if not rows:
        return "No setting has been run by both sides yet.\n"
    lines = [
        "ChainGP against the partial CRF: mean ± standard error over folds and seeds.",
        "",
        *_counts(rows),
    ]
    fresh = rows_of(records, SEEDS[1:])
    if fresh:
        lines += [
            "",
            "The second and third seed alone: folds and candidates that were not "
            "looked at while the method was made, of the same sentences.",
            "",
            *_counts(fresh),
        ]
    for name, title, factor, digits, more in SCORES:
        lines += [
            "",
            f"| data | features | hidden by | fits | {title}: partial CRF | ChainGP "
            "| lead |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            crf, gp = (
                f"{factor * row.mean(m, name):.{digits}f} ± "
                f"{factor * row.error(m, name):.{digits}f}"
                for m in METHODS
            )
            lead, spread = row.lead(name, more=more)
            lines.append(
                f"| {_titles(row.setting)} | {row.n} | {crf} | {gp} "
                f"| {factor * lead:+.{digits}f} ± {factor * spread:.{digits}f} |"
            )
    lines += ["", *_times(rows, records)]
    return "\n".join(lines) + "\n"


def _counts(rows: list[Row]) -> list[str]:
    """Who wins how often, by how much."""
    lines = [
        "| score | settings | ChainGP ahead | mean lead | smallest lead |",
        "|---|---|---|---|---|",
    ]
    for name, title, factor, digits, more in SCORES:
        leads = [factor * row.lead(name, more=more)[0] for row in rows]
        ahead = sum(lead > 0 for lead in leads)
        lines.append(
            f"| {title} | {len(rows)} | {ahead} | {np.mean(leads):+.{digits}f} "
            f"| {min(leads):+.{digits}f} |"
        )
    return lines


def _titles(setting: tuple[Any, ...]) -> str:
    task, vectors, cl, r, p = setting
    hidden = f"cl {cl}" if cl is not None else f"r {r}"
    kind = "with vectors" if vectors else "sparse"
    return f"{TASKS[task].title} | {kind} | {hidden}, p {p}"


def _times(rows: list[Row], records: dict[str, dict[str, Any]]) -> list[str]:
    """Seconds of a fit, hyperparameters given and learnt."""
    lines = [
        "| data | features | hidden by | s, given: partial CRF | ChainGP "
        "| s, learnt: partial CRF | ChainGP |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"{np.mean(row.values[m]['seconds']):.0f}"
            if row.values[m]["seconds"]
            else "–"
            for m in METHODS
        ]
        for method in METHODS:
            learnt = [
                record["seconds"]
                for record in records.values()
                if record["learnt"]
                and record["config"]["method"] == method
                and Cell(**record["config"]).setting == row.setting
            ]
            cells.append(f"{np.mean(learnt):.0f}" if learnt else "–")
        lines.append(f"| {_titles(row.setting)} | " + " | ".join(cells) + " |")
    return lines
