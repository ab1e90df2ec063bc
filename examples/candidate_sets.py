"""Every token has up to three candidate labels: find the true one, and fit a tagger."""

import tagsift

corpus = tagsift.bundled("chunk")
partial = tagsift.corrupt(corpus[:40], cl=3, p=0.1, random_state=0)
test = corpus[300:360]

print("method        recovery  span F1 on new text")
for name in ("chain-gp", "partial-crf", "pl-aggd", "word-counts"):
    model = tagsift.make(name, random_state=0).fit(partial)
    found = tagsift.metrics.recovery(
        partial.gold, model.transduction_, partial.candidates
    )
    span_f1 = model.score(test.rows, test.labels)
    print(f"{name:<13} {found.ambiguous:.2f}      {span_f1:.2f}")
