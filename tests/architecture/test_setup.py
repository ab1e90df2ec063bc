"""What the set-up promises: wheels only, exact versions, torch on Python 3.11 alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[\w.-]+", text) for text in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


def test_every_package_has_one_exact_version():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", pin) for pin in pins)
    pinned = names(pins)
    assert len(pinned) == len(pins)
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *(one for ask in extras.values() for one in ask)]
    assert names(asked) - {"tagsift"} <= pinned


def test_torch_is_set_up_on_one_python_only():
    # An extra of the project itself inside another extra loses its marker when the
    # project is built, so torch is named by itself.
    development = PROJECT["optional-dependencies"]["dev"]
    for text in development:
        if re.match(r"torch|gpytorch", text):
            assert text.endswith("; python_version < '3.12'"), text
        assert "gpu" not in text
    assert "torch==2.13.0; python_version < '3.12'" in development


def test_nothing_of_others_is_built():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "--only-binary :all:" in makefile
    calls = re.findall(r"pip .*install", makefile)
    assert len(calls) == 1  # all go through the one that refuses source archives
    continuous = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "env -i" in continuous and "PIP_NO_CACHE_DIR=1" in continuous
