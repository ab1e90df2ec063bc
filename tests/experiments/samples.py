"""Hand-made records, and a suite small enough for a few seconds."""

from __future__ import annotations

from experiments.records import Record

TINY = """
folds = 2
cl = [2]
p = [0.1, 0.9]
r = [0.75]

[tasks]
ner = 12

[methods.word-counts]

[methods.wknn]
decoders = []

[methods.crf]
params = { max_iter = 3 }
"""


def timeless(record: Record) -> Record:
    """Return a record without what differs from run to run."""
    return {name: value for name, value in record.items() if name != "time"}


def record(
    method: str,
    f1: float,
    *,
    task: str = "base-np",
    cl: int | None = 3,
    p: float | None = 0.1,
    r: float | None = None,
    fold: int = 0,
    subset: str = "head",
    recovery: float | None = None,
    decoders: dict[str, float] | None = None,
) -> Record:
    """Make a record in which all F1 are the same."""

    def scores(value: float) -> dict[str, float]:
        names = ("span_f1", "token_weighted_f1", "token_macro_f1")
        return dict.fromkeys(names, value)

    setting = "gold" if p is None else f"{f'r{r}' if r else f'cl{cl}'}-p{p}"
    made: Record = {
        "key": f"{task}/{method}/{setting}-f{fold}-{subset}",
        "config": {
            "task": task,
            "method": method,
            "cl": cl,
            "p": p,
            "r": r,
            "fold": fold,
            "seed": 0,
            "subset": subset,
            "watch": "",
            "corpus": "conll",
        },
        "scores": scores(f1),
        "time": {"fit": 1.0},
    }
    if recovery is not None:
        made["recovery"] = {"ambiguous": recovery}
    if decoders is not None:
        made["decoders"] = {name: scores(value) for name, value in decoders.items()}
    return made
