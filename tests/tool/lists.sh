#!/usr/bin/env bash
# What the tool says of itself.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

# lists NAME COMMAND: a line of the command's output begins with the name.
lists() {
  local output
  output=$("$tool" "$2") || fail "exit $? of $2"
  grep -q "^$1 " <<<"$output" || fail "no '$1' in $2"
}

for system in lorenz lotka_volterra van_der_pol linear pleiades magnet robertson hires orego e5 \
  brusselator orbits milky_way quintessence duffing keller_miksis; do
  lists "$system" systems
done
expect "branches on its values" "$tool" systems
for method in tsit5 dp5 bs3 vern7 vern9 dop853 rk4 heun euler rosenbrock23 ros3p rodas3p rodas4 \
  rodas5p kvaerno5; do
  lists "$method" methods
done
expect "gradsolve " "$tool" --version
expect "Kokkos " "$tool" --version
expect "--rtol" "$tool" gradient --help
expect "Exit status" "$tool" --help

finish
