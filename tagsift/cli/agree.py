"""``tagsift agree``: how far annotators agree, and how reliable each is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tagsift
from tagsift.cli._options import Fitting, Json, Quiet, Seed, Source, argument, option
from tagsift.cli._output import draw, draw_rows, number, percent, print_json, say
from tagsift.cli._training import TrainingData, fit_model
from tagsift.cli._votes import read_vote_file

if TYPE_CHECKING:
    from tagsift.annotators import AnnotatorReport
    from tagsift.io import VoteCorpus

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 80
EXAMPLE = "tagsift agree votes.tsv --votes 2:48 --quick"


_PAIRS = {
    "first": "",
    "second": "",
    "shared tokens": "d",
    "equal (%)": ".2f%",
    "span F1": ".2f%",
    "Cohen's kappa": ".4f",
}


def run(
    file: Annotated[Path, argument("VOTES", "Votes: columns, or any other format.")],
    *,
    source: Source,
    quick: Annotated[
        bool, option("Judge annotators by the labels of Dawid–Skene, without the text.")
    ] = False,
    pairs: Annotated[bool, option("Also show every pair of annotators.")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Agreement of annotators; each one's reliability and habits; who copies whom.

    The annotators are judged by the labels that the vote tagger finds from all votes
    and the text, without gold labels.
    """
    corpus = read_vote_file(file, source)
    found = corpus.as_corpus().agreement()
    fitting = Fitting(seed=seed, quiet=quiet or json)
    people, labels = _people(file, source, corpus, quick, fitting)
    gold = None
    if corpus.gold is not None:
        gold = tagsift.annotators.annotators_against(corpus.as_corpus(), corpus.gold)
    if json:
        facts = found.as_dict()
        facts["annotators"] = [
            one.as_dict() | ({} if gold is None else {"true_f1": gold[a].f1})
            for a, one in enumerate(people)
        ]
        print_json({"sentences": len(corpus), "labels": labels, **facts})
        return
    count = tagsift.visible.count
    say(
        f"{count(len(corpus), 'sentence')}, {count(found.tokens, 'token')}, "
        f"{count(len(labels), 'label')}, {found.votes_per_token:.2f} votes per token "
        f"from {count(len(corpus.annotators), 'annotator')}"
    )
    equal, f1 = found.pairwise_agreement, found.pairwise_span_f1
    say(f"equal labels among pairs of votes  {percent(equal, ' %')}")
    say(f"span F1 among pairs of annotators  {percent(f1, ' %')}")
    say(f"Fleiss' kappa                      {number(found.fleiss_kappa)}")
    say(f"Krippendorff's alpha               {number(found.krippendorff_alpha)}")
    say()
    draw(tagsift.report.annotator_table(people, labels, gold or ()))
    if pairs:
        rows = (
            (p.first, p.second, p.shared, p.agreement, p.span_f1, p.kappa)
            for p in found.pairs
        )
        draw_rows("Pairs of annotators", _PAIRS, rows)


def _people(
    path: Path, source: Source, corpus: VoteCorpus, quick: bool, fitting: Fitting
) -> tuple[tuple[AnnotatorReport, ...], list[str]]:
    """Reports on the annotators, and what their confusions are of."""
    if quick:
        labels = tagsift.annotators.quick_labels(corpus.as_corpus())
        people = tagsift.annotators.annotators_against(
            corpus.as_corpus(), labels, by_votes=True
        )
        return people, list(corpus.label_set)
    given = {} if source.scheme == "auto" else {"scheme": source.scheme}
    named = source.columns is not None
    training = TrainingData(path, corpus.candidates(), corpus, given, named)
    model: Any = fit_model(training, fitting)
    return model.annotators_, [str(name) for name in model.classes_]
