#!/usr/bin/env bash
# perf/compare on made-up times: a change beyond noise and threshold, one within them, bad files.
set -euo pipefail
compare=("$@")
work=$(mktemp -d "${TMPDIR:-/tmp}/gradsolve-compare.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# file NAME UNIT TIME...: repetitions of one benchmark.
file() {
  local name=$1 unit=$2 time
  shift 2
  {
    printf '{"context": {"device": "%s"}, "benchmarks": [' "${device:-a CPU}"
    for time; do
      printf '{"run_name": "sweep", "run_type": "iteration", "real_time": %s, "time_unit": "%s"},' \
        "$time" "$unit"
    done
    printf '{"run_name": "sweep", "run_type": "aggregate", "real_time": 1, "time_unit": "us"}]}'
  } >"$work/$name.json"
}
# run STATUS TEXT ARGUMENTS...
run() {
  local expected=$1 text=$2 status=0
  shift 2
  "${compare[@]}" "$@" >"$work/output" 2>&1 || status=$?
  [ "$status" = "$expected" ] || fail "exit $status, expected $expected, of: $*" "$(cat "$work/output")"
  grep -qE -- "$text" "$work/output" || fail "no '$text' of: $*" "$(cat "$work/output")"
}

file base us 100 101 99 100 102
file same us 101 100 100 99 103
file slow us 120 121 119 120 122
file fast ms 0.080 0.081 0.079 0.080 0.082
file noisy us 112 95 104 125 140
file few us 100 101
device="another CPU" file other us 100 101 99 100 102
cd "$work"
run 0 '0 of 1 slower' base.json same.json
run 1 'sweep .*\+20.0% .*slower' base.json slow.json
run 0 'sweep .*-20.0% .*faster' base.json fast.json
run 0 '0 of 1 slower' base.json noisy.json
run 0 '0 of 1 slower beyond 25 %' --threshold 25 base.json slow.json
run 0 "note: device was 'a CPU' and is 'another CPU'" base.json other.json
run 2 'few.json: sweep has 2 repetitions, expected 3 or more' base.json few.json
run 2 'none.json: cannot be read' base.json none.json
echo '{"benchmarks": 3' >broken.json
run 2 'broken.json: is not JSON of Google Benchmark' base.json broken.json
run 2 'threshold is -1' --threshold -1 base.json slow.json
echo passed
