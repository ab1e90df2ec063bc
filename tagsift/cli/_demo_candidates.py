"""The demo on candidates: every token has several candidate labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._output import draw, print_json, say
from tagsift.cli._training import DEFAULT_METHOD
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.data.corpus import Corpus
    from tagsift.metrics import Scores
    from tagsift.report import Cleaned, Tagged

__all__ = ["RIVALS", "run_candidates"]

#: What the method is compared with, unless told otherwise.
RIVALS = ("partial-crf", "sgppsl", "wknn", "word-counts")
_TRAIN_SHARE = 1 / 3


def run_candidates(
    out: Path,
    *,
    method: str = DEFAULT_METHOD,
    against: Sequence[str] = RIVALS,
    task: str = "chunk",
    cl: int = 3,
    p: float = 0.1,
    seed: int,
    quiet: bool,
    json: bool,
    notice: str,
) -> None:
    """Corrupt, fit, recover, tag and score on the bundled corpus; write a report.

    A third of its sentences get random candidate labels and are learnt from; the
    others are tagged and scored.
    """
    corpus = tagsift.bundled(task)
    cut = round(_TRAIN_SHARE * len(corpus))
    exact, held_out = corpus[:cut], corpus[cut:]
    partial = tagsift.corrupt(
        exact, cl=cl, p=p, random_state=seed, labels=corpus.label_set
    )
    if not json:
        say(
            f"{len(partial)} sentences with {cl} candidates a token to learn from "
            f"({partial.n_ambiguous} of {partial.n_tokens} tokens ambiguous), "
            f"{len(held_out)} sentences to tag."
        )
    results: dict[str, _Result] = {}
    for name in (method, *(name for name in against if name != method)):
        silent = quiet or json
        model = tagsift.make(name, random_state=seed, verbose=int(not silent))
        stage(f"fitting {model.method.title}", enabled=not silent)
        results[name] = _work(model, partial, exact, held_out)
        if not json:
            say(f"{results[name].title}: fitted in {results[name].seconds:.1f} s.")
    first, *others = results.values()
    settings = {"task": task, "cl": cl, "p": p, "seed": seed}
    page = tagsift.report.demo_report(
        first.tagged,
        first.cleaned,
        method=first.title,
        corpus="the bundled corpus",
        rivals={one.title: (one.scores, one.cleaned.recovery()) for one in others},
        facts=[
            *((name, str(value)) for name, value in settings.items()),
            ("tagsift", tagsift.__version__),
        ],
        notices=[notice],
    )
    tagsift.report.write_html(out, page)
    if json:
        print_json(
            {
                "sentences": len(partial),
                "tokens": partial.n_tokens,
                "ambiguous_tokens": partial.n_ambiguous,
                "held_out_sentences": len(held_out),
                "methods": {name: result.facts for name, result in results.items()},
                "report": str(out),
            }
        )
        return
    draw(page.sections[0].tables[0], title=page.sections[0].title)
    say(f"Report: {out}")


@dataclass(frozen=True)
class _Result:
    """What one method did with the held-out part and with the training part."""

    title: str
    tagged: Tagged
    cleaned: Cleaned
    seconds: float

    @cached_property
    def scores(self) -> Scores:
        return self.tagged.scores()

    @property
    def facts(self) -> dict[str, Any]:
        right = self.cleaned.recovery()
        return {
            "title": self.title,
            "recovery": None if right is None else asdict(right),
            **self.scores.headline(),
            "seconds": self.seconds,
        }


def _work(
    model: SequenceTagger, partial: Corpus, exact: Corpus, held_out: Corpus
) -> _Result:
    """Fit one method, recover the training labels, and tag the rest."""
    needs_gold = model.method.exact_only
    started = time.perf_counter()
    found = tagsift.cleaned.clean(exact if needs_gold else partial, model)
    seconds = time.perf_counter() - started
    model = found.tagger
    probable = model.method.probabilities
    tagged = tagsift.report.Tagged(
        tokens=held_out.tokens,
        gold=held_out.labels,
        predicted=model.predict(held_out.rows),
        classes=model.classes_,
        marginals=model.predict_proba(held_out.rows) if probable else None,
        scheme=held_out.scheme,
    )
    cleaned = tagsift.report.Cleaned(
        tokens=partial.tokens,
        candidates=partial.candidates or [],
        recovered=found.sentences,
        classes=model.classes_,
        confidences=found.marginal_sentences,
        gold=None if needs_gold else partial.gold,
    )
    title = model.method.title + " (gold labels)" * needs_gold
    return _Result(title, tagged, cleaned, seconds)
