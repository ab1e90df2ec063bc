"""What many annotators cost: the same votes, cast by 5, 50 and 500 of them.

Synthetic sentences, three votes on each. Who casts them differs and nothing else, so
that CPU seconds and memory of a fit should hardly differ: by no more than a factor 1.5.

    python -m benchmarks annotators --records benchmarks/records/annotators.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, fit_costs
from experiments.experiment import KeyedCell, Option
from experiments.records import Found, Record, pick
from experiments.tables import Tables, table
from tagsift.annotators import VoteTagger
from tagsift.data import SimulatedAnnotator, generate, simulate_votes
from tagsift.data.annotators import Annotator, Votes
from tagsift.data.corpus import Corpus

PEOPLE, VOTES, MOST = (5, 50, 500), 3, 1.5
#: Tokens of a sentence, on average.
PER_SENTENCE = 14.35
#: Columns of the table that are also shown as a share of those of the fewest people.
COSTS = {"CPU s|.1f": "time.fit_cpu_s", "peak MiB|.0f": "time.fit_peak_mib"}


@dataclass(frozen=True)
class AnnotatorsCell(KeyedCell):
    form = "{tokens}/{people}"
    tokens: int
    people: int


def votes_of(n_tokens: int, people: int) -> Corpus:
    """Three votes on every sentence; `people` changes only whose they are."""
    who = [
        SimulatedAnnotator(name=f"p{k}", misses=0.2, shifts=0.1, invents=0.1)
        for k in range(VOTES)
    ]
    corpus = generate(round(n_tokens / PER_SENTENCE), 1, "ner").with_columns(1)
    cast = simulate_votes(corpus, who, random_state=0)
    rng = np.random.default_rng(people)
    drawn = np.array([rng.choice(people, VOTES, replace=False) for _ in cast])  # [S, 3]
    token, annotator, code = cast.votes  # [K] each
    sentence = np.searchsorted(cast.bounds, token, side="right") - 1  # [K]
    annotator = drawn[sentence, annotator]  # [K]
    order = np.lexsort((annotator, token))  # [K]
    return replace(
        cast,
        annotators=tuple(Annotator(f"p{k}", "person") for k in range(people)),
        votes=Votes(token, annotator[order], code[order]),
    )


@dataclass(frozen=True)
class Annotators(Benchmark):
    """Fits with few, some and many annotators."""

    name = "annotators"
    title = "Many annotators"
    separate = True
    options = {"tokens": Option(120_000, "size of the corpus", int)}
    tokens: int

    def cells(self) -> list[AnnotatorsCell]:
        return [AnnotatorsCell(self.tokens, people) for people in PEOPLE]

    def run(self, cell: AnnotatorsCell) -> dict[str, Any]:
        votes = votes_of(cell.tokens, cell.people)
        costs = fit_costs(lambda: VoteTagger(random_state=0).fit(votes))
        sizes = {"tokens": votes.n_tokens, "votes": len(votes.votes.token)}
        return {"data": sizes, "time": costs}

    def tables(self, found: Found) -> Tables:
        shares = [f"ratio of {name.partition('|')[0]}|.2f" for name in COSTS]
        head = ("tokens|,d", "votes|,d", "annotators|d", *COSTS, *shares)
        rows = [
            (
                *pick(x, "data.tokens", "data.votes", "config.people", *COSTS.values()),
                *r,
            )
            for x, r in _ratios(found)
        ]
        yield table(head, rows)

    def falls_short(self, found: Found) -> list[str]:
        return [
            f"{one['key']}: {max(ratios):.2f} times what the fewest annotators cost"
            for one, ratios in _ratios(found)
            if max(ratios) > MOST
        ]


def _ratios(found: Found) -> Iterator[tuple[Record, list[float]]]:
    """Records by size, with costs as shares of those of the fewest annotators."""
    done = [one for one in found.values() if "error" not in one]
    places = ("config.tokens", "config.people")
    first: dict[int, list[float]] = {}
    for one in sorted(done, key=lambda one: pick(one, *places)):
        costs = pick(one, *COSTS.values())
        least = first.setdefault(one["config"]["tokens"], costs)
        yield one, [x / y for x, y in zip(costs, least, strict=True)]


EXPERIMENT = Annotators
