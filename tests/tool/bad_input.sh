#!/usr/bin/env bash
# Whatever cannot be used: exit 2, one line on stderr that says what and why, nothing written.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

# refuses() for `gradient` on lorenz, where files would be written.
lorenz() {
  local text=$1
  shift
  refuses "$text" gradient --system lorenz "$@" --out "$work/out" --csv "$work/plot.csv"
}

# Names and numbers.
refuses "did you mean 'lorenz'?" gradient --system lorentz
refuses "lotka_volterra" gradient --system nothing_like_it
refuses "--system" gradient
refuses "expected gradient, check, ablate, systems or methods"
refuses "nonsense" nonsense
refuses "--nonsense" gradient --system lorenz --nonsense
lorenz "did you mean 'tsit5'?" --method tsit
lorenz "unknown --controller 'p'" --controller p
lorenz "unknown --precision 'half'" --precision half
lorenz "There is: dp5 tsit5" --precision float --method vern9
lorenz "unknown --method of lorenz 'rodas4'" --method rodas4
lorenz "--n is 0, expected" --n 0
lorenz "--n is -5, expected" --n -5
lorenz "--n" --n many
lorenz "--n" --n 99999999999
lorenz "--rtol is -1e-06, expected" --rtol -1e-6
lorenz "--rtol is nan, expected" --rtol nan
lorenz "--atol is -1, expected" --atol -1
lorenz "--rtol is 0, expected" --rtol 0
lorenz "--t1 is inf, expected" --t1 inf
lorenz "--first-step is zero, expected" --first-step zero
lorenz "--first-step is 0, expected" --first-step 0
lorenz "--max-steps is 0, expected" --max-steps 0
lorenz "--fixed-steps is -3, expected" --fixed-steps -3
lorenz "--memory-budget is 0, expected" --memory-budget 0
lorenz "--memory-budget" --memory-budget much
lorenz "--memory-budget is 16 bytes, expected" --memory-budget 16
lorenz "--repeat is 0, expected" --repeat 0
lorenz "--method rk4 has no error estimate" --method rk4
lorenz "expected one of them" --fixed-steps 3 --fixed-step 0.1
lorenz "--csv needs parameters of each trajectory" --shared-params

# Shapes.
printf '1,0\n1,0\n' >"$work/two_columns.csv"
printf '1\n2\n3\n' >"$work/three_rows.csv"
lorenz "has the shape (2, 2), expected a row for each trajectory of 3 columns (x, y, z)" \
  --states "$work/two_columns.csv"
lorenz "has the shape (3, 1), expected 4 rows of 1 column (rho)" --n 4 --params "$work/three_rows.csv"
refuses "has the shape (3, 1), expected one row of 1 column (rho) with --shared-params" \
  gradient --system lorenz --params "$work/three_rows.csv" --shared-params --out "$work/out"

# Save times and losses.
lorenz "save 1 of trajectory 0 at 2, expected a time within its span, 0 to 1" --save-times 0.5 2
lorenz "save 0 of trajectory 0 at -0.5, expected a time within its span" --save-times -0.5 0.5
lorenz "save 1 of trajectory 0 at 0.25, expected times that rise" --save-times 0.5 0.25
lorenz "save 0 of trajectory 0 at nan, expected a finite time" --save-times nan
lorenz "expected times that fall" --t0 1 --t1 0 --save-times 0.25 0.5
lorenz "--save-times is soon, expected numbers, START:STOP:COUNT" --save-times soon
lorenz "--save-times is 0:1, expected numbers, START:STOP:COUNT" --save-times 0:1
lorenz "COUNT of --save-times is 0, expected 1 to 1000000" --save-times 0:1:0
lorenz "COUNT of --save-times is 2.5, expected 1 to 1000000" --save-times 0:1:2.5
lorenz "has the shape (2, 2), expected one row or one column" --save-times "$work/two_columns.csv"
lorenz "missing.csv: cannot be read" --save-times "$work/missing.csv"
lorenz "did you mean 'least-squares'?" --loss least-square
lorenz "--loss least-squares needs one FILE" --save-times 1 --loss least-squares
lorenz "--loss sum-of-squares takes no file" --loss sum-of-squares "$work/two_columns.csv"
lorenz "--loss least-squares needs --save-times" --loss least-squares "$work/none.npy"
lorenz "none.npy: cannot be read" --save-times 1 --loss least-squares "$work/none.npy"
lorenz "expected a name that ends in .npy" --save-times 1 --loss least-squares "$work/two_columns.csv"
lorenz "did you mean 'forward'?" --mode forwards
lorenz "--method dp5 has none; there is: tsit5" --method dp5 --hvp
lorenz "--precision float has none" --precision float --mode forward
refuses "the system pleiades has none" gradient --system pleiades --save-times 1

# Files that cannot be read.
params() {
  local text=$1 file=$2
  lorenz "$file: $text" --params "$file"
}
params "cannot be read" "$work/missing.csv"
params "cannot be read" "$work/missing.npy"
mkdir "$work/folder.csv" "$work/folder.npy"
params "cannot be read" "$work/folder.csv"
params "cannot be read" "$work/folder.npy"
touch "$work/empty.csv" "$work/empty.npy" "$work/data.txt"
params "holds no numbers" "$work/empty.csv"
params "is not a .npy file" "$work/empty.npy"
params "expected a name that ends in .npy or .csv" "$work/data.txt"
printf 'rho\n1\n2x\n' >"$work/text.csv"
params "line 3: column 0 is '2x', expected a number" "$work/text.csv"
printf '1\n2,3\n' >"$work/ragged.csv"
params "line 2: 2 numbers, expected 1" "$work/ragged.csv"
printf '1\n\n# a comment\n,\n' >"$work/blank.csv"
params "line 4: column 0 is ''" "$work/blank.csv"
printf '1\n2\nnan\n' >"$work/nan.csv"
params "row 2, column 0 (counted from 0) is NaN" "$work/nan.csv"
printf '1\n-inf\n' >"$work/infinite.csv"
params "row 1, column 0 (counted from 0) is infinite" "$work/infinite.csv"

# raw_npy NAME DESCR SHAPE BYTES [MAGIC]: npy() of whatever is wrong.
raw_npy() {
  local header="{'descr': $2, 'fortran_order': False, 'shape': $3, }"
  {
    printf %b "${5:-\\x93NUMPY\\x01\\0}\\x$(printf %02x ${#header})\\0"
    printf '%s' "$header"
    printf %b "$4"
  } >"$work/$1.npy"
}
npy_refused() {
  local text=$1
  shift
  raw_npy bad "$@"
  params "$text" "$work/bad.npy"
}
one='\0\0\0\0\0\0\xf0\x3f' nan='\0\0\0\0\0\0\xf8\x7f'
inf='\0\0\0\0\0\0\xf0\x7f'
raw_npy data "'<f8'" '(2, 1, 3)' "$one$one$one$one$one$one"
lorenz "has the shape (2, 1, 3), expected (4, 1, 3) or (1, 3): trajectories, save times, states" \
  --n 4 --save-times 1 --loss least-squares "$work/data.npy"
raw_npy data "'<f8'" '(3,)' "$one$one$one"
lorenz "has the shape (3,), expected" --n 4 --save-times 1 --loss least-squares "$work/data.npy"
raw_npy data "'<f8'" '(1, 3)' "$one$nan$inf"
lorenz "one is infinite" --n 4 --save-times 1 --loss least-squares "$work/data.npy"
npy_refused "holds 8 bytes of numbers, expected 16" "'<f8'" '(2, 1)' "$one"
npy_refused "holds 16 bytes of numbers, expected 8" "'<f8'" '(1, 1)' "$one$one"
npy_refused "holds 8 bytes of numbers, expected more" "'<f8'" '(4611686018427387904, 4)' "$one"
npy_refused "its numbers are of type '>f8'" "'>f8'" '(1, 1)' "$one"
npy_refused "its numbers are of type '<i8'" "'<i8'" '(1, 1)' "$one"
npy_refused "its numbers are records" "[('x', '<f8')]" '(1,)' "$one"
npy_refused "has 3 dimensions" "'<f8'" '(1, 1, 1)' "$one"
npy_refused "has 0 dimensions" "'<f8'" '()' "$one"
npy_refused "holds no numbers" "'<f8'" '(0, 1)' ""
npy_refused "its shape is malformed" "'<f8'" '(1, x)' "$one"
npy_refused "its shape is malformed" "'<f8'" 'None' "$one"
npy_refused ".npy format version 9" "'<f8'" '(1, 1)' "$one" '\x93NUMPY\x09\0'
npy_refused "is not a .npy file" "'<f8'" '(1, 1)' "$one" 'PK345678'
npy_refused "row 1, column 0 (counted from 0) is NaN" "'<f8'" '(2, 1)' "$one$nan"
printf '\x93NUMPY\x01\0\xff\xff{' >"$work/short.npy"
params "ends within its header" "$work/short.npy"
printf '\x93NUMPY\x01\0\x02\0{}' >"$work/keys.npy"
params "its header has no 'descr'" "$work/keys.npy"

# Places that cannot be written to.
touch "$work/file"
refuses "is not a folder" gradient --system lorenz --n 4 --out "$work/file"
refuses "is not a folder" gradient --system lorenz --n 4 --out "$work/file/below"
refuses "its folder does not exist" gradient --system lorenz --n 4 --csv "$work/none/plot.csv"
refuses "it is a folder" gradient --system lorenz --n 4 --csv "$work/folder.csv"
refuses "/proc/none: cannot be written" gradient --system lorenz --n 4 --out /proc/none

finish
