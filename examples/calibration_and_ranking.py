"""How honest the probabilities are, and how many errors the ranking puts first."""

from itertools import chain

import numpy as np

import tagsift
from tagsift.metrics import entropy, evaluate, rank_tokens

corpus = tagsift.bundled("chunk")
partial = tagsift.corrupt(corpus[:40], cl=3, p=0.1, random_state=0)
test = corpus[300:360]
model = tagsift.ChainGP(random_state=0).fit(partial)

marginals = model.predict_proba(test.rows)  # a list of [T, L]
scores = evaluate(
    test.labels,
    model.predict(test.rows),
    marginals=marginals,
    classes=model.classes_,
    unknown="wrong",
)
print(f"calibration error {scores.calibration.ece:.3f}")
print(f"log loss          {scores.calibration.nll:.2f}")

pairs = zip(chain(*test.labels), chain(*model.predict(test.rows)), strict=True)
wrong = np.array([truth != label for truth, label in pairs])
order = rank_tokens(entropy(np.concatenate(marginals)))
tenth = len(order) // 10
print(f"errors in all      {wrong.mean():.2f} of the tokens")
print(f"in the first tenth {wrong[order[:tenth]].mean():.2f} of the tokens")

model.calibrate_sets(corpus[200:260].rows, corpus[200:260].labels)
sets = model.predict_sets(test.rows, alpha=0.1)  # hold the truth nine times in ten
pairs = zip(chain(*test.labels), chain(*sets), strict=True)
inside = [truth in labels for truth, labels in pairs]
print(f"truth in the set   {np.mean(inside):.2f} of the tokens")
