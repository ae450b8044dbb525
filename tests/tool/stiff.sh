#!/usr/bin/env bash
# Stiff systems: their default method, step counts, and the hint to one who chose an explicit method.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

for system in robertson hires orego e5 brusselator; do
  "$tool" gradient --system "$system" --n 8 >"$work/$system" || fail "$system" "$(cat "$work/$system")"
  grep -q 'method *rodas5p' "$work/$system" || fail "$system is not solved by rodas5p"
  grep -q '8 success' "$work/$system" || fail "$system" "$(cat "$work/$system")"
done

# The counts of an independent program: 67 accepted steps and 9 rejected ones.
echo '0.04, 3e7, 1e4' >"$work/rates.csv"
robertson=("$tool" gradient --system robertson --n 1 --params "$work/rates.csv" --json)
[ "$("${robertson[@]}" | json steps_max)" = 67 ] || fail "steps of robertson" "$("${robertson[@]}")"
[ "$("${robertson[@]}" | json rejected_mean)" = 9.0 ] || fail "rejected steps of robertson"
[ "$("${robertson[@]}" --method rosenbrock23 | json steps_max)" = 252 ] || fail "rosenbrock23"

expect "the system is stiff, try --method rodas5p" \
  "$tool" gradient --system robertson --n 8 --t1 1 --method tsit5
"$tool" gradient --system lorenz --n 8 >"$work/lorenz"
! grep -q hint "$work/lorenz" || fail "a hint for the Lorenz system"
expect "agree:" "$tool" check --system robertson --n 8 --method kvaerno5
# Sizes from 1e-5 to 3e7, and initial states that are 0.
expect "agree:" "$tool" check --system robertson --n 8
expect "agree:" "$tool" check --system orego --n 8
expect "8 success" "$tool" gradient --system robertson --n 8 --precision float --rtol 1e-4

finish
