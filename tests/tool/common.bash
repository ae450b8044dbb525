# What the tests of the tool share. Source it: it makes $work, an empty folder that goes away.
set -euo pipefail
# shellcheck disable=SC2034  # used by those that source this
tool=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/gradsolve-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# expect TEXT COMMAND...: the command succeeds and its output holds the text.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "exit $? of: $*"
  grep -qF -- "$text" <<<"$output" || fail "no '$text' in the output of: $*" "$output"
}

# refuses TEXT ARGUMENTS...: the tool ends with 2, writes nothing and has TEXT in one line on stderr.
refuses() {
  local text=$1 status=0
  shift
  "$tool" "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
  [ "$status" = 2 ] || fail "exit $status, expected 2, of: $*"
  [ "$(wc -l <"$work/stderr")" = 1 ] || fail "not one line on stderr of: $*" "$(cat "$work/stderr")"
  [ ! -s "$work/stdout" ] || fail "wrote to stdout: $*"
  grep -qF -- "$text" "$work/stderr" || fail "no '$text' of: $*" "$(cat "$work/stderr")"
  if [ -e "$work/out" ] || [ -e "$work/plot.csv" ]; then fail "wrote files: $*"; fi
}

# npy VERSION DESCR FORTRAN SHAPE BYTES: an array as NumPy writes it.
npy() {
  local header="{'descr': '$2', 'fortran_order': $3, 'shape': $4, }"
  printf %b "\\x93NUMPY\\x0$1\\0\\x$(printf %02x ${#header})\\0"
  [ "$1" = 1 ] || printf '\0\0'
  printf '%s' "$header"
  printf %b "$5"
}

# json KEY < text: the number of the first member of that name in the tool's JSON.
json() { sed -nE "s/^ *\"$1\": ([-+.e0-9]+),?$/\1/p" | head -n 1; }

# close A B TOLERANCE: whether they agree, relative to B.
close() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }

finish() {
  [ "$failures" = 0 ] || exit 1
  echo "passed"
}
