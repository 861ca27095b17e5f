# What a developer does here. Each target does its own set-up; all that must be there is Rust, a C
# compiler and make.

.PHONY: help setup setup-mpi recorder build demo test validate corpus lint lint-light bench \
	bench-gate bench-record fuzz book clean
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)
HEDDLE := $(TARGET)/release/heddle
# Seconds per fuzz target.
SECONDS_EACH ?= 10
MDBOOK_VERSION := 0.5.4

help:
	@echo "make build        the heddle command, in $(HEDDLE)"
	@echo "make recorder     the libraries of heddle record, beside it (make build does it too, and those of heddle mpirun)"
	@echo "make demo         run it on six examples"
	@echo "make test         all tests"
	@echo "make validate     all tests, optimised, with those that take long"
	@echo "make corpus       compare the results of 480 runs of every kind with those recorded"
	@echo "make lint         formatting, clippy, documentation, licences"
	@echo "make bench        speed, and instruction counts against those recorded; LONG=--long with the largest cases"
	@echo "make bench-record record the instruction counts"
	@echo "make fuzz         each fuzz target for SECONDS_EACH=$(SECONDS_EACH) s"
	@echo "make book         the book, in docs/book"
	@echo "make clean        remove what was built"

setup:
	@command -v cargo >/dev/null || { echo "Rust is missing: see https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler is missing (Debian: apt-get install gcc)" >&2; exit 1; }
	cargo fetch --locked
	@$(MAKE) --no-print-directory setup-mpi

# What heddle record is built and tested with; all else works without it.
MPI_PACKAGES := libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran g++
MPI_COMMANDS := mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich gfortran g++

setup-mpi:
	@for command in $(MPI_COMMANDS); do command -v $$command >/dev/null || missing=1; done; \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -qq -y --no-install-recommends $(MPI_PACKAGES) >/dev/null; } || \
	echo "Not all of Open MPI, MPICH and gfortran are here: heddle record is built and tested for what is" \
		"(Debian: apt-get install $(MPI_PACKAGES))"

build: setup
	cargo build --release --locked
	$(TARGET)/release/heddle-record-libraries $(TARGET)/release
	$(TARGET)/release/heddle-mpi-libraries $(TARGET)/release

recorder: setup
	cargo build --release --locked --package heddle-recorder
	$(TARGET)/release/heddle-record-libraries $(TARGET)/release

demo: build
	$(HEDDLE) run examples/ltest.toml
	$(HEDDLE) run pattern:halo2d --ranks 16 --steps 3 --size 1KiB --compute 40us --allreduce 8B --gantt \
		--set noise.interval=50us --set noise.duration=20us --set noise.distribution=exponential \
		--set output.directory=$(TARGET)/demo --set output.timeline=perfetto --force
	$(HEDDLE) run pattern:dissemination --ranks 648 --size 180B --machine examples/machines/fat-tree-648.toml
	$(HEDDLE) ladder pattern:linear-alltoall --ranks 64 --size 16KiB --machine examples/machines/edr-cluster.toml
	$(TARGET)/release/mpi/bin/mpicc -O2 -o $(TARGET)/demo/stencil examples/programs/stencil.c -lm
	$(HEDDLE) mpirun -n 256 --in-process --machine examples/machines/fat-tree-648.toml $(TARGET)/demo/stencil
	$(HEDDLE) topology fat-tree:levels=2,radix=8 --draw $(TARGET)/demo/fat-tree.svg
	@echo "Tables, timeline and a drawing are in $(TARGET)/demo; https://ui.perfetto.dev opens the timeline."

test: setup
	cargo test --workspace --locked

validate: setup
	cargo test --workspace --locked --release -- --include-ignored
	cargo build --release --locked
	validation/corpus/run.py $(HEDDLE)
	validation/simgrid/compare.py $(HEDDLE)
	validation/simgrid/routes.py
	$(TARGET)/release/heddle-mpi-libraries $(TARGET)/release
	validation/programs/run.py $(HEDDLE)
	validation/random/run.py $(HEDDLE)

# Whether a change left the results of runs of every kind as they were.
corpus: build
	validation/corpus/run.py $(HEDDLE)

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

bench: build
	benches/speed.sh $(HEDDLE) $(LONG)
	benches/live.sh $(HEDDLE) $(TARGET)/release/mpi $(LONG)
	cargo build --release --locked --package heddle-traces --example trace_speed
	benches/traces.sh $(HEDDLE) $(TARGET)/release/examples/trace_speed
	cargo build --release --locked --package heddle-traffic --example traffic_speed
	cargo build --release --locked --package heddle-host --example layers
	benches/traffic.sh $(HEDDLE) $(TARGET)/release/examples/traffic_speed $(TARGET)/release/examples/layers
	benches/instructions.sh $(HEDDLE)

bench-gate: build
	benches/instructions.sh $(HEDDLE)

bench-record: build
	benches/instructions.sh $(HEDDLE) --record

fuzz: setup
	fuzz/run.sh $(SECONDS_EACH)

book: setup
	@command -v mdbook >/dev/null || [ -x $(TARGET)/tools/bin/mdbook ] || \
		cargo install --locked --root $(TARGET)/tools --version $(MDBOOK_VERSION) mdbook
	PATH="$$PATH:$(abspath $(TARGET))/tools/bin" mdbook build docs

clean:
	cargo clean
	rm -rf fuzz/target docs/book
