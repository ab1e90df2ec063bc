"""``tagsift rank``: what to check first, by token and by sentence."""

from __future__ import annotations

from enum import StrEnum
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tagsift
from tagsift.cli._options import (
    Fitting,
    Json,
    Model,
    OutOrScreen,
    Train,
    Training,
    grouped,
)
from tagsift.cli._output import draw, print_json, say
from tagsift.cli._training import (
    Recovered,
    TrainingData,
    check_model_options,
    read_training,
    recover,
)
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.typing import FloatArray

__all__ = ["By", "EXAMPLE", "PLACE", "run"]

PLACE = 70
EXAMPLE = "tagsift rank partial.conll --top 30 -o review.tsv"


class By(StrEnum):
    """What makes a token uncertain."""

    entropy = "entropy"
    confidence = "confidence"
    disagreement = "disagreement"


@grouped
def run(
    train: Train,
    *,
    by: Annotated[
        By,
        typer.Option(
            help="entropy of the confidences; confidence: one minus that of the "
            "recovered label; disagreement: share of the votes against it."
        ),
    ] = By.entropy,
    top: Annotated[
        int, typer.Option(min=1, help="How many tokens and sentences to show.")
    ] = 20,
    out: OutOrScreen = None,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Say which tokens and which sentences a person should check first.

    Sentences and tokens are counted from 1. A sentence scores the sum of its tokens.
    With --out, all tokens go to a TSV table, ranked.
    """
    check_model_options(model, fitting)
    training = read_training(train, source)
    if by is By.disagreement and training.votes is None:
        raise InputError("--by disagreement needs votes: say which columns by --votes.")
    found = recover(training, fitting, model, quiet=json)
    scores = _scores(training, found, by)
    rows = training.partial.rows
    places = [(s, t) for s, sentence in enumerate(rows) for t in range(len(sentence))]
    order = tagsift.metrics.rank_tokens(scores)
    sentences = tagsift.metrics.rank_sentences(scores, [len(row) for row in rows])
    describe = _describer(training, found)
    if out is not None:
        with tagsift.storage.atomic_write(out) as file:
            file.write("\t".join(("rank", *_COLUMNS, "score")) + "\n")
            for rank, n in enumerate(order, 1):
                cells = map(str, describe(*places[n]).values())
                file.write("\t".join((str(rank), *cells, f"{scores[n]:.6f}")) + "\n")
    tokens = [{**describe(*places[n]), "score": float(scores[n])} for n in order[:top]]
    shown = [
        {
            "sentence": int(s) + 1,
            "score": float(sentences.total[s]),
            "tokens": len(rows[s]),
            "worst_token": int(sentences.worst[s]) + 1,
            "text": " ".join(training.partial.tokens[s]),
        }
        for s in sentences.order[:top]
    ]
    if json:
        print_json(
            {
                "method": found.model.method.name,
                "by": by.value,
                **training.facts,
                "tokens_first": tokens,
                "sentences_first": shown,
            }
        )
        return
    draw(
        f"Tokens to check first (by {by.value})",
        (*_COLUMNS, "score"),
        ([str(v) for v in t.values()][:-1] + [f"{t['score']:.3f}"] for t in tokens),
        left=("word", "candidates", "recovered", "majority"),
    )
    draw(
        "Sentences to check first",
        ("sentence", "score", "tokens", "worst token", "text"),
        (
            (
                str(s["sentence"]),
                f"{s['score']:.3f}",
                str(s["tokens"]),
                str(s["worst_token"]),
                shorten(str(s["text"]), 60, placeholder=" …"),
            )
            for s in shown
        ),
        left=("text",),
    )
    if out is not None:
        say(f"{out}: all {len(places)} tokens, ranked.")


_COLUMNS = ("sentence", "token", "word", "candidates", "recovered", "majority")


def _scores(training: TrainingData, found: Recovered, by: By) -> FloatArray:
    """Uncertainty of every stacked token, [N]."""
    metrics = tagsift.metrics
    if training.votes is not None and by is By.disagreement:
        names = list(training.votes.label_set)
        votes = metrics.encode_votes(training.votes.votes, names)  # [N, A]
        chosen = metrics.label_indices(found.labels, names, name="recovered")  # [N]
        return metrics.vote_disagreement(votes, chosen)
    if found.confidences is None:
        raise InputError(
            f"{found.model.method.title} gives no confidences; take a method that does "
            "(see: tagsift methods), or rank votes by disagreement."
        )
    stacked = found.stacked_confidences  # [N, L]
    if by is By.entropy:
        return metrics.entropy(stacked)
    names = [str(name) for name in found.model.classes_]
    chosen = metrics.label_indices(found.labels, names, name="recovered")  # [N]
    return metrics.doubt(stacked, chosen)


def _describer(training: TrainingData, found: Recovered) -> Any:
    """Make the function that describes one token for people."""
    partial = training.partial
    order = partial.label_set.index
    majority = None if training.votes is None else training.votes.majority().labels

    def describe(s: int, t: int) -> dict[str, Any]:
        return {
            "sentence": s + 1,
            "token": t + 1,
            "word": partial.rows[s][t][0],
            "candidates": "|".join(sorted(partial.candidates[s][t], key=order)),
            "recovered": found.labels[s][t],
            "majority": "–" if majority is None else majority[s][t],
        }

    return describe
