# What the scripts of this folder share. Source it: it defines names and does nothing else.

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache_dir=${GRADSOLVE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/gradsolve}

# What the private root holds, beside what these depend on.
root_packages=(g++ cmake ninja-build libkokkos-dev libcli11-dev libgtest-dev libbenchmark-dev
  nlohmann-json3-dev libnlopt-dev python3-minimal gnuplot-nox clang-format git ccache)

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$(basename "$0"): $1"
  shift
  for line; do say "  $line"; done
  exit 1
}

# step TEXT COMMAND...: one line now, then every 20 s the last line that the command wrote; when it
# fails, the end of what it wrote and the file that holds all of it. Where COMMAND is a function,
# `set -e` is off inside it: it must return its failures itself.
step() { run_step 0 "$@"; }

# The same, but silent when the command takes less than two seconds.
quiet_step() { run_step 2 "$@"; }

# Its variables have long names because the command, when a function, sees them.
run_step() {
  local step_delay=$1 step_text=$2 step_log step_status=0 step_watcher
  shift 2
  step_log=$(mktemp "${TMPDIR:-/tmp}/gradsolve-log.XXXXXX")
  [ "$step_delay" != 0 ] || say "$step_text"
  (
    seconds=0
    while sleep 1 && kill -0 $$ 2>/dev/null; do
      seconds=$((seconds + 1))
      [ "$seconds" != "$step_delay" ] || say "$step_text"
      ((seconds % 20)) ||
        say "$(printf '%5d s  %s' "$seconds" "$(tail -n 1 "$step_log" | cut -c 1-90)")"
    done
  ) &
  step_watcher=$!
  "$@" >"$step_log" 2>&1 </dev/null || step_status=$?
  kill "$step_watcher" 2>/dev/null || true
  wait "$step_watcher" 2>/dev/null || true
  if [ "$step_status" != 0 ]; then
    tail -n 60 "$step_log" >&2
    say "FAILED (exit $step_status): $step_text" "(the whole output is in $step_log)"
    return "$step_status"
  fi
  rm -f "$step_log"
}

# install_packages PACKAGE...: the Debian packages that this machine lacks. Elsewhere than on Debian
# it does nothing: CMake then says what it does not find.
install_packages() {
  local package missing=()
  command -v dpkg-query apt-get >/dev/null || return 0
  for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} != 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "these packages are missing, and only root can install them:" \
    "apt-get install ${missing[*]}"
  # The package lists of a fresh machine may be empty or old: only then are they fetched.
  step "Installing ${missing[*]}" sh -c '
    install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
    install "$@" || { apt-get update && install "$@"; }' sh "${missing[@]}"
}

# host_needs PACKAGE...: what the private root holds anyway and this machine may lack.
host_needs() {
  case $GRADSOLVE_ENVIRONMENT in
    host-*) install_packages cmake ninja-build "$@" ;;
  esac
}

# enter_environment SCRIPT ARGUMENTS...: returns in an environment that has Kokkos >= 4.6, with
# GRADSOLVE_ENVIRONMENT set to a name for it. Where CMake finds such a Kokkos that is this machine
# as it is; elsewhere the script is started anew inside the private root.
enter_environment() {
  local kokkos
  [ -z "${GRADSOLVE_ENVIRONMENT:-}" ] || return 0
  kokkos=$(find_kokkos)
  if [ -n "$kokkos" ]; then
    GRADSOLVE_ENVIRONMENT=host-$(printf '%s' "$kokkos ${CXX:-}" | cksum | cut -d ' ' -f 1)
    export GRADSOLVE_ENVIRONMENT
    return
  fi
  [ -z "${Kokkos_ROOT:-}${Kokkos_DIR:-}${CMAKE_PREFIX_PATH:-}" ] ||
    say "No Kokkos >= 4.6 where Kokkos_ROOT, Kokkos_DIR or CMAKE_PREFIX_PATH point (or no cmake," \
      "or no C++ compiler): using the private Debian root"
  make_root
  exec_in_root "$@"
}

# The KokkosConfig.cmake that CMake would take on this machine, or nothing.
find_kokkos() {
  if command -v cmake >/dev/null && command -v "${CXX:-c++}" >/dev/null; then
    cmake -P "$source_dir/scripts/find-kokkos.cmake" 2>/dev/null || true
  fi
}

# The name tells the packages, so that another list of packages means another root.
root_name() { echo "root-$(printf '%s' "${root_packages[*]}" | cksum | cut -d ' ' -f 1)"; }
root_dir() { echo "$cache_dir/$(root_name)"; }

# Creates the private root unless it is there; a second command that needs it waits for the first.
make_root() {
  [ ! -d "$(root_dir)" ] || return 0
  mkdir -p "$cache_dir"
  flock --nonblock "$cache_dir/lock" true ||
    say "Waiting for another command that makes the private Debian root"
  flock --close "$cache_dir/lock" "$source_dir/scripts/make-root" "$(root_dir)"
}

# Runs a command inside the root, which it sees as its /usr and /etc and cannot change. Everything
# else of this machine is where it was, so paths mean the same inside and outside.
exec_in_root() {
  local root binds=() path
  root=$(root_dir)
  for path in /*; do
    case $path in
      /bin | /boot | /dev | /etc | /lib* | /proc | /run | /sbin | /sys | /usr) ;;
      *)
        if [ -L "$path" ]; then
          binds+=(--symlink "$(readlink "$path")" "$path")
        elif [ -d "$path" ]; then
          binds+=(--bind-try "$path" "$path")
        fi
        ;;
    esac
  done
  for path in bin sbin lib lib64; do
    [ ! -L "$root/$path" ] || binds+=(--symlink "usr/$path" "/$path")
  done
  # What points the build to this machine's own tools has no meaning inside.
  unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD \
    CMAKE_PREFIX_PATH CMAKE_GENERATOR Kokkos_ROOT Kokkos_DIR PYTHONHOME PYTHONPATH
  # Clones in other folders find the same entries, and precompiled headers are taken as they are.
  GRADSOLVE_ENVIRONMENT=$(root_name) PATH=/usr/local/bin:/usr/bin:/usr/sbin LC_ALL=C.UTF-8 \
    CCACHE_DIR=$cache_dir/ccache CCACHE_MAXSIZE=4G CCACHE_BASEDIR=$source_dir CCACHE_NOHASHDIR=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros \
    exec bwrap --die-with-parent --ro-bind "$root/usr" /usr --ro-bind "$root/etc" /etc \
    --dev /dev --proc /proc --ro-bind /sys /sys --tmpfs /run "${binds[@]}" --chdir "$PWD" -- "$@"
}

# One build folder for each preset and environment.
build_dir() { echo "$source_dir/build/$1-$GRADSOLVE_ENVIRONMENT"; }

# build PRESET [cmake --build ARGUMENTS...]: configures and compiles; silent when all is up to date.
build() {
  local preset=$1 dir jobs memory
  shift
  dir=$(build_dir "$preset")
  [ "$dir/build.ninja" -nt "$source_dir/CMakePresets.json" ] ||
    step "Configuring build/$(basename "$dir")" configure "$preset" || return
  # A heavy translation unit takes up to 2 GB.
  jobs=$(nproc)
  memory=$(awk '/^MemAvailable/ { print 1 + int($2 / 2000000) }' /proc/meminfo)
  quiet_step "Compiling in build/$(basename "$dir")" \
    cmake --build "$dir" --parallel $((jobs < memory ? jobs : memory)) "$@"
}

# In the private root, what another clone or an earlier state compiled is taken from a cache. Not on
# the machine's own terms: its ccache has its own settings, and does not go with all compilers.
configure() {
  local launcher=
  case $GRADSOLVE_ENVIRONMENT in root-*) launcher=ccache ;; esac
  cmake -S "$source_dir" -B "$(build_dir "$1")" --preset "$1" -G Ninja \
    ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher}
}
