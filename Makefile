# `make` alone prints this help; every target can be run on a fresh checkout.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup up demo test chaos check format bench bench-peers screenshots vendor clean system-packages

BIN := .venv/bin
ARGS ?=

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Create .venv with every extra; quick when nothing changed
	@tools/setup.sh

up: setup ## Start API, page and worker with sample jobs (ARGS="--port 8001")
	@$(BIN)/tenure up --demo $(ARGS)

demo: setup ## Watch 1,000 jobs and two workers, one of them killed on the way
	@$(BIN)/python -m examples.demo $(ARGS)

test: setup system-packages check ## Run the checks, then all tests (ARGS="-k lease" narrows them)
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(ARGS)

chaos: setup system-packages ## Kill workers, producers and uploads for a long time: the campaigns of the tests, ten times
	@TENURE_CHAOS=$${TENURE_CHAOS:-10} $(BIN)/python -m pytest tests/crash/test_campaign.py tests/crash/test_outbox.py -k nothing_is_lost --timeout 3600 $(ARGS)
	@TENURE_CHAOS=$${TENURE_CHAOS:-10} $(BIN)/python -m pytest -rP tests/files/test_kills.py tests/files/test_campaigns.py tests/files/test_files.py \
		-k "bytes_are_left or cut or large_upload or however_many_write" --timeout 3600 $(ARGS)

check: setup ## Lint, formatting, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## Format the code and fix what can be fixed
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: setup system-packages ## Measure everything into bench/RESULTS.md (bench-NAME: one figure)
	@$(BIN)/python -m bench all $(ARGS)

bench-peers: setup system-packages ## Measure Tenure and its peers side by side: table and chart
	@$(BIN)/python -m bench.peers $(ARGS)

bench-%: setup system-packages
	@$(BIN)/python -m bench $* $(ARGS)

screenshots: setup system-packages ## Take pictures of every screen of the dashboard into build/screenshots
	@$(BIN)/python -m tests.dashboard.screenshots $(ARGS)

vendor: setup ## Remake the vendored files of the dashboard; needs npm
	@$(BIN)/python tools/vendor.py

clean: ## Remove .venv and everything that tools left behind
	@rm -rf .venv bench/peers/.venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

system-packages:
	@tools/system-packages.sh
