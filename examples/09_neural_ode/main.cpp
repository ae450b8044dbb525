// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A net learns the field of a spiral: u' = net(u; weights) is fitted to trajectories by Adam, each
// step through an adaptive solve and its exact adjoint.
//
//     example_09_neural_ode [n [epochs [hidden units, 16 or 64]]]    writes loss.csv and spiral.csv
#include "spiral.hpp"
#include <gradsolve/gradsolve.hpp>

#include <algorithm>
#include <common/adam.hpp>
#include <common/program.hpp>
#include <cstdio>

namespace examples {
namespace {

using gradsolve::Tsit5;
constexpr gradsolve::Options options{.rtol = 1e-6, .atol = 1e-8};
constexpr double wanted_loss = 1e-3;  // from 1.4

/// The mean loss of trajectories that took no part in the training.
template <class System>
double loss_of_others(const Exec& exec, const System& system, int n) {
  const SpiralData others(exec, n, 256);
  const auto record = gradsolve::record(exec, system, Tsit5{}, others.ensemble, options);
  const auto gradient = gradsolve::gradient(exec, system, record, others.ensemble, others.loss());
  return gradsolve::sum_of_losses(exec, gradient) / others.ensemble.size();
}

/// A long trajectory of the truth and of the net.
template <class System>
void write_spiral(const Exec& exec, const System& system, const char* path) {
  const Matrix u0("u0", 1, 2);
  Kokkos::deep_copy(Kokkos::subview(u0, 0, 0), 1.4);
  const gradsolve::Ensemble ensemble(u0, 0.0, 12.0);
  std::vector<double> seconds;
  for (int k = 0; k <= 600; ++k) seconds.push_back(12.0 * k / 600);
  const auto times = gradsolve::save_times(exec, ensemble, seconds);
  const auto truth =
      on_host(gradsolve::record(exec, Spiral{}, Tsit5{}, ensemble, times, options).saved);
  const auto learnt =
      on_host(gradsolve::record(exec, system, Tsit5{}, ensemble, times, options).saved);
  const OutputFile file(path);
  std::fprintf(file, "t,x,y,net_x,net_y\n");
  for (int k = 0; k <= 600; ++k)
    std::fprintf(file, "%.3f,%.6f,%.6f,%.6f,%.6f\n", seconds[k], truth(0, k, 0), truth(0, k, 1),
                 learnt(0, k, 0), learnt(0, k, 1));
}

void write_losses(const std::vector<double>& losses, const char* path) {
  const OutputFile file(path);
  std::fprintf(file, "epoch,loss\n");
  for (std::size_t k = 0; k < losses.size(); ++k) std::fprintf(file, "%zu,%.6e\n", k, losses[k]);
}

template <int Hidden>
bool train(const Exec& exec, int n, int epochs) {
  using Net = SpiralNet<Hidden>;
  const SpiralData spiral(exec, 0, n);
  const auto loss = spiral.loss();
  const Column weights = draw_weights({2, Hidden, Hidden, 2}), slope("slope", Net::num_weights);
  const gradsolve::BlockSystem<Net> system(weights);
  gradsolve::Record<Tsit5, double, Memory> record;
  gradsolve::Gradient<double, Memory> gradient;
  Adam adam(Net::num_weights, 0.02);
  std::vector<double> losses;
  std::printf("%d trajectories, a net of 2-%d-%d-2 with %d weights\n", n, Hidden, Hidden,
              Net::num_weights);
  const Kokkos::Timer timer;
  for (int epoch = 0; epoch <= epochs; ++epoch) {
    gradsolve::record_and_gradient(exec, system, Tsit5{}, spiral.ensemble, options, loss, record,
                                   gradient);
    losses.push_back(gradsolve::sum_of_losses(exec, gradient) / n);
    const bool done = losses.back() <= wanted_loss;
    if (epoch % 20 == 0 || done) std::printf("  epoch %4d  loss %.3e\n", epoch, losses.back());
    if (done) break;
    const Column sum = gradient.weights;
    Kokkos::parallel_for(
        "slope", Policy(exec, 0, Net::num_weights),
        KOKKOS_LAMBDA(int k) { slope(k) = sum(k) / n; });
    adam.step(exec, weights, slope);
  }
  const double seconds = timer.seconds();
  std::printf("%zu epochs in %.2f s, %.2f ms each; loss of 256 other trajectories %.3e\n",
              losses.size() - 1, seconds, 1e3 * seconds / losses.size(),
              loss_of_others(exec, system, n));
  write_losses(losses, "loss.csv");
  write_spiral(exec, system, "spiral.csv");
  return losses.back() <= wanted_loss;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 64),
              epochs = arguments.whole_number(2, "epochs", 500, 0),
              hidden = arguments.whole_number(3, "hidden units", 16, 16, 64);
    if (hidden != 16 && hidden != 64) throw std::invalid_argument("hidden units are 16 or 64");
    const bool good = hidden == 64 ? train<64>(exec, n, epochs) : train<16>(exec, n, epochs);
    std::printf("%s: loss %.0e\n", good ? "reached" : "NOT reached", wanted_loss);
    return good;
  });
}
