#!/usr/bin/env bash
# Runs every fuzz target for a while: fuzz/run.sh [SECONDS], 10 by default. Needs a C++ compiler for
# libFuzzer, and neither nightly Rust nor cargo-fuzz: the flags are those that cargo-fuzz would
# give, without a sanitizer (there is next to no unsafe code). Inputs that crash end up in
# fuzz/artifacts. A target also fails where it covers less than fuzz/floors.txt says, a twentieth
# less than its seeds cover: one whose reader refuses every input at once would find nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}

shopt -s nullglob
targets=(fuzz/fuzz_targets/*.rs)
if [ ${#targets[@]} = 0 ]; then
    echo "fuzz: there are no targets in fuzz/fuzz_targets"
    exit 0
fi
if ! command -v c++ >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq g++ >/dev/null
    else
        echo "fuzz: needs a C++ compiler (Debian: apt-get install g++)" >&2
        exit 1
    fi
fi

# Naming the target keeps the flags away from build scripts and macros.
host=$(rustc -vV | sed -n 's/^host: //p')
target_dir=${CARGO_TARGET_DIR:-fuzz/target}
llvm=(level=4 inline-8bit-counters pc-table trace-compares)
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module ${llvm[*]/#/-Cllvm-args=-sanitizer-coverage-}"
RUSTFLAGS+=" -Cdebug-assertions"
export RUSTFLAGS
cargo build --manifest-path fuzz/Cargo.toml --release --target "$host" --target-dir "$target_dir"

for source in "${targets[@]}"; do
    name=$(basename "$source" .rs)
    echo "fuzz: $name for $seconds s"
    mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
    seeds=()
    [ -d "fuzz/seeds/$name" ] && seeds=("fuzz/seeds/$name")
    if "$target_dir/$host/release/$name" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$name/" \
        "fuzz/corpus/$name" "${seeds[@]}" >"fuzz/artifacts/$name/log" 2>&1; then
        grep -E '^Done |DONE' "fuzz/artifacts/$name/log" || true
        covered=$(sed -n 's/^#.*cov: \([0-9]*\).*/\1/p' "fuzz/artifacts/$name/log" | tail -n 1)
        floor=$(sed -n "s/^$name //p" fuzz/floors.txt)
        if [ "${covered:-0}" -lt "${floor:?there is no floor for $name in fuzz/floors.txt}" ]; then
            echo "fuzz: $name covers ${covered:-0} edges, fewer than the $floor of" \
                "fuzz/floors.txt" >&2
            exit 1
        fi
    else
        tail -n 40 "fuzz/artifacts/$name/log" >&2
        echo "fuzz: $name failed; the input is in fuzz/artifacts/$name" >&2
        exit 1
    fi
done
