#!/usr/bin/env bash
# Gradients agree with finite differences and with tangents: of systems that differences can follow,
# and of every explicit method (stiff ones: tests/sweeps).
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

for system in lorenz lotka_volterra van_der_pol linear pleiades magnet; do
  expect "agree: " "$tool" check --system "$system" --n 40 --rtol 1e-6
  expect "agree: " "$tool" check --system "$system" --n 12 --rtol 1e-6 --shared-params
done
# Not pleiades: its close encounters are beyond finite differences in float.
for system in lorenz lotka_volterra van_der_pol linear magnet; do
  expect "agree: " "$tool" check --system "$system" --n 8 --precision float --rtol 1e-4
done
for method in bs3 dp5 vern7 dop853 vern9; do
  expect "agree: " "$tool" check --system lorenz --n 20 --method "$method"
done
for method in euler heun rk4; do
  expect "agree: " "$tool" check --system lorenz --n 20 --method "$method" --fixed-steps 200
done
expect '"agree": true' "$tool" check --system linear --n 5 --json

# Nothing to compare is not an agreement.
status=0
"$tool" check --system lorenz --n 4 --max-steps 3 >/dev/null || status=$?
[ "$status" = 1 ] || fail "exit $status where every trajectory failed, expected 1"

finish
