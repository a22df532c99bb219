# Every task of the repository. `make setup` is implied by all of them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What the protos are compared with for breaking changes.
BASE ?= HEAD
export PATH := $(CURDIR)/$(BIN):$(PATH)
TYPESCRIPT := clients/typescript
NODE_MODULES := $(TYPESCRIPT)/node_modules/.package-lock.json
# Empty where there is none that is new enough: what needs it is left out then, and says so.
NODE := $(shell node -p "parseInt(process.versions.node) < 20 ? '' : 'node'" 2>/dev/null)
PLAYGROUND := playground
PLAYGROUND_MODULES := $(PLAYGROUND)/node_modules/.package-lock.json
# What the playground is built with needs 20.19, or 22.12 of the next.
NODE_TO_BUILD := $(shell node -p "const [a, b] = process.versions.node.split('.').map(Number); (a === 20 && b >= 19) || (a === 22 && b >= 12) || a > 22 ? 'node' : ''" 2>/dev/null)
KOTLIN := clients/kotlin
# Empty where it or Java is missing, as with Node.
MAVEN := $(shell command -v java >/dev/null && command -v mvn)

.PHONY: setup run demo chat test lint format gen lock bench clean
.PHONY: typescript typescript-lint typescript-format typescript-gen
.PHONY: playground playground-lint playground-format playground-gen
.PHONY: kotlin-gen

setup: $(STAMP)  ## makes .venv with everything in it

$(STAMP): requirements.lock pyproject.toml clients/python/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python -e .
	touch $@

run: setup  ## starts everything on this machine
	parleyd serve --development --gateway

demo: setup  ## plays the main job end to end and exits
	parleyd demo

chat: setup  ## talks to the agent in this terminal
	parleyd chat

# Most tests wait more than they work, so several processes share them, a file each.
test: setup  ## runs the whole suite
	pytest -m "not alone" -n 3 --dist loadfile
	pytest -m alone

lint: setup typescript-lint playground-lint  ## formatting, style, types, layers, protos
	ruff format --check .
	ruff check .
	pyright
	lint-imports
	buf format --diff --exit-code protos
	buf lint
	buf breaking --against '.git#ref=$(BASE)'

format: setup typescript-format playground-format  ## mends what lint can mend
	ruff check --fix .
	ruff format .
	buf format --write protos

gen: setup typescript-gen kotlin-gen playground-gen  ## writes anew what comes of the protos, and the playground's page
	cd clients && buf generate
	python -m tools.ask_tools

ifdef NODE
typescript: $(NODE_MODULES)  ## installs what the TypeScript client is built with

$(NODE_MODULES): $(TYPESCRIPT)/package.json $(TYPESCRIPT)/package-lock.json
	cd $(TYPESCRIPT) && npm ci --no-audit --no-fund
	touch $@

typescript-lint: $(NODE_MODULES)
	cd $(TYPESCRIPT) && npm run --silent check

typescript-format: $(NODE_MODULES)
	cd $(TYPESCRIPT) && npm run --silent format

typescript-gen: setup $(NODE_MODULES)
	cd $(TYPESCRIPT) && buf generate
else
typescript typescript-lint typescript-format typescript-gen:
	@echo "Node 20 or newer is not here: the TypeScript client is left as it is, unchecked."
endif

ifdef NODE_TO_BUILD
playground: $(NODE_MODULES) $(PLAYGROUND_MODULES)  ## installs what the playground is built with

$(PLAYGROUND_MODULES): $(PLAYGROUND)/package.json $(PLAYGROUND)/renderer/package.json $(PLAYGROUND)/package-lock.json
	cd $(PLAYGROUND) && npm ci --no-audit --no-fund
	touch $@

playground-lint: playground
	cd $(PLAYGROUND) && npm run --silent check

playground-format: playground
	cd $(PLAYGROUND) && npm run --silent format

# The page has the stubs of the TypeScript client in it.
playground-gen: playground typescript-gen
	cd $(PLAYGROUND) && npm run --silent build -- --logLevel warn
else
playground playground-lint playground-format playground-gen:
	@echo "Node 20.19 or newer is not here: the playground is left as it is, unchecked."
endif

ifdef MAVEN
kotlin-gen: setup
	cd $(KOTLIN) && mvn --quiet --batch-mode -Ptools initialize
	chmod +x $(KOTLIN)/target/tools/protoc
	cd $(KOTLIN) && buf generate
else
kotlin-gen:
	@echo "Maven or Java is not here: the Kotlin client is left as it is."
endif

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
	python -m bench.action_tokens
	python -m bench.idle_streams
	python -m bench.takeover
	python -m bench.start_up
	python -m bench.files
	python -m bench.gateway
	python -m bench.playground

clean:  ## forgets the virtual environment
	rm -rf $(VENV)
