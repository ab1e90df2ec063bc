"""Declared settings: signature, storing, inheritance, checks, and their sentences."""

from __future__ import annotations

import inspect
import pickle
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from tagsift import methods, registry
from tagsift.base.settings import Declared, setting
from tagsift.errors import InputError


class Base(Declared, BaseEstimator):
    seed: int = setting(0, least=0)


class Model(Base):
    rate: float = setting(0.5, above=0, most=1, grid=(0.1, 0.5))
    steps: int | None = setting(None, least=1)
    mode: Literal["fast", "exact"] = setting("fast")
    average: bool = setting(True)
    extra: dict[str, Any] | None = setting(None)
    anything: Any = setting(None)


class Slower(Model):
    rate: float = setting(0.1)


def test_the_signature_is_that_of_the_declarations():
    parameters = inspect.signature(Model).parameters
    assert list(parameters) == [
        "rate",
        "steps",
        "mode",
        "average",
        "extra",
        "anything",
        "seed",
    ]
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert parameters["rate"].default == 0.5
    assert parameters["steps"].annotation == int | None


def test_values_are_stored_untouched_and_cloned():
    table = {"a": 1}
    model = Model(extra=table, steps=3)
    assert model.extra is table
    assert model.get_params()["steps"] == 3
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "Model(extra={'a': 1}, steps=3)"
    assert pickle.loads(pickle.dumps(model)).steps == 3
    assert model.set_params(rate=2.0).rate == 2.0


def test_unknown_and_positional_settings_are_refused():
    with pytest.raises(TypeError, match="Model has no setting 'depth'; it has rate, "):
        Model(depth=3)
    with pytest.raises(TypeError, match="positional"):
        Model(0.5)


def test_a_subclass_changes_a_default_and_keeps_the_range():
    assert Slower().rate == 0.1
    assert Slower.grid == {}
    assert Model.grid == {"rate": (0.1, 0.5)}
    with pytest.raises(InputError, match="of Slower must be a number above 0 and at"):
        Slower(rate=0).check_settings()


@pytest.mark.parametrize(
    "good",
    [
        {"rate": 1},
        {"rate": np.float32(0.5)},
        {"steps": np.int64(4)},
        {"average": np.True_},
        {"mode": "exact"},
        {"anything": object},
        {"extra": {}},
    ],
    ids=str,
)
def test_values_in_range_are_taken(good: dict[str, Any]):
    Model(**good).check_settings()


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ({"rate": 0}, "a number above 0 and at most 1. Got 0 instead."),
        ({"rate": 1.5}, "a number above 0 and at most 1. Got 1.5 instead."),
        ({"rate": float("nan")}, "a number above 0 and at most 1. Got nan instead."),
        ({"rate": "0.5"}, "a number above 0 and at most 1. Got '0.5' instead."),
        ({"rate": True}, "a number above 0 and at most 1. Got True instead."),
        ({"steps": 0}, "an integer of at least 1 or None. Got 0 instead."),
        ({"steps": 2.0}, "an integer of at least 1 or None. Got 2.0 instead."),
        ({"steps": 10**400}, "an integer of at least 1 or None. Got int instead."),
        ({"mode": "slow"}, "one of 'fast', 'exact'. Got 'slow' instead."),
        ({"mode": ["fast"]}, "one of 'fast', 'exact'. Got ['fast'] instead."),
        ({"average": 1}, "True or False. Got 1 instead."),
        ({"extra": [1]}, "of the type dict or None. Got [1] instead."),
        ({"seed": -1}, "an integer of at least 0. Got -1 instead."),
    ],
    ids=str,
)
def test_others_are_refused_in_one_sentence(bad: dict[str, Any], expected: str):
    (name,) = bad
    with pytest.raises(InputError) as caught:
        Model(**bad).check_settings()
    assert str(caught.value) == f"The {name!r} parameter of Model must be {expected}"


def test_the_facts_of_methods_show_the_declared_defaults():
    shown = {method.name: method.settings for method in methods()}
    assert shown["naive"] == "lam=1 (0.01–10), loss=count"
    assert registry.estimator("naive")().lam == 1
    assert all("{" not in text for text in shown.values())
