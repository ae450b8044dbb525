#!/usr/bin/env bash
# The systems of the examples: each is solved, with the numbers of tests/data.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

for system in orbits milky_way quintessence duffing keller_miksis; do
  "$tool" gradient --system "$system" --n 8 >"$work/table" || fail "$system" "$(cat "$work/table")"
  grep -q '8 success' "$work/table" || fail "$system" "$(cat "$work/table")"
  grep -q "method *vern7" "$work/table" || fail "$system is not solved by vern7"
done

# The sum of squares at t1 and its derivative in the first parameter, from the states and their
# derivatives of applications.json and oscillators.json.
while read -r system t1 states params name loss derivative; do
  echo "$states" >"$work/states.csv"
  echo "$params" >"$work/params.csv"
  "$tool" gradient --system "$system" --t1 "$t1" --states "$work/states.csv" \
    --params "$work/params.csv" --rtol 1e-11 --json >"$work/result"
  sum=$(json loss_sum <"$work/result")
  close "$sum" "$loss" 1e-6 || fail "loss of $system: $sum, expected $loss"
  sum=$(json "$name" <"$work/result")
  close "$sum" "$derivative" 1e-4 || fail "d/d $name of $system: $sum, expected $derivative"
done <<'END'
orbits 4000 -3.6327664028101547,-1.2786920018891546,-6.9083599211997315,-0.07339098922911973,0.03497290532997884,0.017805739658659146 0.225,2,0.9 vc 50.9458165704 26793.2576035
duffing 6.283185307179586 -0.5,-0.1 0.2,0.3 k 0.450424560381 0.431577722294
keller_miksis 3 1,0 39960.22110004837,143230.65636832506,9830.061357857261,411244.5156611469,0.8832713829494312,1.970362216607466e-05 PA1 3.02855847606 7.63014788832e-05
END

expect "agree: " "$tool" check --system duffing --n 8 --t1 6.283185307179586
expect "agree: " "$tool" check --system quintessence --n 8 --method tsit5

finish
