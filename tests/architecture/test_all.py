"""Every module has a sorted and true ``__all__`` and a docstring."""

from __future__ import annotations

import importlib
import pkgutil
import types

import pytest

import tagsift
from tagsift.errors import MissingExtraError

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tagsift.__path__, "tagsift.")
    if not module.name.endswith("__main__")
)


def imported(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))


def _by_kind(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions: the other usual order."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


@pytest.mark.parametrize("name", ["tagsift", *MODULES])
def test_all_is_sorted_and_true(name: str):
    module = imported(name)
    assert module.__doc__, f"{name} has no docstring"
    exported = getattr(module, "__all__", None)
    if exported is None:
        # A package that only groups its modules exports nothing by itself.
        assert hasattr(module, "__path__"), f"{name} has no __all__"
        return
    orders = sorted(set(exported)), sorted(set(exported), key=_by_kind)
    assert list(exported) in orders, f"{name}.__all__ is not sorted"
    for member in exported:
        assert hasattr(module, member), f"{name}.__all__ names {member!r}, not there"


@pytest.mark.parametrize("name", MODULES)
def test_public_things_are_exported(name: str):
    module = imported(name)
    exported = set(getattr(module, "__all__", ()))
    for member, value in vars(module).items():
        own = getattr(value, "__module__", None) == name
        if own and isinstance(value, type | types.FunctionType):
            assert member.startswith("_") or member in exported, (
                f"{name}.{member} is public and not in __all__"
            )
