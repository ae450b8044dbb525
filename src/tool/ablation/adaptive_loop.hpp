// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/extra_states.hpp>
#include <gradsolve/record.hpp>

/// The gradient without a recorded mesh: tangents go through the adaptive loop, rejected steps
/// included. Step sizes are not differentiated and tangents take no part in the error control, as
/// in Diffrax: the same steps, and the same derivative to rounding.
namespace gradsolve::tool {

/// loss = |u|^2, and its derivative in each variable from (u, du/dx_1, du/dx_2, ...).
template <class S, class MemorySpace>
struct ContractSensitivities {
  int num_states, num_columns;
  Kokkos::View<const S**, Kokkos::LayoutLeft, MemorySpace> states;
  Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace> gradient;
  Kokkos::View<S*, MemorySpace> loss;

  KOKKOS_FUNCTION void operator()(int j) const {
    S sum = 0;
    for (int i = 0; i < num_states; ++i) sum += states(j, i) * states(j, i);
    loss(j) = sum;
    for (int c = 0; c < num_columns; ++c) {
      S derivative = 0;
      for (int i = 0; i < num_states; ++i)
        derivative += 2 * states(j, i) * states(j, num_states * (1 + c) + i);
      gradient(j, c) = derivative;
    }
  }
};

template <int Width, class Exec, class F, class M, class S, int... Variables>
class AdaptiveLoop {
  using Memory = typename Exec::memory_space;
  static constexpr int num_columns = sizeof...(Variables);

 public:
  explicit AdaptiveLoop(int n)
      : loss_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradsolve_tool::loss"), n),
        gradient_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradsolve_tool::gradient"), n,
                  num_columns) {}

  template <class Ens>
  void run(const Exec& exec, const Ens& ensemble, const Options& options) {
    record<Width>(exec, WithSensitivities<F, Variables...>{}, M{}, ensemble, options, record_);
    Kokkos::parallel_for("gradsolve_tool::contract",
                         Kokkos::RangePolicy<Exec>(exec, 0, ensemble.size()),
                         ContractSensitivities<S, Memory>{F::num_states, num_columns,
                                                          record_.states, gradient_, loss_});
  }

  /// (n) the derivative in the last variable.
  auto last_column() const { return Kokkos::subview(gradient_, Kokkos::ALL, num_columns - 1); }

 private:
  Record<M, S, Memory> record_;
  Kokkos::View<S*, Memory> loss_;
  Kokkos::View<S**, Kokkos::LayoutLeft, Memory> gradient_;
};

}  // namespace gradsolve::tool
