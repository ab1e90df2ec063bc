from __future__ import annotations

import pytest

from experiments.paper.suite import SUITES, read_suite
from tagsift.errors import DataError
from tests.experiments.samples import TINY


@pytest.mark.parametrize("name", SUITES)
def test_the_suites_of_the_package_can_be_read(name: str):
    suite = read_suite(name)
    assert suite.name == name
    assert set(suite.tasks) == {"base-np", "chunking", "ner"}
    assert "sgppsl" in suite.methods and "crf" in suite.methods


def test_the_paper_suite_is_that_of_the_paper():
    suite = read_suite("paper")
    assert suite.tasks == {"base-np": 500, "chunking": 450, "ner": 500}
    assert (suite.folds, suite.cl, suite.flip_p) == (5, (2, 3, 4), 0.5)
    assert suite.p == (0.1, 0.3, 0.5, 0.7, 0.9) and suite.r == (0.05, 0.75)
    assert len(suite.methods) >= 12


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("folds = 2", "folds = ", "not valid TOML"),
        ("folds = 2", "folds = 1", "folds: expected a whole number of at least 2"),
        ("cl = [2]", "cl = [0]", "cl: expected a list of whole numbers above 0"),
        (
            "p = [0.1, 0.9]",
            "p = [1.5]",
            "p: expected a list of numbers between 0 and 1",
        ),
        ("p = [0.1, 0.9]", "", "p: expected a list of numbers"),
        ("ner = 12", "pos = 12", "tasks: expected one of base-np, chunking, ner"),
        ("ner = 12", "", "tasks: expected at least one task"),
        ("[methods.wknn]", "[methods.sleep]", "expected a method of `tagsift methods`"),
        ("decoders = []", "speed = 1", "methods.wknn: expected one of decoders"),
        ("cl = [2]", "cl = [2]\nrun_folds = [7]", "expected folds between 0 and 1"),
        (
            "decoders = []",
            "tuning = 'daily'",
            "tuning: expected each fit or development",
        ),
        ("folds = 2", "folds = 2\nwatch = 1", "watch: expected true or false, found 1"),
        ("folds = 2", "folds = 2\nspeed = 1", "the suite: expected one of cl"),
    ],
)
def test_a_bad_suite_is_refused_in_one_sentence(tmp_path, old, new, words):
    path = tmp_path / "bad.toml"
    path.write_text(TINY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_suite(str(path))
    text = str(caught.value)
    assert words in text and str(path) in text and text.endswith(".")


def test_robustness_may_only_name_methods_of_the_suite(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(TINY + "[robustness]\nseeds = [1]\nmethods = ['sure']\n", "utf-8")
    with pytest.raises(DataError, match=r"robustness\.methods: expected methods of"):
        read_suite(str(path))


@pytest.mark.parametrize("name", ["big", "there/is/none.toml"])
def test_an_unknown_suite_is_refused(name: str):
    with pytest.raises(DataError, match=r"expected one of the suites|cannot read"):
        read_suite(name)
