"""Five annotators disagree: clean labels, a tagger, who is reliable, what to check."""

import tagsift
from tagsift.data import simulate_votes

corpus = tagsift.bundled("ner")  # synthetic newswire, in which the truth is known
votes = simulate_votes(corpus[:80])  # two decent people, two bad ones, a dictionary
test = corpus[300:]

tagger = tagsift.VoteTagger(random_state=0).fit(votes)
usual = tagsift.MajorityVote(random_state=0).fit(votes)


def span_f1(model: tagsift.SequenceTagger) -> float:
    """Score the labels of the training text."""
    return tagsift.metrics.evaluate(votes.gold, model.transduction_).span_f1


print("span F1         labels  new text")
for name, model in (("majority vote", usual), ("VoteTagger", tagger)):
    new = model.score(test.rows, test.labels)
    print(f"{name:<15} {span_f1(model):.2f}    {new:.2f}")

print("\nwho             reliability")
for person in tagger.annotators_:
    print(f"{person.name:<15} {person.reliability:.2f}")

look = next(tagger.looks("span"))  # what a second look pays for most
words = " ".join(votes.tokens[look.sentence][look.start : look.end])
print(f"\nlook first at {words!r}: {look.label}, {look.reason}")
