"""Settings and facts of estimators, declared once, in the class.

A class body says ``l2: float = setting(1.0, above=0)``. From that come the keyword-only
``__init__`` (which stores what it is given untouched, as scikit-learn asks), its
signature, on which ``get_params`` and ``clone`` stand, and the check that `fit` makes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from inspect import Parameter, Signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from tagsift.errors import InputError

__all__ = ["Declared", "Method", "Setting", "setting"]


@dataclass(frozen=True)
class Setting:
    """One setting: its default, its type and its range."""

    default: Any
    annotation: Any = Any  # what it may be, as written in the class body
    above: float = -math.inf  # a number must be greater than this,
    least: float = -math.inf  # at least this,
    most: float = math.inf  # and at most this
    grid: tuple[Any, ...] = ()  # values that tuning chooses from

    @property
    def _kinds(self) -> tuple[Any, ...]:
        union = get_origin(self.annotation) in (Union, UnionType)
        return get_args(self.annotation) if union else (self.annotation,)

    def allows(self, value: Any) -> bool:
        return any(self._fits(value, kind) for kind in self._kinds)

    def _fits(self, value: Any, kind: Any) -> bool:
        if kind is Any:
            return True
        if get_origin(kind) is Literal:
            return isinstance(value, str) and value in get_args(kind)
        if kind is bool:
            return isinstance(value, bool | np.bool_)
        if kind in (int, float):
            number = Integral if kind is int else Real
            if isinstance(value, bool | np.bool_) or not isinstance(value, number):
                return False
            try:
                exact = float(value)
            except OverflowError:
                return False
            inside = self.above < exact and self.least <= exact <= self.most
            return inside and math.isfinite(exact)
        return isinstance(value, get_origin(kind) or kind)

    def __str__(self) -> str:
        words = [self._in_words(kind) for kind in self._kinds]
        return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)

    def _in_words(self, kind: Any) -> str:
        if get_origin(kind) is Literal:
            return f"one of {', '.join(map(repr, get_args(kind)))}"
        if kind in (int, float):
            limits = (("above", self.above), ("of at least", self.least))
            words = [
                f" {word} {limit:g}" for word, limit in limits if limit > -math.inf
            ]
            if self.most < math.inf:
                words.append(f" {'and' if words else 'of'} at most {self.most:g}")
            return ("an integer" if kind is int else "a number") + "".join(words)
        names = {bool: "True or False", str: "a string", NoneType: "None"}
        return names.get(kind) or f"of the type {(get_origin(kind) or kind).__name__}"


def setting(default: Any, *, grid: tuple[Any, ...] = (), **limits: float) -> Any:
    """Declare a setting in a class body, with the limits of `Setting`.

    The type is the annotation: a class, ``Literal["a", "b"]``, ``None``, alternatives
    of them, or ``Any``. Where a base class has a setting of that name and no range is
    given, the range of the base class holds on.
    """
    return Setting(default, grid=grid, **limits)


@dataclass_transform(kw_only_default=True, eq_default=False)
class Declared:
    """Base class of classes whose settings are declared with `setting`.

    Type checkers take every annotated name of a class body for a setting, as in a
    dataclass: annotate what is learnt in the methods that learn it.
    """

    #: All settings, those of the class itself first.
    settings: ClassVar[Mapping[str, Setting]] = {}
    #: Settings that may be given without their name, in this order.
    positional: ClassVar[tuple[str, ...]] = ()
    #: What tuning chooses from.
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherited = cls.settings
        own: dict[str, Setting] = {}
        for name, declared in list(vars(cls).items()):
            if not isinstance(declared, Setting):
                continue
            new = {"default": declared.default, "grid": declared.grid}
            if name in inherited and declared == Setting(**new):
                declared = replace(inherited[name], **new)
            own[name] = replace(declared, annotation=_annotation(cls, name))
            delattr(cls, name)
        cls.settings = own | {k: inherited[k] for k in inherited if k not in own}
        cls.grid = {k: s.grid for k, s in cls.settings.items() if s.grid}
        if "__init__" not in vars(cls):
            cls.__init__ = _make_init(cls)  # type: ignore[method-assign]

    def check_settings(self) -> None:
        """Refuse the first setting that is not as declared, in one sentence."""
        for name, declared in self.settings.items():
            value = getattr(self, name)
            if not declared.allows(value):
                shown = repr(value) if len(repr(value)) < 80 else type(value).__name__
                raise InputError(
                    f"The {name!r} parameter of {type(self).__name__} must be "
                    f"{declared}. Got {shown} instead."
                )


def _annotation(cls: type, name: str) -> Any:
    alone = type(cls.__name__, (), {"__annotations__": {}})
    alone.__annotations__[name] = cls.__annotations__[name]
    return get_type_hints(alone, vars(sys.modules[cls.__module__]))[name]


def _make_init(cls: type[Declared]) -> Any:
    """Make an ``__init__`` of keyword-only settings that stores them untouched."""
    settings = cls.settings
    kinds: dict[str, Any] = dict.fromkeys(settings, Parameter.KEYWORD_ONLY)
    kinds |= dict.fromkeys(cls.positional, Parameter.POSITIONAL_OR_KEYWORD)
    keywords = [
        Parameter(k, kinds[k], default=s.default, annotation=s.annotation)
        for k, s in sorted(settings.items(), key=lambda entry: kinds[entry[0]])
    ]
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    signature = Signature([own, *keywords])

    def __init__(self: Any, *first: Any, **given: Any) -> None:  # noqa: N807
        for name in given:
            if name not in settings:
                raise TypeError(
                    f"{cls.__name__} has no setting {name!r}; it has "
                    f"{', '.join(settings)}."
                )
        bound = signature.bind(self, *first, **given)
        bound.apply_defaults()
        for name in settings:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


@dataclass(frozen=True, kw_only=True)
class Method:
    """Facts about a method, as `tagsift methods` lists them."""

    name: str  # the registry key, such as ``"pl-svm"``
    title: str  # the name in tables, such as ``"PL-SVM"``
    family: str  # where it comes from: Gaussian process, structured SVM, k-NN, …
    disambiguation: str  # how it chooses: random, average, identification, none, …
    structured: bool = False  # whether it sees transitions between labels
    probabilities: bool = False  # whether `predict_proba` is offered
    exact_only: bool = False  # whether it refuses ambiguous labels
    weighted: bool = False  # whether `fit` takes weights of sentences
    votes: bool = False  # whether it learns from the votes of annotators
    settings: str = ""  # those that matter; ``{lam}`` is filled in from the class
    cost: str = ""  # what a fit costs
    many_labels: int = 0  # with more, `fit` says that it takes minutes; 0: never
    source: str = ""  # where the method was published

    def with_defaults(self, declared: Mapping[str, Setting]) -> Method:
        """Return the same facts with the declared defaults in `settings`."""
        texts = {}
        for name, entry in declared.items():
            value = entry.default
            number = isinstance(value, int | float) and not isinstance(value, bool)
            texts[name] = f"{name}={value:g}" if number else f"{name}={value}"
            if entry.grid:
                texts[name] += f" ({min(entry.grid):g}–{max(entry.grid):g})"
        return replace(self, settings=self.settings.format_map(texts))

    def as_dict(self) -> dict[str, str | bool | int]:
        return asdict(self)
