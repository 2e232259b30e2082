# Everything runs in a private environment, .venv, made on first use from pyproject.toml.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench mutants clean

PYTHON ?= python3
WORKERS ?= 2
PYTEST_ARGS ?=
MUTANTS_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin

# One thread a process: the test workers are the parallelism, and timings are comparable.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg

help:  ## list the targets
	@grep -E '^[a-z]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.stamp-app  ## recalibrate models on the diabetes data; writes demo.html and a full report
	$(BIN)/python examples/demo.py --output demo.html
	$(BIN)/python -m calibrant demo -o calibrant-demo

test: lint  ## style, types, import contract, doctests and tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.stamp-test  ## style, types and import contract only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.stamp-bench  ## speed, side by side with peers
	$(BIN)/python -m benchmarks

mutants: $(VENV)/.stamp-test  ## small changes of the package, and whether the tests tell; MUTANTS_ARGS="--help"
	$(BIN)/python -m tests.mutants --jobs $(WORKERS) $(MUTANTS_ARGS)

clean:  ## remove the environment, caches and outputs
	rm -rf $(VENV) build dist demo.html calibrant-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The test environment contains the application's, so it stamps both.
$(VENV)/.stamp-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test,app]"
	touch $(VENV)/.stamp-app $@

$(VENV)/.stamp-app: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[app]"
	touch $@

$(VENV)/.stamp-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@
