"""The demo on votes: five annotators disagree, one command makes sense of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import Fitting
from tagsift.cli._output import draw, percent, print_json, say
from tagsift.cli._training import TrainingData, fit_model

if TYPE_CHECKING:
    from tagsift.annotators import AnnotatorReport
    from tagsift.data import Corpus, VoteCorpus
    from tagsift.report import MergedScores

__all__ = ["run_votes"]

#: Sentences that the annotators label, and what the votes are merged by.
_SENTENCES = 400
_METHODS = ("vote-tagger", "majority", "dawid-skene", "mace")
_LOOKS = 8


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
    results = {
        name: _merge(name, votes, held_out, seed=seed, quiet=quiet or json)
        for name in _METHODS
    }
    ours: Any = results["vote-tagger"].model
    page = tagsift.report.votes_report(
        votes,
        ours,
        title="Five annotators and the bundled corpus",
        compared={one.model.method.title: one.scores for one in results.values()},
        facts=[("seed", str(seed)), ("tagsift", tagsift.__version__)],
        notices=[notice],
    )
    tagsift.report.write_html(out, page)
    assert votes.gold is not None
    true = tagsift.annotators.annotators_against(votes, votes.gold)
    if json:
        print_json(
            {
                "sentences": len(votes),
                "tokens": votes.n_tokens,
                "held_out_sentences": len(held_out),
                "methods": {name: one.facts for name, one in results.items()},
                "annotators": [
                    {"name": a.name, "found": a.reliability, "true": b.reliability}
                    for a, b in zip(ours.annotators_, true, strict=True)
                ],
                "report": str(out),
            }
        )
        return
    _draw_methods(results)
    _draw_people(ours, true)
    _draw_looks(votes, ours)
    say(f"Report: {out}")


@dataclass(frozen=True)
class _Merged:
    """What one method made of the votes."""

    model: Any
    scores: MergedScores
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "title": self.model.method.title,
            "labels": self.scores.labels.headline(),
            "tagger": self.scores.tagger.headline(),
            "seconds": self.seconds,
        }


def _merge(
    name: str, votes: VoteCorpus, held_out: Corpus, *, seed: int, quiet: bool
) -> _Merged:
    """Merge votes by one method, and tag the rest with its tagger."""
    training = TrainingData("the bundled corpus", votes.candidates(), votes)
    started = time.perf_counter()
    model: Any = fit_model(training, Fitting(method=name, seed=seed, quiet=quiet))
    seconds = time.perf_counter() - started
    assert votes.gold is not None
    labels = tagsift.metrics.evaluate(
        votes.gold,
        [[str(label) for label in row] for row in model.recovered_],
        scheme=votes.scheme,
        marginals=model.confidences_,
        classes=model.classes_,
        unknown="wrong",
    )
    tagger = tagsift.metrics.evaluate(
        held_out.labels, model.predict(held_out.rows), scheme=held_out.scheme
    )
    return _Merged(model, tagsift.report.MergedScores(labels, tagger), seconds)


def _draw_methods(results: dict[str, _Merged]) -> None:
    draw(
        "Labels made of the votes, and the tagger on unseen text (percent)",
        ("method", "labels F1", "log-loss", "ECE", "tagger F1", "fit (s)"),
        (
            (
                one.model.method.title,
                percent(one.scores.labels.span_f1),
                *_calibration(one),
                percent(one.scores.tagger.span_f1),
                f"{one.seconds:.1f}",
            )
            for one in sorted(
                results.values(), key=lambda one: one.scores.labels.span_f1
            )
        ),
        left=("method",),
    )


def _calibration(one: _Merged) -> tuple[str, str]:
    part = one.scores.labels.calibration
    return ("–", "–") if part is None else (f"{part.nll:.3f}", percent(part.ece))


def _draw_people(model: Any, true: tuple[AnnotatorReport, ...]) -> None:
    truth = {one.name: one for one in true}
    draw(
        "Who is reliable (percent): found without the truth, and the truth",
        ("annotator", "found", "true", "habits", "remarks"),
        (
            (
                one.name,
                percent(one.reliability),
                percent(truth[one.name].reliability),
                tagsift.annotators.habits(one, model.classes_),
                "abstains by O" if one.abstains else "; ".join(one.flags),
            )
            for one in sorted(model.annotators_, key=lambda one: -one.reliability)
        ),
        left=("annotator", "habits", "remarks"),
    )


def _draw_looks(votes: VoteCorpus, model: Any) -> None:
    assert votes.gold is not None
    rows = []
    for look in islice(model.looks(), _LOOKS):
        words = votes.tokens[look.sentence]
        around = (
            *words[max(look.start - 3, 0) : look.start],
            f"[{words[look.start]}]",
            *words[look.end : look.end + 3],
        )
        truth = votes.gold[look.sentence][look.start]
        tally = " ".join(f"{name}:{count}" for name, count in look.tally.items())
        rows.append(
            (
                shorten(" ".join(around), 40, placeholder=" …"),
                str(look.label),
                tally,
                look.reason,
                "right" if truth == look.label else f"is {truth}",
            )
        )
    draw(
        "What to check first",
        ("in context", "label", "votes", "why", "truth"),
        rows,
        left=("in context", "label", "votes", "why", "truth"),
    )
