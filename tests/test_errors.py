"""Errors: their family, their sentences, and their way through a pickle."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import pytest

import tagsift
from tagsift import errors
from tagsift.errors import DataError, MissingExtraError, TagsiftError, TagsiftWarning


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("no label.",), "no label."),
        (("no label.", "a.conll"), "a.conll: no label."),
        (("no label.", Path("a.conll"), 12), "a.conll, line 12: no label."),
        (("no label.", None, 12), "line 12: no label."),
    ],
)
def test_a_data_error_says_where(arguments: tuple[object, ...], text: str):
    error = DataError(*arguments)
    assert str(error) == text
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.path, copy.line) == (text, error.path, error.line)


def test_a_missing_extra_says_how_to_get_it():
    error = MissingExtraError.for_package("matplotlib", extra="plots", what="a plot")
    assert str(error) == (
        "a plot needs the package 'matplotlib', which is not installed; install it "
        "with: pip install '.[plots]' in a clone of tagsift, or pip install "
        f"'tagsift-{tagsift.__version__}-py3-none-any.whl[plots]' beside its wheel."
    )


def test_every_error_has_two_families():
    builtin = (ValueError, AttributeError, ImportError, MemoryError, UserWarning)
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, (TagsiftError, TagsiftWarning))
        if kind is not TagsiftError:
            assert issubclass(kind, builtin), name


def test_the_tree_in_the_docstring_is_complete():
    drawn = errors.__doc__ or ""
    for name in errors.__all__:
        assert name in drawn
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, (Exception, Warning)):
            assert name in errors.__all__
