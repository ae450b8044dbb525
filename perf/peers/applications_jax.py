#!/usr/bin/env python3
"""The applications of docs/applications.md with Diffrax: values and forward derivatives, on the same ensembles.

orbits_log, orbits_mw  final state; all of dw/d(w0, p); gradient of sum |x|^2 in the shared p (reverse mode)
stream                 stars released by a progenitor, today; all of dw/d(w0, p, M), through its orbit, the release and theirs
quint_exp, quint_pngb  shooting for v0 (Newton, all members at once), distances at 7 redshifts, total derivatives of D_M and E
precession_short       final angles; derivatives by (q, chi1, chi2, angles at the start)

float64. For every solver of --solvers the tolerance is lowered by factors of 10^(1/2) until 99 of 100 members of the reference
table (tests/data/applications.json: the 256 first, 245 stars of the stream) are within the accuracy rule; a solver that never
is, is left out. Derivatives are validated against the 8 members that the file has. Only then times are taken: best of --repeats
after a warm-up, device-resident data, compilation apart. One line of key=value pairs per result.
Forward derivatives are jax.jacfwd with diffrax.ForwardMode; step sizes are not differentiated and tangents take no part in
the error control, as in ours. The gradient takes the default RecursiveCheckpointAdjoint. The progenitor of the stream is one
trajectory, solved with its derivatives before the times, as in ours; of the 10^6 stars n are taken evenly in time. Their
tolerance starts at ours: at the loosest that meets the rule for values, Tsit5's derivatives are wrong.
Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
Usage: applications_jax.py [--problem orbits_log,...] [--n 32768,1048576] [--solvers tsit5,dopri8] [--rtol 1e-7] [--repeats 3]
"""
import argparse, json, os, sys, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np, diffrax
from functools import partial
from pathlib import Path
from counter_random import normal, uniform
jax.config.update("jax_enable_x64", True)

SOLVERS = {"tsit5": diffrax.Tsit5, "dopri5": diffrax.Dopri5, "dopri8": diffrax.Dopri8}
REDSHIFTS = jnp.array([2.33, 1.484, 1.321, 0.934, 0.706, 0.51, 0.295])
G = 4.4985021514695517e-12

# --- Solving
def solve(f, solver, tol, t0, t1, y0, args, ts=None, adjoint=None, max_steps=100_000):
    s = diffrax.diffeqsolve(
        diffrax.ODETerm(f), SOLVERS[solver](), t0, t1, (t1 - t0) / 100, y0, args=args,
        saveat=diffrax.SaveAt(t1=True) if ts is None else diffrax.SaveAt(ts=ts), max_steps=max_steps, throw=False,
        adjoint=adjoint or diffrax.ForwardMode(), stepsize_controller=diffrax.PIDController(rtol=tol[0], atol=tol[1]))
    return s.ys[0] if ts is None else s.ys

# --- A problem: inputs of members (rows of variables), value(solver, tol, x) of one member, and what the table has of it
class Problem:
    gradient = None
    def members(self, n):
        return np.arange(n, dtype=np.uint64)
    def table(self, reference):
        """The members that it has, and what it has of them."""
        rows = np.array(reference["first256"])
        return self.members(len(rows)), rows
    def derivative(self, solver, tol):
        return jax.vmap(jax.jacfwd(partial(self.value, solver, tol)))

class Orbits(Problem):
    start, rule = 1e-6, 1e-4
    def __init__(self, name):
        self.log = name == "orbits_log"
        self.p = jnp.array([0.225, 2.0, 0.9] if self.log else [6.8e10, 3.0, 0.28, 5e9, 1.0, 5.4e11, 15.62, 0.95])
    def inputs(self, i):
        u = [uniform(101, i, k) for k in range(6)]
        direction = lambda c, a: np.stack([np.sqrt(1 - c * c) * np.cos(a), np.sqrt(1 - c * c) * np.sin(a), c], 1)
        x = (5 * np.exp(u[0] * np.log(6.0)))[:, None] * direction(2 * u[1] - 1, 2 * np.pi * u[2])
        v = (0.225 * (0.2 + 0.9 * u[3]))[:, None] * direction(2 * u[4] - 1, 2 * np.pi * u[5])
        return jnp.concatenate([jnp.array(x), jnp.array(v), jnp.tile(self.p, (len(i), 1))], 1)
    def rhs(self, t, w, p):
        x, y, z = w[0], w[1], w[2]
        if self.log:
            vc, rh, q = p
            pull = -vc ** 2 / (rh ** 2 + x * x + y * y + z * z / q ** 2)
            return jnp.stack([w[3], w[4], w[5], pull * x, pull * y, pull * z / q ** 2])
        Md, a, b, Mb, c, Mh, rs, q = p
        R2 = x * x + y * y
        B = jnp.sqrt(z * z + b * b); s2 = R2 + (a + B) ** 2; disc = Md / (s2 * jnp.sqrt(s2))
        r = jnp.sqrt(R2 + z * z); bulge = Mb / (r * (r + c) ** 2)
        m2 = R2 + z * z / q ** 2; m = jnp.sqrt(m2); u = m / rs; halo = Mh * (jnp.log1p(u) - u / (1 + u)) / (m2 * m)
        plane, axis = -G * (disc + bulge + halo), -G * (disc * (a + B) / B + bulge + halo / q ** 2)
        return jnp.stack([w[3], w[4], w[5], plane * x, plane * y, axis * z])
    def value(self, solver, tol, x, **options):
        return solve(self.rhs, solver, (tol, 1e-2 * tol), 0.0, 4000.0, x[:6], x[6:], **options)
    def gradient(self, solver, tol, x, steps):
        loss = lambda p: jnp.sum(jax.vmap(lambda w: self.value(
            solver, tol, jnp.concatenate([w, p]), adjoint=diffrax.RecursiveCheckpointAdjoint(), max_steps=steps))(
                x[:, :6])[:, :3] ** 2)
        return jax.grad(loss)(self.p)
    def errors(self, y, table):
        return np.linalg.norm(y[:, :3] - table, axis=1) / np.linalg.norm(table, axis=1)
    reference_derivative = lambda self, m: np.concatenate([m["dy_dy0"], m["dy_dp"]], 1)

class Stream(Orbits):
    start, size, age, gradient = 7e-8, 10 ** 6, 3000.0, None
    variables = np.array([8.2, 0.2, 16.6, -0.0511, -0.1125, -0.0153, 0.225, 2.0, 0.9, 2e4])  # w0, p, M
    def __init__(self, name):
        super().__init__("orbits_log")
    def members(self, n):
        n = min(n, self.size)
        return np.arange(n, dtype=np.uint64) * np.uint64(self.size // n)
    def table(self, reference):
        rows = np.array(reference["every4096"])
        return rows[:, 0].astype(np.uint64), rows[:, 1:]
    def inputs(self, i):  # ascending; time and side of the release, four offsets, the progenitor then and its derivatives
        k, t = [normal(102, i, j) for j in range(4)], -self.age * (1 - (i + 0.5) / self.size)
        orbit = lambda z, ts: solve(self.rhs, "dopri8", (1e-12, 1e-14), 0.0, -self.age, z[:6], z[6:], ts=ts[::-1])[::-1]
        with jax.default_device(jax.devices("cpu")[0]):
            dw, w = jax.jit(jax.jacfwd(lambda *args: 2 * (orbit(*args),), has_aux=True))(self.variables[:9], t)
        side = np.where(i % np.uint64(2) == 0, 1.0, -1.0)
        release = np.stack([t, side, 2 + 0.4 * k[0], 0.5 * k[1], 0.3 + 0.4 * k[2], 0.5 * k[3]], 1)
        return jnp.array(np.concatenate([release, w, np.reshape(dw, (len(i), 54))], 1))
    def released(self, x, variables):
        """A star at its release from the progenitor (M. Fardal et al. 2015)."""
        side, kx, kz, kvt, kvz = x[1:6]
        w = x[6:12] + x[12:].reshape(6, 9) @ (variables - self.variables)[:9]
        (vc, rh, q, mass), x, v, norm = variables[6:], w[:3], w[3:], jnp.linalg.norm
        momentum = jnp.cross(x, v)
        e, axis = x / norm(x), momentum / norm(momentum)
        qe, d = e / jnp.stack([1.0, 1.0, q * q]), rh ** 2 + x[0] ** 2 + x[1] ** 2 + (x[2] / q) ** 2
        curvature, frequency = vc ** 2 * (e @ qe / d - 2 * (x @ qe / d) ** 2), norm(momentum) / (x @ x)
        radius = side * jnp.cbrt(G * mass / (frequency ** 2 - curvature))
        return jnp.concatenate([x + radius * (kx * e + kz * axis),
                                v + frequency * radius * (kvt * jnp.cross(axis, e) + kvz * axis)])
    def star(self, solver, tol, x, w, p):
        return solve(self.rhs, solver, (tol, 1e-2 * tol), x[0], 0.0, w, p)
    def value(self, solver, tol, x):
        return self.star(solver, tol, x, self.released(x, self.variables), self.p)
    def derivative(self, solver, tol):
        def one(x):  # nine columns of a solve: M acts by the release alone
            release = partial(self.released, x)
            by_w, by_p = jax.jacfwd(partial(self.star, solver, tol, x), (0, 1))(release(self.variables), self.p)
            return (by_w @ jax.jacfwd(release)(self.variables)).at[:, 6:9].add(by_p)
        return jax.vmap(one)
    reference_derivative = lambda self, m: np.concatenate([m["dy_dw0"], m["dy_dp"]], 1)

class Quintessence(Problem):
    start, rule = 1e-4, 1e-6
    def __init__(self, name):
        self.exponential = name == "quint_exp"
    def inputs(self, i):  # theta = (Om, h, shape, phi_i)
        u = [uniform(201 if self.exponential else 202, i, k) for k in range(4)]
        shape = 0.05 + 1.45 * u[2] if self.exponential else 0.8 + 0.8 * u[2]
        phi = 0 * u[3] if self.exponential else shape * (0.1 + 0.9 * u[3])
        return jnp.array(np.stack([0.2 + 0.2 * u[0], 0.6 + 0.2 * u[1], shape, phi], 1))
    def expansion(self, n, phi, dphi, th, v0):
        Or = 4.18343e-5 / th[1] ** 2
        if self.exponential:
            U = v0 * jnp.exp(-th[2] * phi); dU = -th[2] * U
        else:
            U = 0.5 * v0 * (1 + jnp.cos(phi / th[2])); dU = -0.5 * v0 * jnp.sin(phi / th[2]) / th[2]
        z = jnp.exp(-n); m = th[0] * z ** 3; r = Or * z ** 4
        E2 = (m + r + U) / (1 - dphi ** 2 / 6)
        return E2, dU, -0.5 * ((3 * m + 4 * r) / E2 + dphi ** 2), z
    def rhs(self, n, y, args):
        E2, dU, h, z = self.expansion(n, y[0], y[1], *args)
        slope = [y[1], -(3 + h) * y[1] - 3 * dU / E2]
        return jnp.stack(slope + [z / jnp.sqrt(E2)] if len(y) == 3 else slope)
    def g(self, solver, tol, th, v0):
        y = solve(self.rhs, solver, (tol, 1e-3 * tol), -7.0, 0.0, jnp.stack([th[3], 0 * th[3]]), (th, v0))
        return self.expansion(0.0, y[0], y[1], th, v0)[0] - 1
    def root(self, solver, tol, th):
        """Newton's method; a member that has converged keeps its v0."""
        f = partial(self.g, solver, tol, th)
        def body(s):
            v0, _, k = s
            g, dg = jax.jvp(f, (v0,), (1.0,))
            return v0 - g / dg, jnp.abs(g / dg) < 1e-9, k + 1
        start = 1 - th[0] - 4.18343e-5 / th[1] ** 2
        return jax.lax.while_loop(lambda s: ~s[1] & (s[2] < 20), body, (start, False, 0))[0]
    def observed(self, solver, tol, th, v0):
        ts = jnp.append(-jnp.log1p(REDSHIFTS), 0.0)
        y = solve(self.rhs, solver, (tol, 1e-3 * tol), -7.0, 0.0, jnp.stack([th[3], 0 * th[3], 0 * th[3]]), (th, v0), ts=ts)
        E2 = jax.vmap(lambda n, y: self.expansion(n, y[0], y[1], th, v0)[0])(ts, y)
        return jnp.concatenate([2997.92458 / th[1] * (y[-1, 2] - y[:-1, 2]), jnp.sqrt(E2[:-1])])
    def value(self, solver, tol, th):
        return self.observed(solver, tol, th, self.root(solver, tol, th))
    def derivative(self, solver, tol):
        def one(th):
            v0 = self.root(solver, tol, th)
            g_th, g_v0 = jax.jacfwd(partial(self.g, solver, tol), (0, 1))(th, v0)
            X_th, X_v0 = jax.jacfwd(partial(self.observed, solver, tol), (0, 1))(th, v0)
            return X_th - jnp.outer(X_v0, g_th / g_v0)
        return jax.vmap(one)
    def errors(self, y, table):
        return np.max(np.abs(y[:, :7] / table - 1), axis=1)
    reference_derivative = lambda self, m: np.concatenate([m["ddistance"], m["dhubble"]])

class Precession(Problem):
    start, rule = 1e-8, 1e-7
    def __init__(self, name):
        self.v0 = 0.1 if name == "precession_short" else 0.031622776601683791
    def inputs(self, i):  # q, chi1, chi2, theta1, theta2, dphi
        u = [uniform(301, i, k) for k in range(6)]
        return jnp.array(np.stack([0.1 + 0.89 * u[0], 0.05 + 0.94 * u[1], 0.05 + 0.94 * u[2], np.arccos(2 * u[3] - 1),
                                   np.arccos(2 * u[4] - 1), np.pi * (2 * u[5] - 1)], 1))
    def rhs(self, v, u, p):
        q, x1, x2 = p
        L, A, B = u[:3], u[3:6], u[6:]
        m1 = 1 / (1 + q); m2 = q * m1; eta = m1 * m2; s1 = x1 * m1 ** 2; s2 = x2 * m2 ** 2
        c1, c2, c12 = L @ A, L @ B, A @ B
        pi, gamma = np.pi, 0.57721566490153286
        series = (1 - v ** 2 * (743 + 924 * eta) / 336
                  + v ** 3 * (4 * pi - x1 * c1 * (113 * m1 ** 2 / 12 + 25 * eta / 4) - x2 * c2 * (113 * m2 ** 2 / 12 + 25 * eta / 4))
                  + v ** 4 * (34103 / 18144 + 13661 * eta / 2016 + 59 * eta ** 2 / 18 + eta * x1 * x2 * (721 * c1 * c2 - 247 * c12) / 48
                              + ((m1 * x1) ** 2 * (719 * c1 ** 2 - 233) + (m2 * x2) ** 2 * (719 * c2 ** 2 - 233)) / 96)
                  - v ** 5 * pi * (4159 + 15876 * eta) / 672
                  + v ** 6 * (16447322263 / 139708800 + 16 * pi ** 2 / 3 - 1712 / 105 * (gamma + jnp.log(4 * v))
                              + (451 * pi ** 2 / 48 - 56198689 / 217728) * eta + 541 * eta ** 2 / 896 - 5605 * eta ** 3 / 2592)
                  + v ** 7 * pi * (-4415 / 4032 + 358675 * eta / 6048 + 91495 * eta ** 2 / 1512))
        t = 5 / (32 * eta * v ** 4 * series)
        a1, a2 = s1 * c1, s2 * c2
        k1 = t * (eta * (2 + 1.5 * q) - 1.5 * v * (a2 + q * a1)); k2 = t * (eta * (2 + 1.5 / q) - 1.5 * v * (a1 + a2 / q))
        LA, LB, AB = jnp.cross(L, A), jnp.cross(L, B), jnp.cross(A, B)
        return jnp.concatenate([-v / eta * (s1 * k1 * LA + s2 * k2 * LB), k1 * LA - 0.5 * t * v * s2 * AB,
                                k2 * LB + 0.5 * t * v * s1 * AB])
    def value(self, solver, tol, x):
        th1, th2, d = x[3], x[4], x[5]
        zero, one = 0 * th1, 1 + 0 * th1
        u = jnp.stack([zero, zero, one, jnp.sin(th1), zero, jnp.cos(th1), jnp.sin(th2) * jnp.cos(d), jnp.sin(th2) * jnp.sin(d),
                       jnp.cos(th2)])
        u = solve(self.rhs, solver, (tol, tol), self.v0, 0.31622776601683794, u, x[:3], max_steps=1_000_000)
        L, A, B = u[:3], u[3:6], u[6:]
        LA, LB, norm = jnp.cross(L, A), jnp.cross(L, B), jnp.linalg.norm
        return jnp.stack([jnp.arctan2(norm(LA), L @ A), jnp.arctan2(norm(LB), L @ B),
                          jnp.arctan2(norm(L) * (L @ jnp.cross(A, B)), LA @ LB)])
    def errors(self, y, table):
        return np.max(np.abs((y - table + np.pi) % (2 * np.pi) - np.pi), axis=1)
    reference_derivative = lambda self, m: np.array(m["dangles"])

PROBLEMS = {"orbits_log": Orbits, "orbits_mw": Orbits, "stream": Stream, "quint_exp": Quintessence, "quint_pngb": Quintessence,
            "precession_short": Precession, "precession_long": Precession}

def best_ms(f, repeats):
    start = time.perf_counter(); jax.block_until_ready(f()); compiled = time.perf_counter() - start
    times = []
    for _ in range(repeats):
        start = time.perf_counter(); jax.block_until_ready(f()); times.append(time.perf_counter() - start)
    return 1e3 * min(times), compiled

def loosest(problem, solver, reference, start=None, floor=1e-13):
    """The first tolerance, from start down, that passes the accuracy rule, and its error; None."""
    i, table = problem.table(reference)
    tol, x = start or problem.start, problem.inputs(i)
    value = jax.jit(jax.vmap(partial(problem.value, solver), in_axes=(None, 0)))
    while tol > floor:
        y = np.asarray(value(tol, x))
        p99 = np.sort(problem.errors(y, table))[int(np.ceil(0.99 * len(table))) - 1]
        if p99 <= problem.rule:
            return tol, p99
        tol /= 10 ** 0.5
    return None

def derivative_error(problem, solver, tol, reference):
    """The worst column of the worst of the eight members."""
    x = problem.inputs(np.array([m["index"] for m in reference], dtype=np.uint64))
    d = np.asarray(jax.jit(problem.derivative(solver, tol))(x))
    worst = 0.0
    for mine, m in zip(d, reference):
        exact = problem.reference_derivative(m)
        norms = np.linalg.norm(exact, axis=0)
        significant = norms > 1e-10 * norms.max()  # dD/dphi of the exponential vanishes
        worst = max(worst, np.max((np.linalg.norm(mine - exact, axis=0) / norms)[significant]))
    return worst

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--problem", default="orbits_log,orbits_mw,stream,quint_exp,quint_pngb,precession_short")
    ap.add_argument("--n", default="32768,1048576")
    ap.add_argument("--solvers", default="tsit5,dopri8")
    ap.add_argument("--rtol", type=float, help="the first tolerance to try, of all problems; left out: one that is too loose for each")
    ap.add_argument("--repeats", type=int, default=3)
    ap.add_argument("--no-gradient", action="store_true")
    a = ap.parse_args()
    data = json.loads((Path(__file__).parents[2] / "tests/data/applications.json").read_text())
    print("jax", jax.__version__, "diffrax", diffrax.__version__, jax.devices()[0].device_kind)
    assert uniform(101, 0, 0) == 0.2559523287965165
    for name in a.problem.split(","):
        problem, reference = PROBLEMS[name](name), data.get(name) or data[name + "_log"]
        for solver in a.solvers.split(","):
            found = loosest(problem, solver, reference, a.rtol)
            if found is None:
                print(f"problem={name} solver={solver} passes at no tolerance", flush=True)
                continue
            tol, p99 = found
            error = derivative_error(problem, solver, tol, reference["members"])
            if not error < 0.1:
                sys.exit(f"{name}, {solver}: derivatives are wrong by {error:.1e}")
            for n in map(int, a.n.split(",")):
                x = problem.inputs(problem.members(n))
                value, derivative = jax.jit(jax.vmap(partial(problem.value, solver, tol))), jax.jit(problem.derivative(solver, tol))
                ms, _ = best_ms(lambda: value(x), a.repeats)
                dms, compile_s = best_ms(lambda: derivative(x), a.repeats)
                row = (f"problem={name} solver={solver} n={len(x)} rtol={tol:.1e} p99={p99:.1e} value_ms={ms:.2f} "
                       f"derivative_ms={dms:.2f} derivative_err={error:.1e} compile_s={compile_s:.0f}")
                if problem.gradient and not a.no_gradient:
                    g = jax.jit(partial(problem.gradient, solver, tol, steps=16384))
                    row += f" gradient_ms={best_ms(lambda: g(x), a.repeats)[0]:.2f}"
                print(row, flush=True)

if __name__ == "__main__":
    main()
