"""What the reference cannot read from the docstrings.

An estimator declares its arguments in its body (``share: float = setting(0.5)``), and
its ``__init__`` is made from them; whoever reads the source alone sees none. The fields
of a record are explained by the comments behind them.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from griffe import (
    Class,
    Docstring,
    Extension,
    Function,
    Parameter,
    ParameterKind,
    Parameters,
)

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.keyword_only,
}


class Declared(Extension):
    """Adds the ``__init__`` of estimators, and the fields of records."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Look at a class whose members have been read."""
        values = [getattr(member, "value", None) for member in cls.members.values()]
        decorators = [str(decorator.value) for decorator in cls.decorators]
        if any(str(value).startswith("setting(") for value in values):
            add_init(cls)
        elif any(text.startswith("dataclass") for text in decorators):
            add_fields(cls)
        elif any(str(base) == "NamedTuple" for base in cls.bases):
            add_fields(cls)


def add_init(cls: Class) -> None:
    """Give an estimator the ``__init__`` that Python sees."""
    kind = getattr(import_module(cls.module.path), cls.name)
    own = [
        Parameter(one.name, default=repr(one.default), kind=KINDS[one.kind])
        for one in inspect.signature(kind).parameters.values()
    ]
    made = Function("__init__", parameters=Parameters(Parameter("self"), *own))
    cls.set_member("__init__", made)


def add_fields(cls: Class) -> None:
    """List the fields of a record, unless its docstring does."""
    text = cls.docstring.value if cls.docstring else ""
    if re.search(r"^(Parameters|Attributes)\n---", text, re.MULTILINE):
        return
    source = Path(cls.filepath).read_text(encoding="utf-8").splitlines()
    rows = []
    for name, field in cls.members.items():
        kind = str(getattr(field, "annotation", None))
        if not field.is_attribute or name.startswith("_") or "ClassVar" in kind:
            continue
        if "property" in field.labels:
            continue
        said = source[field.endlineno - 1].partition("  # ")[2]
        rows += [f"{name} : {kind}", f"    {said[:1].upper()}{said[1:]}"]
    lines = [text, "", "Attributes", "----------", *rows]
    cls.docstring = Docstring("\n".join(lines), parent=cls)
