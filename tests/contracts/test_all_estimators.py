"""Every registered estimator passes every check of the public contract suite."""

from __future__ import annotations

import pytest

from tagsift import registry
from tagsift.base import SequenceTagger
from tagsift.checks import Check, yield_checks
from tagsift.checks._asking import fitted, fresh, same_state, training
from tagsift.data.corpus import Corpus


def cases() -> list[object]:
    """All pairs of a method and a check that fits it; a missing module is one case."""
    found: list[object] = []
    for name in registry.names():
        try:
            estimator = registry.make(name)
        except ImportError as error:
            found.append(pytest.param(name, None, id=f"{name}-missing-{error.name}"))
            continue
        found += [
            pytest.param(name, check, id=f"{name}-{check.__name__}")
            for check in yield_checks(estimator)
        ]
    return found


@pytest.mark.filterwarnings("ignore::tagsift.errors.TagsiftWarning")
@pytest.mark.parametrize(("name", "check"), cases())
def test_contract(name: str, check: Check | None):
    estimator = registry.make(name)  # raises the ImportError of a missing module
    assert check is not None
    check(estimator)


@pytest.mark.parametrize("name", registry.names())
def test_the_class_knows_its_name(name: str):
    estimator = registry.make(name)
    assert isinstance(estimator, SequenceTagger)
    assert estimator.method.name == name


@pytest.mark.parametrize("name", registry.names())
def test_skipped_checks_exist_and_say_why(name: str):
    kind = registry.estimator(name)
    known = {
        check.__name__
        for check in yield_checks(type("Plain", (kind,), {"_check_skips": {}})())
    }
    for check, reason in kind._check_skips.items():
        assert check in known
        assert len(reason) > 20


@pytest.mark.parametrize(
    "name", [one.name for one in registry.methods() if not one.votes]
)
def test_a_corpus_is_learnt_from_like_its_lists(name: str):
    X, y = training(registry.make(name))
    corpus = Corpus.from_lists(X, y)
    one, other = fitted(registry.make(name)), fresh(registry.make(name)).fit(corpus)
    assert same_state(one, other) and one.scheme_ == other.scheme_
    assert one.transduction_ == other.transduction_
    assert other.recover(corpus)[0] == one.recover(X, y)[0]
