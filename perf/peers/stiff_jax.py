#!/usr/bin/env python3
"""Reverse-mode gradients of stiff ensembles (Robertson, HIRES): Diffrax and a JAX record-and-replay arm.

Robertson: y0 = (1,0,0), t in [0,1e4], k1 = 0.04*10**linspace(-0.5,0.5,n), k2 = 3e7, k3 = 1e4, atol = 1e-4*rtol.
HIRES: the standard start, t in [0,321.8122], first rate k = 1.71*10**linspace(-0.25,0.25,n), atol = 1e-3*rtol.
float64, loss = sum(y(t1)^2), gradient w.r.t. the scaled rate. Arms, all timed as ms per jitted gradient (best of --repeats
after one warm-up, device-resident data):
  diffrax      vmap(diffeqsolve(Kvaerno5, PIDController, default RecursiveCheckpointAdjoint)), max_steps as needed
  diffrax_all  the same with a checkpoint at every step
  replay       scan over the recorded step sizes, padded with h = 0, each step under jax.checkpoint
  replay_store the same scan, the intermediate values of all steps stored
Record and replay use Rosenbrock methods (rodas5p, rosenbrock23) without df/dt: both problems are autonomous. One LU
of I - h*gamma*J per step; the adjoint of a solve is one solve with the transposed factors (--linear):
  sparse       elimination written out, partial pivoting by selects, structural zeros skipped: elementwise over the ensemble
  dense        the same without structural zeros (slow to compile for HIRES)
  batched      jax.scipy.linalg.lu_factor and lu_solve
record_ms is the adaptive solve with storing the steps; forward_ms Diffrax's solve without gradient (neither with --turns);
compile_s the compilation of the gradient, outside the times. err = median relative error of y(t1) against Rodas5P at rtol
1e-12. A result is checked before it is timed, and the first failure ends the script: its gradient sum against ours, to
100*rtol; of the replays also step counts, the gradient against differences on frozen steps, and that h = 0 changes no bit.
HIRES takes XLA long to compile, so a replay compiles two programs only, record and gradient, and all checks run on them.
One line of results each. Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
"""
import math, os, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, diffrax
from functools import partial
from typing import Callable, NamedTuple
import common
from common import require
jax.config.update("jax_enable_x64", True)

# A state is a tuple of D arrays of shape (n,), so that a whole step is elementwise over the ensemble.
class Problem(NamedTuple):
    f: Callable        # f(y, k) -> D components
    y0: tuple
    t1: float
    atol: float        # atol/rtol
    rates: Callable    # n -> the n scaled rates

def robertson(y, k):
    a, b, c = k * y[0], 3e7 * y[1] * y[1], 1e4 * y[1] * y[2]
    return c - a, a - c - b, b

def hires(y, k):
    v = 280.0 * y[5] * y[7]
    return (-k * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007, k * y[0] - 8.75 * y[1],
            -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4], 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
            -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6], -v + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
            v - 1.81 * y[6], 1.81 * y[6] - v)

PROBLEMS = {
    "robertson": Problem(robertson, (1.0, 0.0, 0.0), 1e4, 1e-4, lambda n: 0.04 * 10 ** jnp.linspace(-0.5, 0.5, n)),
    "hires": Problem(hires, (1.0, 0, 0, 0, 0, 0, 0, 0.0057), 321.8122, 1e-3, lambda n: 1.71 * 10 ** jnp.linspace(-0.25, 0.25, n)),
}

def pattern(p, dense):
    """Which entries of I - hg*J can be nonzero: a NaN in y[j] reaches the components of f that use it. Plain floats."""
    D = len(p.y0)
    cols = [p.f(tuple(math.nan if i == j else 1.0 for i in range(D)), 1.0) for j in range(D)]
    return [[dense or i == j or math.isnan(cols[j][i]) for j in range(D)] for i in range(D)]

def matrix(p, y, k, hg, dense):
    """I - hg*J by rows, None for a structural zero. One forward derivative per column: what is constant stays so for AD."""
    D, one = len(y), jnp.ones_like(y[0])
    cols = [jax.jvp(lambda v: p.f(y[:j] + (v,) + y[j + 1:], k), (y[j],), (one,))[1] for j in range(D)]
    return [[(one if i == j else 0.0) - hg * cols[j][i] if nonzero else None for j, nonzero in enumerate(row)]
            for i, row in enumerate(pattern(p, dense))]

def fnma(a, b, c):
    """a - b*c, None being zero."""
    return a if b is None or c is None else -(b * c) if a is None else a - b * c

def exchange(s, a, b):
    """(b, a) where s, else (a, b)."""
    if a is None and b is None:
        return a, b
    a, b = 0.0 if a is None else a, 0.0 if b is None else b
    return jnp.where(s, b, a), jnp.where(s, a, b)

def factor_unrolled(W):
    """LU with partial pivoting by selects, written out; structural zeros cost nothing."""
    D, W, swap = len(W), [list(row) for row in W], {}
    for c in range(D):
        below = [r for r in range(c + 1, D) if W[r][c] is not None]
        for r in below:
            s = swap[r, c] = jnp.abs(W[r][c]) > jnp.abs(W[c][c])
            for j in range(c, D):
                W[c][j], W[r][j] = exchange(s, W[c][j], W[r][j])
        d = W[c][c] = 1.0 / W[c][c]
        for r in below:
            W[r][c] = W[r][c] * d
            for j in range(c + 1, D):
                W[r][j] = fnma(W[r][j], W[r][c], W[c][j])

    def solve(_, b):
        b = list(b)
        for c in range(D):
            for r in range(c + 1, D):
                if (r, c) in swap:
                    b[c], b[r] = exchange(swap[r, c], b[c], b[r])
            for r in range(c + 1, D):
                b[r] = fnma(b[r], W[r][c], b[c])
        for c in reversed(range(D)):
            b[c] = b[c] * W[c][c]
            for r in range(c):
                b[r] = fnma(b[r], W[r][c], b[c])
        return tuple(b)

    def transpose_solve(_, b):
        b = list(b)
        for c in range(D):
            b[c] = b[c] * W[c][c]
            for r in range(c + 1, D):
                b[r] = fnma(b[r], W[c][r], b[c])
        for c in reversed(range(D)):
            for r in range(c + 1, D):
                b[c] = fnma(b[c], W[r][c], b[r])
            for r in reversed(range(c + 1, D)):
                if (r, c) in swap:
                    b[c], b[r] = exchange(swap[r, c], b[c], b[r])
        return tuple(b)
    return solve, transpose_solve

def factor_batched(W):
    lu, piv = jax.scipy.linalg.lu_factor(jnp.stack([jnp.stack(row, -1) for row in W], -2))
    def solve(trans, _, b):
        one = lambda lu, piv, b: jax.scipy.linalg.lu_solve((lu, piv), b, trans=trans)
        return tuple(jnp.moveaxis(jax.vmap(one)(lu, piv, jnp.stack(b, -1)), -1, 0))
    return partial(solve, 0), partial(solve, 1)

def solver(p, y, k, hg, linear):
    """b -> (I - hg*J)^-1 b, the identity for h = 0; its derivative is one more solve, not that of the elimination."""
    W = matrix(p, y, k, hg, linear != "sparse")
    factor = factor_batched if linear == "batched" else factor_unrolled
    solve, transpose_solve = factor(jax.lax.stop_gradient(W))
    matvec = lambda x: tuple(sum(w * v for w, v in zip(row, x) if w is not None) for row in W)
    return lambda b: jax.lax.custom_linear_solve(matvec, b, solve, transpose_solve)

def lin(y, *terms):
    """y + sum of c*u over the terms (c, u), c != 0, by component."""
    for c, u in terms:
        y = tuple(a + c * b for a, b in zip(y, u))
    return y

# Rodas5P (Steinebach 2023), U form, rows below the diagonal; y1 = y + A[7].U + U[7], error U[7].
G = 0.21193756319429014
A6 = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946]
A = [[], [3.0], [2.849394379747939, 0.45842242204463923], [-6.954028509809101, 2.489845061869568, -10.358996098473584],
     [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641], A6, A6 + [1.0], A6 + [1.0, 1.0]]
C = [[], [-14.155112264123755], [-17.97296035885952, -2.859693295451294],
     [147.12150275711716, -1.41221402718213, 71.68940251302358],
     [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
     [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
     [30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623, -28.087943162872662],
     [37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002, -54.66780262877968,
      -9.48861652309627]]

def rodas5p(p, y, h, k, linear, want_error=False):
    hg = h * G
    solve, U = solver(p, y, k, hg, linear), []
    for a, c in zip(A, C):
        z = lin(y, *zip(a, U))
        U.append(solve(lin(tuple(hg * v for v in p.f(z, k)), *((G * cj, u) for cj, u in zip(c, U)))))
    y1 = lin(z, (1.0, U[7]))
    return (y1, U[7]) if want_error else y1

# Rosenbrock23 (Shampine and Reichelt 1997), the form of ode23s.
D23, E32 = 1 / (2 + 2 ** 0.5), 6 + 2 ** 0.5

def rosenbrock23(p, y, h, k, linear, want_error=False):
    solve = solver(p, y, k, h * D23, linear)
    f0 = p.f(y, k)
    k1 = solve(f0)
    f1 = p.f(lin(y, (0.5 * h, k1)), k)
    k2 = lin(k1, (1.0, solve(lin(f1, (-1.0, k1)))))
    y1 = lin(y, (h, k2))
    if not want_error:
        return y1
    k3 = solve(lin(p.f(y1, k), (-E32, k2), (E32, f1), (-2.0, k1), (2.0, f0)))
    return y1, tuple(h / 6 * (u - 2 * v + w) for u, v, w in zip(k1, k2, k3))

METHODS = {"rodas5p": (rodas5p, 1 / 5), "rosenbrock23": (rosenbrock23, 1 / 3)}    # step, exponent of the controller

def start(p, k):
    return tuple(jnp.full_like(k, v) for v in p.y0)

def record(p, method, linear, cap, k, rtol, atol, max_attempts=200000):
    """Adaptive solve: y(t1), accepted step sizes (cap,n) padded with zeros, accepted and rejected counts, done.
    The loop is over the whole ensemble: vmap of a loop would copy the array of step sizes in every iteration.
    Step sizes past cap are counted, not stored."""
    step, q = METHODS[method]
    j = jnp.arange(k.shape[0])

    def cond(s):
        return jnp.any(s[0] < p.t1) & (s[6] < max_attempts)

    def body(s):
        t, y, dt, acc, rej, hs, it = s
        active, h = t < p.t1, jnp.minimum(dt, p.t1 - t)
        y1, e = step(p, y, h, k, linear, True)
        r = [c / (atol + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))) for a, b, c in zip(y, y1, e)]
        err = jnp.sqrt(sum(v * v for v in r) / len(r))
        ok = active & (err <= 1.0)
        fac = jnp.where(jnp.isfinite(err), jnp.clip(0.9 * jnp.maximum(err, 1e-10) ** -q, 0.2, 5.0), 0.2)
        hs = hs.at[jnp.where(ok, acc, cap), j].set(h, mode="drop", unique_indices=True)
        return (jnp.where(ok, t + h, t), tuple(jnp.where(ok, b, a) for a, b in zip(y, y1)),
                jnp.where(active, h * fac, dt), acc + ok, rej + (active & ~ok), hs, it + 1)

    zero = jnp.zeros_like(j)
    s = jax.lax.while_loop(cond, body, (jnp.zeros_like(k), start(p, k), jnp.full_like(k, p.t1 / 100), zero, zero,
                                        jnp.zeros((cap,) + k.shape), 0))
    return s[1], s[5], s[3], s[4], jnp.all(s[0] >= p.t1)

def replay_loss(p, method, linear, remat, k, hs):
    body = lambda y, h: (METHODS[method][0](p, y, h, k, linear), None)
    y = jax.lax.scan(jax.checkpoint(body, prevent_cse=False) if remat else body, start(p, k), hs)[0]
    return sum(jnp.sum(v * v) for v in y)

def replay_gradient(*statics):
    return jax.value_and_grad(partial(replay_loss, *statics))

def diffrax_solve(p, max_steps, checkpoints, k, rtol, atol):
    def one(k):
        s = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, k: jnp.stack(p.f(y, k))), diffrax.Kvaerno5(), 0.0, p.t1, None,
                                jnp.array(p.y0), args=k, stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
                                saveat=diffrax.SaveAt(t1=True), max_steps=max_steps, throw=False,
                                adjoint=diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints))
        return s.ys[0], s.stats["num_steps"], s.stats["num_accepted_steps"], s.result == diffrax.RESULTS.successful
    return jax.vmap(one)(k)

def diffrax_loss(p, max_steps, checkpoints, k, rtol, atol):
    y, _, _, ok = diffrax_solve(p, max_steps, checkpoints, k, rtol, atol)
    return jnp.sum(y ** 2), jnp.all(ok)

def diffrax_gradient(*statics):
    return jax.value_and_grad(partial(diffrax_loss, *statics), has_aux=True)

def compiled(f, *args):
    """A call without arguments and its seconds of compilation."""
    # XLA's fusion emitters for CPUs take minutes to compile Rodas5P for HIRES and gain little.
    options = {"xla_cpu_use_fusion_emitters": False} if jax.default_backend() == "cpu" else None
    t = time.perf_counter()
    g = jax.jit(f).lower(*args).compile(options)
    return partial(g, *args), time.perf_counter() - t

RECORDS = {}    # compiled, by all that fixes their code

def record_call(name, method, linear, cap, k, rtol, atol=None):
    """The record of these rates at these tolerances, compiled once for the number of rates."""
    key = name, method, linear, cap, k.shape
    tol = jnp.float64(rtol), jnp.float64(atol or rtol * PROBLEMS[name].atol)
    if key not in RECORDS:
        RECORDS[key] = compiled(partial(record, PROBLEMS[name], method, linear, cap), k, *tol)[0].func
    return partial(RECORDS[key], k, *tol)

def recorded(name, method, linear, k, rtol):
    """The compiled record, with the power of two above the steps taken as capacity, and its result."""
    cap = 256
    while True:
        call = record_call(name, method, linear, cap, k, rtol)
        y, hs, acc, rej, done = call()
        require(f"{name} {method} reaches t1", done)
        if acc.max() <= cap:
            return call, y, hs[:int(acc.max())], acc
        cap = 1 << (int(acc.max()) - 1).bit_length()

# Accepted and rejected steps at the middle rate, rtol 1e-6, atol 1e-9.
COUNTS = {("robertson", "rosenbrock23"): (252, 9), ("robertson", "rodas5p"): (67, 9),
          ("hires", "rosenbrock23"): (1261, 6), ("hires", "rodas5p"): (147, 22)}

def check_counts(name, method, linear, k):
    p = PROBLEMS[name]
    middle = jnp.full_like(k, p.rates(3)[1])
    _, _, acc, rej, _ = record_call(name, method, linear, 256, middle, 1e-6, 1e-9)()
    found = int(acc[0]), int(rej[0])
    require(f"{name} {method} accepted/rejected {COUNTS[name, method]}", found == COUNTS[name, method], found)

def check_replay(what, gradient, k, hs, acc):
    """The compiled gradient is that of the frozen steps, and padding before a trajectory's steps is as good as after them."""
    loss, g = gradient(k, hs)
    d = 1e-4 * k
    slope, expect = gradient(k + d, hs)[0] - gradient(k - d, hs)[0], 2 * jnp.sum(g * d)
    require(f"{what} gradient on frozen steps", abs(slope / expect - 1) < 1e-6, slope / expect - 1)
    rows = jnp.arange(len(hs))[:, None] - (len(hs) - acc)
    moved = jnp.where(rows < 0, 0.0, jnp.take_along_axis(hs, jnp.maximum(rows, 0), 0))
    moved_loss, moved_g = gradient(k, moved)
    require(f"{what} h = 0 is the identity", loss == moved_loss and (g == moved_g).all(), abs(g - moved_g).max())

def replay(name, method, linear, arm, k, rtol):
    """Gradients as a call, y(t1), steps, seconds of compilation, the record as a call and its name."""
    record, y, hs, acc = recorded(name, method, linear, k, rtol)
    check_counts(name, method, linear, k)
    call, seconds = compiled(replay_gradient(PROBLEMS[name], method, linear, arm == "replay"), k, hs)
    check_replay(f"{name} {method}", call.func, k, hs, acc)
    return lambda: call()[1], jnp.stack(y, -1), acc, seconds, record, "record_ms"

def diffrax_arm(name, arm, k, rtol):
    """The same with Diffrax."""
    p, tol = PROBLEMS[name], (jnp.float64(rtol), jnp.float64(rtol * PROBLEMS[name].atol))
    forward = compiled(partial(diffrax_solve, p, 100000, None), k, *tol)[0]
    y, attempts, acc, ok = forward()
    require(f"{name} Diffrax reaches t1 at rtol {rtol:g}", ok.all())
    most = int(attempts.max()) + 1
    call, seconds = compiled(diffrax_gradient(p, most, most if arm == "diffrax_all" else None), k, *tol)
    return lambda: call()[1], y, acc, seconds, forward, "forward_ms"

def sum_tol(method, rtol):
    """Relative error allowed to a sum of gradients, several times what is seen."""
    return max(100 * rtol, rtol ** (2 / 3)) if method == "rosenbrock23" else 100 * rtol

def main():
    arms = "diffrax", "replay", "diffrax_all", "replay_store"
    ap = common.arguments(__doc__, "2048,32768", "1e-4,1e-6,1e-8", ("diffrax,replay", arms), 3)
    ap.add_argument("--problem", default="robertson,hires"); ap.add_argument("--methods", default="rodas5p,rosenbrock23")
    ap.add_argument("--linear", default="sparse", choices=["sparse", "dense", "batched"])
    a = ap.parse()
    software = f"jax {jax.__version__}, diffrax {diffrax.__version__}, {jax.devices()[0].device_kind}"
    for name, n in ((name, n) for name in a.problem.split(",") for n in a.n):
        k = PROBLEMS[name].rates(n)
        exact = jnp.stack(record_call(name, "rodas5p", a.linear, 256, k, 1e-12)()[0], -1)
        runs = [(arm, m) for arm in a.arms for m in (a.methods.split(",") if "replay" in arm else ["kvaerno5"])]
        for rtol, (arm, method) in ((rtol, run) for rtol in a.rtol for run in runs):
            made = diffrax_arm(name, arm, k, rtol) if method == "kvaerno5" else replay(name, method, a.linear, arm, k, rtol)
            gradient, y, acc, seconds, first, first_name = made
            total = float(gradient().sum())
            common.validate(name, n, total, sum_tol(method, rtol))
            call = lambda f: lambda: jax.block_until_ready(f())
            apart = {} if a.turns else {first_name: common.best_ms(call(first), a.repeats)}
            common.report(a, call(gradient), problem=name, n=n, rtol=rtol, arm=arm, method=method, accepted_mean=float(acc.mean()),
                          accepted_max=int(acc.max()), err=float(jnp.median(jnp.abs(y / exact - 1))), grad_sum=total,
                          compile_s=seconds, software=software, **apart)

if __name__ == "__main__":
    main()
