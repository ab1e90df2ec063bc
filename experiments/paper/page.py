"""The report on section IV: everything put together, made from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

from experiments.paper import claims, comparison, figures, tables
from experiments.paper.coverage import Coverage
from experiments.paper.printed import WATCHED
from experiments.paper.ranks import critical_difference_diagram
from experiments.paper.results import F1S, FIGURE_OF, OURS, Results
from tagsift.report import Figure, Report, Section, Stat, Table

#: What a section may hold: prose, tables and figures.
Content: TypeAlias = Iterable[str | Table | Figure | None]

_MAIN = "span_f1"
_INTRO = (
    "The experiments of section IV of the paper, run again: every cell is one fit, all "
    "methods saw the same corrupted folds, and everything on this page was made from "
    "the records of the cells. The paper does not say which F1 it reports nor which "
    "features it used; three F1 are given, and features are templates over word and "
    "part of speech. Figures here are in percent where not said otherwise."
)
#: Target → section; figures have the same name in both.
_TABLES = {"table-1": "Table I", "table-2": "Table II", "table-3": "Table III"}
_SYNTHETIC = (
    "These runs used the bundled, synthetic corpus in place of the paper's: the "
    "figures say that the parts work and nothing about the paper."
)
_OTHER_RECOVERY = "The same for ChainGP, beside the paper's SGPPSL (%)"
_BELOW = (
    "Every cell of Tables II and III in which SGPPSL is below the figure that the "
    "paper prints, with what the same fits reach when they are decoded otherwise and "
    "what other methods reach on the same folds. Where the fits are above the figure "
    "with another decoder, it is the weighted one that falls short: Equation (30) "
    "adds probabilities, so a frequent pair of labels, whose transition term is near "
    "1, outbids what a sure token can offer for a rare label, and the factor of "
    "Equation (29) shrinks that offer further, since many of the ten nearest tokens of "
    "a rare label carry another one. The fits have their share in it: with the decoder "
    "that suits them best they stay behind the best other method on the same folds."
)


def make_report(coverage: Coverage, target: str = "all") -> Report:
    """Build the report, or the one table or figure that was asked for."""
    return _Page(coverage).report(target)


class _Page:
    """Holds what all sections need."""

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
        self.notices = ((_SYNTHETIC,) if synthetic else ()) + tuple(coverage.notices)

    def report(self, target: str) -> Report:
        """The whole section, or one table or figure of it."""
        if target != "all":
            title = target.replace("-", " ")
            name = _TABLES.get(target) or title.capitalize()
            return Report(
                title=f"Section IV: {title}",
                sections=(self.section(name),),
                notices=self.notices,
                facts=self.coverage.facts,
            )
        sections = [self.section(name) for name in self.builders]
        return Report(
            title="Section IV, run again",
            summary=_INTRO,
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
                tables.table_2(results, "chain-gp", title=_OTHER_RECOVERY),
            ],
            "Table III": lambda: [tables.table_3(results)],
            "Cells below the paper": lambda: [_BELOW, tables.below_table(results)],
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
            if marks and _SYNTHETIC not in self.notices:
                yield Stat(name, f"{above} of {len(marks)}")
        verdicts = [claim.verdict for claim in self.judged]
        held, mixed = verdicts.count("supported"), verdicts.count("mixed")
        tested = len(verdicts) - verdicts.count("not tested")
        yield Stat("claims supported", f"{held} of {tested}", f"{mixed} more mixed")
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
