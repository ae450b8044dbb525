#!/usr/bin/env python3
"""Reverse-mode gradient of the Lorenz ensemble: Diffrax and a JAX record-and-replay arm.

The problem is the published GradSolve benchmark: sigma=10, beta=8/3, rho_j = linspace(0,21,n),
y0 = (1,0,0), t in [0,1], float64, atol = 1e-3*rtol, loss = sum(y(1)^2), gradient w.r.t. rho.
Arms, all timed as ms per jitted gradient (best of REPEATS after one warm-up, device-resident data):
  diffrax      vmap(diffeqsolve(Tsit5, PIDController, RecursiveCheckpointAdjoint)), checkpoints = max_steps
  replay       scan over the recorded, zero-padded step sizes, each step under jax.checkpoint
  replay_store the same scan, all stage values stored
Recording is timed apart (record_ms, compiled). err = median relative error of y(1) against rtol 1e-13.
Needs jax and diffrax (pip install "jax[cuda12]" diffrax). Usage: lorenz_jax.py [--n 128,2048,32768] [--rtol 1e-4,1e-6,1e-8] [--arms diffrax,replay]
"""
import argparse, os, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np, diffrax
from functools import partial
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

def record(y0, p, rtol, atol, cap):
    def one(y0, p):
        def cond(s): return (s[0] < T1) & (s[3] < cap)
        def body(s):
            t, y, dt, n, dts = s
            h = jnp.minimum(dt, T1 - t)
            y1, e = step(t, y, h, p, True)
            err = jnp.sqrt(jnp.mean((e / (atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(y1)))) ** 2))
            ok = err <= 1.0
            dts = jnp.where(ok, dts.at[n].set(h), dts)
            fac = jnp.clip(0.9 * jnp.maximum(err, 1e-10) ** -0.2, 0.2, 5.0)
            return jnp.where(ok, t + h, t), jnp.where(ok, y1, y), h * fac, n + ok, dts
        s = jax.lax.while_loop(cond, body, (T0, y0, (T1 - T0) / 100, 0, jnp.zeros(cap)))
        return s[4], s[3]
    return jax.vmap(one)(y0, p)

def replay_loss(p, y0, dts, remat):
    def one(y0, p, dts):
        def body(c, h):
            t, y = c
            return (t + h, step(t, y, h, p)), None
        return jax.lax.scan(jax.checkpoint(body) if remat else body, (T0, y0), dts)[0][1]
    return jnp.sum(jax.vmap(one)(y0, p, dts) ** 2)

def diffrax_solve(y0, p, rtol, atol, max_steps, checkpoints=None):
    def one(y0, p):
        adj = diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints)
        s = diffrax.diffeqsolve(diffrax.ODETerm(f), diffrax.Tsit5(), T0, T1, None, y0, args=p, adjoint=adj,
                                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
                                saveat=diffrax.SaveAt(t1=True), max_steps=max_steps, throw=False)
        return s.ys[0], s.stats["num_steps"], s.stats["num_accepted_steps"]
    return jax.vmap(one)(y0, p)

def best_ms(g, repeats):
    jax.block_until_ready(g())
    v = []
    for _ in range(repeats):
        t = time.perf_counter(); jax.block_until_ready(g()); v.append(time.perf_counter() - t)
    return 1e3 * min(v)

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", default="128,2048,32768"); ap.add_argument("--rtol", default="1e-4,1e-6,1e-8")
    ap.add_argument("--arms", default="diffrax,replay,replay_store"); ap.add_argument("--repeats", type=int, default=5)
    a = ap.parse_args(); arms = a.arms.split(",")
    print("jax", jax.__version__, "diffrax", diffrax.__version__, jax.devices()[0].device_kind)
    for n in map(int, a.n.split(",")):
        y0 = jnp.tile(jnp.array([1.0, 0.0, 0.0]), (n, 1)); p = jnp.linspace(0.0, 21.0, n)[:, None]
        m = min(n, 2048); idx = jnp.round(jnp.linspace(0, n - 1, m)).astype(int)
        ref = jax.jit(partial(diffrax_solve, rtol=1e-13, atol=1e-14, max_steps=20000))(y0[idx], p[idx])[0]
        med = lambda y: float(jnp.median(jnp.abs(y[idx] - ref) / jnp.maximum(jnp.abs(ref), 1e-30)))
        for rtol in map(float, a.rtol.split(",")):
            atol = 1e-3 * rtol; row = f"n={n} rtol={rtol:g}"
            if "diffrax" in arms:
                y, att, _ = jax.jit(partial(diffrax_solve, rtol=rtol, atol=atol, max_steps=100000))(y0, p)
                ms = int(att.max()) + 1
                g = jax.jit(jax.grad(lambda p: jnp.sum(diffrax_solve(y0, p, rtol, atol, ms, ms)[0] ** 2)))
                fwd = jax.jit(partial(diffrax_solve, rtol=rtol, atol=atol, max_steps=ms))
                row += f" | diffrax grad {best_ms(lambda: g(p), a.repeats):.3f} fwd {best_ms(lambda: fwd(y0, p), a.repeats):.3f} err {med(y):.3e}"
            if "replay" in arms or "replay_store" in arms:
                r = jax.jit(partial(record, rtol=rtol, atol=atol, cap=1024)); dts, na = r(y0, p)
                S = int(na.max()); dts = dts[:, :S]
                row += f" | steps mean {float(na.mean()):.2f} max {S} record {best_ms(lambda: r(y0, p), 3):.3f}"
                for arm, remat in (("replay", True), ("replay_store", False)):
                    if arm in arms:
                        g = jax.jit(jax.value_and_grad(partial(replay_loss, remat=remat)))
                        row += f" | {arm} grad {best_ms(lambda: g(p, y0, dts), a.repeats):.3f} sum {float(g(p, y0, dts)[1].sum()):.9f}"
            print(row, flush=True)

if __name__ == "__main__":
    main()
