#!/usr/bin/env python3
"""Reverse-mode gradient of the Lorenz ensemble: Diffrax and a JAX record-and-replay arm.

The problem is the published GradSolve benchmark: sigma=10, beta=8/3, rho_j = linspace(0,21,n),
y0 = (1,0,0), t in [0,1], float64, atol = 1e-3*rtol, loss = sum(y(1)^2), gradient w.r.t. rho.
Arms, all timed as ms per jitted gradient (best of --repeats after one warm-up, device-resident data):
  diffrax      vmap(diffeqsolve(Tsit5, PIDController, RecursiveCheckpointAdjoint)), checkpoints = max_steps
  replay       scan over the recorded, zero-padded step sizes, each step under jax.checkpoint
  replay_store the same scan, all stage values stored
Recording and Diffrax's solve without gradient are timed apart (record_ms, forward_ms; not with --turns), compilation is not
timed. Before that, the gradient sum is compared with ours to 100*rtol. err = median relative error of y(1) of 2048
trajectories against rtol 1e-12. Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
"""
import os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, diffrax
from functools import partial
import common
jax.config.update("jax_enable_x64", True)

A = [[], [.161], [-.008480655492356989, .335480655492357],
     [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
     [5.325864828439257, -11.748883564062828, 7.4955393428898365, -.09249506636175525],
     [5.86145544294642, -12.92096931784711, 8.159367898576159, -.071584973281401, -.028269050394068383],
     [.09646076681806523, .01, .4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774]]
C = [0, .161, .327, .9, .9800255409045097, 1, 1]
BHAT = [.09468075576583945, .009183565540343254, .4877705284247616, 1.234297566930479,
        -2.7077123499835256, 1.866628418170587, 1 / 66]
E = [b - bh for b, bh in zip(A[6] + [0.0], BHAT)]
T0, T1, SIGMA, BETA = 0.0, 1.0, 10.0, 8.0 / 3.0

def f(t, y, p):
    return jnp.stack([SIGMA * (y[1] - y[0]), p[0] * y[0] - y[1] - y[0] * y[2], y[0] * y[1] - BETA * y[2]])

def step(t, y, h, p, want_error=False):
    k = [f(t, y, p)]
    for s in range(1, 6):
        k.append(f(t + C[s] * h, y + h * sum(a * kk for a, kk in zip(A[s], k)), p))
    y1 = y + h * sum(a * kk for a, kk in zip(A[6], k))
    if not want_error:
        return y1
    k.append(f(t + h, y1, p))
    return y1, h * sum(e * kk for e, kk in zip(E, k))

@partial(jax.jit, static_argnames="cap")
def record(y0, p, rtol, atol, cap):
    """y(1), step sizes padded with zeros, steps; steps past cap are counted, not stored."""
    def one(y0, p):
        def body(s):
            t, y, dt, n, dts = s
            h = jnp.minimum(dt, T1 - t)
            y1, e = step(t, y, h, p, True)
            err = jnp.sqrt(jnp.mean((e / (atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(y1)))) ** 2))
            ok = err <= 1.0
            dts = jnp.where(ok, dts.at[n].set(h, mode="drop"), dts)
            fac = jnp.clip(0.9 * jnp.maximum(err, 1e-10) ** -0.2, 0.2, 5.0)
            return jnp.where(ok, t + h, t), jnp.where(ok, y1, y), h * fac, n + ok, dts
        start = T0, y0, (T1 - T0) / 100, 0, jnp.zeros(cap)
        _, y, _, n, dts = jax.lax.while_loop(lambda s: s[0] < T1, body, start)
        return y, dts, n
    return jax.vmap(one)(y0, p)

@partial(jax.jit, static_argnames="remat")
@jax.grad
def replay_gradient(p, y0, dts, remat):
    def one(y0, p, dts):
        def body(c, h):
            t, y = c
            return (t + h, step(t, y, h, p)), None
        return jax.lax.scan(jax.checkpoint(body) if remat else body, (T0, y0), dts)[0][1]
    return jnp.sum(jax.vmap(one)(y0, p, dts) ** 2)

@partial(jax.jit, static_argnames=("max_steps", "checkpoints"))
def diffrax_solve(y0, p, rtol, atol, max_steps, checkpoints=None):
    def one(y0, p):
        adj = diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints)
        s = diffrax.diffeqsolve(diffrax.ODETerm(f), diffrax.Tsit5(), T0, T1, None, y0, args=p, adjoint=adj,
                                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
                                saveat=diffrax.SaveAt(t1=True), max_steps=max_steps, throw=False)
        return s.ys[0], s.stats["num_steps"], s.stats["num_accepted_steps"]
    return jax.vmap(one)(y0, p)

@partial(jax.jit, static_argnames="max_steps")
@jax.grad
def diffrax_gradient(p, y0, rtol, atol, max_steps):
    return jnp.sum(diffrax_solve(y0, p, rtol, atol, max_steps, max_steps)[0] ** 2)

def prepared(arm, y0, p, rtol):
    """What the arm computes once: its gradient as a call, y(1), steps, and the call that is timed apart with its name."""
    tol = rtol, 1e-3 * rtol
    if arm == "diffrax":
        first = partial(diffrax_solve, y0, p, *tol, max_steps=100000)
        y, attempts, steps = first()
        return partial(diffrax_gradient, p, y0, *tol, max_steps=int(attempts.max()) + 1), y, steps, first, "forward_ms"
    first = partial(record, y0, p, *tol, cap=1024)
    y, dts, steps = first()
    return partial(replay_gradient, p, y0, dts[:, :int(steps.max())], remat=arm == "replay"), y, steps, first, "record_ms"

def main():
    arms = "diffrax", "replay", "replay_store"
    a = common.arguments(__doc__, "128,2048,32768", "1e-4,1e-6,1e-8", (",".join(arms), arms), 5).parse()
    software = f"jax {jax.__version__}, diffrax {diffrax.__version__}, {jax.devices()[0].device_kind}"
    for n in a.n:
        y0 = jnp.tile(jnp.array([1.0, 0.0, 0.0]), (n, 1)); p = jnp.linspace(0.0, 21.0, n)[:, None]
        sample = jnp.round(jnp.linspace(0, n - 1, min(n, 2048))).astype(int)
        exact = record(y0[sample], p[sample], 1e-12, 1e-15, cap=1)[0]
        for rtol in a.rtol:
            for arm in a.arms:
                gradient, y, steps, first, name = prepared(arm, y0, p, rtol)
                total = float(gradient().sum())
                common.validate("lorenz", n, total, 100 * rtol)
                call = lambda f: lambda: jax.block_until_ready(f())
                apart = {} if a.turns else {name: common.best_ms(call(first), a.repeats)}
                common.report(a, call(gradient), problem="lorenz", n=n, rtol=rtol, arm=arm, method="tsit5",
                              accepted_mean=float(steps.mean()), accepted_max=int(steps.max()),
                              err=float(jnp.nanmedian(jnp.abs(y[sample] / exact - 1))), grad_sum=total, software=software, **apart)

if __name__ == "__main__":
    main()
