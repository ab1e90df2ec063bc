"""Three models and two people: merge their answers, and see what each is worth."""

import tagsift
from tagsift.data import SimulatedAnnotator, simulate_votes
from tagsift.data.corpus import Corpus

corpus = tagsift.bundled("ner")
text = corpus[:80]
people = [
    SimulatedAnnotator(name="ann", labels=0.6, misses=0.1),
    SimulatedAnnotator(name="bob", labels=0.6, misses=0.3, shifts=0.1),
]
asked = simulate_votes(text, people)

answers = {}  # of models that were trained elsewhere, each on little
for part, name in enumerate(["partial-crf", "wknn", "word-counts"], 3):
    seen = corpus[100 * part : 100 * part + 40]
    answers[name] = tagsift.make(name).fit(seen.rows, seen.labels).predict(text.rows)

votes = {who.name: [row.votes.get(who.name) for row in asked] for who in people}
merged = Corpus.from_lists(text.rows, votes=votes | answers, scheme=text.scheme)
tagger = tagsift.VoteTagger(random_state=0).fit(merged)

print("span F1 of labels")
for name, labels in answers.items():
    print(f"{name:<12} {tagsift.metrics.evaluate(text.labels, labels).span_f1:.2f}")
together = tagsift.metrics.evaluate(text.labels, tagger.transduction_).span_f1
print(f"{'all together':<12} {together:.2f}")
