"""Every plot: words, numbers, and a drawing that fits into a page."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest

from experiments.paper.comparison import _columns, critical_difference_diagram, ranking
from experiments.paper.figures import Band, _spread, figure_5, line_panels
from experiments.paper.results import WATCHED
from tagsift.errors import InputError
from tagsift.metrics import reliability, risk_coverage
from tagsift.report import (
    confusion_plot,
    heat_map,
    reliability_diagram,
    risk_coverage_plot,
    sentence_map,
)
from tagsift.report.calibration import _thin
from tagsift.report.drawing import standalone
from tagsift.report.palette import COLOURS, css_variables, method_styles

METHODS = ["sgppsl", "chain-gp", "partial-crf", "crf", "naive", "clpl", "wknn",
           "pl-ecoc", "pl-svm", "cllp", "paloc", "sure", "pl-aggd"]  # fmt: skip


def probabilities(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet([1.0, 0.5, 0.5], size=n), rng.integers(0, 3, size=n)


def figures():
    table = reliability(*probabilities())
    rng = np.random.default_rng(1)
    curve = risk_coverage(rng.random(900), rng.random(900) < 0.8)
    band = Band.over_folds([0.1, 0.5, 0.9], rng.random((5, 3)))
    rising = np.linspace([1 / 2, 1 / 2], [0.9, 0.1], 8)
    token = {"labels": ["<A&B>", "C"], "evolution": rising, "truth": "C"}
    scores = rng.random((20, len(METHODS)))
    return [
        reliability_diagram(table),
        risk_coverage_plot({"sgppsl": curve}),
        risk_coverage_plot({"sgppsl": curve, "own": curve}),
        figure_5(dict.fromkeys(list(WATCHED)[:2], token)),
        line_panels(
            {f"cl = {cl}": dict.fromkeys(METHODS, band) for cl in (2, 3)},
            title="Figure 6",
            x_label="p",
            y_label="F1",
        ),
        sentence_map(["<i>", "$a$"], np.eye(2), ["A", "B"], predicted=["A", "A"],
                     gold=["A", "B"]),
        confusion_plot([f"L{i}" for i in range(14)], np.eye(14) * 5 + 1),
        heat_map([[1.0, -2.0], [0.5, float("nan")]], "AB", "AB", title="Scores"),
        critical_difference_diagram(ranking(scores, METHODS)),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def drawn():
    return figures()


def test_every_panel_is_themed_xml_with_words(drawn):
    for figure in drawn:
        assert figure.panels
        assert figure.alt
        assert figure.data.rows
        for svg in (*figure.panels, *([figure.legend] if figure.legend else [])):
            root = ElementTree.fromstring(svg)
            assert root.get("role") == "img"
            assert root.get("aria-label")
            assert "#01f0" not in svg  # every stand-in became a variable
            assert "var(--ink" in svg
            assert "<text" in svg  # text stays text
            assert "DejaVu" not in svg
            assert "<image" not in svg
            assert "<style" not in svg  # it would reach the whole page


def test_ids_of_different_panels_differ(drawn):
    seen: set[str] = set()
    for panel in {panel for figure in drawn for panel in figure.panels}:
        ids = [e.get("id") for e in ElementTree.fromstring(panel).iter() if e.get("id")]
        assert len(ids) == len(set(ids))
        assert not seen & set(ids)
        seen.update(ids)


def test_drawings_repeat_and_leave_matplotlib_as_it_was(drawn):
    before = dict(matplotlib.rcParams)
    assert figures() == drawn
    assert dict(matplotlib.rcParams) == before


def test_text_of_the_reader_is_not_rewritten():
    words = ['id="x"', "#01f003", "url(#a)", "font: 1px x", "a\x1bb", "x" * 40]
    labels = ["A", "<!-- B -->"]
    guess, gold = labels * 3, labels[::-1] * 3
    marginals = np.tile([0.6, 0.4], (6, 1))
    figure = sentence_map(words, marginals, labels, predicted=guess, gold=gold)
    texts = [e.text for e in ElementTree.fromstring(figure.panels[0]).iter() if e.text]
    for word in (*words[:4], "a·b", "x" * 17 + "…", "<!-- B -->"):
        assert word in texts


def test_without_matplotlib_there_are_tables(monkeypatch, drawn):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for bare, full in zip(figures(), drawn, strict=True):
        assert not bare.panels
        assert bare.data == full.data
        assert bare.caption == full.caption


def test_standalone_files_carry_both_themes(drawn):
    text = standalone(drawn[0].panels[0])
    root = ElementTree.fromstring(text.encode())
    assert root.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in text
    assert css_variables("dark") in text


def test_reliability_table_by_hand():
    table = reliability([[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]], [0, 1, 1], n_bins=5)
    figure = reliability_diagram(table)
    assert figure.data.texts() == [
        ["0.60–0.80", "2", "70.0", "50.0", "-20.0"],
        ["0.80–1.00", "1", "90.0", "100.0", "+10.0"],
    ]
    assert "16.67 %" in figure.caption


def test_bands_over_folds_by_hand():
    values = [[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]]
    band = Band.over_folds([1, 2, 3], values)
    np.testing.assert_allclose(band.mean, [2.0, 2.0, np.nan])
    np.testing.assert_allclose(band.high, [2 + np.sqrt(2), 2.0, np.nan])
    figure = line_panels(
        {"": {"a": band, "b": Band.over_folds([4], [[7.0]])}},
        title="T",
        x_label="p",
        y_label="F1",
        names={"a": "A"},
    )
    assert figure.data.texts() == [
        ["A", "", "2.0", "2.0", "–", "–"],
        ["b", "", "–", "–", "–", "7.0"],
    ]


def test_sentence_map_keeps_named_labels_and_says_what_it_left_out():
    classes = list("abcdefghijklmno")
    marginals = np.linspace(0.1, 0.01, 15)[None]
    figure = sentence_map(["w"], marginals, classes, predicted=["c"], gold=["o"])
    shown = [column.name for column in figure.data.columns]
    assert shown == ["token", *"abcdefghijk", "o"]
    assert "3 improbable labels are left out" in figure.caption
    unknown = sentence_map(["w"], marginals, classes, predicted=["a"], gold=["new"])
    assert len(unknown.data.columns) == 13


def test_confusion_shows_used_labels_in_percent():
    figure = confusion_plot(["a", "b", "c"], [[3, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert figure.data.texts() == [["a", "75", "25"], ["b", "–", "–"]]


def test_critical_difference_groups_in_the_table():
    scores = np.tile([0.9, 0.8, 0.7, 0.6], (10, 1))
    figure = critical_difference_diagram(
        ranking(scores, ["a", "b", "c", "d"]), names={"a": "Method A"}
    )
    assert figure.data.texts()[:2] == [["Method A", "1.00", "1"], ["b", "2.00", "1, 2"]]
    assert _columns([(0, 2), (1, 3), (3, 4)]) == [0, 1, 0]


def test_labels_are_moved_apart_inside_the_axes():
    moved = _spread(np.array([0.0, 0.01, 0.99, 1.0]), 0.1)
    assert np.diff(np.sort(moved)).min() >= 0.1 - 1e-12
    assert moved.max() <= 1.0
    assert (np.argsort(moved) == [0, 1, 2, 3]).all()


def test_long_curves_are_thinned_with_their_ends():
    assert _thin(5).tolist() == [0, 1, 2, 3, 4]
    thin = _thin(10_000)
    assert len(thin) <= 400
    assert (thin[0], thin[-1]) == (0, 9999)


def test_methods_keep_their_style_whatever_the_company():
    alone = method_styles(["SGPPSL"])["SGPPSL"]
    among = method_styles(METHODS)
    assert among["sgppsl"] == alone
    assert method_styles(["PL-AGGD"])["PL-AGGD"] == among["pl-aggd"]
    looks = {(s["color"], s["marker"], s["linestyle"]) for s in among.values()}
    assert len(looks) == len(METHODS)
    strangers = method_styles(["sgppsl", "x", "y"])
    assert len({style["color"] for style in strangers.values()}) == 3
    many = method_styles([f"own {i}" for i in range(30)])
    assert len(many) == 30


def contrast(one: str, other: str) -> float:
    """Contrast of two colours by the rules for accessible web pages."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in parts]  # fmt: skip
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_can_be_read_on_the_page(theme):
    page = getattr(COLOURS["page"], theme)
    for name in ("ink", "muted", "accent", "good", "bad", "warn"):
        assert contrast(getattr(COLOURS[name], theme), page) >= 4.5, name
        assert contrast(getattr(COLOURS[name], theme),
                        getattr(COLOURS["card"], theme)) >= 4.5, name  # fmt: skip
    for i in range(14):
        assert contrast(getattr(COLOURS[f"s{i}"], theme), page) >= 3.0, i


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk_coverage_plot({}), "at least one curve"),
        (lambda: heat_map(np.ones((2, 2)), ["a"], ["b"], title="T"), "got shape"),
        (
            lambda: sentence_map(
                ["w"], np.ones((2, 2)), ["a", "b"], predicted=["a"], gold=["a"]
            ),
            "marginals of",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(InputError, match=message):
        call()
