"""From votes to labels and a tagger: crowd NER and weak sources, all rivals in one run.

Crowd NER has 47 people (`crowd-43` leaves out the four odd ones), `weak_ncbi` 17 rules
and dictionaries whose `O` means nothing. No method sees a gold label: labels of the
training text are scored against gold, and the tagger on new text (CoNLL-2003 dev and
test). Every rival gets the same features and, for its tagger, the same conditional
random field. `union` is the partial CRF on the unweighted union of the votes.

    python -m experiments votes --records experiments/records/votes.jsonl
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import rounded
from experiments.measuring import measured, versions
from experiments.records import Record
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data import VoteCorpus, read_conll, read_votes
from tagsift.errors import InputError
from tagsift.features import ContextualEncoder, SequenceVectorizer
from tagsift.metrics import evaluate, span_scores
from tagsift.typing import FloatArray

if TYPE_CHECKING:
    from tagsift.report import Report

#: Workers of crowd NER who never give a wrong entity and find few.
ODD = ("w04", "w13", "w15", "w20")
#: The chain that every rival's tagger is.
CRF = partial(PartialCRF, l2=3.0)

#: Method → the estimator, given the features.
METHODS: dict[str, Any] = {
    "majority": partial(MajorityVote, CRF()),
    "dawid-skene": partial(DawidSkene, CRF()),
    "mace": partial(MACE, CRF()),
    "union": CRF,
    "vote-tagger": VoteTagger,
    "vote-tagger-chain-gp": partial(VoteTagger, ChainGP()),
}
#: Aggregators of crowd-kit, by the names of their classes; their tagger is a CRF.
CROWD_KIT = {
    "crowd-kit-majority": "MajorityVote",
    "crowd-kit-dawid-skene": "DawidSkene",
    "crowd-kit-mace": "MACE",
}
#: What VoteTagger loses without one of its parts.
ABLATIONS: dict[str, dict[str, Any]] = {
    "one-round": {"rounds": 1},
    "two-rounds": {"rounds": 2},
    "no-context": {"context": False},
    "no-tempering": {"temper": 1.0},
    "no-cross-fitting": {"folds": 1},
}


@dataclass(frozen=True)
class VoteCell:
    """One method on one corpus of votes.

    Parameters
    ----------
    corpus : str
        ``crowd``, ``crowd-43``, ``ncbi-train`` or ``ncbi-test``.
    method : str
        Who turns votes into labels; with ``vote-tagger/…`` an ablation.
    vectors : bool
        Whether frozen word vectors stand beside the sparse features.
    """

    corpus: str
    method: str
    vectors: bool = False

    @property
    def key(self) -> str:
        """Name of the cell, the same for all runs."""
        return f"{self.corpus}/{self.method}{'+vectors' if self.vectors else ''}"


@dataclass(frozen=True)
class Votes(Experiment):
    """All methods on all corpora of votes."""

    name = "votes"
    separate = True

    def cells(self) -> list[VoteCell]:
        """Every method everywhere; vectors and ablations where they tell something."""
        few = ("majority", "dawid-skene", "vote-tagger")
        ablations = [f"vote-tagger/{name}" for name in ABLATIONS]
        wanted = {
            "crowd": ("vote-tagger", *METHODS, *CROWD_KIT, *ablations),
            "crowd-43": few,
            "ncbi-train": ("vote-tagger", *METHODS, *CROWD_KIT),
            "ncbi-test": ("vote-tagger", *METHODS),
        }
        found = [VoteCell("crowd", "vote-tagger", vectors=True)]
        found += [
            VoteCell(key, name) for key, names in wanted.items() for name in names
        ]
        return list(dict.fromkeys(found))

    def run(self, cell: VoteCell, needed: Record | None) -> dict[str, Any]:
        """Turn the votes into labels, fit the tagger, and score both."""
        votes = self._read(cell.corpus)
        with measured() as cost:
            model, labels, confidences = _fit(cell, votes)
        found = _label_scores(votes, labels, confidences, model)
        if cell.corpus.startswith("crowd"):
            found |= self._split_scores(votes, labels) | self._tagger_scores(model)
        extra: dict[str, Any] = {}
        if isinstance(model, VoteTagger):
            found |= _ranking_scores(votes, labels, model)
            found |= {"reliability_spearman": _reliability(votes, model)}
            extra = {"temperature": model.temperature_, "history": model.history_}
        return {
            "scores": rounded({name: value for name, value in found.items()}),
            **extra,
            "versions": versions("crowd-kit", "cleanlab"),
            "time": cost,
        }

    def _read(self, corpus: str) -> VoteCorpus:
        if self.data is None:
            raise InputError("votes need the corpora; name their folder with --data.")
        name, _, part = corpus.partition("-")
        if name == "ncbi":
            path = self.data / "weak_ncbi" / f"{part}.tsv"
            return read_votes(path, columns="2:18", gold=-1, o_means="abstain")
        path = self.data / "crowd_ner" / "train.tsv"
        votes = read_votes(path, columns="2:48", gold=-1)
        return votes.without(ODD) if part else votes

    def _split_scores(
        self, votes: VoteCorpus, labels: list[list[str]]
    ) -> dict[str, float]:
        """Span F1 on the sentences that papers report on (`train_docs.tsv`)."""
        assert self.data is not None
        path = self.data / "crowd_ner" / "train_docs.tsv"
        with open(path, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t"))
        found = {}
        for part in sorted({row["nguyen2017_split"] for row in rows}):
            kept = [k for k, row in enumerate(rows) if row["nguyen2017_split"] == part]
            gold = votes.gold or []
            scores = span_scores(
                [gold[k] for k in kept], [labels[k] for k in kept], scheme=votes.scheme
            )
            found[f"span_f1_{part}"] = scores.f1
        return found

    def _tagger_scores(self, model: Any) -> dict[str, float]:
        """Span F1 of the tagger on text that nobody voted on."""
        assert self.data is not None
        found = {}
        for part in ("dev", "test"):
            corpus = read_conll(self.data / "conll2003" / f"{part}.conll")
            words = [[(row[0],) for row in sentence] for sentence in corpus.rows]
            scores = span_scores(
                corpus.labels, model.predict(words), scheme=corpus.scheme
            )
            found[f"tagger_{part}"] = scores.f1
        return found

    def report(self, found: Mapping[str, Record]) -> Report:
        """Labels, taggers and costs of every cell."""
        from experiments.tables import page, table

        head = (
            "corpus", "method", "labels: span F1|.1f|100", "precision|.1f|100",
            "recall|.1f|100", "log-loss|.3f", "ECE %|.2f|100", "tagger dev|.1f|100",
            "tagger test|.1f|100", "wrong in the first 5 %|.0f|100",
            "reliabilities, ρ|.2f", "minutes|.1f", "peak MiB|.0f",
        )  # fmt: skip
        return page(
            "From votes to labels",
            found,
            [table(head, _rows(self.cells(), found))],
            "No gold label is seen by any method. Those that only count votes leave "
            "the text to their tagger, a CRF on their labels.",
        )


def _fit(
    cell: VoteCell, votes: VoteCorpus
) -> tuple[Any, list[list[str]], list[FloatArray] | None]:
    """Labels of the training text, their probabilities, and the fitted tagger."""
    about: dict[str, Any] = {"scheme": votes.scheme, "random_state": 0}
    if cell.vectors:
        encoder = ContextualEncoder.packaged(layer=4)
        about["features"] = SequenceVectorizer(encoder=encoder, min_count=2)
    if cell.method in CROWD_KIT:
        labels = _crowd_kit(CROWD_KIT[cell.method], votes)
        return CRF(**about).fit(votes.rows, labels), labels, None
    name, _, ablation = cell.method.partition("/")
    if name == "union":
        about["labels"] = tuple(votes.label_set)
        model = METHODS[name](**about).fit(votes.rows, votes.candidates().candidates)
    else:
        model = METHODS[name](**about, **ABLATIONS.get(ablation, {}))
        model.fit(votes.rows, votes)
    return model, model.recovered_, model.confidences_


def _crowd_kit(name: str, votes: VoteCorpus) -> list[list[str]]:
    """Labels by an aggregator of crowd-kit; who abstains has no vote."""
    import crowdkit.aggregation
    import pandas as pd

    silent = set(votes.abstaining)
    rows = [
        (n, who, label)
        for n, token in enumerate(
            token for sentence in votes.votes for token in sentence
        )
        for who, label in zip(votes.annotators, token, strict=True)
        if label is not None and not (who in silent and label == "O")
    ]
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    found = dict(getattr(crowdkit.aggregation, name)().fit_predict(table))
    labels, n = [], 0
    for sentence in votes.votes:
        labels.append([str(found.get(k, "O")) for k in range(n, n + len(sentence))])
        n += len(sentence)
    return labels


def _label_scores(
    votes: VoteCorpus,
    labels: list[list[str]],
    confidences: list[FloatArray] | None,
    model: Any,
) -> dict[str, float]:
    """Labels of the training text against gold."""
    scores = evaluate(
        votes.gold or [],
        labels,
        scheme=votes.scheme,
        marginals=confidences,
        classes=None if confidences is None else model.classes_,
        unknown="wrong",
    )
    spans = scores.spans.micro
    return scores.headline() | {"precision": spans.precision, "recall": spans.recall}


def _ranking_scores(
    votes: VoteCorpus, labels: list[list[str]], model: VoteTagger
) -> dict[str, float]:
    """Share of the wrong labels among the first twentieth of all tokens."""
    from cleanlab.token_classification.rank import get_label_quality_scores

    column = {name: k for k, name in enumerate(model.classes_)}
    given = [[column[name] for name in row] for row in labels]
    pairs = zip(labels, votes.gold or [], strict=True)
    wrong = np.array(
        [a != b for row, gold in pairs for a, b in zip(row, gold, strict=True)]
    )  # [N]
    _, per_token = get_label_quality_scores(given, model.text_)
    cleanlab = np.concatenate([np.asarray(scores) for scores in per_token])  # [N]
    begins = np.cumsum([0, *map(len, labels)])  # [S + 1]
    ours = np.empty(len(wrong))  # [N]
    for place, look in enumerate(model.looks("token")):
        ours[begins[look.sentence] + look.start] = place
    return {
        "found_first": _share_first(wrong, ours),
        "found_first_entropy": _share_first(wrong, -_entropy(votes)),
        "found_first_cleanlab": _share_first(wrong, cleanlab),
    }


def _share_first(wrong: Any, sure: FloatArray, share: float = 0.05) -> float:
    first = np.argsort(sure, kind="stable")[: int(share * len(sure))]
    return float(wrong[first].sum() / max(wrong.sum(), 1))


def _entropy(votes: VoteCorpus) -> FloatArray:
    """Entropy of the votes on every token, [N]."""
    found = []
    for sentence in votes.votes:
        for token in sentence:
            _, counts = np.unique(
                [str(v) for v in token if v is not None], return_counts=True
            )
            p = counts / max(counts.sum(), 1)
            found.append(float(-(p * np.log(p)).sum()))
    return np.array(found)  # [N]


def _reliability(votes: VoteCorpus, model: VoteTagger, least: int = 100) -> float:
    """Rank correlation of reliabilities with span F1 against gold, of the busy ones."""
    from scipy.stats import spearmanr

    gold = votes.gold or []
    pairs = []
    for a, annotator in enumerate(model.annotators_):
        seen = [
            s
            for s, sentence in enumerate(votes.votes)
            if all(token[a] is not None for token in sentence)
        ]
        if len(seen) >= least:
            own = [[str(token[a]) for token in votes.votes[s]] for s in seen]
            scores = span_scores([gold[s] for s in seen], own, scheme=votes.scheme)
            pairs.append((annotator.reliability, scores.f1))
    return (
        float(spearmanr(*zip(*pairs, strict=True)).statistic)
        if len(pairs) > 2
        else float("nan")
    )


def _rows(
    cells: list[VoteCell], found: Mapping[str, Record]
) -> Iterator[tuple[Any, ...]]:
    names = (
        "span_f1",
        "precision",
        "recall",
        "nll",
        "ece",
        "tagger_dev",
        "tagger_test",
        "found_first",
        "reliability_spearman",
    )
    for cell in cells:
        record = found.get(cell.key, {})
        if "scores" in record:
            scores, time = record["scores"], record["time"]
            method = cell.method + (" + vectors" if cell.vectors else "")
            yield (
                cell.corpus,
                method,
                *(scores.get(name) for name in names),
                time["total"] / 60,
                time.get("peak_mib"),
            )


EXPERIMENT = Votes
