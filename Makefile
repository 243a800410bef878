# Two commands matter: `make demo` and `make test`. Each sets up what it needs in .venv, on any machine with Python 3.10+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -name '*.json' -o -name 'py.typed') pyproject.toml README.md
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint format docs bench clean

demo: $(VENV)/.installed
	$(BIN)/python docs/demo.py

# What is tested is the built wheel, as installed; the checkout is not on the path.
test: $(VENV)/.installed
	VERIKIT_TEST_WHEEL=1 $(BIN)/python -m pytest -n auto tests

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed
	$(PIP) install -r .ci/requirements-docs.txt
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

bench: $(VENV)/.installed
	for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

$(VENV)/.installed: $(VENV)/.ready $(SOURCES)
	rm -rf $(VENV)/wheel
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(VENV)/wheel .
	$(PIP) install --no-deps --force-reinstall $(VENV)/wheel/verikit-*.whl
	touch $@

# torch first and alone: a range in another package's requirements could bring in a build for GPUs.
$(VENV)/.ready: .ci/requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "verikit needs Python 3.10 or newer: make PYTHON=python3.11 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install torch==2.13.0
	$(PIP) install -r .ci/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) dist build docs/_build
