# Commands for a machine that has only Python 3.11+ and make: each does its own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# uv installs several times as fast as pip, but knows nothing of pip's settings: where it cannot, pip does.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python --editable $(1) || $(BIN)/python -m pip install --quiet --editable $(1)

# Every process of the tests would read our sources again where Python is told to keep no bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test matrix trust coverage lowest lint clean

demo: $(VENV)/.installed
	$(BIN)/optmodels demo --out demo

test: $(VENV)/.installed-dev
	$(MAKE) --jobs=2 lint $(VENV)/.compiled
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Every formulation, task, condition and solver, solved: what `optmodels list matrix` says, cell by cell.
matrix: $(VENV)/.installed-dev $(VENV)/.compiled
	$(BIN)/python -m pytest -n $(WORKERS) --dist load -m matrix tests/contracts/test_matrix.py

# Is anything wrong ever released? Random tables against brute force, mutations, faults, damaged files; half an hour.
trust: $(VENV)/.installed-dev $(VENV)/.compiled
	$(BIN)/python -m benchmarks.trust --jobs $(WORKERS) --out trust.json

# Which branches of the three packages the tests take; kernels are counted as plain Python, apart. An hour.
coverage: $(VENV)/.installed-dev $(VENV)/.compiled
	$(BIN)/python -m benchmarks.branches --jobs $(WORKERS)

# The oldest versions of everything that pyproject.toml allows, in an environment of their own.
lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	$(PYTHON) -c 'import tomllib; \
		project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		extras = project["optional-dependencies"]; \
		wanted = project["dependencies"] + extras["transport"] + extras["study"]; \
		print("\n".join(one.replace(">=", "==") for one in wanted))' > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet -r .venv-lowest/lowest.txt --editable . pytest pytest-xdist hypothesis
	.venv-lowest/bin/python -m pytest -n $(WORKERS) tests/optmodels

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "optmodels needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip uv

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(call install,.)
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(call install,'.[dev]')
	touch $@ $(VENV)/.installed

# Part of the set-up: kernels compiled once are not compiled again by every run and every test worker.
$(VENV)/.compiled: | $(VENV)/.installed
	$(BIN)/optmodels warm-up
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
