"""Labels of new sentences: what single precision changes, and what the scheme bans."""

from __future__ import annotations

import pytest

from tagsift.data import allowed_transitions, corrupt, generate
from tagsift.metrics import span_scores
from tagsift.sgppsl import SGPPSL, posterior
from tests.reference.comparing import all_close

DECODERS = ("weighted", "viterbi", "argmax", "log", "log-weighted")
#: Quick: nothing is learnt about the kernel.
FIXED = {"hyperparameters": "fixed"}


def test_factors_in_single_precision_give_the_same_labels(monkeypatch):
    corpus = generate(60, random_state=3)
    partial = corrupt(corpus[:30], cl=3, p=0.1, random_state=0)
    double = SGPPSL(**FIXED).fit(partial.rows, partial.candidates)
    monkeypatch.setattr(posterior, "SINGLE", 10)
    single = SGPPSL(**FIXED).fit(partial.rows, partial.candidates)
    new, gold = corpus[30:].rows, corpus[30:].labels
    for decoder in DECODERS:
        scores = [
            span_scores(gold, m.set_params(decoder=decoder).predict(new)).f1
            for m in (double, single)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=0.005), decoder
    all_close(double.predict_proba(new), single.predict_proba(new), atol=0.01)


def test_the_log_weighted_decoder_stays_within_the_scheme():
    corpus = generate(40, random_state=4)
    partial = corrupt(corpus[:10], cl=3, p=0.1, random_state=0)
    model = SGPPSL(decoder="log-weighted", **FIXED).fit(
        partial.rows, partial.candidates
    )
    names = [str(name) for name in model.classes_]
    follows, first, _ = allowed_transitions(names, model.scheme_)

    def broken(labels):
        rows = [[names.index(name) for name in sentence] for sentence in labels]
        return sum(
            (not first[row[0]]) + int((~follows[row[:-1], row[1:]]).sum())
            for row in rows
        )

    assert broken(model.predict(corpus[10:].rows)) == 0
    free = model.set_params(constraints="none").predict(corpus[10:].rows)
    assert broken(free) > 0
