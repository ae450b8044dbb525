// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the documentation of DiffEqGPU.jl and Enzyme.jl shows of derivatives of ensembles: training
// through a solver, forward mode on 10,000 trajectories, and a fixed-step gradient.
//
//     example_06_diffeqgpu [n]
#include "forward_mode.hpp"
#include "training.hpp"
#include <gradsolve/gradsolve.hpp>

#include <algorithm>
#include <cmath>
#include <common/program.hpp>
#include <cstdio>

namespace examples {
namespace {

/// Exact solutions of the training problem, by Adam in many digits.
const std::vector<double> dense_losses{8.665668144702842, 5.649914064827164, 7.867767413713269,
                                       6.120842627618937, 5.461918978364623, 5.954579101935488,
                                       6.412806583231684, 6.470848972696495, 6.176641558225251,
                                       5.735921573056879, 5.457971807467365};
constexpr double direct_loss_after_10 = 5.67428923775585, direct_loss_after_100 = 5.449907625866252;

bool training(const Exec& exec) {
  const auto dense = train<DenseLayer>(exec, {0.6, 0.4, 0.1, -0.1}, 10);
  double worst = 0;
  for (std::size_t k = 0; k < dense.size(); ++k)
    worst = std::max(worst, std::abs(dense[k] / dense_losses[k] - 1));
  std::printf("training a dense layer: loss %.6f -> %.6f in 10 steps, error %.1e\n", dense.front(),
              dense.back(), worst);
  const auto direct = train<NoLayer>(exec, {1, 2}, 100);
  worst = std::max({worst, std::abs(direct[10] / direct_loss_after_10 - 1),
                    std::abs(direct[100] / direct_loss_after_100 - 1)});
  std::printf("training the parameters: loss %.6f -> %.6f in 100 steps, error %.1e\n",
              direct.front(), direct.back(), worst);
  return worst < 1e-9;
}

struct FinalState {
  template <class T>
  KOKKOS_FUNCTION T operator()(const gradsolve::State<T, 1>& u) const {
    return u[0];
  }
};

/// u' = p u from 1 in 20 equal steps of Tsit5: u(1) = R(p/20)^20 with the method's stability
/// function R, not exp(p). Its derivative, in many digits, differs from exp(p) by 3e-14 and more.
bool fixed_steps(const Exec& exec) {
  const double discrete[] = {1.2214027581602001780, 0.74081822068156504572};
  const Matrix u0("u0", 2, 1), params("params", 2, 1);
  Kokkos::deep_copy(exec, u0, 1.0);
  Kokkos::parallel_for(
      "params", Policy(exec, 0, 2), KOKKOS_LAMBDA(int i) { params(i, 0) = i == 0 ? 0.2 : -0.3; });
  const gradsolve::Ensemble ensemble(u0, params, 0.0, 1.0);
  const auto record =
      gradsolve::record(exec, Exponential{}, gradsolve::Tsit5{}, ensemble, {.fixed_steps = 20});
  const auto gradient =
      on_host(gradsolve::gradient(exec, Exponential{}, record, ensemble, FinalState{}).params);
  bool good = true;
  for (int i = 0; i < 2; ++i) {
    const double error = std::abs(gradient(i, 0) - discrete[i]);
    std::printf("fixed steps, p = %4.1f: du/dp = %.16f, error %.1e; exp(p) is %.1e away\n",
                i == 0 ? 0.2 : -0.3, gradient(i, 0), error,
                std::abs(std::exp(i == 0 ? 0.2 : -0.3) - discrete[i]));
    good &= error < 2e-15;
  }
  return good;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 10'000);
    bool good = training(exec);
    const ForwardMode forward = differentiate_forward(exec, n);
    std::printf(
        "forward mode: du/du0 of %d Lorenz systems at 10 times in %.1f ms; "
        "reverse mode differs by %.1e\n",
        n, forward.milliseconds, forward.difference);
    good &= forward.difference < 1e-7;
    return fixed_steps(exec) && good;
  });
}
