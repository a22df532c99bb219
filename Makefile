# Every task of the repository. `make setup` is implied by all of them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What the protos are compared with for breaking changes.
BASE ?= HEAD
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: setup run demo chat test lint format gen lock bench clean

setup: $(STAMP)  ## makes .venv with everything in it

$(STAMP): requirements.lock pyproject.toml clients/python/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python -e .
	touch $@

run: setup  ## starts everything on this machine
	parleyd serve --development

demo: setup  ## plays the main job end to end and exits
	parleyd demo

chat: setup  ## talks to the agent in this terminal
	parleyd chat

test: setup  ## runs the whole suite
	pytest

lint: setup  ## formatting, style, types, layers, protos
	ruff format --check .
	ruff check .
	pyright
	lint-imports
	buf format --diff --exit-code protos
	buf lint
	buf breaking --against '.git#ref=$(BASE)'

format: setup  ## mends what lint can mend
	ruff check --fix .
	ruff format .
	buf format --write protos

gen: setup  ## writes the stubs anew from the protos
	cd clients && buf generate

# grpc-stubs would write over types-grpcio, which is newer and typed for asyncio.
lock: setup  ## resolves the dependencies anew
	uv pip compile pyproject.toml clients/python/pyproject.toml --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-package parley-client --no-emit-package grpc-stubs \
	  --no-annotate --custom-compile-command "make lock" --quiet -o requirements.lock

bench: setup  ## prints what the README says about speed
	python -m bench.contract
	python -m bench.blocks
	python -m bench.round_trips
	python -m bench.answers
	python -m bench.long_chains
	python -m bench.pending_asks
	python -m bench.idle_streams
	python -m bench.takeover
	python -m bench.start_up
	python -m bench.files

clean:  ## forgets the virtual environment
	rm -rf $(VENV)
