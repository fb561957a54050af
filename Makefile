# Every target makes the environment that it needs; `make help` lists them.
PYTHON ?= python3
VENV := .venv
PLAIN := .venv-plain
SPARK := .venv-spark
BIN := $(VENV)/bin
# Or tests, and every program that they start, would compile simdup anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-plain coverage quick check lint types format spark accuracy bench fuzz mutants clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The program alone, with its five packages.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# The extras, and what tests and lint need.
$(VENV)/developing: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[corpus,docs,fast,plot]' --group test --group lint
	touch $@

# The five packages and pytest, no extra.
$(PLAIN)/installed: pyproject.toml
	$(PYTHON) -m venv $(PLAIN)
	$(PLAIN)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PLAIN)/bin/python -m pip install --quiet --editable . --group test
	touch $@

# Spark, the kernels and pytest; Java is found or installed when the tests are run.
$(SPARK)/installed: pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SPARK)/bin/python -m pip install --quiet --editable '.[corpus,fast,spark]' --group test
	touch $@

demo: $(VENV)/installed ## find the duplicates in fixtures/demo
	$(BIN)/simdup scan fixtures/demo

test: $(VENV)/developing ## run the tests with all extras
	$(BIN)/python -m pytest

# As `make test`, and longer; what is counted is in pyproject.toml.
coverage: $(VENV)/developing ## run the tests with all extras and say what of simdup they leave out
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# Without what takes long and is the same whether extras are installed or not.
test-plain: $(PLAIN)/installed ## run the tests with the five packages alone (but those that extras do not change)
	$(PLAIN)/bin/python -m pytest --ignore=tests/test_reliability.py --ignore=tests/storage \
		--ignore=tests/index --ignore=tests/corpus --ignore=tests/evaluation --ignore=tests/report \
		--ignore=tests/clean --ignore=tests/cli/test_clean.py --ignore=tests/cli/test_undo.py \
		--ignore=tests/test_manual.py --ignore=tests/test_platforms.py \
		--ignore=tests/test_fixtures.py --ignore=tests/test_mutants.py --ignore=tests/test_fuzz.py

spark: $(SPARK)/installed ## run the tests of Spark on two cores; without Java 17, install it if that can be
	.ci/java
	$(SPARK)/bin/python -m pytest -n 2 tests/spark simdup/spark

quick: lint types ## style, types and the fast tests: about a minute, for every commit
	$(BIN)/python -m pytest -q -m "not slow" --hypothesis-profile=quick

lint: $(VENV)/developing ## check style
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/developing ## check types
	$(BIN)/mypy

format: $(VENV)/developing ## put everything into style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

check: lint types coverage test-plain ## everything that must pass

accuracy: $(VENV)/developing ## print the README's figures of accuracy and draw fixtures/accuracy.png
	$(BIN)/simdup evaluate --features shingles,keywords --hash mix64,string \
		--top 10 --weights int10 --plot fixtures/accuracy.png

# DATA="FOLDER ..." adds labelled folders to simdup's own texts.
bench: $(VENV)/developing ## measure accuracy and speed beside other packages (minutes)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python tests/bench/accuracy.py $(DATA)
	$(BIN)/python tests/bench/asking.py $(DATA)
	$(BIN)/python tests/bench/fingerprints.py
	$(BIN)/python tests/bench/search.py
	$(BIN)/python tests/bench/scan.py --files 25000,50000 --one-file 100 --store 25000
	$(BIN)/python tests/bench/index.py --documents 100000,1000000
	$(BIN)/python tests/bench/detection.py
	$(BIN)/python tests/bench/formats.py
	$(BIN)/python tests/bench/page.py
	$(BIN)/python tests/bench/corpus_rows.py --rows 20000 --peers

# What breaks a target is left here as crash-...; FUZZ_SECONDS=600 looks longer.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/developing ## look for bytes that break decoding, fingerprints, names, the store, an index or clean
	$(BIN)/python -m pip install --quiet --group bench
	for target in decoding fingerprinting naming storing opening indexing cataloguing cleaning; do \
		mkdir -p .fuzz/$$target && $(BIN)/python tests/fuzz/fuzz.py $$target \
			-max_total_time=$(FUZZ_SECONDS) .fuzz/$$target tests/fuzz/corpus || exit 1; \
	done

# MUTANTS="--module tokens --sample 40" tries some; what tests/mutants/accepted.txt has may survive.
mutants: $(VENV)/developing ## change the code in one place at a time, and see that tests notice (hours)
	$(BIN)/python tests/mutants/mutants.py $(MUTANTS)

clean: ## remove what the other targets made
	rm -rf $(VENV) $(PLAIN) $(SPARK) .coverage* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .fuzz
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
