// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradient.hpp>
#include <gradsolve/sensitivity.hpp>

/// Second derivatives of losses, of the replay with its steps held fixed. Every trajectory has its
/// own Hessian, of its loss in its own variables (u0, params).
namespace gradsolve {

/// What hessian_product() leaves: the gradient, and its derivative in the direction.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct HessianProduct {
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;
  Gradient<Scalar, MemorySpace> gradient;
  Matrix u0;      ///< (n, N)
  Matrix params;  ///< (n, P); (1, P), summed, where the parameters are shared

  detail::MovedFrom moved_from;  ///< Internal.
};

/// The Hessian of the loss times a direction (du0, dparams), by forward over reverse: the adjoint
/// sweep in dual numbers. Exact, without differences. A direction View without memory stands for
/// zero. The loss is as for gradient(), and twice differentiable.
/// Asynchronous in exec, but as gradient() is. Throws InvalidArgument where shapes disagree.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss, class DStates, class DParameters>
void hessian_product(const Exec& exec, const F& system,
                     const Record<M, Scalar, MemorySpace>& record,
                     const Ensemble<States, Parameters>& ensemble, const Loss& loss,
                     const DStates& du0, const DParameters& dparams,
                     HessianProduct<Scalar, MemorySpace>& out) {
  using namespace detail;
  Kokkos::Profiling::ScopedRegion region("gradsolve::hessian_product");
  const auto sweep = reverse_sweep<false, Width>("hessian_product", exec, system, record, ensemble);
  check_direction<Exec>("hessian_product", "du0", du0, ensemble.states());
  check_direction<Exec>("hessian_product", "dparams", dparams, ensemble.params());
  renew_if_moved_from(out);
  sweep.run(seed_of<F>("hessian_product", loss, ensemble),
            Direction<Scalar>{strided_const(du0), strided_const(dparams)}, out.gradient, out.u0,
            out.params);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss, class DStates, class DParameters>
HessianProduct<Scalar, MemorySpace> hessian_product(const Exec& exec, const F& system,
                                                    const Record<M, Scalar, MemorySpace>& record,
                                                    const Ensemble<States, Parameters>& ensemble,
                                                    const Loss& loss, const DStates& du0,
                                                    const DParameters& dparams) {
  HessianProduct<Scalar, MemorySpace> out;
  hessian_product<Width>(exec, system, record, ensemble, loss, du0, dparams, out);
  return out;
}

/// The whole Hessian of each trajectory's loss with respect to its parameters, (n, P, P), column by
/// column: P products. For small P; the parameters are not shared, or the sum is returned, (1, P,
/// P). Asynchronous in exec, but that it frees its workspace.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> hessian(
    const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
    const Ensemble<States, Parameters>& ensemble, const Loss& loss) {
  using L = detail::LaneOf<F, Exec, Scalar, Width>;
  detail::check_record<Exec, L, M>("hessian", system, record, ensemble);
  detail::seed_of<F>("hessian", loss, ensemble);  // checks it
  constexpr int P = F::num_params;
  constexpr bool shared = Ensemble<States, Parameters>::shared_params;
  const int rows = shared ? 1 : record.size();
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> result(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "gradsolve::hessian"), rows, P, P);
  using Flat = std::conditional_t<shared, Kokkos::View<Scalar*, MemorySpace>,
                                  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>>;
  Flat direction;
  const std::string label = "gradsolve::hessian::direction";
  if constexpr (shared)
    direction = Flat(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), P);
  else
    direction = Flat(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), rows, P);
  HessianProduct<Scalar, MemorySpace> product;
  for (int column = 0; column < P; ++column) {
    Kokkos::deep_copy(exec, direction, Scalar(0));
    if constexpr (shared)
      Kokkos::deep_copy(exec, Kokkos::subview(direction, column), Scalar(1));
    else
      Kokkos::deep_copy(exec, Kokkos::subview(direction, Kokkos::ALL, column), Scalar(1));
    hessian_product<Width>(exec, system, record, ensemble, loss, States(), direction, product);
    Kokkos::deep_copy(exec, Kokkos::subview(result, Kokkos::ALL, Kokkos::ALL, column),
                      product.params);
  }
  return result;
}

/// What gauss_newton_product() leaves, and its workspace.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct GaussNewtonProduct {
  Tangent<Scalar, MemorySpace>
      tangent;  ///< saved: the states at the saves; saved_tangents: 2 W J v there
  Gradient<Scalar, MemorySpace> gradient;  ///< u0, params: the product
};

namespace detail {
/// 2 w times the tangents of what was observed, 0 for the rest.
template <class S, class MemorySpace>
struct WeightTangents {
  LeastSquares<S, MemorySpace> loss;
  StridedCube<S> tangents;
  int num_states;

  KOKKOS_FUNCTION void operator()(int trajectory, int save) const {
    for (int i = 0; i < num_states; ++i) {
      const S w = S(2) * loss.observation({trajectory, save}, i).weight;
      S& tangent = tangents(trajectory, save, i);
      // A weight of zero takes out a save that was not reached, too.
      tangent = w == S(0) ? S(0) : w * tangent;
    }
  }
};
}  // namespace detail

/// The Gauss-Newton product of a least-squares loss at save times, 2 J^T W J v: its Hessian without
/// the second derivatives of the states, which are multiplied by residuals. Never negative. One
/// jvp() and one vjp(). Asynchronous in exec.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class DataSpace, class TimesSpace, class DStates,
          class DParameters>
void gauss_newton_product(
    const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
    const Ensemble<States, Parameters>& ensemble,
    const LossAtSaves<LeastSquares<Scalar, DataSpace>, Scalar, TimesSpace>& loss,
    const DStates& du0, const DParameters& dparams, GaussNewtonProduct<Scalar, MemorySpace>& out) {
  detail::check_data_space<Exec, DataSpace>();
  Kokkos::Profiling::ScopedRegion region("gradsolve::gauss_newton_product");
  detail::check_data("gauss_newton_product", loss.loss, ensemble.size(), loss.times.size(),
                     F::num_states);
  jvp<Width>(exec, system, record, ensemble, loss.times, du0, dparams, out.tangent);
  const auto& tangents = out.tangent.saved_tangents;
  const Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>> saves(
      exec, {0, 0}, {static_cast<long>(tangents.extent(0)), static_cast<long>(tangents.extent(1))});
  Kokkos::parallel_for("gradsolve::gauss_newton_product::weight", saves,
                       detail::WeightTangents<Scalar, DataSpace>{
                           loss.loss, detail::strided(tangents), F::num_states});
  vjp<Width>(exec, system, record, ensemble, loss.times, tangents, out.gradient);
}

namespace detail {
/// sum over saves and components of w S_a S_b.
template <class S, class MemorySpace>
struct FisherEntry {
  LeastSquares<S, MemorySpace> loss;
  const S* s;  // (n, saves, N, C), LayoutLeft
  std::size_t n;
  int num_saves, num_states, num_columns;
  StridedCube<S> fisher;

  KOKKOS_FUNCTION S at(int trajectory, int save, int i, int column) const {
    return s[trajectory + n * (save + num_saves * (i + std::size_t(num_states) * column))];
  }
  KOKKOS_FUNCTION void operator()(int trajectory, int a, int b) const {
    if (b > a) return;
    S sum(0);
    for (int save = 0; save < num_saves; ++save)
      for (int i = 0; i < loss.num_observed; ++i) {
        const S w = loss.observation({trajectory, save}, i).weight;
        if (w != S(0)) sum += w * at(trajectory, save, i, a) * at(trajectory, save, i, b);
      }
    fisher(trajectory, a, b) = sum;
    fisher(trajectory, b, a) = sum;
  }
};
}  // namespace detail

/// The Fisher matrices of observations at save times, (n, C, C): sum_k sum_i w_ki (du_i(t_k)/dx)
/// (du_i(t_k)/dx)^T for the C variables x of the sensitivities, w = 1 / sigma^2 the weights of the
/// observations, whose missing ones count nothing. Summed over the ensemble where the
/// trajectories observe the same parameters: sum_over_ensemble(). Asynchronous in exec.
template <class Exec, class Scalar, class MemorySpace, class DataSpace>
Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> fisher(
    const Exec& exec, const Sensitivity<Scalar, MemorySpace>& sensitivity,
    const LeastSquares<Scalar, DataSpace>& observations) {
  static_assert(Kokkos::SpaceAccessibility<Exec, DataSpace>::accessible,
                "observations must be accessible from the execution space");
  const auto& s = sensitivity.saved_sensitivities;
  if (s.data() == nullptr)
    detail::refuse("fisher", "sensitivity", "one without save times",
                   "what sensitivity() leaves when it is given save times");
  const int n = static_cast<int>(s.extent(0)), C = static_cast<int>(s.extent(3));
  detail::check_data("fisher", observations, n, static_cast<int>(s.extent(1)),
                     static_cast<int>(s.extent(2)));
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> result(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "gradsolve::fisher"), n, C, C);
  const Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3>> entries(exec, {0, 0, 0}, {n, C, C});
  Kokkos::parallel_for("gradsolve::fisher", entries,
                       detail::FisherEntry<Scalar, DataSpace>{
                           observations, s.data(), s.extent(0), static_cast<int>(s.extent(1)),
                           static_cast<int>(s.extent(2)), C, detail::strided(result)});
  return result;
}

/// The sum of matrices (n, C, C) over the ensemble, (1, C * C), in a fixed order; matrices that are
/// not finite are left out.
template <class Exec, class Scalar, class MemorySpace>
Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> sum_over_ensemble(
    const Exec& exec, const Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace>& matrices) {
  const int n = static_cast<int>(matrices.extent(0));
  const int columns = static_cast<int>(matrices.extent(1) * matrices.extent(2));
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;
  const Matrix sum("gradsolve::sum_over_ensemble", 1, columns);
  const Matrix partial("gradsolve::sum_over_ensemble::partial", detail::num_partial_sums, columns);
  const Kokkos::View<int*, MemorySpace> partial_left_out("gradsolve::sum_over_ensemble::left_out",
                                                         detail::num_partial_sums);
  const Kokkos::View<int, MemorySpace> left_out("gradsolve::sum_over_ensemble::left_out");
  detail::sum_rows<Exec, Scalar, MemorySpace>(
      exec, {matrices.data(), 1, detail::stride_of(matrices, 1)}, n, columns, partial,
      partial_left_out, detail::strided(sum), left_out.data());
  exec.fence("gradsolve::sum_over_ensemble: its workspace goes");
  return sum;
}

}  // namespace gradsolve
