"""The demo on votes: five annotators disagree, one command makes sense of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._output import draw, print_json, say
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.cleaned import Cleaned
    from tagsift.data.corpus import Corpus
    from tagsift.report import MergedScores

__all__ = ["run_votes"]

#: Sentences that the annotators label, and what the votes are merged by.
_SENTENCES = 400
_METHODS = ("vote-tagger", "majority", "dawid-skene", "mace")
#: What is shown on the screen, and rows of its tables.
_SHOWN = ("One label from many votes", "Who is reliable", "What to check first")
_MOST = 8


def run_votes(out: Path, *, seed: int, quiet: bool, json: bool, notice: str) -> None:
    """Simulate annotators, merge their votes, tag, rank, and write a report."""
    corpus = tagsift.bundled("ner")
    votes = tagsift.data.simulate_votes(corpus[:_SENTENCES], random_state=seed)
    held_out = corpus[_SENTENCES:]
    if not json:
        say(
            f"Five annotators label {len(votes)} sentences ({votes.n_tokens} tokens): "
            "two decent ones, one careless, one who takes ORG for LOC, and a "
            f"dictionary that abstains. {len(held_out)} sentences are left to tag."
        )
    results: dict[str, _Merged] = {}
    for name in _METHODS:
        one = _merge(name, votes, held_out, seed=seed, quiet=quiet or json)
        results[name] = one
        if not json:
            say(f"{one.model.method.title}: fitted in {one.seconds:.1f} s.")
    ours = results["vote-tagger"].model
    page = tagsift.report.data_report(
        results["vote-tagger"].findings,
        title="Five annotators and the bundled corpus",
        compared={one.model.method.title: one.scores for one in results.values()},
        facts=[("seed", str(seed)), ("tagsift", tagsift.__version__)],
        notices=[notice],
    )
    tagsift.report.write_html(out, page)
    if json:
        print_json(
            {
                "sentences": len(votes),
                "tokens": votes.n_tokens,
                "held_out_sentences": len(held_out),
                "methods": {name: one.facts for name, one in results.items()},
                "annotators": _reliabilities(votes, ours),
                "report": str(out),
            }
        )
        return
    for section in page.sections:
        if section.title in _SHOWN:
            draw(section.tables[0], title=section.title, most=_MOST)
    say(f"Report: {out}")


@dataclass(frozen=True)
class _Merged:
    """What one method made of the votes."""

    findings: Cleaned
    scores: MergedScores
    seconds: float

    @property
    def model(self) -> Any:
        return self.findings.tagger

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "title": self.model.method.title,
            "labels": self.scores.labels.headline(),
            "tagger": self.scores.tagger.headline(),
            "seconds": self.seconds,
        }


def _merge(
    name: str, votes: Corpus, held_out: Corpus, *, seed: int, quiet: bool
) -> _Merged:
    """Merge votes by one method, and tag the rest with its tagger."""
    model = tagsift.make(name, random_state=seed, verbose=int(not quiet))
    stage(f"fitting {model.method.title}", enabled=not quiet)
    started = time.perf_counter()
    findings = tagsift.cleaned.clean(votes, model)
    seconds = time.perf_counter() - started
    predicted = findings.tagger.predict(held_out.rows)
    tagger = tagsift.metrics.evaluate(
        held_out.labels, predicted, scheme=held_out.scheme
    )
    scores = tagsift.report.MergedScores(findings.scores(), tagger)
    return _Merged(findings, scores, seconds)


def _reliabilities(votes: Corpus, model: Any) -> list[dict[str, Any]]:
    """How reliable each annotator was found to be, and is."""
    true = tagsift.annotators.annotators_against(votes, votes.gold or [])
    return [
        {"name": a.name, "found": a.reliability, "true": b.reliability}
        for a, b in zip(model.annotators_, true, strict=True)
    ]
