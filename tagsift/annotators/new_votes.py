"""Votes on new sentences, weighed by what is known of the annotators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagsift.annotators.confusion import vote_evidence
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.annotators.vote_table import VoteTable
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError, TagsiftWarning
from tagsift.progress import warn_user
from tagsift.typing import FloatArray, Label

__all__ = ["check_known", "weigh_votes"]


def check_known(votes: Corpus, names: Sequence[str], classes: Sequence[Label]) -> None:
    """Refuse labels that a model does not have; say so if it knows no annotator."""
    used = votes.members[np.unique(votes.votes.code)].any(axis=0)  # [L]
    names_used = (votes.label_set.names[k] for k in np.flatnonzero(used))
    new = sorted(set(names_used) - set(classes))
    if new:
        raise InputError(
            f"expected votes with labels that the model has ({_some(classes)}), found "
            f"{new[0]!r}; correct it, or fit on all votes without the model."
        )
    people = [one.name for one in votes.annotators]
    if names and not set(names) & set(people):
        warn_user(
            f"the model knows {_some(names)}, and none of these annotators "
            f"({_some(people)}): what it has learnt of each cannot be used; "
            "if they are the same, give them the same names (--header).",
            TagsiftWarning,
        )


def _some(names: Sequence[Label]) -> str:
    return ", ".join(map(str, names[:6])) + ", …" * (len(names) > 6)


def weigh_votes(
    table: VoteTable, names: tuple[str, ...], log_pi: FloatArray, temper: float
) -> list[FloatArray]:
    """Weight of every label of every token, sentence by sentence, [T, L] each.

    An annotator who is not among `names` is judged like the average of these.
    """
    contexts = log_pi.shape[2]
    if not len(names) or contexts != table.n_contexts:
        raise InputError(
            "these votes do not fit to what the model knows of annotators (who "
            "abstains, how many labels there are); fit on all votes instead."
        )
    place = {name: a for a, name in enumerate(names)}
    mean = np.log(np.exp(log_pi).mean(axis=0))  # [L, B, L]
    tables = np.stack(
        [log_pi[place[name]] if name in place else mean for name in table.names]
    )  # [A, L, B, L]
    weights = copy_weights(table, copy_groups(table))  # [A]
    e = temper * vote_evidence(tables, table, weights) + table.pinned  # [N, L]
    likely = np.exp(e - e.max(axis=1, keepdims=True))  # [N, L]
    return np.split(likely, table.bounds[1:-1])
