"""Signatures of estimators for the reference.

An estimator declares its arguments in its body (``share: float = setting(0.5)``), and
its ``__init__`` is made from them; whoever reads the source alone sees none.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from griffe import Class, Extension, Function, Parameter, ParameterKind, Parameters

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.keyword_only,
}


class Settings(Extension):
    """Adds the ``__init__`` that Python sees to every estimator."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Look at a class whose members have been read."""
        declared = (getattr(member, "value", None) for member in cls.members.values())
        if not any(str(value).startswith("setting(") for value in declared):
            return
        kind = getattr(import_module(cls.module.path), cls.name)
        own = [
            Parameter(one.name, default=repr(one.default), kind=KINDS[one.kind])
            for one in inspect.signature(kind).parameters.values()
        ]
        made = Function("__init__", parameters=Parameters(Parameter("self"), *own))
        cls.set_member("__init__", made)
