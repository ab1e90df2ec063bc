from __future__ import annotations

import pytest

from experiments.experiment import choose
from experiments.paper.grid import GridCell, cells, config_of
from experiments.paper.results import read_toml
from experiments.paper.suite import read_suite
from tagsift.errors import InputError


def test_the_paper_suite_has_every_cell_of_section_four():
    suite = read_suite("paper")
    found = [
        cell
        for cell in cells(suite)
        if cell.subset == "head" and cell.is_fit and not cell.watch
    ]
    for method in suite.methods:
        mine = [cell for cell in found if cell.method == method]
        settings = {(cell.task, cell.cl, cell.p, cell.r) for cell in mine}
        if method == "crf":
            assert settings == {(task, None, None, None) for task in suite.tasks}
        else:
            assert len(settings) == 45 + 6
        assert {cell.fold for cell in mine} == {0, 1, 2, 3, 4}


def test_keys_are_distinct_and_fit_for_files():
    found = cells(read_suite("paper"))
    keys = [cell.key for cell in found]
    assert len(set(keys)) == len(keys)
    assert all(key.isascii() and " " not in key for key in keys)


def test_the_most_telling_cells_and_cheap_methods_come_first():
    found = [cell for cell in cells(read_suite("paper")) if cell.on_head]
    telling = [cell for cell in found if (cell.cl, cell.p) == (3, 0.1)]
    gold = [cell for cell in found if cell.method == "crf"]
    first = found[: len(telling) + len(gold)]
    assert set(first) == {*telling, *gold}
    assert [c.fold for c in first] == sorted(c.fold for c in first)
    methods = [cell.method for cell in first]
    assert methods.index("wknn") < methods.index("clpl") < methods.index("sgppsl")
    ranks = [cell.rank for cell in found]
    assert ranks == sorted(ranks)
    last = [cell.fold for cell in found if cell.rank == 2]  # neither table nor Figure 9
    assert last == sorted(last)


def test_structured_rivals_have_the_penalty_of_their_task_and_lists():
    suite = read_suite("paper")

    def lam(task: str, method: str, **about) -> float | None:
        config = config_of(GridCell(task, method, **about), suite, "conll")
        return config["params"].get("lam")

    table = read_toml("penalties")
    assert lam("ner", "naive", cl=4, p=0.1) == table["naive"]["ner"][2]
    assert lam("ner", "clpl", p=0.5, r=0.05) == table["clpl"]["ner"][0]
    assert lam("base-np", "cllp", p=0.5, r=0.75) == table["cllp"]["base-np"][1]
    assert lam("ner", "wknn", cl=4, p=0.1) is None


def test_a_key_names_the_setting():
    assert GridCell("ner", "wknn", 3, 0.1, None, 0).key == "ner/wknn/cl3-p0.1-f0-s0"
    assert GridCell("ner", "wknn", None, 0.5, 0.05, 4).key.endswith("/r0.05-p0.5-f4-s0")
    gold = GridCell("ner", "crf", None, None, None, 1, subset="random-2")
    assert gold.key == "ner/crf/gold-f1-s0-random-2"


def test_cells_are_chosen_by_their_fields():
    found = cells(read_suite("paper"))
    chosen = choose(found, {"method": "wknn+crf", "fold": "0", "task": "ner"})
    assert {cell.method for cell in chosen} == {"wknn", "crf"}
    assert len(choose(chosen, {"p": "0.5", "cl": "2"})) == 1
    with pytest.raises(InputError, match="cells are chosen by task, method"):
        choose(found, {"speed": "high"})


def test_a_config_holds_what_decides_the_scores():
    suite = read_suite("smoke")
    cell = GridCell("ner", "sgppsl", 3, 0.1, None, 0)
    config = config_of(cell, suite, "bundled")
    assert config["tuning"] == "each fit"
    assert config["params"] == dict(suite.methods["sgppsl"].params)
    assert config["n_sentences"] == suite.tasks["ner"]
    assert config != config_of(cell, suite, "conll")
