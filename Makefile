# Everything runs in a private environment, .venv, made on first use from pyproject.toml. The other environments of the
# tests are compiled when first loaded, not when installed: most of them never are. Not so .venv, where warnings are errors,
# those of compiling others' code too.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo docs test test-oldest test-pythons test-engines test-packages release-check lint bench mutants clean

PYTHON ?= python3
WORKERS ?= 2
PYTEST_ARGS ?=
MUTANTS_ARGS ?=
ENGINES_ARGS ?=
PACKAGES_ARGS ?=
VENV := .venv
OLDEST := .venv-oldest
DOCS := .venv-docs
ENGINES := .venv-engines
PACKAGES := .venv-packages
BENCH := .venv-bench
PYTHONS := 3.12 3.13
BIN := $(VENV)/bin

# One thread a process: the test workers are the parallelism, and timings are comparable.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.stamp-app  ## recalibrate models on the diabetes data; writes demo.html and a full report
	$(BIN)/python examples/demo.py --output demo.html
	$(BIN)/python -m calibrant demo -o calibrant-demo

# Every page is executed anew; a warning, an error in a block or a link to nowhere stops it.
MADE := docs/_build docs/_generated docs/auto_gallery docs/reference docs/results

docs: $(DOCS)/.stamp  ## the site, in docs/_build/html
	rm -rf $(MADE)
	PYTHONPATH=src:. $(DOCS)/bin/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	PYTHONPATH=src:. $(DOCS)/bin/python -m docs.links docs/_build/html

test: lint  ## style, types, import contract, doctests and tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# A part of the tests that takes a quarter of a minute. Old packages beside newer ones of which they know nothing are told that
# what they use is deprecated: that is no error here.
QUICK := tests/test_import.py tests/test_files.py tests/links tests/maps/test_beta.py src/calibrant/distributions \
	src/calibrant/maps src/calibrant/calibration
QUICK_APP := $(QUICK) tests/store/test_calibrators.py tests/distributions/test_truncated.py tests/numerics tests/tables \
	tests/cli/test_console.py tests/engines/test_anywhere.py src/calibrant/metrics src/calibrant/classification src/calibrant/cli src/calibrant/engines
QUICKLY := -m pytest -q -p no:cacheprovider -W default::DeprecationWarning

test-oldest: $(OLDEST)/.stamp  ## a quick part of the tests with the oldest versions that pyproject.toml declares
	PYTHONPATH=src $(OLDEST)/bin/python $(QUICKLY) $(QUICK_APP)

test-pythons: $(PYTHONS:%=test-python-%)  ## the same with other versions of Python, where they are installed

test-python-%:
	@python=$$(for each in python$* $$HOME/.pyenv/versions/$*.*/bin/python; do \
		$$each -c "" 2>/dev/null && echo $$each && break; done); \
	if [ -z "$$python" ]; then echo "Python $* is not installed: not tested."; exit 0; fi; \
	test -e .venv-$*/.stamp || { $$python -m venv .venv-$* && \
		.venv-$*/bin/python -m pip install --quiet --no-compile numpy scipy scikit-learn pandas polars pytest hypothesis && \
		touch .venv-$*/.stamp; } && \
	PYTHONPATH=src .venv-$*/bin/python $(QUICKLY) $(QUICK)

# What is skipped says why: Spark wants Java.
test-engines: $(ENGINES)/.stamp  ## tests of the engines with DuckDB, a local Dask and a local Spark
	PYTHONPATH=src PYSPARK_PYTHON=$(abspath $(ENGINES))/bin/python $(ENGINES)/bin/python $(QUICKLY) -rs \
		tests/engines/test_lazy.py tests/engines/test_anywhere.py $(ENGINES_ARGS)

test-packages: $(PACKAGES)/.stamp  ## tests of the adapters with the packages themselves, then each adapter broken once
	PYTHONPATH=src $(PACKAGES)/bin/python $(QUICKLY) -rs tests/packages tests/adapters tests/series \
		tests/regression/test_reading.py src/calibrant/adapters $(PACKAGES_ARGS)
	PYTHONPATH=tests $(PACKAGES)/bin/python tests/packages/broken.py

lint: $(VENV)/.stamp-test  ## style, types and import contract only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH)/.stamp  ## speed and quality, side by side with peers; writes benchmarks/RESULTS.md
	PYTHONPATH=src:. $(BENCH)/bin/python -m benchmarks

mutants: $(VENV)/.stamp-test  ## small changes of the package, and whether the tests tell; MUTANTS_ARGS="--help"
	$(BIN)/python -m tests.mutants --jobs $(WORKERS) $(MUTANTS_ARGS)

release-check:  ## the last commit built twice, installed in clean environments and tried from outside; writes dist/
	$(PYTHON) .ci/release.py

clean:  ## remove the environment, caches and outputs
	rm -rf $(VENV) .venv-* build dist $(MADE) demo.html calibrant-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(OLDEST)/.stamp: pyproject.toml .ci/floors.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) .ci/floors.py app pandas polars pytest hypothesis > $(OLDEST)/floors.txt
	$(OLDEST)/bin/python -m pip install --quiet --no-compile --requirement $(OLDEST)/floors.txt
	touch $@

$(ENGINES)/.stamp: pyproject.toml
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --no-compile --editable ".[app,spark,dask,duckdb]" polars pytest hypothesis
	touch $@

$(PACKAGES)/.stamp: pyproject.toml
	$(PYTHON) -m venv $(PACKAGES)
	$(PACKAGES)/bin/python -m pip install --quiet --no-compile --editable ".[app,packages]" polars pytest hypothesis
	touch $@

$(DOCS)/.stamp: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --editable ".[docs]"
	touch $@

# The test environment contains the application's, so it stamps both.
$(VENV)/.stamp-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test,app]"
	touch $(VENV)/.stamp-app $@

$(VENV)/.stamp-app: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[app]"
	touch $@

# netcal and probmetrics need torch, of which one version is known to do.
$(BENCH)/.stamp: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --no-compile torch==2.13.0
	$(BENCH)/bin/python -m pip install --quiet --no-compile --editable ".[bench]"
	touch $@
