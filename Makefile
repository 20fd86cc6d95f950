# One command per intent; CI runs the same ones. `make help` lists them.
# Needs Python 3.11+ and make, nothing else: every target installs what it uses into .venv. But for `make test`: its
# tests of az:// run Azurite, and need Node.js 20+ with npm.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ST     := .venv-schemathesis
SPARK  := .venv-spark
S3     := .venv-s3
DELTA  := .venv-delta
AZURITE := $(VENV)/.azurite
# the tests of `make test` by job; `pytest-rest` has what no other job has
PYTESTS := server simulation engine sdk crash histories
simulation_tests := tests/simulation
engine_tests := tests/engine tests/format tests/conformance
server_tests := tests/server
sdk_tests := tests/sdk tests/fs tests/compat
crash_tests := tests/crash
histories_tests := tests/histories
SIGKILLS := tests/crash/test_sigkill.py
ON_SPARK := sdk/lakebed_spark sdk/pyspark_lakebed tests/spark $(wildcard benchmarks/spark*.py)
# those that start more of Spark than the one session that the others share: a job of their own
SPARK_APART := $(addprefix tests/spark/test_,bucket.py cli_pipelines.py connect.py failures.py java.py)
ON_S3  := tests/s3
ON_DELTA := tests/delta
ELSEWHERE := tests/spark $(ON_S3) $(ON_DELTA)
# The stores on which servers are killed: a job for each, since a kill is mostly waiting for a disk.
KILLED := sqlite postgres
# Jobs that run at once: with four on two cores, two compute while the others wait.
LANES  ?= 4
# A directory in memory for what tests write, where there is room (`make SCRATCH= test`: on disk). Not for tests/crash:
# kills are to meet the waits of a real disk.
SCRATCH = $(shell $(PYTHON) tools/scratch.py)
IN_MEMORY = $(if $(SCRATCH),TMPDIR="$(SCRATCH)")
DATA_DIR ?=
SEEDS  ?= 20000
SETS   ?= 20
KILLS  ?= 50
ONLY   ?=
# for tests: what they never import need not be compiled
INSTALL = -m pip install -q --no-compile
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help demo test check serve fix generate bench simulate correctness docs lint types layers generated pytest $(PYTESTS:%=pytest-%) $(KILLED:%=pytest-kills-%) pytest-rest pytest-fast schemathesis spark spark-shared spark-apart s3 test-delta clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Lakebed needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# two stamps: what a user needs (the demo), and what a developer needs on top
$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e '.[demo]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python $(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.demo

$(ST)/.ready: pyproject.toml tools/requirements-schemathesis.txt
	$(PYTHON) -m venv $(ST)
	$(ST)/bin/python $(INSTALL) -r tools/requirements-schemathesis.txt
	@touch $@

$(SPARK)/.ready: pyproject.toml tools/requirements-spark.txt
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python $(INSTALL) -r tools/requirements-spark.txt
	@touch $@

$(SPARK)/.classes: $(SPARK)/.ready tests/spark/classes.py
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python -m tests.spark.classes
	@touch $@

# boto3 as it was before 1.36 lies in a folder, beside the current one
$(S3)/.ready: pyproject.toml tools/requirements-s3.txt tools/requirements-s3-old.txt
	$(PYTHON) -m venv $(S3)
	$(S3)/bin/python $(INSTALL) -r tools/requirements-s3.txt
	$(S3)/bin/python $(INSTALL) --upgrade --target $(S3)/boto3-before-1.36 -r tools/requirements-s3-old.txt
	@touch $@

$(DELTA)/.ready: pyproject.toml tools/requirements-delta.txt
	$(PYTHON) -m venv $(DELTA)
	$(DELTA)/bin/python $(INSTALL) -r tools/requirements-delta.txt
	@touch $@

demo: $(VENV)/.demo ## the main job, end to end, on real data (DATA_DIR=... keeps it)
	@$(BIN)/python examples/demo.py $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

serve: $(VENV)/.demo ## start a server (DATA_DIR=... chooses where the data lies)
	@$(BIN)/lakebed serve $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

# The longest jobs come first, and what they need before all of them: make passes over a job whose prerequisites are still
# being made, and comes back to it when all the others have begun.
test: ## everything, with all the installing it needs
	@echo "everything, $(LANES) jobs at a time; what a job prints is shown when it ends"
	@$(MAKE) --no-print-directory -j$(LANES) -Otarget $(SPARK)/.classes $(AZURITE) $(S3)/.ready $(ST)/.ready
	@$(MAKE) --no-print-directory -j$(LANES) -Otarget SCRATCH="$(SCRATCH)" \
		spark-apart spark-shared pytest-simulation pytest-engine $(KILLED:%=pytest-kills-%) pytest-sdk pytest-rest pytest-server \
		pytest-crash pytest-histories s3 schemathesis types lint layers generated

check: lint types layers generated pytest-fast ## the quick loop: no slow tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy --exclude '$(subst $() $(),|,$(ON_SPARK:%=^%) $(ON_S3:%=^%) $(ON_DELTA:%=^%))' sdk server_stub/lakebed_engine server_stub/lakebed_server server_stub/lakebed_testing tests tools benchmarks examples

layers: $(VENV)/.dev
	$(BIN)/lint-imports

generated: $(VENV)/.dev
	$(BIN)/python tools/spec_lint.py openapi.yaml
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/unasync_sdk.py --check

$(AZURITE): $(VENV)/.dev tests/support/azurite.py
	$(BIN)/python -m tests.support.azurite
	@touch $@

pytest: $(PYTESTS:%=pytest-%) $(KILLED:%=pytest-kills-%) pytest-rest

$(filter-out pytest-crash,$(PYTESTS:%=pytest-%)): pytest-%: $(AZURITE)
	$(IN_MEMORY) $(BIN)/python -m pytest $($*_tests)

pytest-crash: $(VENV)/.dev
	$(BIN)/python -m pytest $(crash_tests) --ignore $(SIGKILLS)

$(KILLED:%=pytest-kills-%): pytest-kills-%: $(VENV)/.dev
	$(BIN)/python -m pytest $(SIGKILLS) -k $*

pytest-rest: $(AZURITE)
	$(IN_MEMORY) $(BIN)/python -m pytest $(foreach one,$(PYTESTS),$($(one)_tests:%=--ignore %)) $(ELSEWHERE:%=--ignore %)

pytest-fast: $(VENV)/.dev
	$(IN_MEMORY) $(BIN)/python -m pytest -q -m "not slow" $(ELSEWHERE:%=--ignore %)

spark: spark-shared spark-apart ## the PySpark tests alone, in their own environment

spark-shared: $(SPARK)/.classes
	$(SPARK)/bin/mypy $(ON_SPARK) tools/java_home.py
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python -m pytest tests/spark $(SPARK_APART:%=--ignore %)

spark-apart: $(SPARK)/.classes
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python -m pytest $(SPARK_APART)

s3: $(S3)/.ready ## the S3 gateway by the clients that people use, in their own environment
	$(S3)/bin/mypy $(ON_S3)
	$(S3)/bin/python -m pytest $(ON_S3)

test-delta: $(DELTA)/.ready ## Delta Lake by Spark on a branch, through the S3 gateway; in an environment of its own
	$(DELTA)/bin/mypy $(ON_DELTA) tools/java_home.py
	JAVA_HOME="$$($(DELTA)/bin/python tools/java_home.py)" $(DELTA)/bin/python -m pytest $(ON_DELTA)

schemathesis: $(VENV)/.dev $(ST)/.ready
	$(BIN)/python tools/run_schemathesis.py --python $(ST)/bin/python

fix: $(VENV)/.dev ## format, and fix what the linter can
	$(BIN)/ruff check --fix . || true
	$(BIN)/ruff format .

generate: $(VENV)/.dev ## make generated/ and the SDK's sync door anew
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/unasync_sdk.py

bench: $(VENV)/.dev $(SPARK)/.ready ## measure; a table for people, JSON in benchmarks/results.json; a miss fails
	$(BIN)/python -m benchmarks.run

simulate: $(VENV)/.dev ## run SEEDS seeded schedules of the engine's protocol, on all cores, with crashes and lost answers
	$(BIN)/python -m tests.simulation.run --seeds $(SEEDS)
	$(BIN)/python -m tests.simulation.apart --seeds $$(( ($(SEEDS) + 9) / 10 ))

correctness: $(VENV)/.dev $(ST)/.ready ## run every proof, at SEEDS, SETS and KILLS, and write docs/correctness.md; a failure fails
	$(BIN)/python tools/correctness.py --seeds $(SEEDS) --sets $(SETS) --kills $(KILLS) $(if $(ONLY),--only "$(ONLY)")

docs: $(VENV)/.dev ## run every snippet of README and docs/
	$(BIN)/python -m pytest -q tests/docs

clean: ## remove what the other commands installed
	rm -rf $(VENV) $(ST) $(SPARK) $(S3) $(DELTA) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
