#!/usr/bin/env bash
# The grid of `gradsolve ablate`: its table, its file, an interruption, what joins two files. Times
# are not looked at.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

ablate=("$tool" ablate --min-time 0 --n 40)
# query FILE EXPRESSION: of its JSON, as `file`.
query() { python3 -c 'import json, sys
file = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$@"; }
# is FILE EXPRESSION VALUE
is() { [ "$(query "$1" "$2")" = "$3" ] || fail "$1: $2 is $(query "$1" "$2"), expected $3"; }

# Every arm gives the gradient of the first one.
"${ablate[@]}" --gradient fixed-mesh,re-record,adaptive-loop,adaptive-loop-rho \
  --sweeps fused,separate --states all,checkpoints --sort on,off --params linspace,shuffled \
  --lanes widest,1 --method tsit5 --json "$work/arms.json" >"$work/table" ||
  fail "exit $? of the arms" "$(cat "$work/table")"
is "$work/arms.json" 'len(file["cells"])' 128
is "$work/arms.json" 'file["complete"]' True
query "$work/arms.json" '"\n".join(repr(c["gradient_sum"]) for c in file["cells"] if "missing" not in c)' \
  >"$work/sums"
[ "$(wc -l <"$work/sums")" -ge 32 ] || fail "only $(wc -l <"$work/sums") cells were measured"
reference=$("$tool" gradient --system lorenz --n 40 --json | json rho)
while read -r sum; do
  close "$sum" "$reference" 1e-10 || fail "an arm's gradient sums to $sum, expected $reference"
done <"$work/sums"
grep -q 'missing .*gradient adaptive-loop.*sweeps separate: an adaptive loop is one sweep' \
  "$work/table" || fail "cells without a meaning are not listed"

# Methods, precisions, and what the build lacks.
"${ablate[@]}" --precision double,float --method tsit5,vern7,dp5 --rtol 1e-4,1e-5 \
  --json "$work/methods.json" >"$work/table"
is "$work/methods.json" '[c["gradient_sum"] > 0 for c in file["cells"] if "missing" not in c]' \
  "[$(yes True, | head -n 7 | tr '\n' ' ')True]"
is "$work/methods.json" 'sum(1 for c in file["cells"] if "missing" in c)' 4
grep -q 'missing  *method dp5: this build has the methods tsit5, vern7' "$work/table" ||
  fail "a method that the build lacks is not listed" "$(cat "$work/table")"
# A header, 12 cells, and the effects of 1 + 2 + 1 values.
[ "$(grep -cE '^(double|float) ' "$work/table")" = 12 ] || fail "not 12 lines of cells"
[ "$(grep -cE '^(precision|method|rtol) .* [0-9]+$' "$work/table")" = 4 ] || fail "not 4 effects"
[ "$(awk '/sum d.drho$/ || /^(double|float) / { print length }' "$work/table" | sort -u | wc -l)" = 1 ] ||
  fail "the columns are not aligned" "$(cat "$work/table")"

# What was measured where.
for key in date command gradsolve commit kokkos compiler build host hardware_threads; do
  is "$work/arms.json" "file['context']['$key'] != ''" True
done
is "$work/arms.json" '"--sort on,off" in file["context"]["command"]' True
is "$work/arms.json" 'any(k.startswith("device_") for k in file["context"])' True
is "$work/arms.json" 'all(c["num_runs"] >= 3 and 0 < c["min_ms"] <= c["median_ms"] <= c["max_ms"]
  for c in file["cells"] if "missing" not in c)' True

# One at a time: the baseline and a cell for each other value.
"${ablate[@]}" --one-at-a-time --sort on,off --params linspace,shuffled --rtol 1e-4,1e-5,1e-6 \
  --json "$work/star.json" >/dev/null
is "$work/star.json" 'len(file["cells"])' 5
is "$work/star.json" '(file["cells"][0]["rtol"], file["cells"][0]["sort"])' "('1e-04', 'on')"

# An interruption ends the run after the cell; what is there stays, and only the rest is run.
"$tool" ablate --min-time 0.3 --n 40 --sort on,off --rtol 1e-3,1e-4,1e-5,1e-6 \
  --json "$work/part.json" >/dev/null 2>"$work/stderr" &
pid=$!
until [ -e "$work/part.json" ]; do sleep 0.05; done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
[ "$status" = 3 ] || fail "exit $status of an interrupted run, expected 3" "$(cat "$work/stderr")"
grep -q "interrupted after [1-7] of 8 cells; to go on: .* ablate --resume $work/part.json" \
  "$work/stderr" || fail "stderr of an interrupted run" "$(cat "$work/stderr")"
is "$work/part.json" 'file["complete"]' False
cp "$work/part.json" "$work/before.json"
"$tool" ablate --resume "$work/part.json" >/dev/null || fail "exit $? of --resume"
is "$work/part.json" 'file["complete"]' True
is "$work/part.json" 'len(file["cells"])' 8
is "$work/part.json" 'len(file["resumed"])' 1
before="json.load(open('$work/before.json'))['cells']"
is "$work/part.json" "file['cells'][:len($before)] == $before" True
cp "$work/part.json" "$work/before.json"
"$tool" ablate --resume "$work/part.json" >/dev/null
is "$work/part.json" "file['cells'] == $before" True

# Another machine does not add to a file.
sed 's/"host": "[^"]*"/"host": "elsewhere"/' "$work/part.json" >"$work/elsewhere.json"
refuses "host was 'elsewhere' and is '" ablate --resume "$work/elsewhere.json"

# Two files side by side: one line a pair, whatever their back ends.
sed 's/"openmp"/"cuda"/g; s/"serial"/"cuda"/g' "$work/star.json" >"$work/other.json"
"$tool" ablate --join "$work/other.json" "$work/star.json" >"$work/joined" || fail "exit $? of --join"
[ "$(grep -c '^cuda .* 1\.000$' "$work/joined")" = 5 ] || fail "--join" "$(cat "$work/joined")"
grep -q '5 pairs of 5 and 5 cells; their gradient sums differ by 0.0e+00 at most' "$work/joined" ||
  fail "--join" "$(cat "$work/joined")"

# What cannot be used.
refuses "unknown --lanes 'widst', did you mean 'widest'?" ablate --lanes widst
refuses "unknown --backend 'gpu'" ablate --backend gpu
refuses "--n is 0, expected numbers of trajectories" ablate --n 8,0
refuses "--n is 2.5, expected numbers of trajectories" ablate --n 2.5
refuses "--rtol is -1, expected numbers > 0" ablate --rtol 1e-4,-1
refuses "--sort is on,on, expected each value once" ablate --sort on,on
refuses "--min-time is -1, expected a number of seconds >= 0" ablate --min-time -1
refuses "expected a name that ends in .png, .svg or .pdf" ablate --sort on,off --picture "$work/picture"
refuses "--picture needs an axis of two values" ablate --picture "$work/picture.png"
refuses "its folder does not exist" ablate --json "$work/none/file.json"
refuses "missing.json: cannot be read" ablate --resume "$work/missing.json"
refuses "expected no --n beside it" ablate --resume "$work/part.json" --n 8
refuses "expected no --json beside it" ablate --join "$work/part.json" "$work/star.json" --json "$work/x.json"
refuses "--join" ablate --join "$work/part.json"
printf '{"format": "gradsolve ablation 1", "cells": [' >"$work/broken.json"
refuses "broken.json: is not JSON: parse error at line 1, column 46" ablate --resume "$work/broken.json"
printf '{"format": "another"}' >"$work/broken.json"
refuses "its format is 'another', expected 'gradsolve ablation 1'" ablate --resume "$work/broken.json"
sed 's/"sort": "on"/"sort": "perhaps"/' "$work/part.json" >"$work/broken.json"
refuses "a cell with sort perhaps, which no axis has" ablate --resume "$work/broken.json"

finish
