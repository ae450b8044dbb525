"""What the peers' scripts share: their command line, the clock, our gradient sums, and results as lines.

Without options a script prints one line of key=value pairs per result. With --json the lines are JSON objects. With --turns,
which is how perf/peers/run drives it, a result comes without its time once it is validated and warm, and then a time for every
line "go" on the standard input, until an empty line asks for the next result.
"""
import argparse, json, sys, time

# Sums over the ensemble of d loss / d rate, by gradsolve at rtol 1e-11 or, for 32768 stiff ones, 1e-10.
SUMS = {
    ("lorenz", 128): 2082.54924419, ("lorenz", 2048): 32741.1916426, ("lorenz", 32768): 523284.325323,
    ("lorenz", 524288): 8371974.76525, ("lorenz", 1048576): 16743911.2357,
    ("robertson", 128): 783.810606642, ("robertson", 2048): 12535.8760497, ("robertson", 32768): 200568.81314,
    ("hires", 128): -0.000123201380804, ("hires", 2048): -0.00196114874248, ("hires", 32768): -0.0313684016737,
}

def arguments(doc, n, rtol, arms, repeats):
    """The parser that all scripts start from, with their defaults."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--n", default=n, help="sizes of the ensemble")
    ap.add_argument("--rtol", default=rtol, help="relative tolerances")
    ap.add_argument("--arms", default=arms[0], help="some of " + ",".join(arms[1]))
    ap.add_argument("--repeats", type=int, default=repeats, help="the best of so many times counts")
    ap.add_argument("--json", action="store_true", help="results as JSON, one a line")
    ap.add_argument("--turns", action="store_true", help="time when the standard input says go (implies --json)")
    def parse():
        a = ap.parse_args()
        unknown = set(a.arms.split(",")) - set(arms[1])
        if unknown:
            ap.error(f"--arms: {','.join(sorted(unknown))} is not one of {','.join(arms[1])}")
        a.n, a.rtol, a.arms = [int(v) for v in a.n.split(",")], [float(v) for v in a.rtol.split(",") if v], a.arms.split(",")
        return a
    ap.parse = parse
    return ap

def best_ms(call, repeats):
    """The lowest of `repeats` times of a call that returns when its work is done; one call more comes first."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter(); call(); times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:])

def require(what, ok, found=""):
    if not ok:
        sys.exit(f"FAILED: {what} {found}")

def validate(problem, n, total, tolerance):
    """Ends the script where a gradient sum is not ours; else its relative distance from it."""
    known = sorted(size for name, size in SUMS if name == problem)
    require(f"{problem} has a gradient sum of ours for n in {known}, not for", (problem, n) in SUMS, n)
    tolerance, distance = min(1e-2, tolerance), abs(total / SUMS[problem, n] - 1)
    require(f"{problem} n={n} gradient sum within {tolerance:.1e} of ours, {SUMS[problem, n]}:", distance <= tolerance, total)
    return distance

def report(a, call, time_name="grad_ms", **result):
    """Prints a validated result with the time of `call`; with --turns as perf/peers/run asks for it."""
    if not a.turns:
        return emit(a, result | {time_name: best_ms(call, a.repeats)})
    emit(a, result)
    while sys.stdin.readline().strip():
        emit(a, {time_name: best_ms(call, a.repeats)})

def emit(a, result):
    def text(key, value):
        return f"{key}={value:.6g}" if isinstance(value, float) and key != "grad_sum" else f"{key}={value}"
    print(json.dumps(result) if a.json or a.turns else " ".join(text(*pair) for pair in result.items()), flush=True)
