# `make` lists the targets. Everything runs in .venv, made on first use.
.DEFAULT_GOAL := help
.PHONY: help run test check coverage lint format types layers templates migrations \
	bench bench-quality screenshots lock venv-run venv-dev

HOST ?= 127.0.0.1
PORT ?= 8000
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
export VENV

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) \
		| awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

run: venv-run  ## Start the console (HOST, PORT) and print a sign-in link
	@$(BIN)/python manage.py run_console --host $(HOST) --port $(PORT)

test: venv-dev  ## Run all tests; browser tests where Chromium is found
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint types layers templates migrations  ## Everything CI runs, Chromium required
	HERMES_WEB_REQUIRE_CHROMIUM=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

coverage: venv-dev  ## Run all tests and show which lines none reached
	$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	$(BIN)/coverage report

lint: venv-dev  ## Report faults of style and format
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: venv-dev  ## Repair style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find templates -name '*.html' -exec $(BIN)/djade --target-version 5.2 {} +

types: venv-dev  ## Check types
	$(BIN)/mypy .

layers: venv-dev  ## Check who imports whom
	$(BIN)/lint-imports

templates: venv-dev  ## Check the templates
	find templates -name '*.html' -exec $(BIN)/djade --target-version 5.2 --check {} +
	$(BIN)/djlint templates --lint --quiet

migrations: venv-dev  ## Fail when a migration is missing
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: venv-dev  ## Measure speed against peers, as ratios of one run (BENCH=rows)
	$(BIN)/python -m bench $(BENCH)

bench-quality: venv-dev  ## Measure what survives a compaction (BENCH=rows)
	$(BIN)/python -m bench.quality $(BENCH)

screenshots: venv-dev  ## Take the pictures of the documentation
	$(BIN)/python scripts/screenshots.py

lock:  ## Lock requirements anew (needs uv)
	for name in requirements requirements-dev; do \
		UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --universal \
			--generate-hashes --python-version 3.11 --no-emit-index-url \
			--no-emit-find-links --quiet $$name.in --output-file $$name.txt || exit 1; \
	done

venv-run:
	@sh scripts/venv.sh run

venv-dev:
	@sh scripts/venv.sh dev
