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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.aggregators import AGGREGATORS
from experiments.experiment import Experiment
from experiments.fitting import rounded
from experiments.measuring import measured, versions
from experiments.records import Found, pick
from experiments.tables import Tables, table
from experiments.vote_scores import f1_of, rankings, score, tallies
from experiments.vote_sets import SETS, abstracts
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.cleaned import Cleaned, clean
from tagsift.cleaned.cleaning import cleaned_by
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at
from tagsift.features import ContextualEncoder, SequenceVectorizer
from tagsift.io import read
from tagsift.metrics import span_scores

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
#: Aggregators of another package; their tagger is a CRF.
CROWD_KIT = [name for name in AGGREGATORS if name.startswith("crowd-kit")]
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
CORPORA = {
    "crowd": SETS["crowd"],
    "crowd-43": SETS["crowd-43"],
    "ncbi-train": abstracts("train"),
    "ncbi-test": SETS["ncbi-test"],
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

    corpus: str  # one of CORPORA
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
        ablations = [f"vote-tagger/{name}" for name in ABLATIONS]
        wanted = {
            "crowd": ("vote-tagger", *METHODS, *CROWD_KIT, *ablations),
            "crowd-43": ("majority", "dawid-skene", "vote-tagger"),
            "ncbi-train": ("vote-tagger", *METHODS, *CROWD_KIT),
            "ncbi-test": ("vote-tagger", *METHODS),
        }
        plain = [VoteCell(key, name) for key, names in wanted.items() for name in names]
        return list(dict.fromkeys([VoteCell("crowd", "vote-tagger", True), *plain]))

    def files(self, cell: VoteCell) -> tuple[str, ...]:
        more = ("crowd_ner/train_docs.tsv", *TAGGED)
        own = CORPORA[cell.corpus].file
        return (own, *more) if cell.corpus.startswith("crowd") else (own,)

    def run(self, cell: VoteCell) -> dict[str, Any]:
        """Turn the votes into labels, fit the tagger, and score both."""
        assert self.data is not None
        votes = CORPORA[cell.corpus].read(self.data)
        with measured() as cost:
            cleaned = _cleaned(cell, votes)
        model, votes = cleaned.tagger, cleaned.corpus
        found = score(votes, cleaned.codes, cleaned.marginals)
        if cell.corpus.startswith("crowd"):
            found |= _split_scores(self.data, cleaned)
            found |= _tagger_scores(self.data, model)
        extra: dict[str, Any] = {}
        if isinstance(model, VoteTagger):
            order = rankings(cleaned)
            for name, by in (("", "tagsift"), ("_cleanlab", "cleanlab, text")):
                found[f"found_first{name}"] = order[by]["first_0.05"]
            found["found_first_entropy"] = order["entropy of votes"]["first_0.05"]
            found["reliability_spearman"] = _reliability(votes, model)
            extra = {
                "ranking": order,
                "temperature": model.vote_weight_,
                "calm": round(model.temperature_, 4),
                "history": model.history_,
            }
        about = {"versions": versions("crowd-kit", "cleanlab"), "time": cost}
        return {"scores": rounded(found), **extra, **about}

    def tables(self, found: Found) -> Tables:
        rows = []
        for cell, record in self.finished(found):
            method = cell.method + " + vectors" * cell.vectors
            *scores, seconds, memory = pick(record, *COLUMNS.values())
            rows.append((cell.corpus, method, *scores, seconds / 60, memory))
        yield table(("corpus", "method", *COLUMNS), rows)


def _cleaned(cell: VoteCell, votes: Corpus) -> Cleaned:
    """Labels of the training text, and a tagger fitted on them."""
    about: dict[str, Any] = {"scheme": votes.scheme, "random_state": 0}
    if cell.vectors:
        encoder = ContextualEncoder.packaged(layer=4)
        about["features"] = SequenceVectorizer(encoder=encoder, min_count=2)
    name, _, ablation = cell.method.partition("/")
    if name not in CROWD_KIT:
        model = METHODS[name](**about, **ABLATIONS.get(ablation, {}))
        return clean(votes, model)
    names, codes = votes.label_set.names, AGGREGATORS[name](votes).codes  # [N]
    labels = split_at([names[k] for k in codes.tolist()], votes.bounds)
    return cleaned_by(votes, CRF(**about).fit(votes.rows, labels), labels, None)


# Scores -------------------------------------------------------------------------


def _split_scores(data: Path, cleaned: Cleaned) -> dict[str, float]:
    """Span F1 on the sentences that papers report on (`train_docs.tsv`)."""
    path = data / "crowd_ner" / "train_docs.tsv"
    with open(path, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        parts = np.array([row["nguyen2017_split"] for row in rows])  # [S]
    counts = tallies(cleaned.corpus, cleaned.codes)  # [S, 3]
    return {
        f"span_f1_{part}": float(f1_of(counts[parts == part].sum(axis=0)))
        for part in np.unique(parts)
    }


def _tagger_scores(data: Path, model: Any) -> dict[str, float]:
    """Span F1 of the tagger on text that nobody voted on."""
    found = {}
    for file in TAGGED:
        corpus = read(data / file).with_columns(1)
        sides = corpus.labels, model.predict(corpus.rows)
        f1 = span_scores(*sides, scheme=corpus.scheme).f1
        found[f"tagger_{Path(file).stem}"] = f1
    return found


def _reliability(votes: Corpus, model: VoteTagger, least: int = 100) -> float:
    """Rank correlation of reliabilities with span F1 against gold, of the busy ones."""
    pairs = []
    said = [(sentence.votes, sentence.gold) for sentence in votes]
    for one in model.annotators_:
        own = [(rows.get(one.name), gold) for rows, gold in said]
        whole = [(list(map(str, x)), y) for x, y in own if x and None not in x]
        if len(whole) >= least:
            theirs, truth = zip(*whole, strict=True)
            f1 = span_scores(truth, theirs, scheme=votes.scheme).f1
            pairs.append((one.reliability, f1))
    if len(pairs) < 3:
        return float("nan")
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


EXPERIMENT = Votes
