#!/usr/bin/env bash
# The main job against the published sums, and the files it writes.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

# size FILE BYTES
size() { [ "$(stat -c %s "$1")" = "$2" ] || fail "$1 has $(stat -c %s "$1") bytes, expected $2"; }
# number FILE OFFSET TYPE: one number of a binary file, where od -t TYPE knows it.
number() { od -A n -j "$2" -N 8 -t "$3" "$1" | tr -d ' '; }

# Sums by an independent JAX program.
main_job=("$tool" gradient --system lorenz --method tsit5 --json)
while read -r n rtol reference; do
  sum=$("${main_job[@]}" --n "$n" --rtol "$rtol" | json rho)
  close "$sum" "$reference" 1e-10 || fail "n = $n, rtol $rtol: $sum, expected $reference"
done <<'END'
128 1e-4 2086.957233339
128 1e-8 2082.549263363
2048 1e-6 32741.358194482
32768 1e-6 523286.9876233
END

# The same numbers in the table, in the plot data and in the arrays.
"$tool" gradient --system lorenz --n 128 --repeat 2 --out "$work/out/new" --csv "$work/plot.csv" \
  >"$work/table"
grep -q '^d/d rho  *2082.5598102' "$work/table" || fail "no gradient in the table" "$(cat "$work/table")"
grep -q '128 success: reached t1' "$work/table" || fail "no status in the table"
sum=$(awk -F , 'NR > 1 { s += $3 } END { printf "%.17g", s }' "$work/plot.csv")
close "$sum" 2082.559810202 1e-10 || fail "--csv sums to $sum"
[ "$(head -n 1 "$work/plot.csv")" = rho,loss,dloss_drho ] || fail "header of --csv"
[ "$(wc -l <"$work/plot.csv")" = 129 ] || fail "lines of --csv"
[ "$(tail -n 1 "$work/plot.csv" | cut -d , -f 1)" = 21 ] || fail "the last rho is not 21"
size "$work/out/new/states.npy" $((128 + 128 * 3 * 8))
size "$work/out/new/loss.npy" $((128 + 128 * 8))
size "$work/out/new/gradient_states.npy" $((128 + 128 * 3 * 8))
size "$work/out/new/gradient_params.npy" $((128 + 128 * 8))
size "$work/out/new/status.npy" $((128 + 128))
size "$work/out/new/num_steps.npy" $((128 + 128 * 4))
[ "$(number "$work/out/new/params.npy" $((128 + 127 * 8)) f8)" = 21 ] || fail "params.npy"

# An ensemble from files: what one run writes the next one reads.
read_back=("$tool" gradient --system lorenz --json --params "$work/out/new/params.npy")
sum=$("${read_back[@]}" | json rho)
close "$sum" 2082.559810202 1e-10 || fail "parameters read back give $sum"
{ echo "x,y,z"; for _ in $(seq 128); do echo "1, 0, +0.0"; done; } >"$work/u0.csv"
sum=$("${read_back[@]}" --states "$work/u0.csv" | json rho)
close "$sum" 2082.559810202 1e-10 || fail "states read from .csv give $sum"

# Float32 files, Fortran order and format version 2 are read too: (2, 3) ones and zeros.
one='\0\0\x80\x3f' zero='\0\0\0\0'
npy 1 '<f4' False '(2, 3)' "$one$zero$zero$one$zero$zero" >"$work/c.npy"
npy 2 '<f4' True '(2, 3)' "$one$one$zero$zero$zero$zero" >"$work/fortran.npy"
printf '28\n28\n' >"$work/rho.csv"
for file in c fortran; do
  "$tool" gradient --system lorenz --states "$work/$file.npy" --params "$work/rho.csv" --json \
    | json loss_sum >"$work/$file.loss"
done
cmp "$work/c.loss" "$work/fortran.loss" || fail "C and Fortran order differ"

# Shared parameters: one row in, one row out, the sum of the gradients.
"$tool" gradient --system lotka_volterra --n 64 --shared-params --out "$work/shared" >/dev/null
size "$work/shared/gradient_params.npy" $((128 + 4 * 8))
expect '"gradient_sum"' "$tool" gradient --system lotka_volterra --n 64 --shared-params --json \
  --params "$work/shared/params.npy"

# Other precisions, controllers, steps, directions.
expect "float precision" "$tool" gradient --system lorenz --n 8 --precision float --rtol 1e-4
expect "steps         10 min" "$tool" gradient --system lorenz --n 8 --method rk4 --fixed-steps 10
expect "8 success" "$tool" gradient --system lorenz --n 8 --controller pid --first-step hairer
expect "8 success" "$tool" gradient --system linear --n 8 --t0 1 --t1 0
expect "lanes         1: " "$tool" gradient --system magnet --n 8

# Little memory: checkpoints, and the same gradient digit by digit.
long=("$tool" gradient --system lorenz --n 8 --t1 20)
expect "steps at a time" "${long[@]}" --memory-budget 8kb
"${long[@]}" --json | json loss_sum >"$work/all.loss"
"${long[@]}" --json --memory-budget 8kb | json loss_sum >"$work/few.loss"
cmp "$work/all.loss" "$work/few.loss" || fail "checkpoints change the gradient"

# The closed form of the damped oscillator.
"$tool" gradient --system linear --n 50 --method vern7 --rtol 1e-12 --csv "$work/linear.csv" >/dev/null
awk -F , 'NR > 1 {
  omega = $1; zeta = 0.1; t = 10; d = omega * sqrt(1 - zeta ^ 2); decay = exp(-zeta * omega * t)
  x = decay * (cos(d * t) + zeta * omega / d * sin(d * t))
  v = -decay * omega ^ 2 / d * sin(d * t)
  error = $2 / (x * x + v * v) - 1
  if (error > 1e-9 || error < -1e-9) { print "omega " omega ": " error; bad = 1 }
} END { exit bad }' "$work/linear.csv" || fail "the closed form of the linear system"

# A trajectory that fails is reported, has its own status, and the exit status says so.
status=0
"$tool" gradient --system lorenz --n 8 --max-steps 5 --out "$work/failed" >"$work/table" || status=$?
[ "$status" = 1 ] || fail "exit $status where trajectories failed, expected 1"
grep -q '8 max_steps: ' "$work/table" || fail "no status of failed trajectories"
grep -q 'failed trajectories: 0 1 2' "$work/table" || fail "failed trajectories are not named"
[ "$(number "$work/failed/status.npy" 128 d1)" = 11111111 ] || fail "status.npy"

finish
