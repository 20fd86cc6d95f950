# One command per intent; CI runs the same ones. `make help` lists them.
# Needs Python 3.11+ and make, nothing else: every target installs what it uses into .venv. But for `make test`: its
# tests of az:// run Azurite, and need Node.js 20+ with npm.

PYTHON ?= python3
VENV   := .venv
UV_ENV := .venv-uv
UV     := $(UV_ENV)/bin/uv
RELEASE := .venv-release
BIN    := $(VENV)/bin
ST     := .venv-schemathesis
SPARK  := .venv-spark
S3     := .venv-s3
DELTA  := .venv-delta
LOWEST := .venv-lowest
# what runs with the lowest version of each dependency that pyproject.toml allows
LOWEST_TESTS := tests/format tests/sdk tests/server tests/cli
AZURITE := $(VENV)/.azurite
# the tests of `make test` by job; `pytest-rest` has what no other job has
PYTESTS := server simulation engine sdk crash histories
simulation_tests := tests/simulation
engine_tests := tests/engine tests/format tests/conformance
server_tests := tests/server
sdk_tests := tests/sdk tests/fs tests/compat
crash_tests := tests/crash tests/power
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
export PIP_DISABLE_PIP_VERSION_CHECK = 1
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

.DEFAULT_GOAL := help
.PHONY: help demo test check serve fix generate bench simulate correctness docs lint types layers generated pytest $(PYTESTS:%=pytest-%) $(KILLED:%=pytest-kills-%) pytest-rest pytest-fast schemathesis lock locks audit release test-lowest spark spark-shared spark-apart s3 test-delta clean

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

$(ST)/.ready: $(UV) locks/test-schemathesis.txt
	$(call locked,$(ST),test-schemathesis)
	@touch $@

$(SPARK)/.ready: $(UV) pyproject.toml locks/test-spark.txt
	$(call locked,$(SPARK),test-spark)
	$(call ours,$(SPARK))
	@touch $@

$(SPARK)/.classes: $(SPARK)/.ready tests/spark/classes.py
	JAVA_HOME="$$($(SPARK)/bin/python tools/java_home.py)" $(SPARK)/bin/python -m tests.spark.classes
	@touch $@

# boto3 as it was before 1.36 lies in a folder, beside the current one
$(S3)/.ready: $(UV) pyproject.toml locks/test-s3.txt locks/test-s3-old.txt
	$(call locked,$(S3),test-s3)
	$(call ours,$(S3))
	$(UV) pip install -q --target $(S3)/boto3-before-1.36 --require-hashes -r locks/test-s3-old.txt
	@touch $@

$(DELTA)/.ready: $(UV) pyproject.toml locks/test-delta.txt
	$(call locked,$(DELTA),test-delta)
	$(call ours,$(DELTA))
	@touch $@

$(LOWEST)/.ready: $(UV) pyproject.toml locks/test-lowest.txt
	$(call locked,$(LOWEST),test-lowest)
	$(call ours,$(LOWEST))
	@touch $@

$(RELEASE)/.ready: $(UV) locks/release.txt
	$(call locked,$(RELEASE),release)
	@touch $@

demo: $(VENV)/.demo ## the main job, end to end, on real data (DATA_DIR=... keeps it)
	@$(BIN)/python examples/demo.py $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

serve: $(VENV)/.demo ## start a server (DATA_DIR=... chooses where the data lies)
	@$(BIN)/lakebed serve $(if $(DATA_DIR),--data-dir "$(DATA_DIR)")

# The longest jobs come first, and what they need before all of them: make passes over a job whose prerequisites are still
# being made, and comes back to it when all the others have begun.
test: ## everything, with all the installing it needs
	@echo "everything, $(LANES) jobs at a time; what a job prints is shown when it ends"
	@$(MAKE) --no-print-directory -j$(LANES) -Otarget $(SPARK)/.classes $(AZURITE) $(S3)/.ready $(ST)/.ready $(LOWEST)/.ready
	@$(MAKE) --no-print-directory -j$(LANES) -Otarget SCRATCH="$(SCRATCH)" \
		spark-apart spark-shared pytest-simulation pytest-engine $(KILLED:%=pytest-kills-%) pytest-sdk pytest-rest pytest-server \
		pytest-crash pytest-histories s3 schemathesis test-lowest types lint layers generated locks

check: lint types layers generated locks pytest-fast ## the quick loop: no slow tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/word_lint.py

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

test-lowest: $(LOWEST)/.ready $(AZURITE) ## the tests with the lowest version of each dependency
	$(IN_MEMORY) $(LOWEST)/bin/python -m pytest -q -m "not slow" $(LOWEST_TESTS)

locks: $(VENV)/.dev
	$(BIN)/python tools/lock.py --check

lock: $(VENV)/.dev ## lock the packages of each environment (UPGRADE=1: their newest versions)
	PATH="$(abspath $(UV_ENV))/bin:$$PATH" $(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

audit: $(RELEASE)/.ready ## compare the locked packages with known vulnerabilities, where the package index lists them
	$(RELEASE)/bin/python tools/audit.py

release: $(RELEASE)/.ready ## build dist/: wheel, sdist, and an SBOM of what the wheel installs with its extra [all]
	rm -rf dist
	$(UV) build -q --build-constraints locks/build.txt --require-hashes --out-dir dist
	$(RELEASE)/bin/cyclonedx-py requirements locks/all.txt --pyproject pyproject.toml --output-reproducible --of JSON --output-file dist/lakebed.cdx.json
	@ls dist

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
	rm -rf $(VENV) $(UV_ENV) $(RELEASE) $(ST) $(SPARK) $(S3) $(DELTA) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
