// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/check_gradient_data.hpp>
#include <gradsolve/gradient.hpp>
#include <gradsolve/kernels/loss_kernel.hpp>
#include <gradsolve/replay.hpp>
#include <gradsolve/sensitivity.hpp>

#include <algorithm>
#include <cmath>

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

/// Column j of a matrix, element j of a row that all trajectories share.
template <class V>
auto column_of(const V& view, int j) {
  if constexpr (V::rank() == 2)
    return Kokkos::subview(view, Kokkos::ALL, j);
  else
    return Kokkos::subview(view, Kokkos::make_pair(j, j + 1));
}

/// The state of one check_gradient().
template <int Width, class Exec, class F, class M, class S, class MemorySpace, class States,
          class Parameters, class Loss>
class GradientChecker {
  using Matrix = Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>;
  using Numbers = Kokkos::View<S*, MemorySpace>;
  static constexpr bool shared = Ensemble<States, Parameters>::shared_params;
  static constexpr bool single_precision = std::is_same_v<S, float>;
  /// Of finite differences: the largest step, and how many. Twice as many where a variable is 0,
  /// since its size is a guess.
  static constexpr double first_step = single_precision ? 0.1 : 1e-2;
  static constexpr int num_steps = single_precision ? 5 : 8;
  /// A value or a direction for each variable.
  struct Point {
    Matrix u0;
    std::conditional_t<shared, Numbers, Matrix> params;
  };

 public:
  GradientChecker(const Exec& exec, const F& system, const Record<M, S, MemorySpace>& record,
                  const Ensemble<States, Parameters>& ensemble, const Loss& loss)
      : exec_(exec),
        system_(system),
        record_(record),
        ensemble_(ensemble),
        loss_(loss),
        direction_(new_point(ensemble)),
        down_(new_point(ensemble)),
        up_(new_point(ensemble)),
        loss_down_("gradsolve::check_gradient::loss", record.size()),
        loss_up_("gradsolve::check_gradient::loss", record.size()),
        difference_("gradsolve::check_gradient::difference", record.size()),
        rounding_("gradsolve::check_gradient::difference", record.size()) {
    for (const Point& point : {down_, up_}) {
      Kokkos::deep_copy(exec, point.u0, ensemble.states());
      Kokkos::deep_copy(exec, point.params, ensemble.params());
    }
  }

  GradientCheck run() {
    const auto adjoint = gradient<Width>(exec_, system_, record_, ensemble_, loss_);
    const std::vector<double> loss = on_host(adjoint.loss);
    const auto status = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), record_.status);
    GradientCheck check;
    check.single_precision = single_precision;
    std::vector<bool> checked;
    for (int i = 0; i < record_.size(); ++i) {
      checked.push_back(status(i) == Status::success && std::isfinite(loss[i]));
      check.num_checked += checked.back();
    }
    for (int i = 0; i < num_given_states_v<F>; ++i)
      add_variable(check, variable("u0", &Point::u0, ensemble_.states(), adjoint.u0, i, -1),
                   checked, loss);
    for (int j = 0; j < F::num_params; ++j)
      add_variable(check,
                   variable("params", &Point::params, ensemble_.params(), adjoint.params, j, j),
                   checked, loss);
    return check;
  }

 private:
  static Point new_point(const Ensemble<States, Parameters>& e) {
    const std::string label = "gradsolve::check_gradient::point";
    Point point;
    point.u0 = Matrix(label, e.size(), e.num_states());
    if constexpr (shared)
      point.params = Numbers(label, e.num_params());
    else
      point.params = Matrix(label, e.size(), e.num_params());
    return point;
  }

  template <class V>
  std::vector<double> on_host(const V& view) const {
    const Kokkos::View<typename V::non_const_value_type*, MemorySpace> packed(
        "gradsolve::check_gradient::packed", view.extent(0));
    Kokkos::deep_copy(exec_, packed, view);
    exec_.fence("gradsolve::check_gradient");
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
    return std::vector<double>(host.data(), host.data() + host.extent(0));
  }

  /// Column j of the given values, and the derivatives by it. parameter: which one it is, or -1.
  template <class V, class Given>
  CheckedVariable variable(const std::string& name, V Point::* values, const Given& given,
                           const Matrix& adjoint, int j, int parameter) {
    CheckedVariable x;
    x.name = name + "[" + std::to_string(j) + "]";
    x.value = on_host(column_of(given, j));
    x.adjoint = on_host(column_of(adjoint, j));
    x.tangent = tangents(values, j, parameter);
    const bool any_zero = std::find(x.value.begin(), x.value.end(), 0.0) != x.value.end();
    double step = first_step;
    for (int level = 0; level < (any_zero ? 2 : 1) * num_steps; ++level, step /= step_ratio)
      add_differences(x, values, given, j, step);
    move(values, given, j, 0);
    return x;
  }

  /// d loss / d variable of each trajectory, by duals.
  template <class V>
  std::vector<double> tangents(V Point::* values, int j, int parameter) {
    const auto column = column_of(direction_.*values, j);
    Kokkos::deep_copy(exec_, column, S(1));
    const auto& d = direction_;
    StridedCube<const S> states, slopes;
    if constexpr (Terms::at_saves) {
      jvp<Width>(exec_, system_, record_, ensemble_, loss_.times, d.u0, d.params, tangent_);
      states = as_saves(tangent_.saved);
      slopes = as_saves(tangent_.saved_tangents);
    } else {
      jvp<Width>(exec_, system_, record_, ensemble_, d.u0, d.params, tangent_);
      states = as_saves(tangent_.states);
      slopes = as_saves(tangent_.tangents);
    }
    Kokkos::deep_copy(exec_, column, S(0));
    loss_tangents<F>(exec_, loss_, ensemble_, states, slopes, parameter, loss_up_.data());
    return on_host(loss_up_);
  }

  /// Central differences of the loss of each trajectory, and their rounding errors.
  template <class V, class Given>
  void add_differences(CheckedVariable& x, V Point::* values, const Given& given, int j,
                       double step) {
    move(values, given, j, step);
    replay_losses(down_, loss_down_);
    replay_losses(up_, loss_up_);
    Kokkos::parallel_for(
        "gradsolve::check_gradient::difference",
        Kokkos::RangePolicy<Exec>(exec_, 0, record_.size()),
        CentralDifference<S>{loss_down_.data(), loss_up_.data(), strided_const(down_.*values),
                             strided_const(up_.*values), j, difference_.data(), rounding_.data()});
    x.differences.push_back(on_host(difference_));
    x.rounding.push_back(on_host(rounding_));
  }

  template <class V, class Given>
  void move(V Point::* values, const Given& given, int j, double step) {
    Kokkos::parallel_for(
        "gradsolve::check_gradient::move",
        Kokkos::RangePolicy<Exec>(exec_, 0, given.rank() == 2 ? record_.size() : 1),
        MoveColumn<S>{strided_const(given), strided(down_.*values), strided(up_.*values), j,
                      static_cast<int>(given.extent(given.rank() - 1)), static_cast<S>(step)});
  }

  void replay_losses(const Point& point, const Numbers& result) {
    const auto moved = on_spans_of(ensemble_, point.u0, point.params);
    StridedCube<const S> states;
    if constexpr (Terms::at_saves) {
      replay<Width>(exec_, system_, record_, moved, loss_.times, replay_);
      states = as_saves(replay_.saved);
    } else {
      replay<Width>(exec_, system_, record_, moved, replay_);
      states = as_saves(replay_.states);
    }
    losses<F>(exec_, loss_, moved, states, result.data());
  }

  using Terms = decltype(terms_of(std::declval<const Loss&>(),
                                  std::declval<const Ensemble<States, Parameters>&>()));
  const Exec& exec_;
  const F& system_;
  const Record<M, S, MemorySpace>& record_;
  const Ensemble<States, Parameters>& ensemble_;
  const Loss& loss_;
  Point direction_, down_, up_;
  Numbers loss_down_, loss_up_;
  Kokkos::View<double*, MemorySpace> difference_, rounding_;
  Tangent<S, MemorySpace> tangent_;
  Replay<S, MemorySpace> replay_;
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
/// Synchronises exec. Throws InvalidArgument as gradient() does.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
GradientCheck check_gradient(const Exec& exec, const F& system,
                             const Record<M, Scalar, MemorySpace>& record,
                             const Ensemble<States, Parameters>& ensemble, const Loss& loss) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::check_gradient");
  return detail::GradientChecker<Width, Exec, F, M, Scalar, MemorySpace, States, Parameters, Loss>(
             exec, system, record, ensemble, loss)
      .run();
}

}  // namespace gradsolve
