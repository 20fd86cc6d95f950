# One command per intent; CI runs the same ones. `make help` lists them.
# Needs Python 3.11+ and make, nothing else: every target installs what it uses into .venv. But for `make test`: its
# tests of az:// and the web page need Node.js 20.19+ with npm, and those of the browser Debian's chromium, which a run
# as root installs.

PYTHON ?= python3
VENV   := .venv
UV_ENV := .venv-uv
UV     := $(UV_ENV)/bin/uv
RELEASE := .venv-release
BIN    := $(VENV)/bin
SPARK  := .venv-spark
OLD_BOTO3 := $(VENV)/boto3-before-1.36
DELTA  := .venv-delta
LOWEST := .venv-lowest
PEERS  := .venv-peers
RECIPES := .venv-recipes
# what runs with the lowest version of each dependency that pyproject.toml allows
LOWEST_TESTS := tests/format tests/sdk tests/server tests/cli
AZURITE := $(VENV)/.azurite
CHROMIUM := $(VENV)/.chromium
NPM := $(VENV)/.npm
PAGE   := server_stub/lakebed_server/ui/index.html
NODE_MODULES := ui/node_modules/.ready
HAS_NPM := $(shell command -v npm)
# The jobs of `make test`. Each has its folders of tests; `pytest-rest` runs every folder that no other job has.
PYTESTS := server faults simulation engine stores sdk crash histories hooks auth cli docs
auth_tests := tests/auth
cli_tests := tests/cli tests/migrate
docs_tests := tests/docs tests/testing
hooks_tests := tests/hooks
simulation_tests := tests/simulation
engine_tests := tests/engine tests/format
stores_tests := tests/conformance
server_tests := tests/server
# these hardly compute: they wait for the limits in seconds that a server keeps
faults_tests := $(addprefix tests/server/,http/test_connection_bounds.py http/test_hangup.py http/test_overload.py faults/test_faults.py faults/test_faults_kv.py process/test_maintenance_stores.py process/test_stopping.py)
server_left := $(faults_tests)
sdk_tests := tests/sdk tests/fs tests/compat
crash_tests := tests/crash tests/power
histories_tests := tests/histories
ON_SPARK := sdk/lakebed_spark sdk/pyspark_lakebed tests/spark benchmarks/spark
# tests that start more of Spark than the one session that the others share
SPARK_APART := tests/spark/apart
ON_DELTA := tests/delta
ON_LIGHTHOUSE := tests/browser/test_ui_lighthouse.py
ON_RECIPES := tests/recipes
ELSEWHERE := tests/browser tests/spark tests/s3 $(ON_DELTA) $(ON_RECIPES)
# The unit tests run in three jobs of about the same size: these folders, and the others.
UNIT_ENGINE := tests/engine tests/format tests/conformance tests/simulation
UNIT_SERVER := tests/server tests/auth tests/hooks tests/power
# What a tier leaves out (pyproject.toml explains the markers). `make soak` leaves out nothing.
TIER ?= not soak
DURATIONS := --durations=15 --durations-min=1
PYTEST = -m pytest -q $(DURATIONS) $(if $(TIER),-m "$(TIER)")
# Jobs that run at the same time: with five on two cores, two compute while the others wait.
AT_ONCE ?= 5
JOBS = $(PYTHON) tools/jobs.py --at-once $(AT_ONCE)
# A directory in memory for what tests write, if there is room (`make SCRATCH= test`: on disk). Not for tests/crash:
# these tests need the delays of a real disk.
SCRATCH = $(shell $(PYTHON) tools/scratch.py)
IN_MEMORY = $(if $(SCRATCH),TMPDIR="$(SCRATCH)")
DATA_DIR ?=
SEEDS  ?= 20000
SETS   ?= 20
KILLS  ?= 50
# The sizes of `make test`: kills on each KV store, and seconds of a history of real servers.
TEST_KILLS ?= 5
TEST_HISTORY ?= 10
ONLY   ?=
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Python keeps its bytecode, even where the environment says otherwise: the tests start hundreds of processes, and each
# would compile again everything that it imports (2 s instead of 0.6 s for a server).
export PYTHONDONTWRITEBYTECODE :=
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

.DEFAULT_GOAL := help
.PHONY: help ui page ui-check demo test check soak envs serve fix generate bench bench-before bench-clients soak-server simulate correctness docs site lint types layers generated unit-engine unit-server unit-rest pytest $(PYTESTS:%=pytest-%) pytest-rest browser browser-data browser-people lighthouse schemathesis lock locks audit release test-lowest interpreters spark spark-shared spark-apart s3 test-delta recipes clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(UV): locks/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Lakebed needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(UV_ENV)
	$(UV_ENV)/bin/python -m pip install -q --no-compile --require-hashes -r locks/uv.txt
	@touch $@

# $(call locked,FOLDER,LOCK): an environment in FOLDER with what locks/LOCK.txt names, each file checked against its hashes
locked = $(PYTHON) -m venv $(1) && $(UV) pip install -q --python $(1)/bin/python --require-hashes --build-constraints locks/build.txt -r locks/$(2).txt
# $(call ours,FOLDER): Lakebed itself, as it is in this folder
ours = $(UV) pip install -q --python $(1)/bin/python --no-deps --build-constraints locks/build.txt -e .

# two stamps: what a user needs (the demo), and what a developer needs on top
$(VENV)/.demo: $(UV) pyproject.toml locks/demo.txt
	$(call locked,$(VENV),demo)
	$(call ours,$(VENV))
	@touch $@

$(VENV)/.dev: $(UV) pyproject.toml locks/dev.txt
	$(call locked,$(VENV),dev)
	$(call ours,$(VENV))
	@touch $@ $(VENV)/.demo

$(SPARK)/.ready: $(UV) pyproject.toml locks/test-spark.txt
	$(call locked,$(SPARK),test-spark)
	$(call ours,$(SPARK))
	@touch $@

$(SPARK)/.classes: $(SPARK)/.ready tests/spark/classes.py
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python -m tests.spark.classes
	@touch $@

# boto3 as it was before 1.36, in a folder that only tests/s3/old_boto3.py uses
$(OLD_BOTO3)/.ready: $(VENV)/.dev locks/test-s3-old.txt
	$(UV) pip install -q --python $(BIN)/python --target $(OLD_BOTO3) --require-hashes -r locks/test-s3-old.txt
	@touch $@

$(DELTA)/.ready: $(UV) pyproject.toml locks/test-delta.txt
	$(call locked,$(DELTA),test-delta)
	$(call ours,$(DELTA))
	@touch $@

$(RECIPES)/.ready: $(UV) pyproject.toml locks/test-recipes.txt
	$(call locked,$(RECIPES),test-recipes)
	$(call ours,$(RECIPES))
	@touch $@

$(LOWEST)/.ready: $(UV) pyproject.toml locks/test-lowest.txt
	$(call locked,$(LOWEST),test-lowest)
	$(call ours,$(LOWEST))
	@touch $@

$(RELEASE)/.ready: $(UV) locks/release.txt
	$(call locked,$(RELEASE),release)
	@touch $@

$(NODE_MODULES): ui/package.json ui/package-lock.json
	cd ui && npm ci --no-fund --no-audit --loglevel=error
	@touch $@

$(PAGE): $(NODE_MODULES) openapi.yaml ui/index.html ui/vite.config.ts $(shell find ui/src ui/public ui/scripts -type f ! -name schema.d.ts)
	cd ui && npm run -s build

ui: $(PAGE) ## build the web page of the server

# A server works without its page, and says how to get it: machines without npm, or without a network, go on.
page:
	@$(if $(HAS_NPM),$(MAKE) --no-print-directory $(PAGE) >/dev/null 2>&1 || echo "the web page was not built: make ui says why")

demo: $(VENV)/.demo page ## the main job, end to end, on real data (DATA_DIR=... keeps it)
	@$(BIN)/python examples/demo.py $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

serve: $(VENV)/.demo page ## start a server (DATA_DIR=... chooses where the data is)
	@$(BIN)/lakebed serve $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

# Three tiers. Each runs all of its jobs even if some fail, and reports the slowest tests and the failed jobs at the end.
# Jobs that take long come first.
check: $(VENV)/.dev ## lint, types, contracts, unit tests, docs site: the loop of a contributor, about a minute and a half on two cores
	@LAKEBED_TIER=check $(JOBS) "make check: lint, types, contracts, unit tests and the site of the docs" \
		unit-engine unit-server unit-rest lint site generated types layers locks

# `-k`: when an environment cannot be made, the jobs that do not need it still run
test: ## everything on real parts, scaled down, with all the installing it needs: about 20 minutes on two cores; CI runs it
	@$(MAKE) --no-print-directory -k -j$(AT_ONCE) -Otarget envs || true
	@LAKEBED_KILLS=$(TEST_KILLS) LAKEBED_HISTORY_SECONDS=$(TEST_HISTORY) MAKE="$(MAKE)" \
		$(JOBS) "make test: all suites on real parts (PostgreSQL, S3, Spark), with scaled-down simulation, kills, mutants and histories" \
		browser-data browser-people pytest-server spark-shared pytest-rest pytest-hooks pytest-sdk pytest-engine recipes pytest-faults pytest-docs pytest-cli s3 pytest-stores \
		interpreters schemathesis pytest-auth types pytest-crash ui-check pytest-simulation pytest-histories generated lint layers locks

soak: ## all schedules, kills, mutants, histories, fuzzers, benchmarks, lowest versions; writes the evidence pages
	@$(MAKE) --no-print-directory -k -j$(AT_ONCE) -Otarget envs $(DELTA)/.ready $(LOWEST)/.ready || true
	@TIER= LAKEBED_TIER=soak MAKE="$(MAKE)" $(JOBS) --alone lighthouse "make soak: every test at full size, Spark apart, Delta Lake and the lowest versions" \
		spark-shared spark-apart pytest-faults pytest-engine pytest-stores pytest-server pytest-crash pytest-simulation pytest-sdk pytest-rest pytest-auth pytest-cli pytest-docs pytest-hooks browser-data browser-people ui-check s3 recipes \
		test-delta schemathesis test-lowest interpreters pytest-histories types generated lint layers locks; \
	code=$$?; $(MAKE) --no-print-directory correctness || code=1; $(MAKE) --no-print-directory bench || code=1; exit $$code

envs: $(SPARK)/.classes $(AZURITE) $(OLD_BOTO3)/.ready $(RECIPES)/.ready $(CHROMIUM) $(NPM) page

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/lint/word_lint.py
	$(BIN)/python tools/lint/assertion_lint.py

types: $(VENV)/.dev
	$(BIN)/mypy --exclude '$(subst $() $(),|,$(ON_SPARK:%=^%) $(ON_DELTA:%=^%))' sdk server_stub/lakebed_auth server_stub/lakebed_engine server_stub/lakebed_hooks server_stub/lakebed_server server_stub/lakebed_testing tests tools benchmarks examples

layers: $(VENV)/.dev
	$(BIN)/lint-imports

generated: $(VENV)/.dev
	$(BIN)/python tools/lint/spec_lint.py openapi.yaml
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/unasync_sdk.py --check

$(AZURITE): $(VENV)/.dev tests/support/services/azurite.py
	$(BIN)/python -m tests.support.services.azurite
	@touch $@

$(CHROMIUM): $(VENV)/.dev tests/support/services/debian.py
	$(BIN)/python -m tests.support.services.debian
	@touch $@

$(NPM): $(VENV)/.dev $(wildcard tests/support/services/npm/*/package-lock.json)
	$(BIN)/python -m tests.support.services.npm_packages
	@touch $@

pytest: $(PYTESTS:%=pytest-%) pytest-rest

UNIT = $(IN_MEMORY) $(BIN)/python -m pytest -q $(DURATIONS) -m "not slow and not medium and not soak"

unit-engine: $(VENV)/.dev
	$(UNIT) $(UNIT_ENGINE)

unit-server: $(VENV)/.dev
	$(UNIT) $(UNIT_SERVER)

unit-rest: $(VENV)/.dev
	$(UNIT) $(UNIT_ENGINE:%=--ignore %) $(UNIT_SERVER:%=--ignore %) $(ELSEWHERE:%=--ignore %)

$(filter-out pytest-crash,$(PYTESTS:%=pytest-%)): pytest-%: $(AZURITE)
	$(IN_MEMORY) $(BIN)/python $(PYTEST) $($*_tests) $($*_left:%=--ignore %)

pytest-crash: $(VENV)/.dev
	$(BIN)/python $(PYTEST) $(crash_tests)

pytest-rest: $(AZURITE)
	$(IN_MEMORY) $(BIN)/python $(PYTEST) $(foreach one,$(PYTESTS),$($(one)_tests:%=--ignore %)) $(ELSEWHERE:%=--ignore %)

spark: spark-shared spark-apart ## the PySpark tests alone, in their own environment

spark-shared: $(SPARK)/.classes
	$(SPARK)/bin/mypy $(ON_SPARK) tools/java_home.py
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python $(PYTEST) tests/spark $(SPARK_APART:%=--ignore %)

spark-apart: $(SPARK)/.classes
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python $(PYTEST) $(SPARK_APART)

ui-check: $(if $(HAS_NPM),$(PAGE)) ## types, accessibility and tests of the web page's parts, and its budgets
	@$(if $(HAS_NPM),cd ui && npm run -s check && npm run -s test && node scripts/budgets.mjs --docs,echo "no npm: the web page is not checked")

browser: browser-data browser-people ## what people do in a browser, by Chromium

# In two jobs, because a browser waits most of its time. Without npm, only the pages of the server itself are tested.
browser-data: $(CHROMIUM) $(NPM) $(if $(HAS_NPM),$(PAGE))
	@$(if $(HAS_NPM),$(IN_MEMORY) $(BIN)/python $(PYTEST) tests/browser/data,echo "no npm: these screens are not tested")

browser-people: $(CHROMIUM) $(NPM) $(if $(HAS_NPM),$(PAGE))
	$(IN_MEMORY) $(BIN)/python $(PYTEST) tests/browser --ignore tests/browser/data $(if $(HAS_NPM),--ignore $(ON_LIGHTHOUSE),--ignore-glob '*/test_ui_*')

# It measures time, so `make soak` runs it when all other jobs have ended.
lighthouse: $(CHROMIUM) $(NPM) $(if $(HAS_NPM),$(PAGE)) ## how fast and accessible the object browser is, by Lighthouse
	@$(if $(HAS_NPM),$(IN_MEMORY) $(BIN)/python $(PYTEST) $(ON_LIGHTHOUSE),echo "no npm: the page is not measured")

s3: $(OLD_BOTO3)/.ready ## the S3 gateway by the clients that people use
	$(IN_MEMORY) $(BIN)/python $(PYTEST) tests/s3

test-delta: $(DELTA)/.ready ## Delta Lake by Spark on a branch, through the S3 gateway; in an environment of its own
	$(DELTA)/bin/mypy $(ON_DELTA) tools/java_home.py
	JAVA_HOME="$$($(DELTA)/bin/python tools/java_home.py)" $(DELTA)/bin/python $(PYTEST) $(ON_DELTA)

recipes: $(RECIPES)/.ready ## the recipes and the migration from DVC with the real packages, in an environment of its own
	$(IN_MEMORY) $(RECIPES)/bin/python $(PYTEST) $(ON_RECIPES)

test-lowest: $(LOWEST)/.ready $(AZURITE) ## the tests with the lowest version of each dependency
	$(IN_MEMORY) $(LOWEST)/bin/python -m pytest -q -m "not soak" $(LOWEST_TESTS)

interpreters: $(UV) ## the quick tests of SDK and fsspec on the oldest and the newest Python of the machine
	@$(IN_MEMORY) $(PYTHON) tools/interpreters.py $(UV)

locks: $(VENV)/.dev
	$(BIN)/python tools/lock.py --check

lock: $(VENV)/.dev ## lock the packages of each environment (UPGRADE=1: their newest versions)
	PATH="$(abspath $(UV_ENV))/bin:$$PATH" $(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

audit: $(RELEASE)/.ready ## compare the locked packages with known vulnerabilities, where the package index lists them
	$(RELEASE)/bin/python tools/audit.py

release: $(RELEASE)/.ready ui ## build dist/: wheel, sdist, and an SBOM of what the wheel installs with its extra [all]
	rm -rf dist
	LAKEBED_RELEASE=1 $(UV) build -q --sdist --build-constraints locks/build.txt --require-hashes --out-dir dist
	LAKEBED_RELEASE=1 $(UV) build -q --wheel --build-constraints locks/build.txt --require-hashes --out-dir dist
	$(RELEASE)/bin/cyclonedx-py requirements locks/all.txt --pyproject pyproject.toml --output-reproducible --of JSON --output-file dist/lakebed.cdx.json
	@ls dist

schemathesis: $(VENV)/.dev
	$(BIN)/python tools/run_schemathesis.py

fix: $(VENV)/.dev ## format, and fix what the linter can
	$(BIN)/ruff check --fix . || true
	$(BIN)/ruff format .

generate: $(VENV)/.dev ## write generated/ and the sync half of the SDK
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/unasync_sdk.py

bench: $(VENV)/.dev $(SPARK)/.ready ## measure; a table for people, JSON in benchmarks/results.json; a miss fails
	$(BIN)/python -m benchmarks.run

BEFORE ?= ../before
bench-before: $(VENV)/.dev ## compare the server with that of an earlier checkout in BEFORE, which has its .venv
	$(BIN)/python -m benchmarks.paired $(BEFORE)
	$(BIN)/python -m benchmarks.side_by_side $(BEFORE) --large 2
	$(BIN)/python -m benchmarks.side_by_side $(BEFORE) --stores cloud

# The run of a release: make soak-server MINUTES=120 SERVERS=3 OUTAGE=120
MINUTES ?= 10
SERVERS ?= 1
OUTAGE  ?= 0
soak-server: $(VENV)/.dev ## real servers under mixed load for MINUTES: memory, files, restarts, an outage, fsck
	$(BIN)/python -m benchmarks.server.soak --minutes $(MINUTES) --servers $(SERVERS) --outage $(OUTAGE)

$(PEERS)/.ready: $(UV) benchmarks/clients/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(UV) pip install -q --python $(PEERS)/bin/python -r benchmarks/clients/peers.txt
	@touch $@

bench-clients: $(VENV)/.dev $(PEERS)/.ready ## compare the clients with other clients; a miss fails
	$(BIN)/python -m benchmarks.clients

simulate: $(VENV)/.dev ## run SEEDS seeded schedules of the engine's protocol, on all cores, with crashes and lost answers
	$(BIN)/python -m tests.simulation.run --seeds $(SEEDS)
	$(BIN)/python -m tests.simulation.apart --seeds $$(( ($(SEEDS) + 9) / 10 ))

correctness: $(VENV)/.dev ## run every proof, at SEEDS, SETS and KILLS, and write docs/correctness.md; a failure fails
	LAKEBED_TIER=soak $(BIN)/python -m tools.correctness.run --seeds $(SEEDS) --sets $(SETS) --kills $(KILLS) $(if $(ONLY),--only "$(ONLY)")

docs: $(VENV)/.dev ## run every snippet of README and docs/
	$(BIN)/python -m pytest -q tests/docs

# MkDocs fails on a broken link in a page; the check reads the HTML, with what plugins have added
site: $(VENV)/.dev ## build the site of the docs into build/site, and check its links, anchors and loaded files
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@$(BIN)/python -m tools.site.check build/site

clean: ## remove what the other commands installed
	rm -rf build $(VENV) $(UV_ENV) $(RELEASE) $(SPARK) $(DELTA) $(LOWEST) $(PEERS) $(RECIPES) .venv-python3.* ui/node_modules $(dir $(PAGE)) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
