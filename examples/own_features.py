"""A feature function of your own: plain dicts, here with a list of known names."""

import tagsift

CITIES = {"Amsterdam", "Berlin", "Cairo", "Jordan", "London", "Paris", "Rome"}


def features(sentence):
    """Describe every token by a dict; numbers and strings may be mixed."""
    words = [row[0] for row in sentence]
    padded = ["<s>", *words, "</s>"]
    return [
        {
            "word": word.lower(),
            "suffix": word[-3:],
            "capital": word[:1].isupper(),
            "before": padded[i].lower(),
            "after": padded[i + 2].lower(),
            "city": word in CITIES,
        }
        for i, word in enumerate(words)
    ]


corpus = tagsift.bundled("ner")
partial = tagsift.corrupt(corpus[:100], cl=3, p=0.2, random_state=0)
test = corpus[300:]
print("features  columns  span F1 on new text")
for name, given in (("built in", None), ("own", features)):
    model = tagsift.make("partial-crf", features=given, random_state=0)
    model.fit(partial)
    span_f1 = model.score(test.rows, test.labels)
    print(f"{name:<9} {model.n_features_in_:>5}    {span_f1:.2f}")
