// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/check.hpp>
#include <gradsolve/detail/strided.hpp>

#include <concepts>
#include <type_traits>

namespace gradsolve {

/// n trajectories: initial states, parameters, time spans. It holds references to the caller's
/// Views; nothing is copied, and the values are read when a sweep runs.
///
///     Ensemble ensemble(u0, params, 0.0, 1.0);
///     Ensemble without_params(u0, 0.0, 1.0);
///
/// u0      (n, N) initial states. Any layout, float or double; LayoutLeft (the trajectory is the
///         fast index, as in a Tpetra::MultiVector's local view) is the fastest on a GPU.
/// params  (n, P): parameters of each trajectory; or rank 1, (P): shared by all of them.
/// t0, t1  a number for all, or a View (n). t1 < t0 integrates backward; t1 == t0 takes no step.
///
/// Throws InvalidArgument where u0 and params or times disagree in n. Synchronises nothing.
template <class States, class Parameters>
class Ensemble {
 public:
  using Scalar = typename States::non_const_value_type;
  using MemorySpace = typename States::memory_space;

  static_assert(States::rank() == 2, "the initial states are a View of rank 2: (n, N)");
  static_assert(Parameters::rank() == 2 || Parameters::rank() == 1,
                "the parameters are a View of rank 2, (n, P), or of rank 1, (P), shared");
  static_assert(std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float>,
                "states are float or double");
  static_assert(std::is_same_v<Scalar, typename Parameters::non_const_value_type>,
                "states and parameters have the same scalar type");
  /// Trajectories are numbered by an int, with room for a last slice that is not full.
  static constexpr std::size_t max_size = (std::size_t(1) << 31) - 4096;
  static constexpr bool shared_params = Parameters::rank() == 1;

  template <class T0, class T1>
  Ensemble(const States& u0, const Parameters& params, const T0& t0, const T1& t1)
      : states_(u0), params_(params), t0_(times(t0, "t0")), t1_(times(t1, "t1")) {
    if (u0.extent(0) > max_size)
      detail::refuse("Ensemble", "u0", std::to_string(u0.extent(0)) + " trajectories",
                     std::to_string(max_size) + " at most");
    if (!shared_params && params.extent(0) != u0.extent(0))
      detail::refuse("Ensemble", "params",
                     detail::shape_text(params.extent(0), shared_params ? 1 : params.extent(1)),
                     std::to_string(u0.extent(0)) + " rows, as many as u0 has");
  }

  /// Of a system without parameters.
  template <class T0, class T1>
  Ensemble(const States& u0, const T0& t0, const T1& t1)
      : Ensemble(u0, Parameters(static_cast<Scalar*>(nullptr), u0.extent(0), 0), t0, t1) {}

  /// Number of trajectories.
  int size() const { return static_cast<int>(states_.extent(0)); }
  int num_states() const { return static_cast<int>(states_.extent(1)); }
  int num_params() const { return static_cast<int>(params_.extent(shared_params ? 0 : 1)); }

  const States& states() const { return states_; }
  const Parameters& params() const { return params_; }
  detail::PerTrajectory<Scalar> t0() const { return t0_.kernel; }
  detail::PerTrajectory<Scalar> t1() const { return t1_.kernel; }

  /// The trajectories [begin, end) as an ensemble of their own, on the same memory. Throws
  /// InvalidArgument where there are none such.
  auto range(int begin, int end) const {
    detail::check_range("Ensemble::range", begin, end, size());
    const auto rows = Kokkos::make_pair(begin, end);
    const auto states = Kokkos::subview(states_, rows, Kokkos::ALL);
    const auto params = [&] {
      if constexpr (shared_params)
        return params_;
      else
        return Kokkos::subview(params_, rows, Kokkos::ALL);
    }();
    return Ensemble<std::remove_const_t<decltype(states)>, std::remove_const_t<decltype(params)>>(
        states, params, t0_.range(begin), t1_.range(begin));
  }

 private:
  template <class, class>
  friend class Ensemble;

  struct Times {
    detail::PerTrajectory<Scalar> kernel;
    Kokkos::View<const Scalar*, Kokkos::LayoutStride, MemorySpace> keep_alive;

    Times range(int begin) const {
      Times r = *this;
      if (r.kernel.data != nullptr) r.kernel.data += begin * r.kernel.stride;
      return r;
    }
  };

  template <class OtherTimes>
    requires requires(const OtherTimes t) { t.keep_alive; }
  Ensemble(const States& u0, const Parameters& params, const OtherTimes& t0, const OtherTimes& t1)
      : states_(u0),
        params_(params),
        t0_{t0.kernel, t0.keep_alive},
        t1_{t1.kernel, t1.keep_alive} {}

  template <class T>
  Times times(const T& t, const char* name) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return {{nullptr, 0, static_cast<Scalar>(t)}, {}};
    } else {
      static_assert(T::rank() == 1, "times are a number or a View of rank 1: (n)");
      if (t.extent(0) != states_.extent(0))
        detail::refuse("Ensemble", name, "a View of " + std::to_string(t.extent(0)) + " times",
                       std::to_string(states_.extent(0)) + ", as many as u0 has rows");
      return {{t.data(), t.stride(0), Scalar(0)}, t};
    }
  }

  States states_;
  Parameters params_;
  Times t0_, t1_;
};

template <class States, class T0, class T1>
Ensemble(const States&, const T0&, const T1&)
    -> Ensemble<States, Kokkos::View<typename States::non_const_value_type**, Kokkos::LayoutLeft,
                                     typename States::memory_space>>;

}  // namespace gradsolve
