#!/usr/bin/env bash
# Save times, losses at them, forward mode and Hessian products, against what is known of them.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

# rows FILE COLUMNS: the numbers of a .npy file of doubles, so many a line.
rows() { od -A n -v -t f8 -j 128 -w$((8 * $2)) "$1"; }
one='\0\0\x80\x3f' two='\0\0\0\x40' zero='\0\0\0\0' nan='\0\0\xc0\x7f'
# same FILE FILE TOLERANCE: all numbers agree, relative to the largest.
same() {
  [ "$(stat -c %s "$1")" = "$(stat -c %s "$2")" ] || fail "$1 and $2 differ in size"
  paste <(rows "$1" 1) <(rows "$2" 1) | awk -v t="$3" '
    function abs(x) { return x < 0 ? -x : x }
    { d = abs($1 - $2); if (!(d <= worst)) worst = d; if (abs($2) > size) size = abs($2) }
    END { if (!(worst <= t * size)) { print "differ by " worst " of " size; exit 1 } }' ||
    fail "$1 and $2 differ"
}
lorenz=("$tool" gradient --system lorenz --n 128 --rtol 1e-6)

# A save at t1 is the final state, one at t0 the initial one; the loss is that of the states saved.
"${lorenz[@]}" --save-times 0:1:3 --out "$work/saved" --json >"$work/json"
[ "$(stat -c %s "$work/saved/saved.npy")" = $((128 + 128 * 3 * 3 * 8)) ] || fail "size of saved.npy"
rows "$work/saved/saved.npy" 3 | awk 'NR % 3 == 0' | cmp - <(rows "$work/saved/states.npy" 3) ||
  fail "the last saves are not the final states"
rows "$work/saved/saved.npy" 3 | awk 'NR % 3 == 1 && ($1 != 1 || $2 != 0 || $3 != 0) { exit 1 }' ||
  fail "the first saves are not the initial states"
sum=$(rows "$work/saved/saved.npy" 1 | awk '{ s += $1 * $1 } END { printf "%.17g", s }')
close "$(json loss_sum <"$work/json")" "$sum" 1e-12 || fail "the loss is not that of saved.npy"

# At t1 alone it is the published sum, in both modes and from a file, and auto says what it took.
printf 't\n1\n' >"$work/t1.csv"
for options in "--save-times 1" "--save-times $work/t1.csv" "--mode forward" "--hvp" "--mode auto"; do
  # shellcheck disable=SC2086
  sum=$("${lorenz[@]}" $options --csv "$work/plot.csv" --json | json rho)
  close "$sum" 2082.559810202 1e-10 || fail "$options: $sum"
  sum=$(awk -F , 'NR > 1 { s += $3 } END { printf "%.17g", s }' "$work/plot.csv")
  close "$sum" 2082.559810202 1e-10 || fail "$options: --csv sums to $sum"
done
expect "mode          reverse" "${lorenz[@]}" --mode auto
expect "mode          forward" "${lorenz[@]}" --mode forward
expect '"mode": "forward"' "${lorenz[@]}" --mode forward --json
expect "the sum of squares of the states at 2 save times" "${lorenz[@]}" --save-times 0.2 0.3

# forward_is_reverse TOLERANCE ARGUMENTS...
forward_is_reverse() {
  local tolerance=$1 mode
  shift
  for mode in forward reverse; do
    "$tool" gradient "$@" --mode "$mode" --out "$work/$mode" >/dev/null || fail "exit $? of $*"
  done
  for file in loss gradient_states gradient_params; do
    same "$work/forward/$file.npy" "$work/reverse/$file.npy" "$tolerance"
  done
}
forward_is_reverse 1e-10 --system lorenz --n 37 --save-times 0.1 0.35 0.35 1
forward_is_reverse 1e-10 --system lotka_volterra --n 37 --shared-params --save-times 1:3:7
forward_is_reverse 1e-10 --system van_der_pol --n 9 --save-times 1 2
forward_is_reverse 1e-10 --system magnet --n 9 --save-times 0:5:11
forward_is_reverse 1e-10 --system linear --n 9 --t0 1 --t1 0 --save-times 0.75 0.25

# Least squares about zero is the sum of squares; about the solution itself it is 0.
at=(--save-times 0.5 1)
npy 1 '<f4' False '(2, 3)' "$zero$zero$zero$zero$zero$zero" >"$work/zeros.npy"
sum=$("${lorenz[@]}" "${at[@]}" --json | json loss_sum)
about_zero=("${lorenz[@]}" "${at[@]}" --loss least-squares "$work/zeros.npy")
[ "$("${about_zero[@]}" --json | json loss_sum)" = "$sum" ] || fail "least squares about zero"
expect "least squares at 2 save times" "${about_zero[@]}"
expect '"loss": "least-squares"' "${about_zero[@]}" --json
"${lorenz[@]}" "${at[@]}" --out "$work/truth" >/dev/null
"${lorenz[@]}" "${at[@]}" --loss least-squares "$work/truth/saved.npy" --json | json loss_sum |
  awk '{ exit !($1 < 1e-20) }' || fail "least squares about the solution"

# Data of each trajectory, in C and Fortran order, one of them missing: (u - d)^2 by hand.
npy 1 '<f4' False '(2, 1, 3)' "$one$two$nan$two$zero$one" >"$work/c.npy"
npy 1 '<f4' True '(2, 1, 3)' "$one$two$two$zero$nan$one" >"$work/fortran.npy"
for file in c fortran; do
  "$tool" gradient --system lorenz --n 2 --save-times 0.5 --loss least-squares "$work/$file.npy" \
    --out "$work/$file" --json | json loss_sum >"$work/$file.loss"
done
cmp "$work/c.loss" "$work/fortran.loss" || fail "C and Fortran order differ"
expected=$(rows "$work/c/saved.npy" 3 | awk '
  NR == 1 { s = ($1 - 1) ^ 2 + ($2 - 2) ^ 2 }
  NR == 2 { s += ($1 - 2) ^ 2 + $2 ^ 2 + ($3 - 1) ^ 2 }
  END { printf "%.17g", s }')
close "$(cat "$work/c.loss")" "$expected" 1e-12 || fail "least squares with missing data"

# The Hessian times ones is the difference of gradients along ones, on the same steps.
steps=(gradient --system lotka_volterra --fixed-steps 100 --save-times 2 5)
"$tool" "${steps[@]}" --n 5 --hvp --out "$work/hvp" >"$work/table"
grep -q '^hvp alpha ' "$work/table" || fail "no hvp in the table" "$(cat "$work/table")"
for sign in + -; do
  rows "$work/hvp/params.npy" 4 | awk -v h="${sign}1e-5" '{ OFS = ","
    for (j = 1; j <= 4; ++j) $j = sprintf("%.17g", $j + h); print }' >"$work/moved.csv"
  "$tool" "${steps[@]}" --params "$work/moved.csv" --out "$work/moved$sign" >/dev/null
done
for pair in states:u0 params:params; do
  paste <(rows "$work/moved+/gradient_${pair%:*}.npy" 1) \
    <(rows "$work/moved-/gradient_${pair%:*}.npy" 1) <(rows "$work/hvp/hvp_${pair#*:}.npy" 1) |
    awk '{ d = ($1 - $2) / 2e-5 - $3; worst += d * d; size += $3 * $3 }
      END { exit !(size > 0 && worst <= 1e-12 * size) }' || fail "hvp_${pair#*:}.npy"
done
expect '"hvp_sum"' "$tool" "${steps[@]}" --n 5 --shared-params --hvp --json

# A trajectory that fails has no gradient in either mode, and its later saves are missing.
status=0
"${lorenz[@]}" --max-steps 5 --save-times 0:1:3 --mode forward --out "$work/failed" >/dev/null ||
  status=$?
[ "$status" = 1 ] || fail "exit $status where trajectories failed, expected 1"
[ "$(rows "$work/failed/gradient_params.npy" 1 | sort -u | tr -d ' ')" = nan ] ||
  fail "gradients of failed trajectories"
rows "$work/failed/saved.npy" 3 | awk 'NR % 3 == 0 && $1 != "nan" { exit 1 }' ||
  fail "a save that was not reached"

# A disk that is full leaves no part of a file: here no file may be larger than 2 KiB.
status=0
(
  trap '' XFSZ
  ulimit -f 2
  exec "${lorenz[@]}" --out "$work/full" >/dev/null 2>"$work/stderr"
) || status=$?
[ "$status" = 2 ] || fail "exit $status on a full disk, expected 2"
grep -q 'states.npy: cannot be written' "$work/stderr" || fail "stderr" "$(cat "$work/stderr")"
[ -z "$(ls -A "$work/full")" ] || fail "left on a full disk: $(ls -A "$work/full")"

finish
