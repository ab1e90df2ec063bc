"""The two jobs of the demo: annotators who disagree, and candidate sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._models import DEFAULT_METHOD
from tagsift.cli._output import draw, print_json, say
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift import Corpus
    from tagsift.cleaned import Cleaned
    from tagsift.report import MethodScores, Report, Tagged

__all__ = ["RIVALS", "Speech", "run_candidates", "run_votes"]

#: What the method is compared with, unless told otherwise, and what votes are.
RIVALS = ("partial-crf", "sgppsl", "wknn", "word-counts")
_OF_VOTES = ("vote-tagger", "majority", "dawid-skene", "mace")
#: Sentences that annotators label; the share that has candidates.
_SENTENCES = 400
_TRAIN_SHARE = 1 / 3
#: What the demo on votes shows on the screen, and rows of its tables.
_SHOWN = ("One label from many votes", "Who is reliable", "What to check first")
_MOST = 8


@dataclass(frozen=True)
class Speech:
    """How a demo is run, and what it says."""

    seed: int
    quiet: bool
    json: bool
    notice: str  # that a reader of the report must not miss

    def say(self, text: str) -> None:
        """Say what is done, to people."""
        if not self.json:
            say(text)


def run_votes(out: Path, speech: Speech) -> None:
    """Simulate annotators, merge their votes, tag, rank, and write a report."""
    corpus = tagsift.bundled("ner")
    votes = tagsift.data.simulate_votes(corpus[:_SENTENCES], random_state=speech.seed)
    held_out = corpus[_SENTENCES:]
    speech.say(
        f"Five annotators label {len(votes)} sentences ({votes.n_tokens} tokens): "
        "two decent ones, one careless, one who takes ORG for LOC, and a "
        f"dictionary that abstains. {len(held_out)} sentences are left to tag."
    )
    results = {name: _work(name, votes, held_out, speech) for name in _OF_VOTES}
    page = _page(
        out, results, speech, "Five annotators and the bundled corpus", tell={}
    )
    if speech.json:
        ours = results["vote-tagger"].cleaned
        true = tagsift.annotators.annotators_against(votes, votes.gold or [])
        people = [
            {"name": one.name, "found": one.reliability, "true": other.reliability}
            for one, other in zip(ours.annotators, true, strict=True)
        ]
        facts = {name: one.facts for name, one in results.items()}
        sizes = {"sentences": len(votes), "tokens": votes.n_tokens}
        sizes["held_out_sentences"] = len(held_out)
        print_json({**sizes, "methods": facts, "annotators": people, "report": out})
        return
    for section in page.sections:
        if section.title in _SHOWN:
            draw(section.tables[0], title=section.title, most=_MOST)
    say(f"Report: {out}")


def run_candidates(
    out: Path,
    speech: Speech,
    *,
    method: str = DEFAULT_METHOD,
    against: Sequence[str] = RIVALS,
    task: str = "chunk",
    cl: int = 3,
    p: float = 0.1,
) -> None:
    """Corrupt, fit, recover, tag and score on the bundled corpus; write a report.

    A third of its sentences get random candidate labels and are learnt from; the
    others are tagged and scored.
    """
    corpus = tagsift.bundled(task)
    cut = round(_TRAIN_SHARE * len(corpus))
    exact, held_out = corpus[:cut], corpus[cut:]
    partial = tagsift.corrupt(
        exact, cl=cl, p=p, random_state=speech.seed, labels=corpus.label_set
    )
    speech.say(
        f"{len(partial)} sentences with {cl} candidates a token to learn from "
        f"({partial.n_ambiguous} of {partial.n_tokens} tokens ambiguous), "
        f"{len(held_out)} sentences to tag."
    )
    results = {
        name: _work(name, partial, held_out, speech, exact)
        for name in dict.fromkeys((method, *against))
    }
    title = f"{results[method].title} on the bundled corpus"
    settings = {"task": task, "cl": cl, "p": p}
    page = _page(out, results, speech, title, tell=settings)
    if speech.json:
        facts = {name: one.facts for name, one in results.items()}
        sizes = {"sentences": len(partial), "tokens": partial.n_tokens}
        sizes["ambiguous_tokens"] = partial.n_ambiguous
        sizes["held_out_sentences"] = len(held_out)
        print_json({**sizes, "methods": facts, "report": out})
        return
    draw(page.sections[0].tables[0], title=page.sections[0].title)
    say(f"Report: {out}")


@dataclass(frozen=True)
class _Worked:
    """What one method made of the training part and of the held-out part."""

    title: str
    cleaned: Cleaned
    tagged: Tagged
    scores: MethodScores
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        labels, recovery = self.scores.labels, self.scores.recovery
        return {
            "title": self.title,
            "labels": None if labels is None else labels.headline(),
            "recovery": None if recovery is None else asdict(recovery),
            "tagger": self.scores.tagger.headline(),
            "seconds": self.seconds,
        }


def _work(
    name: str,
    corpus: Corpus,
    held_out: Corpus,
    speech: Speech,
    exact: Corpus | None = None,
) -> _Worked:
    """Clean the corpus by one method, and tag the rest with its tagger.

    A method that needs exact labels gets those of `exact`.
    """
    silent = speech.quiet or speech.json
    model = tagsift.make(name, random_state=speech.seed, verbose=int(not silent))
    stage(f"fitting {model.method.title}", enabled=not silent)
    needs_gold = model.method.exact_only and exact is not None
    started = time.perf_counter()
    cleaned = tagsift.clean(exact if needs_gold else corpus, model)  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    tagger = cleaned.tagger
    probable = tagger.method.probabilities
    tagged = tagsift.report.Tagged(
        tokens=held_out.tokens,
        gold=held_out.labels,
        predicted=tagger.predict(held_out.rows),
        classes=tagger.classes_,
        marginals=tagger.predict_proba(held_out.rows) if probable else None,
        scheme=held_out.scheme,
    )
    scores = tagsift.report.MethodScores(
        None if needs_gold else cleaned.scores(),
        tagged.scores(),
        None if needs_gold or cleaned.has_votes else cleaned.recovery(),
    )
    title = cleaned.title + " (gold labels)" * needs_gold
    speech.say(f"{title}: fitted in {seconds:.1f} s.")
    return _Worked(title, cleaned, tagged, scores, seconds)


def _page(
    out: Path,
    results: dict[str, _Worked],
    speech: Speech,
    title: str,
    tell: dict[str, Any],
) -> Report:
    """Write the report on the first of some methods, beside the others."""
    first = next(iter(results.values()))
    facts = [(name, str(value)) for name, value in tell.items()]
    facts += [("seed", str(speech.seed)), ("tagsift", tagsift.__version__)]
    report: Report = first.cleaned.report(
        out,
        title=title,
        compared={one.title: one.scores for one in results.values()},
        tagged=first.tagged,
        facts=facts,
        notices=[speech.notice],
    )
    return report
