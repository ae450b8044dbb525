// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../backends.hpp"
#include "../linspace.hpp"
#include "../sum_of_squares.hpp"
#include "../systems/lorenz.hpp"
#include "adaptive_loop.hpp"
#include "arm.hpp"
#include "keep_states.hpp"
#include <gradsolve/gradient.hpp>

#include <random>
#include <utility>

/// The published benchmark ensemble by one method in one precision, on every back end of the build.
namespace gradsolve::tool {

/// rho evenly spaced from 0 to 21, in order or shuffled: the same trajectories.
inline std::vector<double> ablation_params(const Arm& arm) {
  std::vector<double> rho(arm.n);
  for (int i = 0; i < arm.n; ++i) rho[i] = linspace(0, 21, i, arm.n);
  if (!arm.shuffled) return rho;
  std::mt19937_64 random(1);
  // Not std::shuffle, whose order is the library's own.
  for (std::size_t i = rho.size() - 1; i > 0; --i) std::swap(rho[i], rho[random() % (i + 1)]);
  return rho;
}

template <class Exec, class M, class S, int Width>
class Experiment {
  using Memory = typename Exec::memory_space;
  using Matrix = Kokkos::View<S**, Kokkos::LayoutLeft, Memory>;
  static constexpr int N = Lorenz::num_states;

 public:
  Experiment(const Arm& arm, double min_seconds)
      : arm_(arm),
        min_seconds_(min_seconds),
        ensemble_(initial_states(arm.n), params(arm), 0.0, 1.0),
        options_{.rtol = arm.rtol, .atol = 1e-3 * arm.rtol, .sort = arm.sort} {}

  Measurement run() {
    record_once();
    switch (arm_.differentiated) {
      case Differentiated::fixed_mesh:
        fixed_mesh();
        break;
      case Differentiated::re_record:
        re_record();
        break;
      case Differentiated::adaptive_loop:
        adaptive_loop<0, 1, 2, N>();
        break;
      case Differentiated::adaptive_loop_rho:
        adaptive_loop<N>();
        break;
    }
    return std::move(result_);
  }

 private:
  static Matrix initial_states(int n) {
    Matrix u0("gradsolve_tool::u0", n, N);
    Kokkos::deep_copy(Kokkos::subview(u0, Kokkos::ALL, 0), S(1));
    return u0;
  }
  static Matrix params(const Arm& arm) {
    Matrix device("gradsolve_tool::params", arm.n, 1);
    const auto host = Kokkos::create_mirror_view(device);
    const std::vector<double> rho = ablation_params(arm);
    for (int i = 0; i < arm.n; ++i) host(i, 0) = static_cast<S>(rho[i]);
    Kokkos::deep_copy(device, host);
    return device;
  }

  /// The mesh of all arms, and what is known of it.
  void record_once() {
    record<Width>(exec_, Lorenz{}, M{}, ensemble_, options_, record_);
    const auto steps = host_copy(record_.num_steps), rejected = host_copy(record_.num_rejected);
    const auto status = host_copy(record_.status);
    double sum = 0;
    for (int i = 0; i < arm_.n; ++i) {
      sum += steps(i);
      result_.rejected_mean += double(rejected(i)) / arm_.n;
      result_.num_failed += status(i) != Status::success;
    }
    result_.steps_mean = sum / arm_.n;
    result_.padding = double(record_.mesh.total_rows) * record_.mesh.width / sum;
    result_.lanes = detail::lane_width<Lorenz, Exec, S, Width>();
    if (arm_.checkpoints) keep_few_states();
  }

  /// As few states as leave all slices in flight: 2 sqrt(m) of m steps.
  void keep_few_states() {
    const auto& mesh = record_.mesh;
    const int slots = Kokkos::min(detail::Backend<Exec>::num_slots(exec_), mesh.num_slices);
    int room = 1;
    auto plan = [&] { return detail::plan_checkpoints(mesh.max_rows, room); };
    while (plan().room == 0 ||
           plan().places < detail::num_checkpoints(mesh.max_rows, plan().length))
      ++room;
    options_.memory_budget = sizeof(S) * N * mesh.width * room * slots;
    record_.options.memory_budget = options_.memory_budget;
    result_.replay_factor = detail::replay_factor(mesh.max_rows, plan());
  }

  void fixed_mesh() {
    if (arm_.fused)
      time(
          [&] { gradient<Width>(exec_, Lorenz{}, record_, ensemble_, SumOfSquares{}, gradient_); });
    else
      time([&] {
        gradient_in_two_launches<Width>(exec_, Lorenz{}, record_, ensemble_, SumOfSquares{},
                                        gradient_);
      });
    sum_gradient(Kokkos::subview(gradient_.params, Kokkos::ALL, 0));
  }

  void re_record() {
    if (arm_.fused)
      time([&] {
        record_and_gradient<Width>(exec_, Lorenz{}, M{}, ensemble_, options_, SumOfSquares{},
                                   record_, gradient_);
      });
    else
      time([&] {
        record<Width>(exec_, Lorenz{}, M{}, ensemble_, options_, record_);
        gradient<Width>(exec_, Lorenz{}, record_, ensemble_, SumOfSquares{}, gradient_);
      });
    sum_gradient(Kokkos::subview(gradient_.params, Kokkos::ALL, 0));
  }

  template <int... Variables>
  void adaptive_loop() {
    AdaptiveLoop<Width, Exec, Lorenz, M, S, Variables...> loop(arm_.n);
    time([&] { loop.run(exec_, ensemble_, options_); });
    sum_gradient(loop.last_column());
  }

  template <class Sweep>
  void time(Sweep&& sweep) {
    constexpr std::size_t least = 3;
    sweep();
    double total = 0;
    auto& seconds = result_.seconds;
    while (total < min_seconds_ || seconds.size() < least) {
      exec_.fence();
      const Kokkos::Timer timer;
      sweep();
      exec_.fence();
      seconds.push_back(timer.seconds());
      total += seconds.back();
    }
  }

  /// Over the trajectories that reached t1.
  template <class View>
  void sum_gradient(const View& column) {
    const Kokkos::View<S*, Memory> copy("gradsolve_tool::column", arm_.n);
    Kokkos::deep_copy(copy, column);
    const auto values = host_copy(copy);
    const auto status = host_copy(record_.status);
    for (int i = 0; i < arm_.n; ++i)
      if (status(i) == Status::success) result_.gradient_sum += values(i);
  }

  template <class View>
  static auto host_copy(const View& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  }

  const Arm& arm_;
  double min_seconds_;
  Exec exec_;
  Ensemble<Matrix, Matrix> ensemble_;
  Options options_;
  Record<M, S, Memory> record_;
  Gradient<S, Memory> gradient_;
  Measurement result_;
};

/// On the back end and with the lanes of the arm, both of which the build has.
template <class M, class S>
Measurement measure(const Arm& arm, double min_seconds) {
  Measurement result;
  for_each_backend([&]<class Exec>(std::type_identity<Exec>) {
    if (name_of_backend<Exec>() != arm.backend) return;
    // A lane of one is compiled once.
    if constexpr (detail::lane_width<Lorenz, Exec, S, 0>() > 1)
      if (!arm.widest_lanes) {
        result = Experiment<Exec, M, S, 1>(arm, min_seconds).run();
        return;
      }
    result = Experiment<Exec, M, S, 0>(arm, min_seconds).run();
  });
  return result;
}

}  // namespace gradsolve::tool
