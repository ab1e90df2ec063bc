"""Cross-validation: scikit-learn's with gold labels, a short loop with candidates."""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import tagsift

corpus = tagsift.bundled("chunk")[:60]
folds = KFold(3, shuffle=True, random_state=0)

crf = tagsift.make("crf", random_state=0)
scores = cross_val_score(crf, corpus.rows, corpus.labels, cv=folds)
print(f"crf, gold labels        {scores.mean():.2f}")

search = GridSearchCV(crf, {"l2": [0.1, 10.0]}, cv=folds)
search.fit(corpus.rows, corpus.labels)
print(f"best of the grid        {search.best_params_}")

# Learn from candidate sets, but score by the truth, which no fit sees.
found = []
for learn, test in folds.split(corpus.rows):
    partial = tagsift.corrupt(corpus.take(learn), cl=3, p=0.1, random_state=0)
    held_out = corpus.take(test)
    model = tagsift.make("partial-crf", random_state=0)
    model.fit(partial.rows, partial.candidates)
    found.append(model.score(held_out.rows, held_out.labels))
print(f"partial-crf, candidates {np.mean(found):.2f}")
