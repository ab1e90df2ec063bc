"""The report on section IV: everything put together, made from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

from experiments.folds import TASKS
from experiments.paper import claims, comparison, figures, tables
from experiments.paper.comparison import critical_difference_diagram
from experiments.paper.grid import GridCell
from experiments.paper.results import F1S, FIGURE_OF, OURS, PROSE, WATCHED, Results
from experiments.paper.suite import Suite
from experiments.records import Found, Record
from experiments.tables import facts_of, mixed, nothing, table
from tagsift.report import Figure, Report, Section, Stat, Table

#: What a section may hold: prose, tables and figures.
Content: TypeAlias = Iterable[str | Table | Figure | None]

_MAIN = "span_f1"
#: Target → section; figures have the same name in both.
_TABLES = {"table-1": "Table I", "table-2": "Table II", "table-3": "Table III"}


class Page:
    """The report, or the one table or figure that was asked for."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage, found = coverage, list(coverage.records.values())
        self.results = Results(found)
        self.random = Results(found, "random")
        facts = [record["facts"] for record in found if "facts" in record]
        self.facts = sorted(facts, key=lambda fact: FIGURE_OF[fact["task"]])
        self.watched = {
            record["config"]["watch"]: record
            for record in found
            if "evolution" in record
        }
        self.losses = comparison.losses(self.results, _MAIN)
        self.judged = claims.judge_claims(self.results, self.watched)
        synthetic = any(one["config"].get("corpus") == "bundled" for one in found)
        said = [PROSE["synthetic"]] if synthetic else []
        self.notices = (*said, *coverage.notices)
        whole = coverage.suite.name == "paper" and not synthetic
        self.amplitudes = [PROSE["amplitudes"]] if whole else []

    def report(self, target: str) -> Report:
        """The whole section, or one table or figure of it."""
        if target != "all":
            title = target.replace("-", " ")
            one = self.section(_TABLES.get(target) or title.capitalize())
            if not one.content:
                one = replace(one, text=nothing(self.coverage.own))
            return Report(
                title=f"Section IV: {title}",
                sections=(one,),
                notices=self.notices,
                facts=self.coverage.facts,
            )
        sections = [self.section(name) for name in self.builders]
        return Report(
            title="Section IV, run again",
            summary=PROSE["intro"],
            sections=tuple(s for s in sections if s.text or s.content),
            stats=tuple(self.stats()),
            notices=(*self.loss_notices(), *self.notices),
            facts=self.coverage.facts,
        )

    @property
    def builders(self) -> dict[str, Callable[[], Content]]:
        """What makes each section, in their order."""
        results = self.results

        def with_all_f1(figure: Callable[..., Figure | None], *about: Any) -> Content:
            return (figure(results, *about, name) for name in F1S)

        return {
            "Where our models lose": lambda: [
                comparison.losses_table(results, self.losses, F1S[_MAIN])
            ],
            "Claims of section IV": lambda: [
                "Each claim is counted over the cases that it speaks of.",
                claims.claims_table(self.judged),
            ],
            "Table I": lambda: [tables.table_1(self.facts)],
            "Table II": lambda: [
                tables.table_2(results),
                tables.table_2(results, "chain-gp", title=PROSE["other-recovery"]),
            ],
            "Table III": lambda: [tables.table_3(results)],
            "Cells below the paper": lambda: [
                PROSE["below"],
                *self.amplitudes,
                tables.below_table(results),
            ],
            "Figure 5": self.figure_5,
            **{
                f"Figure {number}": partial(with_all_f1, figures.figures_6_to_8, task)
                for task, number in FIGURE_OF.items()
            },
            "Figure 9": partial(with_all_f1, figures.figure_9),
            "All scores": lambda: [
                tables.decoders_table(results),
                *(tables.scores_table(results, task) for task in results.tasks),
            ],
            "Ranks and tests": self.tests,
            "Calibration": lambda: [comparison.calibration_table(results)],
            "Random subsets": lambda: [tables.robustness_table(results, self.random)],
            "The run": lambda: [
                *self.coverage.tables(),
                comparison.cost_table(results),
            ],
        }

    def section(self, name: str) -> Section:
        """Prose, and what is not empty of tables and figures."""
        made = list(self.builders[name]())
        content = tuple(
            item
            for item in made
            if isinstance(item, Figure) or (isinstance(item, Table) and item.rows)
        )
        text = " ".join(item for item in made if isinstance(item, str))
        return Section(name, text if content else "", content)

    def stats(self) -> Iterator[Stat]:
        """The figures of merit, for the first screen."""
        for name, made in (
            ("Table II cells above the paper", tables.table_2(self.results)),
            ("Table III cells above the paper", tables.table_3(self.results)),
        ):
            marks = [row[-1] for row in made.rows if row[-1] is not None]
            above = sum(getattr(mark, "text", "") == "above" for mark in marks)
            if marks and PROSE["synthetic"] not in self.notices:
                yield Stat(name, f"{above} of {len(marks)}")
        verdicts = [claim.verdict for claim in self.judged]
        held, mixed = verdicts.count("confirmed"), verdicts.count("mixed")
        tested = len(verdicts) - verdicts.count("not tested")
        yield Stat("claims confirmed", f"{held} of {tested}", f"{mixed} more mixed")
        ranked = comparison.rank_methods(self.results, _MAIN)
        if ranked is not None:
            told = f"{ranked.ranks[0]:.2f} over {ranked.n_settings} settings"
            yield Stat("best mean rank", self.results.title(ranked.methods[0]), told)

    def loss_notices(self) -> Iterator[str]:
        """One sentence for each of our models that loses somewhere."""
        results = self.results
        for model in OURS:
            told = []
            for rival in {x.rival for x in self.losses if x.model == model}:
                gaps = results.gaps(model, rival, _MAIN, results.settings).values()
                mean = 100 * sum(gaps) / len(gaps)
                lost = f"{sum(gap < 0 for gap in gaps)} of {len(gaps)} settings"
                words = f"{results.title(rival)} in {lost}"
                told.append((mean, f"{words} ({mean:+.1f} points on average)"))
            if told:
                rivals = "; ".join(words for _, words in sorted(told))
                yield f"{results.title(model)} loses by {F1S[_MAIN]} to {rivals}."

    def figure_5(self) -> Content:
        """The watched words, and where the paper's truth is not the corpus'."""
        for word, record in self.watched.items():
            printed = WATCHED[word].printed
            if record["truth"] != printed:
                yield (
                    f"The paper prints {printed} as the truth of “{word}”; in the "
                    f"corpus the token is labelled {record['truth']}."
                )
        yield figures.figure_5(self.watched)

    def tests(self) -> Content:
        """Ranks and tests."""
        names = {method: self.results.title(method) for method in self.results.methods}
        for name, words in F1S.items():
            ranked = comparison.rank_methods(self.results, name)
            if ranked is not None:
                title = f"Mean ranks by {words}"
                yield critical_difference_diagram(ranked, title=title, names=names)
        for model in OURS:
            for name, words in F1S.items():
                yield comparison.wilcoxon_table(self.results, model, name, words)


# What was asked for, and what of it was run ---------------------------------------

_TUNED = {"each fit": "in every fit", "development": "λ, behind the head", "": "–"}


@dataclass(frozen=True)
class Coverage:
    """What was asked for and what was run."""

    suite: Suite
    cells: tuple[GridCell, ...]  # its fits, or those of one table or figure
    records: Found
    command: str = ""  # that makes the page again
    old: tuple[str, ...] = ()  # what is to be said of records of older settings

    @cached_property
    def own(self) -> Found:
        """Records of these fits; all there are where the page is not of fits."""
        keys = [cell.key for cell in self.cells] or list(self.records)
        return {key: self.records[key] for key in keys if key in self.records}

    @cached_property
    def missing(self) -> list[GridCell]:
        """Cells without a record."""
        return [cell for cell in self.cells if cell.key not in self.records]

    @cached_property
    def failed(self) -> list[Record]:
        """Records of cells that failed."""
        mine = (self.records.get(cell.key, {}) for cell in self.cells)
        return [record for record in mine if "error" in record]

    @cached_property
    def thinned(self) -> list[tuple[str, str, int]]:
        """Method, task and folds run, where these are fewer than the suite has."""
        folds: dict[tuple[str, str], set[int]] = {}
        for cell in self.cells:
            if cell.on_head:
                mine = folds.setdefault((cell.method, cell.task), set())
                if "scores" in self.records.get(cell.key, {}):
                    mine.add(cell.fold)
        order = [(method, task) for method in self.suite.methods for task in TASKS]
        return [
            (*place, len(folds[place]))
            for place in order
            if place in folds and len(folds[place]) < self.suite.folds
        ]

    @property
    def notices(self) -> Iterator[str]:
        """What a reader must not miss."""
        if self.missing:
            yield (
                f"{len(self.missing)} of the {len(self.cells)} cells have not been "
                "run; the figures are those of the others."
            )
        yield from (*self.old, *mixed(self.records))
        if self.failed:
            yield f"{len(self.failed)} cells failed; they are listed at the end."
        if self.thinned:
            methods = sorted({method for method, _, _ in self.thinned})
            yield (
                f"Run on fewer than {self.suite.folds} folds: {', '.join(methods)} "
                "(listed at the end). Methods are compared on common folds only."
            )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Settings and versions, for the end of the page."""
        about = {
            "suite": self.suite.name,
            "cells": f"{len(self.cells) - len(self.missing)} of {len(self.cells)}",
            "folds": str(self.suite.folds),
            "seed": str(self.suite.seed),
            "command": f"`{self.command}`",
        }
        versions = facts_of(self.records, commands=False)
        return (*about.items(), *((k, v) for k, v in versions if k != "tagsift"))

    def tables(self) -> Iterator[Table]:
        """How methods were set and tuned, which were thinned, and what failed."""
        settings = []
        for plan in self.suite.methods.values():
            params = ", ".join(f"{k} = {v}" for k, v in plan.params.items())
            tuned = _TUNED[plan.tuning]
            settings.append((Results.title(plan.name), params or "defaults", tuned))
        yield table(
            ("method", "settings", "tuned"),
            settings,
            title="Settings of the methods",
            note=PROSE["settings"],
        )
        yield table(
            ("method", "task", "folds|d"),
            [(Results.title(m), TASKS[task].title, n) for m, task, n in self.thinned],
            title=f"Run on fewer than {self.suite.folds} folds",
        )
        failed = [(str(record["key"]), str(record["error"])) for record in self.failed]
        yield table(("cell", "error"), failed, title="Cells that failed")
