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
import itertools
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import spearmanr

from experiments.experiment import Experiment
from experiments.fitting import rounded
from experiments.measuring import measured, versions
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.features import ContextualEncoder, SequenceVectorizer
from tagsift.io import read_columns
from tagsift.metrics import evaluate, span_scores
from tagsift.typing import FloatArray

Labels: TypeAlias = list[list[str]]
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
#: New text for the taggers of crowd NER.
TAGGED = ("conll2003/dev.conll", "conll2003/test.conll")
#: What VoteTagger loses without one of its parts.
ABLATIONS: dict[str, dict[str, Any]] = {
    "one-round": {"rounds": 1},
    "two-rounds": {"rounds": 2},
    "no-context": {"context": False},
    "no-tempering": {"temper": 1.0},
    "no-cross-fitting": {"folds": 1},
}


#: Column → what it shows of a record.
COLUMNS = {
    "labels: span F1|.1f|100": "scores.span_f1",
    "precision|.1f|100": "scores.precision",
    "recall|.1f|100": "scores.recall",
    "log-loss|.3f": "scores.nll",
    "ECE %|.2f|100": "scores.ece",
    "tagger dev|.1f|100": "scores.tagger_dev",
    "tagger test|.1f|100": "scores.tagger_test",
    "wrong in the first 5 %|.0f|100": "scores.found_first",
    "reliabilities, ρ|.2f": "scores.reliability_spearman",
    "minutes|.1f": "time.total",
    "peak MiB|.0f": "time.peak_mib",
}


@dataclass(frozen=True)
class VoteCell:
    """One method on one corpus of votes."""

    corpus: str  # crowd, crowd-43, ncbi-train or ncbi-test
    method: str  # who turns votes into labels; with vote-tagger/… an ablation
    vectors: bool = False  # whether word vectors stand beside the sparse features

    @property
    def key(self) -> str:
        return f"{self.corpus}/{self.method}{'+vectors' * self.vectors}"


class Votes(Experiment):
    """All methods on all corpora of votes."""

    name = "votes"
    title = "From votes to labels"
    summary = (
        "No gold label is seen by any method. Those that only count votes leave the "
        "text to their tagger, a CRF on their labels."
    )
    separate = True
    needs_corpora = True

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
        plain = [VoteCell(key, name) for key, names in wanted.items() for name in names]
        return list(dict.fromkeys([VoteCell("crowd", "vote-tagger", True), *plain]))

    def files(self, cell: VoteCell) -> tuple[str, ...]:
        name, _, part = cell.corpus.partition("-")
        if name == "ncbi":
            return (f"weak_ncbi/{part}.tsv",)
        return ("crowd_ner/train.tsv", "crowd_ner/train_docs.tsv", *TAGGED)

    def run(self, cell: VoteCell) -> dict[str, Any]:
        """Turn the votes into labels, fit the tagger, and score both."""
        assert self.data is not None
        votes = _read(self.data, cell.corpus)
        with measured() as cost:
            model, labels, confidences = _fit(cell, votes)
        found = _label_scores(votes, labels, confidences, model)
        if cell.corpus.startswith("crowd"):
            found |= _split_scores(self.data, votes, labels)
            found |= _tagger_scores(self.data, model)
        extra: dict[str, Any] = {}
        if isinstance(model, VoteTagger):
            found |= _ranking_scores(votes, labels, model)
            found |= {"reliability_spearman": _reliability(votes, model)}
            extra = {
                "temperature": model.vote_weight_,
                "calm": round(model.temperature_, 4),
            }
            extra |= {"history": model.history_}
        about = {"versions": versions("crowd-kit", "cleanlab"), "time": cost}
        return {"scores": rounded(found), **extra, **about}

    def tables(self, found: Found) -> Tables:
        rows = []
        for cell, record in self.finished(found):
            method = cell.method + " + vectors" * cell.vectors
            *scores, seconds, memory = pick(record, *COLUMNS.values())
            rows.append((cell.corpus, method, *scores, seconds / 60, memory))
        yield table(("corpus", "method", *COLUMNS), rows)


def _read(data: Path, corpus: str) -> Corpus:
    name, _, part = corpus.partition("-")
    if name == "ncbi":
        path = data / "weak_ncbi" / f"{part}.tsv"
        votes = read_columns(path, votes="2:18", gold=-1)
        quiet = (replace(one, abstains=True) for one in votes.annotators)
        return replace(votes, annotators=tuple(quiet))
    votes = read_columns(data / "crowd_ner" / "train.tsv", votes="2:48", gold=-1)
    people = [one.name for one in votes.annotators]
    return votes.select(annotators=set(people) - set(ODD)) if part else votes


def _fit(cell: VoteCell, votes: Corpus) -> tuple[Any, Labels, list[FloatArray] | None]:
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
        model = METHODS[name](**about).fit(votes.union())
    else:
        model = METHODS[name](**about, **ABLATIONS.get(ablation, {})).fit(votes)
    return model, model.transduction_, model.confidences_


def _crowd_kit(name: str, votes: Corpus) -> Labels:
    """Labels by an aggregator of crowd-kit; who abstains has no vote."""
    import crowdkit.aggregation
    import pandas as pd

    task, who, code = votes.with_votes(votes.speaks).votes  # [K] each
    names = np.array([one.name for one in votes.annotators], dtype=object)
    label = np.array(votes.meanings, dtype=object)[code]  # [K]
    said = pd.DataFrame({"task": task, "worker": names[who], "label": label})
    found = dict(getattr(crowdkit.aggregation, name)().fit_predict(said))
    labels = [str(found.get(n, "O")) for n in range(votes.n_tokens)]
    return split_at(labels, votes.bounds)


# Scores -------------------------------------------------------------------------


def _label_scores(
    votes: Corpus, labels: Labels, confidences: list[FloatArray] | None, model: Any
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


def _split_scores(data: Path, votes: Corpus, labels: Labels) -> dict[str, float]:
    """Span F1 on the sentences that papers report on (`train_docs.tsv`)."""
    path = data / "crowd_ner" / "train_docs.tsv"
    with open(path, encoding="utf-8", newline="") as stream:
        parts = [
            row["nguyen2017_split"] for row in csv.DictReader(stream, delimiter="\t")
        ]
    found, gold = {}, votes.gold or []
    for part in sorted(set(parts)):
        kept = [k for k, one in enumerate(parts) if one == part]
        sides = [gold[k] for k in kept], [labels[k] for k in kept]
        found[f"span_f1_{part}"] = span_scores(*sides, scheme=votes.scheme).f1
    return found


def _tagger_scores(data: Path, model: Any) -> dict[str, float]:
    """Span F1 of the tagger on text that nobody voted on."""
    found = {}
    for file in TAGGED:
        corpus = read_columns(data / file).with_columns(1)
        sides = corpus.labels, model.predict(corpus.rows)
        f1 = span_scores(*sides, scheme=corpus.scheme).f1
        found[f"tagger_{Path(file).stem}"] = f1
    return found


def _ranking_scores(
    votes: Corpus, labels: Labels, model: VoteTagger
) -> dict[str, float]:
    """Share of the wrong labels among the first twentieth of all tokens."""
    from cleanlab.token_classification.rank import get_label_quality_scores

    column = {name: k for k, name in enumerate(model.classes_)}
    given = [[column[name] for name in row] for row in labels]
    both = zip(
        itertools.chain(*labels), itertools.chain(*votes.gold or []), strict=True
    )
    wrong = np.array([label != gold for label, gold in both])  # [N]
    _, per_token = get_label_quality_scores(given, model.text_marginals_)
    cleanlab = np.concatenate([np.asarray(scores) for scores in per_token])  # [N]
    begins = np.cumsum([0, *map(len, labels)])  # [S + 1]
    ours = np.empty(len(wrong))  # [N]
    for place, look in enumerate(model.looks("token")):
        ours[begins[look.sentence] + look.start] = place

    def share_first(sure: FloatArray) -> float:
        first = np.argsort(sure, kind="stable")[: int(0.05 * len(sure))]
        return float(wrong[first].sum() / max(wrong.sum(), 1))

    return {
        "found_first": share_first(ours),
        "found_first_entropy": share_first(-_entropy(votes)),
        "found_first_cleanlab": share_first(cleanlab),
    }


def _entropy(votes: Corpus) -> FloatArray:
    """Entropy of the votes on every token, [N]."""
    ends = np.searchsorted(votes.votes.token, np.arange(1, votes.n_tokens))
    found = []
    for said in np.split(votes.votes.code, ends):
        p = np.unique(said, return_counts=True)[1] / max(len(said), 1)
        found.append(float(-(p * np.log(p)).sum()))
    return np.array(found)  # [N]


def _reliability(votes: Corpus, model: VoteTagger, least: int = 100) -> float:
    """Rank correlation of reliabilities with span F1 against gold, of the busy ones."""
    gold, pairs = votes.gold or [], []
    said = [sentence.votes for sentence in votes]
    for annotator in model.annotators_:
        own = {s: row.get(annotator.name, [None]) for s, row in enumerate(said)}
        whole = {s: list(map(str, row)) for s, row in own.items() if None not in row}
        if len(whole) >= least:
            truth = [gold[s] for s in whole]
            scores = span_scores(truth, list(whole.values()), scheme=votes.scheme)
            pairs.append((annotator.reliability, scores.f1))
    if len(pairs) < 3:
        return float("nan")
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


EXPERIMENT = Votes
