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

# json KEY < text: the number of the first member of that name in the tool's JSON.
json() { sed -nE "s/^ *\"$1\": ([-+.e0-9]+),?$/\1/p" | head -n 1; }

# close A B TOLERANCE: whether they agree, relative to B.
close() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }

finish() {
  [ "$failures" = 0 ] || exit 1
  echo "passed"
}
