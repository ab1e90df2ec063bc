"""What the set-up promises: wheels only, exact versions, torch on Python 3.11 alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import tagsift

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[\w.-]+", text) for text in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


def texts() -> dict[str, str]:
    """What tells people how to install something: code, messages and pages."""
    folders = ("tagsift", "experiments", "benchmarks", "docs", "examples")
    paths = [one for name in folders for one in (ROOT / name).rglob("*")]
    paths += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "constraints.txt"]
    endings = ("", ".html", ".js", ".md", ".py", ".txt")
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in paths
        if path.suffix in endings and path.is_file()
    }


def test_tagsift_is_installed_from_a_clone_or_a_wheel():
    """No index has it; one place of the package makes the sentence that says so."""
    wheel = f"tagsift-{tagsift.__version__}-py3-none-any.whl"
    told = texts()
    of_package = told.pop("tagsift/errors.py")
    assert "pip install '.[{extra}]'" in of_package
    for name, text in told.items():
        assert not re.search(r"pip install (-\S+ )*['\"]?tagsift(?!-|\[)", text), name
        assert not re.search(r"\btagsift\[(?!\w+\] @ file:///)", text), name
        assert set(re.findall(r"tagsift-[^\s'\"[]*whl", text)) <= {wheel}, name
        assert "'.[" not in text or not name.startswith("tagsift/"), name


def pinned_in(file: str) -> set[str]:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", pin) for pin in pins)
    assert len(names(pins)) == len(pins)
    return names(pins)


def test_every_package_has_one_exact_version():
    pinned = pinned_in("constraints.txt")
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
    built = re.search(r"^BUILT := (.*)", makefile, re.M)
    assert built is not None
    aside = {"label-studio", "setuptools", "wheel", *built[1].split(",")}
    assert aside <= pinned_in("tests/tools/label-studio.txt")
    continuous = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "env -i" in continuous and "PIP_NO_CACHE_DIR=1" in continuous
