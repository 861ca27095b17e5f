# What a developer does here. Each target does its own set-up; all that must be there is Rust, a C
# compiler and make.

.PHONY: help setup setup-rust setup-mpi setup-web web recorder rails build dist install \
	install-built uninstall deb deb-built wheel demo announce test validate miri corpus \
	rails-rig lint lint-light bench bench-gate bench-record fuzz book clean
.DEFAULT_GOAL := help

# Incremental builds take three times the disk; CARGO_INCREMENTAL=1 in the environment has them.
export CARGO_INCREMENTAL ?= 0

TARGET := $(or $(CARGO_TARGET_DIR),target)
# The command that is quick to build, for demo and tests, and the one that is shipped and measured.
HEDDLE := $(TARGET)/release/heddle
DIST := $(TARGET)/dist
PREFIX ?= /usr/local
# Miri interprets the tests of code that is unsafe; this is the toolchain whose Miri is known to run
# them.
MIRI := nightly-2026-05-01
# Seconds per fuzz target.
SECONDS_EACH ?= 10
MDBOOK_VERSION := 0.5.4

help:
	@echo "make build        the heddle command, quick to build, in $(HEDDLE)"
	@echo "make dist         the heddle command as it is shipped, in $(DIST)/heddle (minutes)"
	@echo "make install      that one, with its libraries, machines and examples, below" \
		"PREFIX=$(PREFIX)"
	@echo "make uninstall    remove what make install installed"
	@echo "make deb          a Debian package of the same, in $(TARGET)"
	@echo "make wheel        a wheel of the Python module, in $(TARGET)/wheels"
	@echo "make recorder     what heddle record and heddle measure need, beside it (make build does" \
		"it too, and what heddle mpirun needs)"
	@echo "make rails        the component for Open MPI that schedules messages over rails"
	@echo "make demo         run it on seven examples"
	@echo "make test         all tests"
	@echo "make validate     all tests, optimised, with those that take long"
	@echo "make miri         undefined behaviour in shared memory and MPI's objects (validate, too)"
	@echo "make corpus       compare the results of 670 runs of every kind with those recorded"
	@echo "make rails-rig    Open MPI over shaped networks between two hosts of this machine (as" \
		"root)"
	@echo "make lint         formatting, clippy, documentation, licences"
	@echo "make bench        speed, and instruction counts against those recorded; LONG=--long" \
		"with the largest cases"
	@echo "make bench-record record the instruction counts"
	@echo "make fuzz         each fuzz target for SECONDS_EACH=$(SECONDS_EACH) s"
	@echo "make web          the program of reports, out/report/bundle, from its sources in web"
	@echo "make book         the book, in docs/book"
	@echo "make clean        remove what was built"

setup-rust:
	@command -v cargo >/dev/null || { echo "Rust is missing: see https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || \
		{ echo "a C compiler is missing (Debian: apt-get install gcc)" >&2; exit 1; }
	cargo fetch --locked

setup: setup-rust
	@$(MAKE) --no-print-directory setup-mpi

# What heddle record is built and tested with; all else works without it.
MPI_PACKAGES := libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran g++
MPI_COMMANDS := mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich gfortran g++

setup-mpi:
	@for command in $(MPI_COMMANDS); do command -v $$command >/dev/null || missing=1; done; \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends $(MPI_PACKAGES) >/dev/null; } || \
	echo "Not all of Open MPI, MPICH and gfortran are here: heddle record is built and tested for" \
		"what is (Debian: apt-get install $(MPI_PACKAGES))"

# What reports are tested with: a browser, and the packages of web's lock file. Only tests need
# them: the program of reports is committed.
setup-web:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	echo "Chromium is missing: reports are not tested in a browser (Debian: apt-get install" \
		"chromium)"
	@[ -d web/node_modules ] || { command -v npm >/dev/null && \
		(cd web && npm ci --silent --ignore-scripts); } || \
	echo "npm, or its packages, are missing: the program of reports is not made anew, nor tested"

web:
	cd web && npm ci --silent --ignore-scripts && npm run --silent build

build: setup
	cargo build --release --locked
	$(TARGET)/release/heddle-mpi-libraries $(TARGET)/release
	$(TARGET)/release/heddle-record-libraries $(TARGET)/release
	$(TARGET)/release/heddle-measure-programs $(TARGET)/release

dist: setup
	cargo build --profile dist --locked
	$(DIST)/heddle-mpi-libraries $(DIST)
	$(DIST)/heddle-record-libraries $(DIST)
	$(DIST)/heddle-measure-programs $(DIST)

# What is installed: the command in bin, libraries and compiler wrappers in lib/heddle, machines,
# examples, manual pages, completions and licences in share. DESTDIR is put before every path, as
# packagers expect. BUILT is the folder of the command that is installed.
BUILT ?= $(DIST)
ROOT = $(DESTDIR)$(PREFIX)

install: dist install-built

install-built:
	install -d $(ROOT)/bin $(ROOT)/lib/heddle $(ROOT)/share/heddle $(ROOT)/share/doc/heddle
	install -m 755 $(BUILT)/heddle $(ROOT)/bin/heddle
	for library in $(BUILT)/libheddle-record-*.so $(BUILT)/libheddle-processes-*.so; do \
		[ ! -e "$$library" ] || \
		install -m 644 "$$library" $(ROOT)/lib/heddle; done
	for program in openmpi mpich standard shared; do \
		program=$(BUILT)/heddle-measure-$$program; [ ! -e "$$program" ] || \
		install -m 755 "$$program" $(ROOT)/lib/heddle; done
	rm -rf $(ROOT)/lib/heddle/mpi $(ROOT)/share/heddle/examples
	mkdir $(ROOT)/lib/heddle/mpi
	cp -R $(BUILT)/mpi/bin $(BUILT)/mpi/include $(BUILT)/mpi/lib $(ROOT)/lib/heddle/mpi
	$(BUILT)/heddle examples $(ROOT)/share/heddle/examples >/dev/null
	$(BUILT)/heddle man $(ROOT)/share
	install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE $(ROOT)/share/doc/heddle

uninstall:
	rm -rf $(ROOT)/bin/heddle $(ROOT)/lib/heddle $(ROOT)/share/heddle $(ROOT)/share/doc/heddle \
		$(ROOT)/share/bash-completion/completions/heddle \
		$(ROOT)/share/fish/vendor_completions.d/heddle.fish \
		$(ROOT)/share/zsh/site-functions/_heddle \
		$(ROOT)/share/man/man1/heddle.1 $(ROOT)/share/man/man1/heddle-*.1

# A package for Debian and its kin, of what make install installs.
deb: dist deb-built

deb-built:
	packaging/deb.sh $(BUILT) $(TARGET)

# A wheel for every Python from 3.9 on; maturin comes into a virtual environment of its own. Its tag
# says for which versions of the C library it is good: from 2.28 on where ziglang can be had.
wheel: setup
	python3 -m venv $(TARGET)/wheel
	$(TARGET)/wheel/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.7,<2' ziglang
	PATH="$(abspath $(TARGET))/wheel/bin:$$PATH" $(TARGET)/wheel/bin/maturin build --locked \
		--profile dist --zig --compatibility manylinux_2_28 --out $(TARGET)/wheels \
		--manifest-path run/python/Cargo.toml || \
	$(TARGET)/wheel/bin/maturin build --locked --profile dist --out $(TARGET)/wheels \
		--manifest-path run/python/Cargo.toml
	@ls $(TARGET)/wheels

recorder: setup
	cargo build --release --locked --package heddle-recorder --package heddle-measure
	$(TARGET)/release/heddle-record-libraries $(TARGET)/release
	$(TARGET)/release/heddle-measure-programs $(TARGET)/release

# The component for Open MPI that schedules messages over rails, where Open MPI's headers are.
rails: setup
	cargo build --profile dist --locked --package heddle-openmpi
	openmpi/build $(DIST)/libheddle_openmpi.a $(TARGET)/rails
	@echo "export OMPI_MCA_mca_base_component_path=$(abspath $(TARGET)/rails):$$(ompi_info \
		--parsable --path pkglibdir | sed 's/.*://')"
	@echo "mpirun --mca bml heddle ..."

# The command comes first, so that there is something to see before the libraries are built that MPI
# programs load. Of these, the demo makes those of its program, and only if they are not newer than
# what they are made by.
FOR_C := $(TARGET)/release/mpi/.for-c
demo: announce setup-rust
	cargo build --release --locked --bin heddle
	@examples/demo.sh $(HEDDLE) $(TARGET)/demo command
	@[ -e $(FOR_C) ] || printf '\nNow what MPI programs load, half a minute of processor time:\n'
	@cargo build --release --locked --quiet
	@for part in heddle-mpi-libraries libheddle_mpi.so libheddle_in_process.so; do \
		[ $(FOR_C) -nt $(TARGET)/release/$$part ] || old=1; done; [ -z "$$old" ] || \
		{ $(TARGET)/release/heddle-mpi-libraries $(TARGET)/release --for-c && touch $(FOR_C); }
	@examples/demo.sh $(HEDDLE) $(TARGET)/demo mpi

announce:
	@[ -x $(HEDDLE) ] || echo "Building the command takes about four minutes of processor time," \
		"once; the examples take seconds."

# All programs run, so that one look shows all that fails. Examples are programs that measure: lint
# sees that they compile.
TESTS := cargo test --workspace --locked --no-fail-fast --lib --bins --tests
test: setup setup-web
	$(TESTS)
	cargo test --workspace --locked --no-fail-fast --doc

validate: setup setup-web
	cargo test --workspace --locked --release -- --include-ignored
	cargo build --workspace --release --locked
	validation/corpus/run.py $(HEDDLE)
	validation/simgrid/compare.py $(HEDDLE)
	validation/simgrid/recorded.py $(HEDDLE)
	validation/simgrid/routes.py
	$(TARGET)/release/heddle-mpi-libraries $(TARGET)/release
	validation/programs/run.py $(HEDDLE)
	validation/random/run.py $(HEDDLE)
	validation/slurm/run.sh $(HEDDLE)
	@$(MAKE) --no-print-directory rails-rig PAIRS=1
	validation/notebooks/run.sh $(TARGET)/release
	python3 -m venv $(TARGET)/perfetto
	$(TARGET)/perfetto/bin/pip install --quiet --disable-pip-version-check perfetto
	$(TARGET)/perfetto/bin/python validation/perfetto/check.py $(HEDDLE)
	@$(MAKE) --no-print-directory miri

# Memory that ranks share is never freed, and some tests open files. Tests say themselves why Miri
# does not run them.
miri: setup
	@if ! command -v rustup >/dev/null; then \
		echo "miri not run: it needs rustup to install $(MIRI) (https://rustup.rs)"; exit 0; fi; \
	rustup toolchain install $(MIRI) --component miri --component rust-src --profile minimal && \
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" CARGO_TARGET_DIR=$(TARGET)/miri \
		cargo +$(MIRI) miri test --locked -p heddle-rank-ipc -p heddle-objects -p heddle-libmpi \
		--lib && \
	MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR=$(TARGET)/miri \
		cargo +$(MIRI) miri test --locked -p heddle-kernel --lib packed

# Whether a change left the results of runs of every kind as they were.
corpus: build
	validation/corpus/run.py $(HEDDLE)

# Where there can be no rig, run.py says what is missing, and that is no failure.
PAIRS ?= 6
rails-rig: setup-mpi
	cargo build --release --locked --package heddle-shaper
	python3 -m doctest validation/rails/signed_rank.py
	HEDDLE_SHAPER=$(TARGET)/release/heddle-shaper validation/rails/run.py --pairs $(PAIRS) || \
		[ $$? = 77 ]

lint-light: setup
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings

# cargo-deny takes minutes to build, so that only those who have it run it.
lint: lint-light
	RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --locked
	@if command -v cargo-deny >/dev/null; then cargo deny check; \
	else echo "licences and advisories not checked: cargo install --locked cargo-deny"; fi

bench: dist
	benches/speed.sh $(DIST)/heddle $(LONG)
	benches/live.sh $(DIST)/heddle $(DIST)/mpi $(LONG)
	cargo build --profile dist --locked --package heddle-traces --example trace_speed
	benches/traces.sh $(DIST)/heddle $(DIST)/examples/trace_speed
	cargo build --profile dist --locked --package heddle-traffic --example traffic_speed
	cargo build --profile dist --locked --package heddle-host --example layers
	benches/traffic.sh $(DIST)/heddle $(DIST)/examples/traffic_speed $(DIST)/examples/layers
	benches/report.sh $(DIST)/heddle
	benches/instructions.sh $(DIST)/heddle instructions.txt

# The command as tests have it: building the shipped one takes a quarter of an hour.
bench-gate: setup
	$(TESTS) --no-run
	benches/instructions.sh $(TARGET)/debug/heddle instructions-tests.txt

bench-record: setup
	cargo build --profile dist --locked --package heddle --bin heddle
	benches/instructions.sh $(DIST)/heddle instructions.txt --record
	$(TESTS) --no-run
	benches/instructions.sh $(TARGET)/debug/heddle instructions-tests.txt --record

fuzz: setup
	fuzz/run.sh $(SECONDS_EACH)

book: setup
	@command -v mdbook >/dev/null || [ -x $(TARGET)/tools/bin/mdbook ] || \
		cargo install --locked --root $(TARGET)/tools --version $(MDBOOK_VERSION) mdbook
	PATH="$$PATH:$(abspath $(TARGET))/tools/bin" mdbook build docs

clean:
	cargo clean
	rm -rf fuzz/target docs/book
