"""``tagsift corrupt``: partial labels from gold ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tagsift
from tagsift.cli._options import (
    Json,
    Labels,
    Out,
    Reading,
    Scheme,
    Seed,
    argument,
    option,
)
from tagsift.cli._output import print_json, say
from tagsift.cli._parsing import parse_labels
from tagsift.cli._reading import with_one_label

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 20
EXAMPLE = "tagsift corrupt gold.conll -o partial.conll --cl 3 --p 0.1"


def run(
    gold: Annotated[Path, argument("GOLD", "Column file, gold label last.")],
    out: Out,
    *,
    cl: Annotated[
        int | None,
        option(
            "Length of the candidate list: the truth and CL - 1 labels drawn with "
            "replacement."
        ),
    ] = None,
    r: Annotated[
        float | None, option("Or: probability that a wrong label becomes a candidate.")
    ] = None,
    p: Annotated[float, option("Share of the sentences that stay exact.")] = 0.0,
    keep_gold: Annotated[
        bool, option("Write the truth as one more, last column.")
    ] = False,
    labels: Labels = None,
    scheme: Scheme = "auto",
    reading: Reading,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Hide gold labels among random candidates, as the paper's experiments do."""
    names = parse_labels(labels)
    rename = names if isinstance(names, dict) else None
    plain = tagsift.read(gold, "conll", scheme=scheme, labels=rename, **vars(reading))
    corpus = with_one_label(plain, gold)
    partial = tagsift.corrupt(
        corpus, cl=cl, p=p, r=r, random_state=seed, labels=None if rename else names
    )
    tagsift.io.write_columns(out, partial, gold=keep_gold)
    sizes = partial.members[partial.candidate_codes].sum(axis=1)  # [N]
    facts = {
        "out": str(out),
        "sentences": len(partial),
        "tokens": partial.n_tokens,
        "ambiguous_tokens": partial.n_ambiguous,
        "mean_candidates": float(sizes.mean()),
        "labels": list(partial.label_set),
        "scheme": partial.scheme,
    }
    if json:
        print_json(facts)
        return
    say(
        f"{out}: {len(partial)} sentences, {partial.n_tokens} tokens, "
        f"{partial.n_ambiguous} of them ambiguous, "
        f"{facts['mean_candidates']:.2f} candidates on average."
    )
