// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/check_gradient_data.hpp>
#include <gradsolve/gradient.hpp>
#include <gradsolve/kernels/loss_kernel.hpp>
#include <gradsolve/replay.hpp>
#include <gradsolve/sensitivity.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace gradsolve {

namespace detail {

/// An ensemble of other values on the time spans of a given one.
template <class States, class Parameters, class U, class P>
Ensemble<U, P> on_spans_of(const Ensemble<States, Parameters>& ensemble, const U& u0,
                           const P& params) {
  using S = typename U::non_const_value_type;
  auto view = [&](const PerTrajectory<S>& t) {
    return Kokkos::View<const S*, Kokkos::LayoutStride, typename U::memory_space>(
        t.data, Kokkos::LayoutStride(ensemble.size(), t.stride));
  };
  const PerTrajectory<S> t0 = ensemble.t0(), t1 = ensemble.t1();
  if (t0.data != nullptr && t1.data != nullptr) return {u0, params, view(t0), view(t1)};
  if (t0.data != nullptr) return {u0, params, view(t0), t1.value};
  if (t1.data != nullptr) return {u0, params, t0.value, view(t1)};
  return {u0, params, t0.value, t1.value};
}

/// Moves a column by -h and +h, h = step * |x|. An x of 0 has no size: the largest number of its
/// row lends it one.
template <class S>
struct MoveColumn {
  StridedMatrix<const S> from;
  StridedMatrix<S> down, up;
  int column, columns;
  S step;

  KOKKOS_FUNCTION void operator()(int row) const {
    const S x = from(row, column), h = step * size(row);
    down(row, column) = x - h;
    up(row, column) = x + h;
  }
  KOKKOS_FUNCTION S size(int row) const {
    S largest = Kokkos::abs(from(row, column));
    if (largest > S(0)) return largest;
    for (int j = 0; j < columns; ++j) largest = Kokkos::max(largest, Kokkos::abs(from(row, j)));
    return largest > S(0) ? largest : S(1);
  }
};
template <class S>
struct CentralDifference {
  const S *loss_down, *loss_up;
  StridedMatrix<const S> down, up;
  int column;
  double *result, *rounding;

  KOKKOS_FUNCTION void operator()(int i) const {
    const double a = loss_down[i], b = loss_up[i], width = up(i, column) - down(i, column);
    result[i] = (b - a) / width;
    rounding[i] = Kokkos::Experimental::epsilon_v<S> * Kokkos::max(Kokkos::abs(a), Kokkos::abs(b)) /
                  Kokkos::abs(width);
  }
};

/// A value or a direction for each variable: (n, N), and (n, P) or (1, P) where they are shared.
template <class S, class MemorySpace>
struct CheckPoint {
  using Matrix = Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>;
  Matrix u0, params;
};

/// The ensemble at a point.
template <class States, class Parameters, class S, class MemorySpace>
auto ensemble_at(const Ensemble<States, Parameters>& ensemble,
                 const CheckPoint<S, MemorySpace>& point) {
  if constexpr (Ensemble<States, Parameters>::shared_params)
    return on_spans_of(ensemble, point.u0, Kokkos::subview(point.params, 0, Kokkos::ALL));
  else
    return on_spans_of(ensemble, point.u0, point.params);
}

/// What check_gradient() does with any system: it knows one by its two sweeps, so that a system
/// and a method compile nothing here.
template <class Exec, class S>
class GradientChecker {
 public:
  using MemorySpace = typename Exec::memory_space;
  using Point = CheckPoint<S, MemorySpace>;
  using Matrix = typename Point::Matrix;
  using Numbers = Kokkos::View<S*, MemorySpace>;
  struct Sweeps {
    /// The loss of each trajectory at a point, by a replay.
    std::function<void(const Point&, const Numbers&)> losses;
    /// Its derivative in a direction, by duals. parameter: that of the direction; -1: none.
    std::function<void(const Point&, int parameter, const Numbers&)> tangents;
  };

  template <class States, class Parameters>
  GradientChecker(const Exec& exec, const Ensemble<States, Parameters>& ensemble,
                  const Sweeps& sweeps)
      : exec_(exec),
        sweeps_(sweeps),
        given_(point_of(ensemble)),
        down_(point_of(ensemble)),
        up_(point_of(ensemble)),
        direction_(point_of(ensemble)),
        loss_down_("gradsolve::check_gradient::loss", ensemble.size()),
        loss_up_("gradsolve::check_gradient::loss", ensemble.size()),
        difference_("gradsolve::check_gradient::difference", ensemble.size()),
        rounding_("gradsolve::check_gradient::difference", ensemble.size()) {
    Kokkos::deep_copy(exec, direction_.u0, S(0));
    Kokkos::deep_copy(exec, direction_.params, S(0));
  }

  /// Of num_states initial states and num_params parameters.
  GradientCheck run(const Gradient<S, MemorySpace>& adjoint,
                    const Kokkos::View<const Status*, MemorySpace>& status, int num_states,
                    int num_params) {
    const std::vector<double> loss = on_host(adjoint.loss);
    const auto ended = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), status);
    GradientCheck check;
    check.single_precision = single_precision;
    std::vector<bool> checked;
    for (std::size_t i = 0; i < loss.size(); ++i) {
      checked.push_back(ended(i) == Status::success && std::isfinite(loss[i]));
      check.num_checked += checked.back();
    }
    for (int i = 0; i < num_states; ++i)
      add_variable(check, variable("u0", &Point::u0, adjoint.u0, i, -1), checked, loss);
    for (int j = 0; j < num_params; ++j)
      add_variable(check, variable("params", &Point::params, adjoint.params, j, j), checked, loss);
    return check;
  }

 private:
  static constexpr bool single_precision = std::is_same_v<S, float>;
  /// Of finite differences: the largest step, and how many. Twice as many where a variable is 0,
  /// since its size is a guess.
  static constexpr double first_step = single_precision ? 0.1 : 1e-2;
  static constexpr int num_steps = single_precision ? 5 : 8;

  template <class States, class Parameters>
  Point point_of(const Ensemble<States, Parameters>& e) const {
    const std::string label = "gradsolve::check_gradient::point";
    constexpr bool shared = Ensemble<States, Parameters>::shared_params;
    const Point point{Matrix(label, e.size(), e.num_states()),
                      Matrix(label, shared ? 1 : e.size(), e.num_params())};
    Kokkos::deep_copy(exec_, point.u0, e.states());
    if constexpr (shared)
      Kokkos::deep_copy(exec_, Kokkos::subview(point.params, 0, Kokkos::ALL), e.params());
    else
      Kokkos::deep_copy(exec_, point.params, e.params());
    return point;
  }

  template <class Number>
  std::vector<double> on_host(const Kokkos::View<Number*, MemorySpace>& view) const {
    exec_.fence("gradsolve::check_gradient");
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    return std::vector<double>(host.data(), host.data() + host.extent(0));
  }
  std::vector<double> on_host(const Matrix& matrix, int column) const {
    const Numbers packed("gradsolve::check_gradient::packed", matrix.extent(0));
    Kokkos::deep_copy(exec_, packed, Kokkos::subview(matrix, Kokkos::ALL, column));
    return on_host(packed);
  }

  /// Column j of the given values, and the derivatives by it. parameter: which one it is, or -1.
  CheckedVariable variable(const std::string& name, Matrix Point::* values, const Matrix& adjoint,
                           int j, int parameter) {
    CheckedVariable x;
    x.name = name + "[" + std::to_string(j) + "]";
    x.value = on_host(given_.*values, j);
    x.adjoint = on_host(adjoint, j);
    x.tangent = tangents(values, j, parameter);
    const bool any_zero = std::find(x.value.begin(), x.value.end(), 0.0) != x.value.end();
    double step = first_step;
    for (int level = 0; level < (any_zero ? 2 : 1) * num_steps; ++level, step /= step_ratio)
      add_differences(x, values, j, step);
    move(values, j, 0);
    return x;
  }

  std::vector<double> tangents(Matrix Point::* values, int j, int parameter) {
    const auto column = Kokkos::subview(direction_.*values, Kokkos::ALL, j);
    Kokkos::deep_copy(exec_, column, S(1));
    sweeps_.tangents(direction_, parameter, loss_up_);
    Kokkos::deep_copy(exec_, column, S(0));
    return on_host(loss_up_);
  }

  /// Central differences of the loss of each trajectory, and their rounding errors.
  void add_differences(CheckedVariable& x, Matrix Point::* values, int j, double step) {
    move(values, j, step);
    sweeps_.losses(down_, loss_down_);
    sweeps_.losses(up_, loss_up_);
    Kokkos::parallel_for(
        "gradsolve::check_gradient::difference",
        Kokkos::RangePolicy<Exec>(exec_, 0, loss_up_.extent(0)),
        CentralDifference<S>{loss_down_.data(), loss_up_.data(), as_rows(down_.*values),
                             as_rows(up_.*values), j, difference_.data(), rounding_.data()});
    x.differences.push_back(on_host(difference_));
    x.rounding.push_back(on_host(rounding_));
  }

  void move(Matrix Point::* values, int j, double step) {
    const Matrix& from = given_.*values;
    Kokkos::parallel_for(
        "gradsolve::check_gradient::move", Kokkos::RangePolicy<Exec>(exec_, 0, from.extent(0)),
        MoveColumn<S>{strided_const(from), strided(down_.*values), strided(up_.*values), j,
                      static_cast<int>(from.extent(1)), static_cast<S>(step)});
  }

  /// A row that is shared, for every trajectory.
  StridedMatrix<const S> as_rows(const Matrix& m) const {
    StridedMatrix<const S> rows = strided_const(m);
    if (m.extent(0) == 1) rows.stride0 = 0;
    return rows;
  }

  const Exec& exec_;
  const Sweeps& sweeps_;
  Point given_, down_, up_, direction_;
  Numbers loss_down_, loss_up_;
  Kokkos::View<double*, MemorySpace> difference_, rounding_;
};

}  // namespace detail

/// Compares three values of every derivative of the loss that gradient() gives: the adjoint, the
/// tangent (duals through the replay and the loss), and the finite difference of the replay
/// (central, extrapolated). For tests, above all of a vjp or a jacobian that was written by hand:
/// the tangents know nothing of a vjp, and finite differences nothing of either.
///
///     const auto check = gradsolve::check_gradient(exec, Lorenz{}, record, ensemble,
///     SquaredNorm{}); if (!check.passed()) std::cerr << check.report();
///
/// loss: as for gradient(). Trajectories whose status is not success or whose loss is not finite
/// are left out. Not at a minimum of the loss, nor at a kink: there nothing agrees with a
/// derivative. Costs 17 replays for every initial state and parameter, 33 where one is 0.
/// Derivatives in the weights of a system are not among them. Synchronises exec. Throws
/// InvalidArgument as gradient() does.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
GradientCheck check_gradient(const Exec& exec, const F& system,
                             const Record<M, Scalar, MemorySpace>& record,
                             const Ensemble<States, Parameters>& ensemble, const Loss& loss) {
  using namespace detail;
  using Checker = GradientChecker<Exec, Scalar>;
  using Point = typename Checker::Point;
  using Numbers = typename Checker::Numbers;
  constexpr bool at_saves = decltype(terms_of(loss, ensemble))::at_saves;
  Kokkos::Profiling::ScopedRegion region("gradsolve::check_gradient");
  const auto adjoint = gradient<Width>(exec, system, record, ensemble, loss);

  Replay<Scalar, MemorySpace> replayed;
  auto losses_at = [&](const Point& point, const Numbers& result) {
    const auto moved = ensemble_at(ensemble, point);
    if constexpr (at_saves) {
      replay<Width>(exec, system, record, moved, loss.times, replayed);
      losses<F>(exec, loss, moved, as_saves(replayed.saved), result.data());
    } else {
      replay<Width>(exec, system, record, moved, replayed);
      losses<F>(exec, loss, moved, as_saves(replayed.states), result.data());
    }
  };
  Tangent<Scalar, MemorySpace> tangent;
  auto tangents_in = [&](const Point& direction, int parameter, const Numbers& result) {
    const auto along = ensemble_at(ensemble, direction);
    if constexpr (at_saves) {
      jvp<Width>(exec, system, record, ensemble, loss.times, along.states(), along.params(),
                 tangent);
      loss_tangents<F>(exec, loss, ensemble, as_saves(tangent.saved),
                       as_saves(tangent.saved_tangents), parameter, result.data());
    } else {
      jvp<Width>(exec, system, record, ensemble, along.states(), along.params(), tangent);
      loss_tangents<F>(exec, loss, ensemble, as_saves(tangent.states), as_saves(tangent.tangents),
                       parameter, result.data());
    }
  };
  const typename Checker::Sweeps sweeps{losses_at, tangents_in};
  return Checker(exec, ensemble, sweeps)
      .run(adjoint, record.status, num_given_states_v<F>, F::num_params);
}

}  // namespace gradsolve
