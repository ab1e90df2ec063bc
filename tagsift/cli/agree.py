"""``tagsift agree``: how far annotators agree, and how reliable each is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tagsift
from tagsift.cli._models import cleaned_of
from tagsift.cli._options import Fitting, Json, Quiet, Seed, Source, argument, option
from tagsift.cli._output import draw, draw_rows, number, percent, print_json, say
from tagsift.cli._reading import read_corpus

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
    corpus = read_corpus(file, source, of_votes=True)
    agreement = corpus.agreement()
    if quick:
        cleaned = tagsift.cleaned.quick(corpus)
    else:
        fitting = Fitting(seed=seed, quiet=quiet or json)
        cleaned = cleaned_of(corpus, file, source, fitting)
    people, labels = cleaned.annotators, list(cleaned.classes)
    true = None
    if corpus.gold is not None:
        true = tagsift.annotators.annotators_against(corpus, corpus.gold)
    if json:
        facts = agreement.as_dict()
        facts["annotators"] = [
            one.as_dict() | ({} if true is None else {"true_f1": true[a].f1})
            for a, one in enumerate(people)
        ]
        print_json({"sentences": len(corpus), "labels": labels, **facts})
        return
    count = tagsift.visible.count
    say(
        f"{count(len(corpus), 'sentence')}, {count(agreement.tokens, 'token')}, "
        f"{count(len(labels), 'label')}, {agreement.votes_per_token:.2f} votes per "
        f"token from {count(len(corpus.annotators), 'annotator')}"
    )
    equal, f1 = agreement.pairwise_agreement, agreement.pairwise_span_f1
    say(f"equal labels among pairs of votes  {percent(equal, ' %')}")
    say(f"span F1 among pairs of annotators  {percent(f1, ' %')}")
    say(f"Fleiss' kappa                      {number(agreement.fleiss_kappa)}")
    say(f"Krippendorff's alpha               {number(agreement.krippendorff_alpha)}")
    say()
    draw(tagsift.report.annotator_table(people, labels, true or ()))
    if pairs:
        rows = (
            (p.first, p.second, p.shared, p.agreement, p.span_f1, p.kappa)
            for p in agreement.pairs
        )
        draw_rows("Pairs of annotators", _PAIRS, rows)
