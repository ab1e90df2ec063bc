"""Draw docs/figures/looks.svg from experiments/records/looks.jsonl.

python docs/figures/looks.py
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RECORDS = HERE.parents[1] / "experiments" / "records" / "looks.jsonl"
TITLES = {
    "crowd": "Crowd NER, votes",
    "base-np": "Base NP, candidate sets",
    "ner": "NER, candidate sets",
}
STYLES = {
    "tagsift": ("tagsift review", "#0d8a7f", "-"),
    "entropy": ("entropy of votes or sets", "#c2701c", "--"),
    "spans": ("random spans", "#808890", ":"),
}
GREEN = STYLES["tagsift"][1]
INK = "#7a828a"  # reads on white and on black

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "looks",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
)


def draw_outlook(panel, steps) -> None:
    """Draw what is left, as the page expects it and as it is."""
    x = [step["looks"] for step in steps]
    low, high = zip(*(step["outlook"]["left_range"] for step in steps), strict=True)
    expected = [step["outlook"]["left"] for step in steps]
    panel.fill_between(x, low, high, color=GREEN, alpha=0.18, lw=0)
    panel.plot(x, expected, "-", color=GREEN, lw=2, label="expected, and its range")
    truly = [step["truly"] for step in steps]
    panel.plot(x, truly, "o", color=INK, ms=5, label="in truth")
    panel.set_ylim(bottom=0)


def main() -> None:
    """Draw two panels a corpus: what looks bring, and what is said to be left."""
    records = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    steps = {
        (one["config"]["corpus"], one["config"]["order"]): one["steps"]
        for one in records
    }
    figure, panels = plt.subplots(2, 3, figsize=(9.6, 5.8), layout="constrained")
    for (above, below), (corpus, title) in zip(panels.T, TITLES.items(), strict=True):
        for order, (name, colour, dash) in STYLES.items():
            x = [step["looks"] for step in steps[corpus, order]]
            y = [100 * step["span_f1"] for step in steps[corpus, order]]
            above.plot(x, y, dash, color=colour, lw=2, marker="o", ms=4, label=name)
        above.set_title(title, fontsize=10)
        draw_outlook(below, steps[corpus, "tagsift"])
        for panel in (above, below):
            panel.set_xlabel("looks")
            panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("span F1 of the labels")
    panels[0, 0].legend(frameon=False, loc="upper left", fontsize=9)
    panels[1, 0].set_ylabel("wrong spans and tokens left")
    panels[1, 0].legend(frameon=False, loc="lower left", fontsize=9)
    figure.savefig(
        HERE / "looks.svg", transparent=True, metadata={"Date": None, "Creator": None}
    )


if __name__ == "__main__":
    main()
