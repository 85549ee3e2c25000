# The tasks of jogak. Each sets up what it needs, from a fresh clone on: Python 3.10+, a Rust toolchain and a C compiler.
# Everything it installs goes into .venv; `make clean` removes it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock pyproject.toml

export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin
unexport PYTHONPATH PYTHONHOME CONDA_PREFIX

# Targets that a person types carry a `##` line, which `make help` prints.
.PHONY: help demo test test-rust test-python test-arm lint format bench profile docs build lock clean tools

help: ## Show this list
	@echo "jogak: make <target>"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

demo: build ## Train, save, encode, decode and explain on real text: FILES="a.txt b.txt" for your own
	@$(BIN)/python examples/demo.py $(FILES)

test: test-rust test-python ## Run all tests, Rust first

test-rust: tools ## Run the Rust tests
	cargo test --locked --quiet -p jogak -p jogak-corpus -p jogak-formats

test-python: build ## Run the Python tests, a process per core: ARGS="-k bpe" to choose
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal $(ARGS)

test-arm: tools ## Run the Rust tests for Arm, emulated on other machines; says what it needs. Not part of test
	@ARM_ROOT="$(ARM_ROOT)" .ci/test-arm

lint: build ## Check format, style, types and the type file of the Rust module
	$(call need,cargo-fmt,rustup component add rustfmt)
	$(call need,cargo-clippy,rustup component add clippy)
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict python/jogak
	$(BIN)/python -m mypy.stubtest jogak._core

format: tools $(VENV)/.installed ## Format all code in place
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: build $(VENV)/.peers ## Measure jogak beside its peers: ARGS="--runs 5 --only train"
	@$(BIN)/python bench/run.py $(ARGS)

profile: $(VENV)/.installed ## Where the time goes, room by room (Linux with perf): ARGS="--only cl100k"
	@command -v perf >/dev/null || { echo "make profile needs perf, which is not there (Debian: apt install linux-perf llvm)" >&2; exit 1; }
	@echo "Building the extension with its line tables ..."
	CARGO_PROFILE_RELEASE_STRIP=none cargo build --locked --quiet --release --target-dir target/profile -p jogak-py --features extension-module
	@rm -rf target/profile/python && mkdir -p target/profile/python && cp -r python/jogak target/profile/python/
	@cp target/profile/release/lib_core.so target/profile/python/jogak/_core.abi3.so
	@PYTHONPATH=target/profile/python $(BIN)/python bench/rooms.py $(ARGS)

docs: build ## Check that every example in README and docs runs, and build the Rust documentation
	$(BIN)/python -m pytest README.md README.ko.md docs
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps -p jogak -p jogak-corpus -p jogak-formats
	@echo "Rust documentation: target/doc/jogak/index.html"

build: tools $(VENV)/.built ## Compile the extension, optimized, into .venv

lock: $(VENV)/.installed ## Choose the newest tested versions again: rewrites requirements-dev.lock
	$(PIP) install uv
	{ sed '/^[^#]/,$$d' requirements-dev.lock; $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 \
	  --group dev --group peers --no-header --no-annotate --no-emit-index-url pyproject.toml; } > $(VENV)/lock
	mv $(VENV)/lock requirements-dev.lock

clean: ## Remove everything that make has built
	rm -rf $(VENV) target build dist bench/out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python -name '_core*.so' -delete

# --- What the targets stand on. A stamp in .venv is newer than all that it was made from.

# $(call need,command,what to install): one line for a missing tool.
need = @command -v $(1) >/dev/null 2>&1 || { echo "jogak needs $(1), which is not there: $(2)" >&2; exit 1; }

tools:
	$(call need,cargo,install Rust with rustup (rustup.rs))
	$(call need,cc,install a C compiler (gcc or clang; Debian: apt install build-essential))

$(VENV)/bin/python:
	$(call need,$(PYTHON),install Python 3.10 or newer)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "jogak needs Python 3.10 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1): install one or name it with PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "jogak needs Python's venv, which is not there: install it (Debian: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements-dev.lock | $(VENV)/bin/python
	@echo "Installing the development packages into $(VENV) ..."
	$(PIP) install -r requirements-dev.lock
	@touch $@

$(VENV)/.built: $(RUST_SOURCES) $(VENV)/.installed
	@echo "Building the extension; the first time takes a few minutes ..."
	$(PIP) install --no-deps --no-build-isolation --config-settings build-args=--locked --editable .
	@touch $@

$(VENV)/.peers: bench/requirements.txt bench/requirements-beside.txt $(VENV)/.installed
	@grep -v '^#' $< | while read -r peer; do \
	  $(PIP) install --only-binary :all: -c requirements-dev.lock "$$peer" || echo "not installed: $$peer" >&2; done
	@$(PIP) install --only-binary :all: --no-deps --upgrade --target $(VENV)/beside -r bench/requirements-beside.txt || \
	  echo "not installed: bench/requirements-beside.txt" >&2
	@touch $@
