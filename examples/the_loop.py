"""Check what is most doubtful, give the answers back, and see the labels improve."""

from itertools import chain, islice

import tagsift
from tagsift.data import simulate_votes

votes = simulate_votes(tagsift.bundled("ner")[:60])
tagger = tagsift.VoteTagger(random_state=0).fit(votes)
known = [[None] * len(sentence) for sentence in votes.rows]


def wrong_labels() -> int:
    """Count the training tokens whose label is not the truth."""
    pairs = zip(chain(*votes.gold), chain(*tagger.transduction_), strict=True)
    return sum(truth != label for truth, label in pairs)


print(f"no looks:   {wrong_labels()} wrong labels")
for look in islice(tagger.looks("span"), 30):
    # A person would answer; here the truth does.
    place = slice(look.start, look.end)
    known[look.sentence][place] = votes.gold[look.sentence][place]
tagger.update(votes.with_exact(known))
print(f"30 looks:   {wrong_labels()} wrong labels")
