# Both targets do all their own set-up in $(VENV), on a machine that has only Python 3.11 or later, pip, git and make.
PYTHON ?= python3
VENV ?= .venv
PIP = $(PYTHON) -m pip --python $(VENV)/bin/python --disable-pip-version-check
BIN = $(VENV)/bin

.PHONY: demo test lint types tests wheel servers docs clean

## demo: install Vespe and watch it work in a fresh temporary project
demo: $(VENV)/.installed
	$(BIN)/vespe demo

## test: install Vespe with its development tools and run every check
test: $(VENV)/.developed servers lint types tests wheel

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

# Subprocesses are measured too; the floor of 95 % only rises.
tests:
	rm -f .coverage .coverage.*
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -q -n auto --cov --cov-report= tests
	$(BIN)/coverage report --fail-under=95

# The wheel alone, with the source out of reach, in an environment and a directory of its own.
wheel:
	BIN=$(BIN) PYTHON=$(PYTHON) sh tests/acceptance/wheel.sh

## servers: bring the servers and clients that others wrote; the tests that ask them are skipped without
servers: $(VENV)/.served

$(VENV)/.served: tests/acceptance/servers.sh tests/cases/mcp/node/package.json | $(VENV)/.developed
	VENV=$(VENV) PYTHON=$(PYTHON) sh tests/acceptance/servers.sh
	test ! -x $(VENV)/node/node_modules/.bin/node || touch $@

## docs: write docs/cli.md from the commands' own help and docs/lint.md from the rules
docs: $(VENV)/.developed
	$(BIN)/python -m tests.render_cli
	$(BIN)/python -m tests.render_lint

# Debian splits ensurepip from Python: pip installs into an environment that has no pip of its own.
$(VENV)/bin/python:
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(PIP) install -q -e .
	$(BIN)/python -m compileall -q vespe
	touch $@

$(VENV)/.developed: $(VENV)/bin/python pyproject.toml
	$(PIP) install -q -e '.[dev]'
	$(BIN)/python -m compileall -q vespe
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist .coverage* .mypy_cache .ruff_cache .hypothesis
