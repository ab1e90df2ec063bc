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
    "tagsift": ("tagsift", "#0d8a7f", "-"),
    "entropy": ("entropy of votes or sets", "#c2701c", "--"),
    "random": ("random order", "#808890", ":"),
}
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


def main() -> None:
    """Draw one panel a corpus."""
    records = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    steps = {
        (one["config"]["corpus"], one["config"]["order"]): one["steps"]
        for one in records
    }
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained")
    for panel, (corpus, title) in zip(panels, TITLES.items(), strict=True):
        for order, (name, colour, dash) in STYLES.items():
            x = [step["looks"] for step in steps[corpus, order]]
            y = [step["wrong"] for step in steps[corpus, order]]
            panel.plot(x, y, dash, color=colour, lw=2, marker="o", ms=4, label=name)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("looks")
        panel.set_ylim(bottom=0)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("wrong labels left")
    panels[0].legend(frameon=False, loc="lower left")
    figure.savefig(
        HERE / "looks.svg", transparent=True, metadata={"Date": None, "Creator": None}
    )


if __name__ == "__main__":
    main()
