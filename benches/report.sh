#!/usr/bin/env bash
# Measures reports, beside the targets: benches/report.sh HEDDLE. Size and memory for a run of
# 800 000 events whose every time is different, with each event and with tiles alone; memory of a
# run that writes a page of 10 million events; and, where Chromium and the packages of web/ are, the
# CPU time of the page until its first paint and per frame. Times inform and do not gate.
set -euo pipefail
heddle=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

line() { printf '%-44s %12s %12s  %s\n' "$@"; }
at_most() { awk "BEGIN { exit !($1 <= $2) }" && echo ok || echo SLOW; }
megabytes() { awk "BEGIN { printf \"%.1f\", $(stat -c %s "$1") / 1e6 }"; }

"$heddle" run pattern:halo2d --ranks 1024 --steps 60 --size 1KiB --compute 40us \
    --set noise.interval=50us --set noise.duration=20us \
    --set noise.distribution=exponential -q -o noisy --tables ranks,messages,activity
"$heddle" run pattern:dissemination --ranks 16384 --size 15B -q -o even \
    --tables ranks,messages,activity
line "" measured target ""
for run in noisy even; do
    "$heddle" report "$run" -o "$run.html"
    size=$(megabytes "$run.html")
    line "$run, each event, MB" "$size" 5 "$(at_most "$size" 5)"
done
"$heddle" report noisy -o tiles.html --report-detail 1000
size=$(megabytes tiles.html)
line "noisy, tiles, MB" "$size" 5 "$(at_most "$size" 5)"
"$heddle" run pattern:halo2d --ranks 4096 --steps 270 --size 1KiB --compute 40us -q -o large \
    --report
memory=$(awk -F'[:,]' '/peak_rss/ { printf "%.0f", $2 / 1e6 }' large/performance.json)
line "run with its page, 10 million events, MB" "$memory" 400 "$(at_most "$memory" 400)"

chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || [ ! -d "$here/web/node_modules" ] || ! command -v node >/dev/null; then
    echo "not measured in a browser: Chromium, Node.js or web/node_modules is missing"
    exit 0
fi
for page in noisy tiles even; do
    node "$here/web/test/speed.mjs" "$chromium" "$page.html" | while read -r text; do
        value=${text##* }
        what=${text% *}
        case $what in
            "first paint") target=1000 ;;
            frame*) target=33 ;;
            *) target=3000 ;;
        esac
        line "$page: $what, ms of CPU" "$(printf '%.0f' "$value")" "$target" \
            "$(at_most "$value" "$target")"
    done
done
