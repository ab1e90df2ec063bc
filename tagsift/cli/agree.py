"""``tagsift agree``: how far annotators agree, and how reliable each is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tagsift
from tagsift.cli._options import Json, Source, grouped
from tagsift.cli._output import complain, draw, number, percent, print_json, say
from tagsift.cli._training import read_vote_file

if TYPE_CHECKING:
    from tagsift.metrics import Agreement

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 80
EXAMPLE = "tagsift agree votes.tsv --votes 2:48 --gold"


@grouped
def run(
    file: Annotated[
        Path, typer.Argument(help="Column file of votes, ? for none.", metavar="VOTES")
    ],
    *,
    source: Source,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also show every pair of annotators.")
    ] = False,
    json: Json = False,
) -> None:
    """Agreement of annotators, and each one's estimated reliability.

    The reliability is the chance of giving the true label of a token, estimated without
    gold labels by the model of Dawid and Skene with pooled priors.
    """
    corpus = read_vote_file(file, source)
    metrics = tagsift.metrics
    labels = list(corpus.label_set)
    found = metrics.annotator_agreement(
        metrics.encode_votes(corpus.votes, labels),
        labels,
        corpus.annotators,
        None
        if corpus.gold is None
        else metrics.label_indices(corpus.gold, labels, name="gold", missing=-1),
    )
    if not found.converged:
        complain("the estimate of reliabilities has not settled.", kind="warning")
    if json:
        print_json({"sentences": len(corpus), "labels": labels, **found.as_dict()})
        return
    say(
        f"{len(corpus)} sentences, {found.tokens} tokens, {len(labels)} labels, "
        f"{found.votes_per_token:.2f} votes per token from "
        f"{len(corpus.annotators)} annotators"
    )
    say(f"equal labels among pairs of votes  {percent(found.pairwise_agreement)} %")
    say(f"Fleiss' kappa                      {number(found.fleiss_kappa)}")
    say(f"Krippendorff's alpha               {number(found.krippendorff_alpha)}")
    say()
    _draw_annotators(found)
    if pairs:
        _draw_pairs(found)


def _draw_annotators(found: Agreement) -> None:
    rare = f"not {found.commonest_label}"
    columns = ["annotator", "tokens", "as majority", "reliability", rare]
    shares = ["agrees_with_majority", "reliability", "reliability_rare"]
    if found.annotators[0].accuracy is not None:
        columns += ["right", f"right, {rare}"]
        shares += ["accuracy", "accuracy_rare"]
    draw(
        "Annotators, the most reliable first (percent)",
        columns,
        (
            [person.name, str(person.tokens)]
            + [percent(getattr(person, name)) for name in shares]
            for person in sorted(found.annotators, key=lambda one: -one.reliability)
        ),
        left=("annotator",),
    )


def _draw_pairs(found: Agreement) -> None:
    draw(
        "Pairs of annotators",
        ("first", "second", "shared tokens", "equal (%)", "Cohen's kappa"),
        (
            (
                pair.first,
                pair.second,
                str(pair.shared),
                percent(pair.agreement),
                number(pair.kappa),
            )
            for pair in found.pairs
        ),
        left=("first", "second"),
    )
