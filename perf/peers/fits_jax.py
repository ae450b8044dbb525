#!/usr/bin/env python3
"""Parameter recovery with Diffrax: n fits of one system at once, each to noisy data of its own.

The studies of examples/05_parameter_recovery with its data sets, starts, optimisers and stopping rules: lorenz, lotka_volterra
(Tsit5), robertson in logarithms of its rates (Kvaerno5). float64; tolerances are the example's unless --rtol (atol follows).
A fit is one while_loop, vmap over fits and jit around it: each has its own damping or line search and its own end, and the
whole runs without Python until the last has ended. A trial takes its own adaptive steps. Arms:
  lm         Levenberg-Marquardt, Jacobians of the residuals by jax.jacfwd with diffrax.ForwardMode
  lbfgs      L-BFGS, gradients by diffrax.RecursiveCheckpointAdjoint with its default number of checkpoints
  lbfgs_all  the same with a checkpoint at every step: faster where the memory is there
max_steps is twice what the slowest start needs; a trial that needs more counts as not solved, and is rejected.
Before any timing: data and starts of the first eight sets are those of tests/data/fits.json; their fits end within 1e-6 of its
minimisers (error is the largest relative distance), and of all fits more than 99 of 100 have converged; else the script ends.
ms is a whole batch of fits, best of --repeats after a warm one, data on the device; compile_s, apart, its compilation. sweeps:
evaluations of the ensemble until the last fit has ended. The example's clock starts behind its first record of all steps.
One line of results each. Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
"""
import json, os, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np, diffrax
from collections import namedtuple
from functools import partial
from pathlib import Path
from typing import Callable, NamedTuple
import common
from common import require
from counter_random import normal, uniform
jax.config.update("jax_enable_x64", True)

REFERENCE = json.loads((Path(__file__).resolve().parents[2] / "tests/data/fits.json").read_text())

# --- The studies
def lorenz(t, u, p):
    return jnp.stack([p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]])

def lotka_volterra(t, u, p):
    met = u[0] * u[1]
    return jnp.stack([p[0] * u[0] - p[1] * met, p[3] * met - p[2] * u[1]])

def robertson(t, u, log_k):
    k = jnp.exp(log_k)
    a, b, c = k[0] * u[0], k[1] * u[1] * u[1], k[2] * u[1] * u[2]
    return jnp.stack([c - a, a - b - c, b])

class Study(NamedTuple):
    f: Callable
    key: str           # in fits.json, which has the rest
    solver: type
    rtol: float
    atol: float        # atol/rtol
    seed: int
    spread: float      # of the starts: truth (1 + spread U), U in (-1, 1),
    add: bool          # or truth + spread U
    setting = property(lambda self: REFERENCE[self.key])

STUDIES = {"lorenz": Study(lorenz, "fit_lorenz", diffrax.Tsit5, 1e-10, 1e-2, 401, 0.1, False),
           "lotka_volterra": Study(lotka_volterra, "fit_lv", diffrax.Tsit5, 1e-10, 1e-2, 411, 0.1, False),
           "robertson": Study(robertson, "fit_robertson", diffrax.Kvaerno5, 1e-8, 1e-4, 421, 0.5, True)}

def solve(study, rtol, atol, adjoint, max_steps, p):
    ts, y0 = (np.array(study.setting[key], float) for key in ("t_obs", "y0"))
    return diffrax.diffeqsolve(diffrax.ODETerm(study.f), study.solver(), 0.0, ts[-1], None, y0, args=p, adjoint=adjoint,
                               saveat=diffrax.SaveAt(ts=ts), stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
                               max_steps=max_steps, throw=False)

def residuals(study, data, p, *options):
    """Their squares sum to the loss, a mean of squares in units of the noise."""
    r = (solve(study, *options, p).ys * np.array(study.setting["scale"]) - data) / study.setting["sigma"]
    return r.ravel() / np.sqrt(r.size)

def experiments(study, n):
    """Data (n, times, components) and starts (n, parameters)."""
    s, i = study.setting, np.arange(n, dtype=np.uint64)[:, None]
    truth = np.array(s["p_true"])
    with jax.default_device(jax.devices("cpu")[0]):     # one trajectory of many steps
        exact = jax.jit(partial(solve, study, 1e-12, 1e-16, diffrax.ForwardMode(), 100_000))(truth).ys
    exact = np.asarray(exact) * np.array(s["scale"])
    data = exact + s["sigma"] * normal(study.seed, i, np.arange(exact.size)).reshape(n, *exact.shape)
    move = study.spread * (2 * uniform(study.seed + 1, i, np.arange(len(truth))) - 1)
    start = truth + move if study.add else truth * (1 + move)
    for key, mine, unit in ("data", data.reshape(n, -1), s["sigma"]), ("p_start", start, 1.0):
        known = np.array([fit[key] for fit in s["fits"]])[:n]
        distance = np.max(np.abs(mine[:len(known)] - known)) / unit
        require(f"{study.key} {key} as in fits.json", distance < 1e-8, distance)
    return jnp.array(data), jnp.array(start)

# --- The optimisers: one fit from its start. They return (parameters, status, points tried).
RUNNING, CONVERGED, NO_DESCENT, BAD_START = range(4)
MAX_SWEEPS, LOSS_TOLERANCE, STEP_TOLERANCE, FIRST_DAMPING = 200, 1e-13, 1e-10, 1e-3
ARMIJO, SHORTEST, MEMORY = 1e-4, 1e-12, 8
NEW = jnp.int32(RUNNING), 0     # status, trials

def pick(condition, a, b):
    return jax.tree.map(partial(jnp.where, condition), a, b)

def status_of(*cases):
    """The status of the first case that holds; else it runs on."""
    return jnp.select([holds for holds, _ in cases], [jnp.int32(status) for _, status in cases], RUNNING)

def iterate(body, state):
    state = jax.lax.while_loop(lambda s: (s.status == RUNNING) & (s.trials < MAX_SWEEPS), body, state)
    return state.p, state.status, state.trials

# loss = r^T r; g = J^T r and matrix = J^T J at p.
Damped = namedtuple("Damped", "trial p loss g matrix damping growth predicted status trials")

def levenberg_marquardt(residuals, noise, start):
    """(J^T J + damping D) d = -J^T r with D = diag(J^T J), the damping after Nielsen."""
    def body(s):
        J, r = jax.jacfwd(lambda p: 2 * (residuals(p),), has_aux=True)(s.trial)
        loss, first = r @ r, s.trials == 0
        ok = jnp.isfinite(loss) & (first | (loss <= s.loss * (1 + noise)))
        x = 2 * jnp.clip((s.loss - loss) / s.predicted, 0, 1) - 1
        damping = jnp.where(first, s.damping, s.damping * jnp.where(ok, jnp.maximum(1 / 3, 1 - x ** 3), s.growth))
        growth = jnp.where(ok, 2.0, 2 * s.growth)
        p, loss, g, matrix = pick(ok, (s.trial, loss, J.T @ r, J.T @ J), (s.p, s.loss, s.g, s.matrix))

        scale = jnp.where(jnp.diag(matrix) > 0, jnp.diag(matrix), 1.0)
        step = lambda damping: jax.scipy.linalg.solve(matrix + jnp.diag(damping * scale), -g, assume_a="pos")
        damping, d = jax.lax.while_loop(lambda c: ~jnp.isfinite(c[1]).all() & (c[0] < 1e16),
                                        lambda c: (10 * c[0], step(10 * c[0])), (damping, step(damping)))
        decrease = d @ (damping * scale * d - g)
        small = (decrease <= LOSS_TOLERANCE * loss) | (jnp.abs(d / p).max() <= STEP_TOLERANCE)
        status = status_of((first & ~ok, BAD_START), (~jnp.isfinite(d).all(), NO_DESCENT), (small, CONVERGED))
        trial = jnp.where(status == RUNNING, p + d, p)
        return Damped(trial, p, loss, g, matrix, damping, growth, decrease, status, s.trials + 1)
    return iterate(body, Damped(start, start, jnp.inf, 0 * start, jnp.zeros(2 * start.shape), FIRST_DAMPING, 2.0, 1.0, *NEW))

# Rows of moves are s = p+ - p and of changes y = g+ - g, the latest last, zeros where there are none yet.
Searching = namedtuple("Searching", "trial p loss g moves changes direction length slope status trials")

def quasi_newton(g, moves, changes):
    """-H g by the two-loop recursion."""
    sy, yy = jnp.sum(moves * changes, 1), changes[-1] @ changes[-1]
    inverse, d, share = jnp.where(sy > 0, 1 / sy, 0), -g, MEMORY * [None]
    for k in reversed(range(MEMORY)):
        share[k] = moves[k] @ d * inverse[k]
        d = d - share[k] * changes[k]
    d = jnp.where(sy[-1] > 0, sy[-1] / yy, 1) * d
    for k in range(MEMORY):
        d = d + (share[k] - changes[k] @ d * inverse[k]) * moves[k]
    return d

def lbfgs(residuals, noise, start):
    """Armijo's line search: a trial that passes gives a new direction, any other a shorter step."""
    def body(s):
        loss, g = jax.value_and_grad(lambda p: jnp.sum(residuals(p) ** 2))(s.trial)
        first, finite = s.trials == 0, jnp.isfinite(loss + g.sum())
        ok = finite & (first | (loss <= s.loss * (1 + noise) + ARMIJO * s.length * s.slope))
        rise = loss - s.loss - s.length * s.slope
        share = jnp.where(jnp.isfinite(rise), jnp.clip(-s.slope * s.length / (2 * rise), 0.1, 0.5), 0.1)

        move, change = s.trial - s.p, g - s.g
        keep = ok & ~first & (move @ change > 1e-14 * (change @ change))
        pushed = [jnp.concatenate([old[1:], new[None]]) for old, new in ((s.moves, move), (s.changes, change))]
        moves, changes = pick(keep, pushed, [s.moves, s.changes])
        p, loss, g = pick(ok, (s.trial, loss, g), (s.p, s.loss, s.g))
        d = quasi_newton(g, moves, changes)
        model = (moves[-1] @ changes[-1] > 0) & (g @ d < 0)     # else rounding has spoilt the history
        d = jnp.where(model, d, -g)
        moves, changes = pick(ok & ~model, [0 * moves, 0 * changes], [moves, changes])
        turned = d, jnp.where(model, 1.0, 0.01 * jnp.sqrt(p @ p / (d @ d))), g @ d

        d, length, slope = pick(ok, turned, (s.direction, share * s.length, s.slope))
        small = (-slope / 2 <= LOSS_TOLERANCE * loss) | (jnp.abs(d / p).max() <= STEP_TOLERANCE)
        status = status_of((first & ~ok, BAD_START), (ok & model & small, CONVERGED), (~ok & (length < SHORTEST), NO_DESCENT))
        trial = jnp.where(status == RUNNING, p + length * d, p)
        return Searching(trial, p, loss, g, moves, changes, d, length, slope, status, s.trials + 1)
    none = jnp.zeros((MEMORY, len(start)))
    return iterate(body, Searching(start, start, jnp.inf, 0 * start, none, none, 0 * start, 1.0, 0.0, *NEW))

ARMS = {"lm": (levenberg_marquardt, lambda steps: diffrax.ForwardMode()),
        "lbfgs": (lbfgs, lambda steps: diffrax.RecursiveCheckpointAdjoint()),
        "lbfgs_all": (lbfgs, lambda steps: diffrax.RecursiveCheckpointAdjoint(checkpoints=steps))}

def compiled_fits(study, arm, rtol, max_steps, data, start):
    """All fits as a call, and the seconds of its compilation."""
    optimiser, adjoint = ARMS[arm]
    options = rtol, study.atol * rtol, adjoint(max_steps), max_steps
    noise = 4 * rtol     # of a loss between nearby meshes, relatively
    one = lambda data, start: optimiser(lambda p: residuals(study, data, p, *options), noise, start)
    clock = time.perf_counter()
    call = jax.jit(jax.vmap(one)).lower(data, start).compile()
    return partial(call, data, start), time.perf_counter() - clock

def main():
    ap = common.arguments(__doc__, "1000", "", ("lm,lbfgs,lbfgs_all", tuple(ARMS)), 3)
    ap.add_argument("--problem", default="lorenz,lotka_volterra", help="some of " + ",".join(STUDIES))
    a = ap.parse()
    software = f"jax {jax.__version__}, diffrax {diffrax.__version__}, {jax.devices()[0].device_kind}"
    for name, n in ((name, n) for name in a.problem.split(",") for n in a.n):
        study = STUDIES[name]
        data, start = experiments(study, n)
        minimisers = np.array([fit["p_hat"] for fit in study.setting["fits"]])[:n]
        for rtol in a.rtol or [study.rtol]:
            solve_starts = jax.jit(jax.vmap(partial(solve, study, rtol, study.atol * rtol, diffrax.ForwardMode(), 100_000)))
            max_steps = 2 * int(solve_starts(start).stats["num_steps"].max())
            for arm in a.arms:
                fits, compile_s = compiled_fits(study, arm, rtol, max_steps, data, start)
                p, status, trials = map(np.asarray, fits())
                error, converged = np.max(np.abs(p[:len(minimisers)] / minimisers - 1)), int(np.sum(status == CONVERGED))
                result = dict(problem=name, optimiser=arm, n=n, rtol=rtol, compile_s=compile_s, sweeps=int(trials.max()),
                              mean_trials=float(trials.mean()), converged=converged, error=float(error), max_steps=max_steps,
                              software=software)
                require(f"{name} {arm} within 1e-6 of the minimisers, converged", error < 1e-6 and converged > 0.99 * n, result)
                common.report(a, lambda: jax.block_until_ready(fits()), "ms", **result)

if __name__ == "__main__":
    main()
