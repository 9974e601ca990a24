# The two commands of the README are `make demo` and `make test`. Both work in ./.venv and touch nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := requirements/constraints.txt
INSTALL := $(PIP) install --quiet --constraint $(LOCK)
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo serve test test-slow test-postgres test-lowest lint audit format docs perf lock clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed ## score three models, print the table, write an HTML report
	$(BIN)/brainscore demo --output demo
	@echo "Here: make serve"

serve: $(VENV)/.web ## start the website with the results of `make demo`, or simulated ones
	$(BIN)/brainscore serve $(if $(wildcard demo/results),--results demo/results)

test: $(VENV)/.test ## run all tests but the slow ones
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" --numprocesses $(WORKERS) --dist loadfile

test-slow: $(VENV)/.test ## run the slow tests
	$(BIN)/python -m pytest -m slow

test-postgres: $(VENV)/.test ## run the site's tests on PostgreSQL, but those in a browser
	OMP_NUM_THREADS=1 $(BIN)/python tests/web/on_postgres.py \
		$(BIN)/python -m pytest -m "not slow" -k "not browser and not picture" --numprocesses $(WORKERS) --dist loadfile tests/web

test-lowest: ## run the core tests on the lowest declared versions
	$(MAKE) --no-print-directory VENV=.venv-lowest LOCK=requirements/lowest.txt .venv-lowest/.lowest
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -m "not slow" --numprocesses $(WORKERS) --dist loadfile tests brainscore_core brainscore_vision

lint: $(VENV)/.lint ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(VENV)/.lint ## ask whether a vulnerability of the locked versions is known
	$(BIN)/python .ci/audit.py

format: $(VENV)/.lint ## mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs ## build the documentation in ./site
	$(BIN)/mkdocs build --strict --quiet

perf: $(VENV)/.test ## measure: PEER=python FIELD=python (perf/README.md says how to make the two environments)
	@test -x "$(PEER)" && test -x "$(FIELD)" || { \
		echo "Name two interpreters: make perf PEER=/path/to/python FIELD=/path/to/python"; \
		echo "perf/README.md has the commands that make their environments."; exit 1; }
	$(BIN)/python perf/side_by_side.py $(PEER) $(BIN)/python --write
	$(BIN)/python perf/field.py $(FIELD) $(BIN)/python --write
	$(BIN)/python perf/extraction.py $(PEER) $(BIN)/python --write
	$(BIN)/python perf/growth.py --write
	$(BIN)/python perf/memory.py --write

lock: ## write requirements/constraints.txt anew from current versions
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet torch==2.13.0 ".[test,lint,docs]"
	(echo "# Written by \`make lock\`."; .venv-lock/bin/python -m pip freeze --exclude brainscore | sed 's/+cpu//') > $(LOCK)
	rm -rf .venv-lock

clean: ## remove environments and what was built
	rm -rf .venv .venv-lowest site demo build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv module is needed (on Debian: apt install python3-venv)"; exit 1; }

$(VENV)/.installed: pyproject.toml $(LOCK) | $(VENV)/bin/python
	@echo "Installing into $(VENV) …"
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.web: $(VENV)/.installed
	@echo "Installing what the website needs into $(VENV) …"
	@$(INSTALL) --editable ".[web]"
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@echo "Installing what the tests need into $(VENV) …"
	@$(INSTALL) --editable ".[test]"
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@$(INSTALL) --editable ".[lint]"
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@$(INSTALL) --editable ".[docs]"
	@touch $@

# the core tests need no torch, and torch's lowest version does not go with every Python
$(VENV)/.lowest: $(VENV)/.installed
	@$(INSTALL) hypothesis pytest pytest-xdist sybil
	@touch $@
