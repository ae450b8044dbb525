// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/methods/bogacki_shampine3.hpp>
#include <gradsolve/methods/dop853.hpp>
#include <gradsolve/methods/dormand_prince5.hpp>
#include <gradsolve/methods/euler.hpp>
#include <gradsolve/methods/heun.hpp>
#include <gradsolve/methods/kvaerno5.hpp>
#include <gradsolve/methods/rk4.hpp>
#include <gradsolve/methods/rodas3p.hpp>
#include <gradsolve/methods/rodas4.hpp>
#include <gradsolve/methods/rodas5p.hpp>
#include <gradsolve/methods/ros3p.hpp>
#include <gradsolve/methods/rosenbrock23.hpp>
#include <gradsolve/methods/tsit5.hpp>
#include <gradsolve/methods/verner7.hpp>
#include <gradsolve/methods/verner9.hpp>

#include <string_view>
#include <vector>

namespace gradsolve::tool {

template <class... Ms>
struct MethodList {
  /// Calls visit(method) for each.
  template <class Visit>
  static void for_each(Visit&& visit) {
    (visit(Ms{}), ...);
  }
};

/// Every method that the tool knows, by family and rising order.
using Methods =
    MethodList<Euler, Heun, RK4, BogackiShampine3, DormandPrince5, Tsit5, Verner7, Dop853, Verner9,
               Rosenbrock23, ROS3P, Rodas3P, Rodas4, Rodas5P, Kvaerno5>;

// What a system is offered with. Each method costs it seconds of compilation, and each of those
// with save times, least squares, the forward mode and Hessian products half a minute: one nonstiff
// and one stiff system have many methods, the others what one would take. The first one is the
// default.
struct EveryNonstiff {
  using Methods = MethodList<Tsit5, Euler, Heun, RK4, BogackiShampine3, DormandPrince5, Verner7,
                             Dop853, Verner9>;
  using FloatMethods = MethodList<DormandPrince5, Tsit5>;  // what its seven digits are worth
};
struct EveryStiff {
  using Methods = MethodList<Rodas5P, Kvaerno5, Rosenbrock23, Tsit5>;
  using FloatMethods = MethodList<Rodas5P>;
};
struct Nonstiff {
  using Methods = MethodList<Tsit5, Verner7>;
  using FloatMethods = MethodList<Tsit5>;
};
struct Stiff {
  using Methods = MethodList<Rodas5P, Tsit5>;
  using FloatMethods = MethodList<>;
};
/// One whose kernels take minutes to compile.
struct LargeStiff {
  using Methods = MethodList<Rodas5P>;
  using FloatMethods = MethodList<>;
};
/// The right-hand sides of examples/, the method first that is the fastest there
/// (docs/applications.md).
struct Application {
  using Methods = MethodList<Verner7, Tsit5>;
  using FloatMethods = MethodList<>;
};
/// One whose kernels take minutes to compile for Verner9, the fastest of the example.
struct LargeApplication {
  using Methods = MethodList<Verner7>;
  using FloatMethods = MethodList<>;
};
using ObservedMethods = MethodList<Tsit5>;

template <class List>
std::vector<std::string_view> names_of(List) {
  std::vector<std::string_view> names;
  List::for_each([&](auto method) { names.push_back(method.name); });
  return names;
}

}  // namespace gradsolve::tool
