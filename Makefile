# The two commands of the README are `make demo` and `make test`. Both work in ./.venv and touch nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := requirements/constraints.txt
SITE_LOCK := requirements/site.txt
# most of what is installed is never imported: what is imported is compiled then
INSTALL := $(PIP) install --quiet --no-compile --constraint $(LOCK)
WORKERS ?= 2
OPTIONS ?=
DURATIONS := .durations
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# the tests start many processes: without byte code each of them compiles the package
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo demo-network serve test test-all test-journeys test-postgres test-lowest ci install-all install-lowest coverage lint audit format package docs perf regressions lock clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed ## score models, print the table, write an HTML report
	$(BIN)/brainscore demo --output demo
	@echo "Here: make serve"

demo-network: $(VENV)/.network ## the same with a trained network, which needs PyTorch
	$(BIN)/brainscore demo --output demo

serve: $(VENV)/.web ## start the website with the results of `make demo`, or simulated ones
	$(BIN)/brainscore serve $(if $(wildcard demo/results),--results demo/results)

# docs/testing.md says which tests each of these commands runs, and why

test: $(VENV)/.test | $(DURATIONS) ## run the tests that a commit needs
	$(PYTEST) -m "not slow and not browser" --durations-file=$(DURATIONS)/test.jsonl $(OPTIONS)

test-journeys: $(VENV)/.test | $(DURATIONS) ## run the other tests: slow ones, and those in a browser
	$(PYTEST) -m "slow or browser" --durations-file=$(DURATIONS)/journeys.jsonl $(OPTIONS)

test-all: $(VENV)/.test | $(DURATIONS) ## run all tests
	$(PYTEST) --durations-file=$(DURATIONS)/all.jsonl $(OPTIONS)

test-postgres: $(VENV)/.test | $(DURATIONS) ## run the tests of the site's database on PostgreSQL
	$(BIN)/python tests/web/on_postgres.py $(SHELL) -c '$(PYTEST) -m "database and not slow and not browser" \
		--durations-file=$(DURATIONS)/postgres.jsonl $(OPTIONS) tests/web'

LOWEST := tests/core/benchmarks tests/core/brainio tests/core/metrics tests/core/numerics tests/brainio \
	tests/vision/benchmark_helpers tests/vision/metric_helpers tests/vision/metrics tests/vision/data tests/references \
	tests/report brainscore_core brainscore_vision
test-lowest: install-lowest | $(DURATIONS) ## run the tests of numbers, data and plots on the lowest declared versions
	$(subst $(BIN),.venv-lowest/bin,$(PYTEST)) -m "not slow and not browser" --durations-file=$(DURATIONS)/lowest.jsonl $(OPTIONS) $(LOWEST)

ci: ## run what continuous integration runs: all tests and checks
	rm -rf $(DURATIONS)
	$(MAKE) --no-print-directory --jobs 2 install-all install-lowest
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory test-journeys WORKERS=3  # processes of which often wait
	$(MAKE) --no-print-directory test-postgres test-lowest
	$(MAKE) --no-print-directory --jobs 2 docs audit lint package
	$(BIN)/python tests/durations.py $(DURATIONS)/*.jsonl --check

coverage: $(VENV)/.test ## run all tests and print the coverage of lines and branches by package
	$(PYTEST) --cov --cov-report= $(OPTIONS); code=$$?; $(BIN)/python tests/coverage_table.py; exit $$code

PAGES := README.md CONTRIBUTING.md docs
PROSE := '(?s)(```).*?\1' --ignore-regex '`[^`\n]*`|https?://\S+|\]\([^)]*\)|^- .*[(]20[0-9][0-9][)],.*'
lint: $(VENV)/.lint ## check style, types, spelling and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/expressions.py
	$(BIN)/codespell
	$(BIN)/codespell --dictionary .ci/british.txt --ignore-multiline-regex $(PROSE) $(PAGES)

audit: $(VENV)/.lint ## ask whether a vulnerability of the locked versions is known
	$(BIN)/python .ci/audit.py

format: $(VENV)/.lint ## correct the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

package: $(VENV)/.lint ## build wheel and source archive, check them, install each into an empty environment
	$(BIN)/python .ci/package.py

docs: $(VENV)/.docs ## build the documentation in ./site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

perf: $(VENV)/.test ## measure: PEER=python FIELD=python THINGSVISION=python (perf/README.md says how to make them)
	@test -x "$(PEER)" && test -x "$(FIELD)" && test -x "$(THINGSVISION)" || { \
		echo "Name three interpreters: make perf PEER=/path/to/python FIELD=/path/to/python THINGSVISION=/path/to/python"; \
		echo "perf/README.md has the commands that make their environments."; exit 1; }
	$(BIN)/python perf/side_by_side.py $(PEER) $(BIN)/python --write
	$(BIN)/python perf/field.py $(FIELD) $(BIN)/python --write
	$(BIN)/python perf/extraction.py $(PEER) $(THINGSVISION) $(BIN)/python --write
	$(BIN)/python perf/growth.py --write
	$(BIN)/python perf/memory.py --write

regressions: $(VENV)/.test ## measure what became slower or larger since the committed figures
	$(BIN)/python perf/regressions.py $(OPTIONS)

lock: ## write requirements/constraints.txt and requirements/site.txt anew from current versions
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet torch==2.13.0 ".[test,lint,docs]"
	(echo "# Written by \`make lock\`."; .venv-lock/bin/python -m pip freeze --exclude brainscore | sed 's/+cpu//') > $(LOCK)
	$(PYTHON) -m venv --clear .venv-lock && .venv-lock/bin/python -m pip install --quiet uv
	(echo "# Versions and hashes of what a public site installs, written by \`make lock\`; docs/operators/deploy.md installs them."; \
		.venv-lock/bin/uv pip compile pyproject.toml --extra worker --extra postgres --extra s3 --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet --constraint $(LOCK)) > $(SITE_LOCK)
	rm -rf .venv-lock

clean: ## remove environments and what was built
	rm -rf .venv .venv-lowest site demo build dist $(DURATIONS)

install-all: $(VENV)/.all

# at once, which takes half the time of one after the other
$(VENV)/.all: pyproject.toml $(LOCK) | $(VENV)/bin/python
	@echo "Installing what all commands need into $(VENV) …"
	@$(INSTALL) --editable ".[test,lint,docs]"
	@touch $(VENV)/.installed $(VENV)/.web $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $@

install-lowest:
	@$(MAKE) --no-print-directory VENV=.venv-lowest LOCK=requirements/lowest.txt .venv-lowest/.lowest

$(DURATIONS):
	@mkdir -p $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv module is needed (on Debian: apt install python3-venv)"; exit 1; }
	@$(PIP) install --quiet "pip>=25"  # older ones take twice as long

$(VENV)/.installed: pyproject.toml $(LOCK) | $(VENV)/bin/python
	@echo "Installing into $(VENV) …"
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.network: $(VENV)/.installed
	@echo "Installing a trained network and PyTorch into $(VENV) …"
	@$(INSTALL) --editable ".[examples]"
	@touch $@

$(VENV)/.web: $(VENV)/.installed
	@echo "Installing what the website needs into $(VENV) …"
	@$(INSTALL) --editable ".[worker]"
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
	@$(INSTALL) av hypothesis matplotlib pytest pytest-random-order pytest-xdist sybil
	@touch $@
