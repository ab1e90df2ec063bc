"""Cross-validation with scikit-learn: by gold labels, and by candidate sets alone."""

import sklearn
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import tagsift

corpus = tagsift.bundled("chunk")[:60]
folds = KFold(3, shuffle=True, random_state=0)

crf = tagsift.make("crf", random_state=0)
scores = cross_val_score(crf, corpus.rows, corpus.labels, cv=folds)
print(f"crf, gold labels                {scores.mean():.2f}")

# Candidate sets: choose a setting by how likely the held-out sets are.
partial = tagsift.corrupt(corpus, cl=3, p=0.1, random_state=0)
model = tagsift.make("partial-crf", random_state=0)
likely = tagsift.Scorer("likelihood")
search = GridSearchCV(model, {"l2": [0.1, 10.0]}, scoring=likely, cv=folds)
search.fit(partial.rows, partial.candidates)
print(f"chosen by held-out sets         {search.best_params_}")

# Learn from candidate sets, but score by the truth, which no fit sees.
with sklearn.config_context(enable_metadata_routing=True):
    by_gold = tagsift.Scorer("span_f1").set_score_request(gold=True)
    scores = cross_val_score(
        search.best_estimator_,
        partial.rows,
        partial.candidates,
        scoring=by_gold,
        cv=folds,
        params={"gold": partial.gold},
    )
print(f"partial-crf, span F1 by gold    {scores.mean():.2f}")
