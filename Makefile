# Two targets for everybody: `make demo` and `make test`. Needs a Rust toolchain, Python 3.10 or
# newer with pip, and make. A stamp in .venv remembers what is installed, so that nothing is done
# twice; RUSTFLAGS are never set here, so that no target throws away what another has built.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A wheel to install in place of a build, as .ci/run does, so that what is tested is what is given away.
WHEEL ?=
# How the package is built where no wheel is given: a profile of Cargo.toml.
PROFILE ?= release
BUILD = --profile $(PROFILE)
INSTALLED := $(VENV)/.installed$(if $(WHEEL),-wheel)
TESTED := $(VENV)/.installed-dev
TOOLS := $(VENV)/.tools
LABORATORY := $(VENV)/.laboratory
BUILDERS := $(VENV)/.builders
# The naked loop to run the bench beside: the Cargo.toml of a program that prints requests a second.
LIMIT ?= $(wildcard ../shared/limit/Cargo.toml)
# A folder with the sources of MQSim in MQSim/, to run the bench beside.
MQSIM ?=
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Examples are looked through by clippy; built, each would have the engine compiled for it once more.
CARGO_TEST := cargo test --workspace --tests --features wordline-py/parquet --quiet
# Files of tests run beside one another, those of one file in their order, since they share what is made once for it.
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile

# Tools are installed without bytecode, of which a test needs little: what is imported is compiled once, and kept.
unexport PYTHONDONTWRITEBYTECODE

# What the Python package is built from.
SOURCES := Cargo.toml Cargo.lock pyproject.toml python/README.md docs/README.md docs/not-modelled.md $(wildcard devices/* devices/measured/*) \
	$(shell find crates \( -path '*/src/*' -o -path '*/assets/*' -o -name Cargo.toml \) -type f) \
	$(shell find python/wordline python/wordline_replay -type f -not -name '*.pyc')

# The package that is tested: a wheel, or the optimized one if it is up to date, or else one of the crates that the tests in
# Rust have been built from: of their profile and their features.
is_current = $(if $(wildcard $(INSTALLED)),$(if $(shell find $(SOURCES) -newer $(INSTALLED) -print -quit),,yes))
FOR_TESTS = $(if $(WHEEL)$(is_current),$(INSTALLED),$(TESTED))

.DEFAULT_GOAL := help
# What the Makefile of lab/ does.
LAB := validate papers reading register twins twin-classes twin-fits rewrites steady verdicts errors lifetime atlas tuning gallery
.PHONY: help help-all $(LAB) demo portable quick kills soak recovery bench-live wheel arm-test sdist release-check test check wasm rust-test python-test count-test bench bench-count bench-picture lab-test closed-forms figure fio golden-32 mutants ftl-mutants explore explore-mutants bless trip words docs swarm fuzz clean

# Those for everybody stand after `##`, the others after `#:`.
targets = grep -hE '^[a-z0-9-]+:.*$(1) ' $(firstword $(MAKEFILE_LIST)) \
	| sed -E 's/^([a-z0-9-]+):.*$(1) (.*)/  make \1\t\2/' | expand -t 24
help: #: Show the targets for everybody
	@$(call targets,\#\#)

help-all: help #: Show all targets, the laboratory's too
	@$(call targets,\#:)
	@$(MAKE) --no-print-directory -C lab help

$(LAB): $(INSTALLED) $(TOOLS) $(LABORATORY)
	@$(MAKE) --no-print-directory -C lab $@

$(VENV)/bin/python:
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Wordline needs Python 3.10 or newer; say which with make PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(TESTED): BUILD = --profile dev --features parquet,as-tested
$(INSTALLED) $(TESTED): $(VENV)/bin/python $(if $(WHEEL),$(WHEEL),$(SOURCES))
ifeq ($(WHEEL),)
	@echo "== building and installing the package (the first time takes some minutes)"
	@MATURIN_PEP517_ARGS="$(BUILD)" $(PIP) install .
else
	@echo "== installing $(WHEEL)"
	@$(PIP) install --force-reinstall --no-deps $(WHEEL) && $(PIP) install $(WHEEL)
endif
	@rm -f $(VENV)/.installed*
	@touch $@

# The laboratory, as it lies in lab/: pure Python, which needs the package and nothing else.
$(LABORATORY): lab/pyproject.toml | $(VENV)/bin/python
	@echo "== installing the laboratory"
	@$(PIP) install --no-deps --editable lab
	@touch $@

# The packages in lists of pyproject.toml; mypy reads what the package itself depends on, too.
listed = $(BIN)/python -c 'import re; text = open("pyproject.toml").read(); \
	lists = re.findall(r"^(?:$(1)) = \[(.*)\]", text, re.M); \
	print("\n".join(re.findall(r"\"([^\"]+)\"", " ".join(lists))))'

$(TOOLS): $(VENV)/bin/python pyproject.toml
	@echo "== installing the tools of the tests"
	@$(call listed,dependencies|dev|docs|sweep) > $(VENV)/tools.txt
	@$(PIP) install --no-compile -r $(VENV)/tools.txt
	@touch $@

$(BUILDERS): $(VENV)/bin/python pyproject.toml
	@echo "== installing the tools of a release"
	@$(call listed,release) > $(VENV)/builders.txt
	@$(PIP) install --no-compile -r $(VENV)/builders.txt
	@touch $@

demo: $(INSTALLED) ## Set everything up, compare three schemes, and write out/demo/report.html
	@$(BIN)/wordline demo --out out/demo

# Linked against glibc 2.28 by zig, whatever the system has; maturin refuses a wheel that needs more.
MATURIN := PATH="$(CURDIR)/$(BIN):$$PATH" maturin
BUILD_WHEEL := $(MATURIN) build --quiet --release --locked --zig --compatibility manylinux_2_28
TARGET ?=
wheel: $(BUILDERS) ## Build one wheel for every Python from 3.10 on Linux of 2018 or newer, in dist/; TARGET=aarch64-unknown-linux-gnu for ARM
	@echo "== building the wheel (the first time takes some minutes)"
	@rm -f dist/*.whl
	@$(BUILD_WHEEL) $(if $(TARGET),--target $(TARGET)) --out dist
	@ls -sh dist/*.whl

ARM := aarch64-unknown-linux-gnu
arm-test: $(INSTALLED) $(BUILDERS) #: Build the wheel for ARM and run it under qemu-user: golden rows, reports and a served drive must be as here (some minutes; Debian)
	@rustup target list --installed 2>/dev/null | grep -qx $(ARM) || rustup target add $(ARM)
	@echo "== building the wheel for ARM (the first time takes some minutes)"
	@rm -rf target/arm/dist
	@$(BUILD_WHEEL) --target $(ARM) --out target/arm/dist
	@$(BIN)/python python/tests/arm.py target/arm/dist/*.whl

sdist: $(BUILDERS) #: Pack the source distribution into dist/
	@rm -f dist/*.tar.gz
	@$(MATURIN) sdist --out dist > $(VENV)/sdist.log 2>&1 || { cat $(VENV)/sdist.log; exit 1; }
	@ls -sh dist/*.tar.gz

release-check: wheel sdist $(TOOLS) #: Build wheel and source distribution, and install both in clean environments
	@WORDLINE_DIST=$(CURDIR)/dist WORDLINE_SDIST=1 $(BIN)/python -m pytest python/tests/test_dist.py

test: check rust-test python-test lab-test count-test ## Every check and every test
	@echo "== all tests passed"

PYTHONS := python lab tests crates/sim/benches
RUFF = $(BIN)/ruff format --check --quiet $(PYTHONS) && $(BIN)/ruff check --quiet $(PYTHONS)
check: $(TOOLS) ## Formatting, lints, types and spelling, of Rust and Python
	@echo "== cargo fmt, cargo clippy, ruff, mypy, typos"
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --features wordline-py/parquet --quiet -- -D warnings
	@$(PYTHON) tests/words.py
	@$(RUFF)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/typos
	@$(MAKE) --no-print-directory wasm

# Crates with changes that are not committed yet.
CHANGED = $(sort $(shell git status --porcelain -- crates | sed -nE 's|^.. crates/([^/]+)/.*|wordline-\1|p'))
quick: $(TOOLS) ## Before each commit: formatting, lints and unit tests of the crates that changed, the order of all, ten golden rows
	@cargo fmt --all --check
	@$(RUFF)
	@$(if $(CHANGED),cargo clippy --quiet $(CHANGED:%=--package %) -- -D warnings)
	@$(if $(CHANGED),cargo test --quiet $(CHANGED:%=--package %) --lib)
	@cargo test --quiet --package wordline-ftl --test it -- house walls
	@cargo test --quiet --package wordline-run --test it golden::ten_rows

# What runs in a browser: a line a build, with the packages and features that belong together.
WASM := wasm32-unknown-unknown
define IN_BROWSER
-p wordline-schemes -p wordline-sim
-p wordline-workload --no-default-features
endef
export IN_BROWSER
wasm: #: Build what runs in a browser, without warnings, where rustup has the target wasm32-unknown-unknown
	@if ! rustup target list --installed 2>/dev/null | grep -qx $(WASM); then \
		echo "== no build for browsers: the target is not installed (rustup target add $(WASM))"; \
	else \
		echo "== cargo clippy for $(WASM)"; \
		echo "$$IN_BROWSER" | while read -r packages; do \
			cargo clippy --quiet --target $(WASM) $$packages -- -D warnings </dev/null || exit 1; \
		done; \
	fi

# Other systems, and what is left out for each: the served drive needs Linux. C libraries are compiled by zig.
ZIGBUILD := PATH="$(CURDIR)/$(BIN):$$PATH" cargo-zigbuild check --quiet --locked --package wordline-py
portable: $(BUILDERS) #: Check the package for ARM, macOS and Windows; adds the targets by rustup where they are not installed
	@for t in "aarch64-unknown-linux-gnu --features parquet" "aarch64-apple-darwin --no-default-features --features parquet" \
			"x86_64-pc-windows-gnu --no-default-features --features parquet"; do \
		echo "== cargo check --target $$t"; \
		rustup target list --installed | grep -qx "$${t%% *}" || rustup target add "$${t%% *}" || exit 1; \
		$(ZIGBUILD) --target $$t || exit 1; \
	done

rust-test: #: The tests in Rust
	@echo "== cargo test"
	@$(CARGO_TEST)

python-test: $(FOR_TESTS) $(TOOLS) $(LABORATORY) #: The tests in Python, of the installed package and the command
	@echo "== pytest"
	@$(CARGO_TEST) --no-run
	@$(if $(WHEEL),WORDLINE_DIST=$(abspath $(dir $(WHEEL)))) $(PYTEST)

lab-test: $(FOR_TESTS) $(TOOLS) $(LABORATORY) #: The tests of the laboratory
	@echo "== pytest of lab"
	@$(MAKE) --no-print-directory -C lab test

# Counts are a compiler's: this one's, where rustup has it. CI builds and tests with the same.
RUST := 1.95.0
count-test: #: Instructions of seven kinds of work: none may grow by 3 % over what count.csv keeps
	@echo "== callgrind"
	@if rustup run $(RUST) rustc --version >/dev/null 2>&1; then export RUSTUP_TOOLCHAIN=$(RUST); \
		else echo "Rust $(RUST), whose counts are kept, is not installed (rustup toolchain install $(RUST)); this is $$(rustc --version)"; fi; \
		$(PYTHON) crates/sim/benches/count.py --test

bench-picture: $(TOOLS) #: Draw docs/scaling.svg from the history of the bench
	@$(BIN)/python crates/sim/benches/scaling.py

closed-forms: #: Hold In-place Switch to its closed forms on the whole 384 GiB drive (some minutes)
	@WORDLINE_WHOLE_DRIVE=1 cargo test --release --package wordline-sim --test it -- --nocapture closed_forms

# In a copy, once: `make clean` removes it.
define BUILD_MQSIM
test -f "$(MQSIM)/MQSim/src/main.cpp" || { echo "MQSIM=$(MQSIM): there is no MQSim/src/main.cpp in it; give \
the folder that holds the sources of MQSim (github.com/CMU-SAFARI/MQSim) as MQSim/"; exit 1; }; \
test -x target/mqsim/MQSim || { echo "== building MQSim in target/mqsim (a minute or two)"; \
	rm -rf target/mqsim && mkdir -p target && cp -r "$(MQSIM)/MQSim" target/mqsim && chmod -R u+w target/mqsim && \
	$(MAKE) -C target/mqsim -j2 >target/mqsim.log 2>&1 || { tail -n 20 target/mqsim.log; exit 1; }; }
endef

# What is done in Python has a script of its own.
ifneq ($(filter python-schemes,$(CASES)),)
bench: $(INSTALLED) $(LABORATORY)
	@$(BIN)/python crates/sim/benches/python_schemes.py $(filter-out python-schemes,$(CASES))
else ifneq ($(filter terabyte,$(CASES)),)
bench: $(INSTALLED)
	@$(if $(MQSIM),$(BUILD_MQSIM))
	@WORDLINE_MQSIM=$(if $(MQSIM),$(CURDIR)/target/mqsim/MQSim) $(BIN)/python crates/sim/benches/terabyte.py $(filter-out terabyte,$(CASES))
else
bench: ## Speed of the engine on fixed work, beside the naked loop and MQSim if LIMIT and MQSIM=DIR name them; CASES=size for others, CASES=python-schemes for examples in Python beside Rust, CASES=terabyte for a steady figure from nothing
	@$(if $(LIMIT),cargo build --quiet --release --manifest-path $(LIMIT) --target-dir target/limit)
	@$(if $(MQSIM),$(BUILD_MQSIM))
	@WORDLINE_LIMIT=$(if $(LIMIT),$(CURDIR)/target/limit/release/proto) WORDLINE_MQSIM=$(if $(MQSIM),$(CURDIR)/target/mqsim/MQSim) \
		WORDLINE_PYTHON=$(if $(MQSIM),$(if $(shell $(BIN)/python -c "import wordline" 2>&1 || echo no),,$(abspath $(BIN))/python)) \
		cargo bench --quiet --package wordline-sim --bench engine -- $(CASES)
endif

bench-count: #: Instructions of seven kinds of work by callgrind; KEEP=1 keeps them, PROFILE_OF=write shows where they go
	@$(PYTHON) crates/sim/benches/count.py $(if $(KEEP),--keep) $(if $(PROFILE_OF),--profile-of "$(PROFILE_OF)")

fio: #: Write the table of lab/results/fio.md: job files under fio and under Wordline (needs fio)
	@FIO_TABLE=1 cargo test --quiet --package wordline-workload --test it fio::ten_job_files

# Linux with pointers of 32 bits, on a machine with those of 64: the compiler of C libraries needs its other half.
BITS32 := i686-unknown-linux-gnu
golden-32: #: Ten golden rows with pointers of 32 bits, against the hashes of those with 64
	@rustup target list --installed 2>/dev/null | grep -qx $(BITS32) || rustup target add $(BITS32)
	@echo 'int main(void) { return 0; }' | cc -m32 -x c -o /dev/null - 2>/dev/null \
		|| { echo "cc -m32 does not link; install gcc-multilib (apt-get install gcc-multilib)"; exit 1; }
	@cargo test --quiet --target $(BITS32) --package wordline-run --test it golden::ten_rows

mutants: $(TOOLS) #: Plant ten faults in a copy of the engine, one at a time: the suite must catch each
	@$(BIN)/python tests/mutants.py --out target/mutations.md

ftl-mutants: $(TOOLS) #: Plant ten faults in the translation layer: its own tests must catch seven
	@$(BIN)/python tests/mutants.py --alone --out target/ftl-mutations.md

figure: $(INSTALLED) $(TOOLS) #: Add a figure to a copy by its three edits, and look for it in JSON, schema, types, table and explanations
	@$(BIN)/python tests/figure.py

explore: #: Every order of events on drives of a few blocks, for every scheme (some minutes); a row each, and faults with the way there
	@cargo run --quiet --release --package wordline-explore --example explore

explore-mutants: $(TOOLS) #: Plant faults that stop a drive in the translation layer: the search must find each
	@$(BIN)/python tests/mutants.py --explore --out target/explore-mutations.md

bless: ## Accept changed golden files and schemas; say in the commit why they changed
	@BLESS=1 $(CARGO_TEST)

kills: $(INSTALLED) $(TOOLS) #: Kill sweeps here and on a Dask cluster at random moments, KILLS="--kills 1000 --cluster 50", and compare what comes out
	@$(BIN)/python python/tests/kills.py $(KILLS)

soak: $(INSTALLED) $(TOOLS) #: Cut the power of a served drive and kill it, 1,000 times each; flip 1,000 bits of its folder; at 10,000 programs of SQLite, under PostgreSQL; short of memory; eight clients for an hour: SOAK="--cuts 50 --kills 50 --mebibytes 600 --seconds 3600"
	@WORDLINE_CUTS=250 WORDLINE_KILLS=170 cargo test -q -p wordline-live --test it -- cuts::cuts_lose_nothing_flushed folder::acknowledged_data
	@WORDLINE_RECONNECTS=200 cargo test -q -p wordline-live --test it -- recovery::three_loaded
	@WORDLINE_FLIPS=1000 cargo test -q -p wordline-live --test it -- damage::flipped_bit
	@WORDLINE_COMMITS=40 cargo test -q -p wordline-live --lib -- killed
	@WORDLINE_ENDS=10000 cargo test -q -p wordline-live --lib -- exhaustive::a_database
	@WORDLINE_CRASH_STATES=1000 $(BIN)/python -m pytest -q python/tests/test_crash.py
	@$(BIN)/python docs/crash/recipes.py --wordline $(BIN)/wordline --soak
	@$(BIN)/python python/tests/soak.py --wordline $(BIN)/wordline $(SOAK)

recovery: $(INSTALLED) $(TOOLS) #: Probe and fit drives of hidden values, and print by how much each value is off: DRIVES=20 (half an hour)
	@$(BIN)/python python/tests/recovery.py --drives $(or $(DRIVES),20)

bench-live: $(INSTALLED) #: A served drive without delays beside nbdkit's memory plugin (needs fio and nbdkit): PAIRS=5
	@$(BIN)/python python/tests/compare_nbdkit.py --wordline $(BIN)/wordline --pairs $(or $(PAIRS),5)

# In seconds, without a network; SITE=mkdocs builds the same pages with mkdocs and Material.
SITE ?= zensical
docs: $(INSTALLED) $(TOOLS) $(if $(filter mkdocs,$(SITE)),$(VENV)/.material) ## Build the site from docs/, devices/ and lab/ in target/site/html, which a browser opens from there
	@rm -rf target/site
	@$(BIN)/python docs/site/stage.py target/site/pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/$(SITE) build --strict

$(VENV)/.material: $(VENV)/bin/python pyproject.toml
	@echo "== installing Material for MkDocs"
	@$(call listed,material) > $(VENV)/material.txt
	@$(PIP) install --no-compile -r $(VENV)/material.txt
	@touch $@

words: #: Count the words of README, docs/, CHANGELOG and ARCHITECTURE outside blocks and tables, and all of docs/, each beside the most it may have
	@$(PYTHON) tests/words.py

trip: #: Count the functions and files that reads and writes pass through in the engine (some minutes); COMMIT=... for an older tree, LIST=write shows them
	@$(PYTHON) tests/trip.py $(if $(COMMIT),--commit "$(COMMIT)") $(if $(LIST),--list "$(LIST)")

N ?= 1000
SEED ?= 1
swarm: #: Random drives, schemes and workloads with every check on: make swarm N=1000 SEED=1
	@WORDLINE_CASES=$(N) WORDLINE_SEED=$(SEED) cargo test --package wordline-swarm --test it --quiet swarm::every_read

SECONDS ?= 10
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
BUILT := $(or $(CARGO_TARGET_DIR),target)/fuzz
# Instrumented for libFuzzer by the stable compiler, in a folder of its own: nothing else is rebuilt.
COVERAGE := --cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table

fuzz: #: Fuzz every way in, each for so long: make fuzz SECONDS=60 TARGETS="device trace"
	@RUSTFLAGS="$(COVERAGE)" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		cargo build --quiet --release --package wordline-fuzz --features libfuzzer \
		--target $(HOST) --target-dir $(BUILT)
	@fuzzer=$(BUILT)/$(HOST)/release/wordline-fuzz; \
	for t in $(or $(TARGETS),$$(WORDLINE_FUZZ_CORPUS=$(BUILT)/corpus $$fuzzer)); do \
		mkdir -p $(BUILT)/corpus/$$t $(BUILT)/found/$$t; \
		echo "== fuzzing $$t for $(SECONDS) s"; \
		WORDLINE_FUZZ=$$t $$fuzzer -max_total_time=$(SECONDS) \
			-max_len=16384 -timeout=20 -rss_limit_mb=2048 -dict=fuzz/dictionary.txt -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=$(BUILT)/found/$$t/ \
			$(BUILT)/corpus/$$t $$(find fuzz/corpus/$$t -maxdepth 0 2> /dev/null) > $(BUILT)/$$t.log 2>&1 \
			|| { tail -n 40 $(BUILT)/$$t.log; \
				echo "the input is in $(BUILT)/found/$$t: mend it, and add it to fuzz/regressions/$$t"; exit 1; }; \
		grep -E "number_of_executed_units|new_units_added" $(BUILT)/$$t.log; \
	done

clean: ## Remove what was built and written here
	@rm -rf $(VENV) out
	@cargo clean --quiet
