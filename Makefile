# Needs Python 3.11 or newer, pip and make; everything else goes into .venv/.
PYTHON ?= python3
JOBS   ?= 2
# Other Pythons for `make test`: newest, all, lowest (versions of packages only), or none
VERSIONS ?=

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
# Twice quiet: only errors are printed, never where packages come from.
PIP   := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input
LAB    := $(BIN)/python -m selfencoder.lab
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help run reproduce compare compare-large published-peers evidence bench invariance test format lint weight test-versions docs sync release clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile

run: $(READY) ## a first look, four minutes: the paper's tables and ours, full training on fewer folds
	@$(BIN)/selfencoder reproduce --quick --jobs $(JOBS)

reproduce: $(READY) ## make the full tables of the paper, an hour
	@$(BIN)/selfencoder reproduce --jobs $(JOBS)

compare: $(READY) ## compare the kernel self-encoder with its peers on 71 tables, up to three hours
	@$(LAB) compare --jobs $(JOBS)
	@$(LAB) compare-everyday --jobs $(JOBS)

compare-large: $(READY) ## compare it on large tables, hours; boosting of other libraries must be installed
	@$(LAB) compare-large --jobs $(JOBS)

published-peers: $(READY) ## put it beside published figures: DATA=cc_test_datasets_multiclass.pickle
	@$(LAB) published-peers $(DATA) --jobs $(JOBS)

evidence: $(READY) ## compute our rows of all comparisons again, as far as they are older than SINCE=2026-11-18T20:00
	@$(LAB) evidence --since $(SINCE) --jobs $(JOBS) $(if $(DATA),--data $(DATA))

bench: $(READY) ## measure speed and quality beside other libraries, an hour on a quiet machine; SINCE as above
	@$(LAB) bench $(if $(SINCE),--since $(SINCE))

invariance: $(READY) ## measure how exact the invariance is, and what it costs, twenty minutes
	@$(LAB) invariance --jobs $(JOBS)

test: $(READY) ## run every check; VERSIONS=newest or VERSIONS=all adds test-versions
	@$(PYTEST) .ci $(if $(VERSIONS),--versions $(VERSIONS))

format: $(READY) ## format notebooks and checks, and sort out what can be mended automatically
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format

lint: $(READY) ## report what is not formatted, unused or undefined
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check

weight: $(READY) ## report how much a reader of the package has to hold
	@$(BIN)/python .ci/weight.py

test-versions: $(READY) ## try the wheel on every Python that is found, and with the lowest versions of packages
	@$(PYTEST) .ci/test_versions.py --versions all

docs: $(READY) ## build the documentation site in _docs/
	@$(BIN)/python .ci/docs.py site

sync: $(READY) ## bring the modules, the saved notebooks and README.md in line with nbs/
	@$(BIN)/nbdev_export
	@$(BIN)/nbdev_clean
	@$(BIN)/python .ci/docs.py readme

release: $(READY) ## build source archive and wheel in dist/, install and check them; nothing is uploaded
	@$(PIP) install -c constraints.txt build twine
	@$(BIN)/python .ci/release.py

clean: ## remove .venv/ and everything that was built
	@rm -rf $(VENV) $(VENV)-* .ci/.pytest_cache _docs _proc build dist *.egg-info

# The stamp is younger than what it was made from, so an unchanged tree reuses .venv/.
$(READY): constraints.txt settings.ini setup.py
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ". Name a newer one: make PYTHON=python3.12 ...")'
	@echo "Preparing $(VENV)/ (a few minutes and 2 GB the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt setuptools wheel
	@$(PIP) install -c constraints.txt --no-build-isolation --use-pep517 -e '.[dev]'
	@touch $@
