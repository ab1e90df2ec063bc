from __future__ import annotations

import pytest

from experiments.paper import results
from experiments.paper.comparison import (
    calibration_table,
    losses,
    losses_table,
    rank_methods,
    wilcoxon_table,
)
from experiments.paper.figures import figure_5, figure_9, figures_6_to_8
from experiments.paper.results import PaperSetting, Results
from experiments.paper.tables import (
    below_table,
    decoders_table,
    robustness_table,
    scores_table,
    table_1,
    table_2,
    table_3,
)
from tests.experiments.samples import record

HERE = PaperSetting("base-np", 3, 0.1)


def test_the_printed_tables_are_whole():
    assert len(results.TABLE_2) == 45 and len(results.TABLE_3) == 30
    assert results.TABLE_2["base-np", 3, 0.9] == 90.83
    assert results.TABLE_3["ner", "weighted", 0.1] == 80.42


def test_means_are_over_the_folds_there_are():
    found = [record("wknn", 0.4), record("wknn", 0.6, fold=1), record("sure", 0.7)]
    results = Results(found)
    assert results.mean("wknn", HERE, "span_f1") == pytest.approx(0.5)
    assert results.mean("naive", HERE, "span_f1") is None
    # Methods are compared on the folds that both were run on.
    gaps = results.gaps("wknn", "sure", "span_f1", [HERE])
    assert gaps == {HERE: pytest.approx(-0.3)}


def test_the_gold_ceiling_has_its_values_everywhere():
    results = Results([record("crf", 0.9, cl=None, p=None), record("wknn", 0.5)])
    assert results.settings == (HERE,)
    assert results.mean("crf", HERE, "span_f1") == 0.9


def test_table_1_tells_what_differs_from_the_paper():
    facts = {
        "task": "chunking", "n_sentences": 450, "n_labels": 19, "n_tokens": 9,
        "n_spans": 5,
    }  # fmt: skip
    table = table_1([facts])
    assert table.rows[0][:5] == ("Chunking", 450, 450, 19, 20)
    assert "19 labels, not 20" in table.note


def test_table_2_stands_beside_the_paper():
    found = [
        record("sgppsl", 0.5, recovery=0.80),
        record("sgppsl", 0.5, recovery=0.90, fold=1),
        record("sgppsl", 0.5, recovery=0.60, p=0.3),
    ]
    table = table_2(Results(found))
    above, below = table.rows
    assert above[3:8] == (
        pytest.approx(85.0), pytest.approx(7.071, abs=1e-3), 2, 73.35,
        pytest.approx(11.65),
    )  # fmt: skip
    assert above[9].text == "above" and below[9].text == "below"
    assert above[8] is None  # no record says what single tokens give
    found[0]["recovery"]["argmax"] = 0.75
    assert table_2(Results(found)).rows[0][8] == pytest.approx(75.0)


def test_table_3_compares_decoders_of_one_fit():
    found = [record("sgppsl", 0.5, decoders={"viterbi": 0.7, "weighted": 0.6})]
    table = table_3(Results(found))
    assert [row[2] for row in table.rows] == ["Viterbi", "weighted Viterbi"]
    assert [row[6] for row in table.rows] == [69.53, 72.40]
    assert [row[9].text for row in table.rows] == ["above", "below"]
    assert table.strong == {(0, 3)}


def test_all_decoders_stand_side_by_side():
    found = [record("sgppsl", 0.5, decoders={"viterbi": 0.7, "log": 0.8})]
    table = decoders_table(Results(found))
    assert [column.name for column in table.columns[1:3]] == [
        "log, span",
        "viterbi, span",
    ]
    assert table.rows[0][1:3] == (pytest.approx(80.0), pytest.approx(70.0))
    assert not decoders_table(Results([record("sure", 0.5)])).rows


def test_cells_below_the_paper_are_listed_with_the_best_other_method():
    found = [
        record(
            "sgppsl", 0.5, recovery=0.60, decoders={"viterbi": 0.9, "weighted": 0.6}
        ),
        record("sure", 0.7, recovery=0.71),
        record("crf", 0.8, cl=None, p=None),
    ]
    table = below_table(Results(found))
    assert [row[0] for row in table.rows] == ["Table II", "Table III"]
    assert table.rows[0][4:] == ("–", "sure 71.00", "–")
    assert table.rows[1][4:] == ("viterbi 90.00", "sure 70.00", "80.00")
    assert not below_table(Results([record("sgppsl", 0.5, recovery=0.99)])).rows


def test_losses_leave_the_gold_ceiling_out():
    found = [
        record("sgppsl", 0.6),
        record("sgppsl", 0.6, p=0.5),
        record("sure", 0.7),
        record("sure", 0.5, p=0.5),
        record("crf", 0.9, cl=None, p=None),
    ]
    (loss,) = losses(Results(found), "span_f1")
    assert (loss.rival, len(loss.gaps)) == ("sure", 2)
    assert loss.gaps[HERE] == pytest.approx(-0.1)
    (row,) = losses_table(Results(found), [loss], "span F1").rows
    assert row[3:6] == ("1 of 2", pytest.approx(0.0), "cl = 3, p = 0.1")


def many() -> list:
    return [
        record(method, value + 0.01 * fold + 0.05 * p, cl=cl, p=p, fold=fold)
        for method, value in (("sgppsl", 0.8), ("sure", 0.6), ("wknn", 0.4))
        for cl in (2, 3)
        for p in (0.1, 0.5, 0.9)
        for fold in (0, 1)
    ]


def test_ranks_and_tests_are_over_settings():
    results = Results(many())
    ranked = rank_methods(results, "span_f1")
    assert ranked is not None
    assert ranked.methods == ("sgppsl", "sure", "wknn") and ranked.n_settings == 6
    table = wilcoxon_table(results, "sgppsl", "span_f1", "span F1")
    assert [row[:5] for row in table.rows] == [
        ("WKNN", 6, 6, 0, 0),
        ("SURE", 6, 6, 0, 0),
    ]
    assert table.rows[1][5] == pytest.approx(0.2)
    mixed = [record("sgppsl", 0.5, p=p) for p in (0.1, 0.5, 0.9)]
    mixed += [record("sure", x, p=p) for x, p in ((0.4, 0.1), (0.5, 0.5), (0.8, 0.9))]
    table = wilcoxon_table(Results(mixed), "sgppsl", "span_f1", "span F1")
    assert table.rows[0][:5] == ("SURE", 3, 1, 1, 1)


def test_calibration_is_of_methods_with_probabilities_only():
    one = record("sgppsl", 0.5)
    one["scores"] |= {"ece": 0.02, "nll": 0.3, "brier": 0.1, "aurc": 0.01}
    table = calibration_table(Results([one, record("sure", 0.5)]))
    assert table.rows == (("Base NP", "SGPPSL", 0.02, 0.3, 0.1, 0.01),)
    assert not calibration_table(Results([record("sure", 0.5)])).rows


def test_scores_and_random_subsets():
    table = scores_table(Results(many()), "base-np")
    assert len(table.rows) == 3 and len(table.columns) == 7
    decoders = {"viterbi": 0.5, "weighted": 0.6}
    head = Results([record("sgppsl", 0.6, recovery=0.9, decoders=decoders)])
    found = [
        record("sgppsl", 0.6, recovery=0.8, decoders=decoders, subset=f"random-{k}")
        for k in (1, 2)
    ]
    assert not Results(found).records
    table = robustness_table(head, Results(found, "random"))
    assert table.rows[0][3:5] == (pytest.approx(90.0), pytest.approx(80.0))


def test_figures_hold_the_numbers_that_they_show():
    results = Results(many())
    figure = figures_6_to_8(results, "base-np", "span_f1")
    assert figure is not None and figure.title.startswith("Figure 6")
    assert figure.data.rows[0][2:] == (
        pytest.approx(81.0), pytest.approx(83.0), pytest.approx(85.0),
    )  # fmt: skip
    assert figures_6_to_8(results, "ner", "span_f1") is None
    assert figure_9(results, "span_f1") is None  # no flips
    flipped = Results([*many(), record("sgppsl", 0.3, cl=None, p=0.5, r=0.75)])
    drawn = figure_9(flipped, "span_f1")
    assert drawn is not None
    names = [column.name for column in drawn.data.columns]
    assert names == ["method", "panel", "r = 0.75", "cl = 2", "cl = 3"]
    both = [record("sgppsl", 0.3, cl=None, p=0.5, r=r) for r in (0.75, 0.05)]
    drawn = figure_9(Results([*many(), *both]), "span_f1")
    assert drawn is not None
    names = [column.name for column in drawn.data.columns]
    assert names[2:] == ["r = 0.05", "cl = 2", "cl = 3", "r = 0.75"]
    assert all(name in drawn.panels[0] for name in names[2:])


def test_figure_5_draws_the_watched_words():
    one = record("sgppsl", 0.5)
    one["config"]["watch"] = "holding"
    one |= {"labels": ["B", "O", "I"], "truth": "O", "evolution": [[0.3, 0.3, 0.4]] * 2}
    figure = figure_5({"holding": one})
    assert figure is not None and "holding" in figure.data.rows[0][0]
    assert figure_5({}) is None
