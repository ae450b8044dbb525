#!/usr/bin/env python3
"""Reverse-mode gradients of stiff ensembles (Robertson, HIRES): Diffrax and a JAX record-and-replay arm.

Robertson: y0 = (1,0,0), t in [0,1e4], k1 = 0.04*10**linspace(-0.5,0.5,n), k2 = 3e7, k3 = 1e4, atol = 1e-4*rtol.
HIRES: the standard start, t in [0,321.8122], first rate k = 1.71*10**linspace(-0.25,0.25,n), atol = 1e-3*rtol.
float64, loss = sum(y(t1)^2), gradient w.r.t. the scaled rate. Arms, all timed as ms per jitted gradient (best of REPEATS
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
record_ms is the adaptive solve with storing the steps; forward_ms Diffrax's solve without gradient; compile_s the
compilation of the gradient, outside the times. err = median relative error of y(t1) against Kvaerno5 at rtol 1e-11,
grad_err = median relative error of the gradients against Kvaerno5's at rtol 1e-9.
Before timing, the script checks step counts, that h = 0 changes no bit, the gradient against differences on frozen
steps, and sums of gradients against Diffrax, these again for every result; it ends at the first failure.
One line of key=value pairs per result. Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
Usage: stiff_jax.py [--problem robertson,hires] [--n 2048,32768] [--rtol 1e-4,1e-6,1e-8] [--arms diffrax,replay]
                    [--methods rodas5p,rosenbrock23] [--linear sparse] [--repeats 3]
"""
import argparse, math, os, sys, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np, diffrax
from functools import partial
from typing import Callable, NamedTuple
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

def recorded(name, method, linear, k, rtol, atol):
    """The compiled record, with the power of two above the steps taken as capacity, and its result."""
    cap, tol = 256, (jnp.float64(rtol), jnp.float64(atol))
    while True:
        key = name, method, linear, cap
        if (key, k.shape) not in RECORDS:
            RECORDS[key, k.shape] = compiled(partial(record, PROBLEMS[name], *key[1:]), k, *tol)[0].func
        call = partial(RECORDS[key, k.shape], k, *tol)
        y, hs, acc, rej, done = call()
        require(f"{name} {method} reaches t1", done)
        if acc.max() <= cap:
            return call, y, hs[:int(acc.max())], acc, rej
        cap = 1 << (int(acc.max()) - 1).bit_length()

def best_ms(g, repeats):
    jax.block_until_ready(g())
    v = []
    for _ in range(repeats):
        t = time.perf_counter(); jax.block_until_ready(g()); v.append(time.perf_counter() - t)
    return 1e3 * min(v)

def require(what, ok, found=""):
    if not ok:
        sys.exit(f"FAILED: {what} {found}")

# Accepted and rejected steps at the middle rate, rtol 1e-6, atol 1e-9.
COUNTS = {("robertson", "rosenbrock23"): (252, 9), ("robertson", "rodas5p"): (67, 9),
          ("hires", "rosenbrock23"): (1261, 6), ("hires", "rodas5p"): (147, 22)}
# Sums of gradients that are known beforehand, by problem and n.
SUMS = {("robertson", 32768): 200568.8131, ("hires", 32768): -0.03136840167}

def sum_tol(method, rtol):
    """Relative error allowed to a sum of gradients, about four times what is seen."""
    return rtol ** (2 / 3) if method == "rosenbrock23" else 10 * rtol

def reference_gradient(name):
    """rates -> gradients: a polynomial through Diffrax gradients at rtol 1e-9, in the exponent of the rate (65 points)."""
    p = PROBLEMS[name]
    k = p.rates(65)
    (_, ok), g = compiled(diffrax_gradient(p, 8192, None), k, jnp.float64(1e-9), jnp.float64(1e-9 * p.atol))[0]()
    u = lambda k: np.log10(np.asarray(k) / float(p.rates(3)[1]))
    fit = np.polynomial.Chebyshev.fit(u(k), np.asarray(g), 16)
    miss = np.abs(fit(u(k)) - g).max() / np.abs(g).max()
    require(f"{name} reference gradient", ok and miss < 1e-8, miss)
    return lambda k: fit(u(k))

def validate(name, methods, linear, remat):
    """Counts; h = 0 is the identity; the gradient is that of the frozen steps and, to the tolerance, Diffrax's."""
    p, ref = PROBLEMS[name], reference_gradient(name)
    k = p.rates(65)
    for method in methods:
        acc, rej = recorded(name, method, linear, k, 1e-6, 1e-9)[3:]
        counts = int(acc[32]), int(rej[32])
        require(f"{name} {method} accepted/rejected {COUNTS[name, method]}", counts == COUNTS[name, method], counts)
        hs = recorded(name, method, linear, k, 1e-6, 1e-6 * p.atol)[2]
        hs = jnp.concatenate([hs, jnp.zeros((7, 65))])
        run = compiled(replay_gradient(p, method, linear, remat), k, hs)[0].func
        loss, g = run(k, hs)
        moved, moved_g = run(k, jnp.roll(hs, 7, 0))
        require(f"{name} {method} h = 0 is the identity", loss == moved and (g == moved_g).all(), (loss - moved, abs(g - moved_g).max()))
        d = 1e-4 * k
        slope, expect = run(k + d, hs)[0] - run(k - d, hs)[0], 2 * jnp.sum(g * d)
        require(f"{name} {method} gradient on frozen steps", abs(slope / expect - 1) < 1e-6, slope / expect - 1)
        dev = float(g.sum() / ref(k).sum() - 1)
        require(f"{name} {method} gradient sum against Diffrax", abs(dev) < sum_tol(method, 1e-6), dev)
        print(f"valid {name} {method} accepted {counts[0]} rejected {counts[1]} frozen slope {slope / expect - 1:.1e} sum {dev:.1e}", flush=True)
    return ref

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--problem", default="robertson,hires"); ap.add_argument("--n", default="2048,32768")
    ap.add_argument("--rtol", default="1e-4,1e-6,1e-8"); ap.add_argument("--repeats", type=int, default=3)
    ap.add_argument("--arms", default="diffrax,replay"); ap.add_argument("--methods", default="rodas5p,rosenbrock23")
    ap.add_argument("--linear", default="sparse", choices=["sparse", "dense", "batched"])
    a = ap.parse_args(); arms = a.arms.split(","); methods = a.methods.split(",")
    if set(arms) - {"diffrax", "diffrax_all", "replay", "replay_store"}:
        ap.error("unknown arm")
    print("jax", jax.__version__, "diffrax", diffrax.__version__, jax.devices()[0].device_kind)
    for name in a.problem.split(","):
        p = PROBLEMS[name]
        gref = validate(name, methods if any("replay" in arm for arm in arms) else [], a.linear, "replay" in arms)
        for n in map(int, a.n.split(",")):
            k = p.rates(n); idx = jnp.round(jnp.linspace(0, n - 1, min(n, 256))).astype(int)
            yref = compiled(partial(diffrax_solve, p, 100000, None), k[idx], 1e-11, 1e-15)[0]()[0]
            for rtol in map(float, a.rtol.split(",")):
                atol = p.atol * rtol
                def line(arm, method, acc, y, g, forward, grad, compile_s):
                    g, total = np.asarray(g), float(g.sum())
                    print(f"{name} n={n} rtol={rtol:g} arm={arm} method={method} accepted_mean={float(acc.mean()):.2f} accepted_max={int(acc.max())} "
                          f"err={float(jnp.median(jnp.abs(y[idx] - yref) / jnp.abs(yref))):.3e} grad_err={np.median(np.abs(g / gref(k) - 1)):.3e} "
                          f"{'record' if 'replay' in arm else 'forward'}_ms={forward:.3f} grad_ms={grad:.3f} compile_s={compile_s:.1f} grad_sum={total:.15g}", flush=True)
                    for known in (gref(k).sum(), SUMS.get((name, n))):
                        require("gradient sum", known is None or abs(total / known - 1) < sum_tol(method, rtol) + 1e-8, (total, known))
                if any("diffrax" in arm for arm in arms):
                    y, att, acc, ok = compiled(partial(diffrax_solve, p, 100000, None), k, rtol, atol)[0]()
                    require(f"diffrax reaches t1 at rtol {rtol:g}", ok.all())
                    m = int(att.max()) + 1
                    forward = best_ms(compiled(partial(diffrax_solve, p, m, None), k, rtol, atol)[0], a.repeats)
                for arm in arms:
                    if "diffrax" in arm:
                        g, s = compiled(diffrax_gradient(p, m, m if arm == "diffrax_all" else None), k, rtol, atol)
                        line(arm, "kvaerno5", acc, y, g()[1], forward, best_ms(g, a.repeats), s)
                        continue
                    for method in methods:
                        rec, z, hs, steps, _ = recorded(name, method, a.linear, k, rtol, atol)
                        g, s = compiled(replay_gradient(p, method, a.linear, arm == "replay"), k, hs)
                        line(arm, method, steps, jnp.stack(z, -1), g()[1], best_ms(rec, a.repeats), best_ms(g, a.repeats), s)

if __name__ == "__main__":
    main()
