#!/usr/bin/env python3
"""Reverse-mode gradient of the Lorenz ensemble with torchdiffeq, on the GPU where torch sees one and on the CPU elsewhere.

The published ensemble (docs/performance.md): sigma = 10, beta = 8/3, rho_j = linspace(0,21,n), u0 = (1,0,0), t in [0,1],
float64, atol = 1e-3*rtol, loss = sum(u(1)^2), gradient w.r.t. rho. torchdiffeq has no Tsit5: dopri5, of the same order.
The ensemble is one state, whose steps all trajectories share: their size is chosen by the norm over the whole batch, so that
few trajectories need the steps that all take, and the hardest get less accuracy than alone. Arms:
  direct   gradient through the solver's operations (discretise, then optimise): exact for its steps
  adjoint  odeint_adjoint: the continuous adjoint, solved backwards; its steps ignore the parameters' gradient (seminorm).
           Lorenz solved backwards grows like exp(22 t): without a fresh start at t = 3/4, 1/2, 1/4 the sum is off by 1e-2
A time is that of solve and gradient, eager, so that a step is many small kernels. Before it, the gradient sum is compared with
ours to 100*rtol. err = median relative error of u(1) of 2048 trajectories against rtol 1e-12.
Needs torch and torchdiffeq (pip install torchdiffeq).
"""
import torch, torchdiffeq
import common

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

class Lorenz(torch.nn.Module):
    """States (3, n): a component is contiguous."""
    def __init__(self, n):
        super().__init__()
        self.rho = torch.nn.Parameter(torch.linspace(0, 21, n, dtype=torch.float64, device=DEVICE))
    def forward(self, t, u):
        x, y, z = u
        return torch.stack([10.0 * (y - x), x * (self.rho - z) - y, x * y - 8.0 / 3.0 * z])

def solve(f, rtol, arm):
    u0 = torch.zeros(3, len(f.rho), dtype=torch.float64, device=DEVICE)
    u0[0] = 1.0
    t = torch.linspace(0, 1, 5 if arm == "adjoint" else 2, dtype=torch.float64, device=DEVICE)
    options = {"rtol": rtol, "atol": 1e-3 * rtol, "method": "dopri5"}
    if arm == "adjoint":
        return torchdiffeq.odeint_adjoint(f, u0, t, adjoint_options={"norm": "seminorm"}, **options)[-1]
    return torchdiffeq.odeint(f, u0, t, **options)[-1]

def gradient(f, rtol, arm):
    """d loss / d rho, finished on the device, and u(1)."""
    f.rho.grad = None
    u = solve(f, rtol, arm)
    u.square().sum().backward()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return f.rho.grad, u.detach()

def main():
    a = common.arguments(__doc__, "128,2048,32768", "1e-4,1e-6,1e-8", ("direct,adjoint", ("direct", "adjoint")), 5).parse()
    device = torch.cuda.get_device_name() if DEVICE == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    for n in a.n:
        f = Lorenz(n)
        sample = torch.linspace(0, n - 1, min(n, 2048), device=DEVICE).round().long()
        with torch.no_grad():
            exact = solve(f, 1e-12, "direct")[:, sample]
        for rtol in a.rtol:
            for arm in a.arms:
                g, u = gradient(f, rtol, arm)
                total = float(g.sum())
                common.validate("lorenz", n, total, 100 * rtol)
                error = (u[:, sample] / exact - 1).abs().nanmedian()
                common.report(a, lambda: gradient(f, rtol, arm), problem="lorenz", n=n, rtol=rtol, arm=arm, method="dopri5",
                              err=float(error), grad_sum=total, software=f"torch {torch.__version__}, {device}")

if __name__ == "__main__":
    main()
