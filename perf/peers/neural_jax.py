#!/usr/bin/env python3
"""Neural right-hand sides with Diffrax: u' = net(u) from t = 0 to 1, as perf/bench_neural.cpp.

training        mean squared difference from the spiral's data at 10 times (examples/09_neural_ode), gradient in the weights
record          final states of n trajectories (the forward solve)
gradient        mean |u(1)|^2 and its gradient in the weights and the initial states

The same nets (2-16-16-2, 4-64-64-4), weights, ensembles, solver (Tsit5), tolerances (float64: 1e-6, 1e-8; float32: 1e-4,
1e-6) and first step as ours. vmap over trajectories, jit, the default RecursiveCheckpointAdjoint; the number of steps and
of checkpoints is the smaller of what Diffrax takes by default and of what the slowest trajectory needs: both are timed,
the faster counts. float32 with JAX's default precision of products, which may be TF32, unless --precision.

Before any timing: loss and gradient in the weights of the 8 members of tests/data/neural.json (1e-7 of their norm), and
each timed gradient against one at rtol 1e-10 in float64 (its loss and norm are printed: those of bench_neural's counters).
Best of --repeats after a warm-up, device-resident data, compilation apart. One line of key=value pairs per result.
Needs jax and diffrax (pip install "jax[cuda12]" diffrax).
Usage: neural_jax.py [--n 4096] [--nets 2-16-16-2,4-64-64-4] [--types float64,float32] [--repeats 5]
"""
import argparse, json, os, time
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp, numpy as np, diffrax
from functools import partial
from pathlib import Path
from counter_random import uniform
jax.config.update("jax_enable_x64", True)

def draw_weights(sizes):
    layers, k = [], 0
    for a, b in zip(sizes, sizes[1:]):
        u = 2 * uniform(502, 0, np.arange(k, k + a * b + b)) - 1
        layers.append((jnp.array(u[:a * b].reshape(b, a) * np.sqrt(6 / (a + b))), jnp.array(0.1 * u[a * b:])))
        k += a * b + b
    return layers

def draw_states(n, size):
    return jnp.array(-1.5 + 3 * uniform(501, np.arange(n)[:, None], np.arange(size)[None]))

def net(t, u, layers):
    for W, b in layers[:-1]:
        u = jnp.tanh(W @ u + b)
    W, b = layers[-1]
    return W @ u + b

def spiral(t, u, _):
    return (u ** 3) @ jnp.array([[-0.1, 2.0], [-2.0, -0.1]])

def solve(f, u0, args, tol, max_steps, checkpoints=None, ts=None):
    adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints)
    one = u0.dtype.type(1)
    saveat = diffrax.SaveAt(t1=True) if ts is None else diffrax.SaveAt(ts=ts.astype(u0.dtype))
    s = diffrax.diffeqsolve(diffrax.ODETerm(f), diffrax.Tsit5(), 0 * one, one, one / 100, u0, args=args, saveat=saveat,
                            stepsize_controller=diffrax.PIDController(rtol=tol[0], atol=tol[1]), adjoint=adjoint,
                            max_steps=max_steps, throw=False)
    return s.ys, s.stats["num_steps"], s.stats["num_accepted_steps"]

ensemble = jax.vmap(solve, (None, 0, None, None, None, None, None), (0, 0, 0))
TS = jnp.arange(1, 11) / 10

def norm(layers):
    return float(jnp.sqrt(sum(jnp.sum(x.astype(jnp.float64) ** 2) for x in jax.tree.leaves(layers))))

def best_ms(f, repeats):
    times = []
    for _ in range(1 + repeats):
        start = time.perf_counter(); jax.block_until_ready(f()); times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:]), 1e3 * float(np.median(times[1:]))

def check_reference():
    path = Path(__file__).resolve().parents[2] / "tests/data/neural.json"
    weights = draw_weights([2, 16, 16, 2])
    for m in json.loads(path.read_text())["neural_spiral"]["members"]:
        data = jnp.array(m["data"]).reshape(10, 2)
        loss = lambda w: jnp.mean((solve(net, jnp.array(m["y0"]), w, (1e-10, 1e-12), 1000, None, TS)[0] - data) ** 2)
        value, g = jax.jit(jax.value_and_grad(loss))(weights)
        g = jnp.concatenate([x.ravel() for x in jax.tree.leaves(g)])
        error = float(jnp.linalg.norm(g - jnp.array(m["dloss_dw"])) / jnp.linalg.norm(jnp.array(m["dloss_dw"])))
        assert abs(float(value) / m["loss"] - 1) < 1e-7 and error < 1e-7, (m["index"], float(value), error)
    print("reference members agree", flush=True)

def run(kind, name, dtype, n, repeats):
    sizes = [int(x) for x in name.split("-")]
    weights64, u064 = draw_weights(sizes), draw_states(n, sizes[0])
    cast = lambda x: x.astype(dtype)
    weights, u0 = jax.tree.map(cast, weights64), cast(u064)
    tol = (1e-6, 1e-8) if dtype == "float64" else (1e-4, 1e-6)
    ts = data64 = None
    if kind == "training":
        ts = TS
        data64 = jax.jit(lambda u: ensemble(spiral, u, None, (1e-12, 1e-14), 10_000, None, TS)[0])(u064)
    def loss(w, u, d, tol, steps, checkpoints):
        y = ensemble(net, u, w, tol, steps, checkpoints, ts)[0]
        return jnp.mean(jnp.mean((y - d) ** 2, (1, 2))) if d is not None else jnp.mean(jnp.sum(y[:, 0] ** 2, -1))
    exact, g = jax.jit(jax.value_and_grad(lambda w: loss(w, u064, data64, (1e-10, 1e-12), 4096, None)))(weights64)
    exact_norm = norm(g)
    data = None if data64 is None else cast(data64)
    attempts = jax.jit(lambda w, u: ensemble(net, u, w, tol, 4096, None, ts)[1:])(weights, u0)
    most = int(attempts[0].max()) + 1
    for steps, checkpoints in ((4096, None), (most, None), (most, most)):
        if kind == "record":
            f = jax.jit(lambda w, u: ensemble(net, u, w, tol, steps, None, None)[0])
        else:
            f = jax.jit(jax.value_and_grad(lambda w, u: loss(w, u, data, tol, steps, checkpoints),
                                           (0,) if kind == "training" else (0, 1)))
            value, g = f(weights, u0)
            rule = 1e-4 if dtype == "float64" else 1e-2
            assert abs(float(value) / float(exact) - 1) < rule and abs(norm(g[0]) / exact_norm - 1) < rule, (
                float(value), float(exact), norm(g[0]), exact_norm)
        if kind == "record" and checkpoints is not None:
            continue
        best, median = best_ms(lambda: f(weights, u0), repeats)
        print(f"problem={kind} net={name} type={dtype} n={n} best_ms={best:.3f} median_ms={median:.3f} max_steps={steps} "
              f"checkpoints={checkpoints} steps={float(attempts[1].mean()):.3f} loss={float(exact):.6g} norm={exact_norm:.6g}",
              flush=True)

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", default="4096"); ap.add_argument("--nets", default="2-16-16-2,4-64-64-4")
    ap.add_argument("--types", default="float64,float32"); ap.add_argument("--repeats", type=int, default=5)
    ap.add_argument("--problems", default="training,record,gradient"); ap.add_argument("--precision")
    a = ap.parse_args()
    if a.precision:
        jax.config.update("jax_default_matmul_precision", a.precision)
    print("jax", jax.__version__, "diffrax", diffrax.__version__, jax.devices()[0].device_kind, "precision", a.precision)
    check_reference()
    for n in map(int, a.n.split(",")):
        for kind in a.problems.split(","):
            for name in a.nets.split(","):
                for dtype in a.types.split(","):
                    if kind != "training" or (name == "2-16-16-2" and dtype == "float64"):
                        run(kind, name, dtype, n, a.repeats)

if __name__ == "__main__":
    main()
