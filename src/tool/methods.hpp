// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/methods/bogacki_shampine3.hpp>
#include <gradsolve/methods/dop853.hpp>
#include <gradsolve/methods/dormand_prince5.hpp>
#include <gradsolve/methods/euler.hpp>
#include <gradsolve/methods/heun.hpp>
#include <gradsolve/methods/rk4.hpp>
#include <gradsolve/methods/tsit5.hpp>
#include <gradsolve/methods/verner7.hpp>
#include <gradsolve/methods/verner9.hpp>

namespace gradsolve::tool {

template <class... Ms>
struct MethodList {
  /// Calls visit(method) for each.
  template <class Visit>
  static void for_each(Visit&& visit) {
    (visit(Ms{}), ...);
  }
};

/// Every method that the tool offers, by rising order.
using Methods =
    MethodList<Euler, Heun, RK4, BogackiShampine3, DormandPrince5, Tsit5, Verner7, Dop853, Verner9>;

/// Those offered with save times, least squares, the forward mode and Hessian products. Each would
/// cost half a minute of compilation for every system.
using ObservedMethods = MethodList<Tsit5>;

/// Those offered in float: what its seven digits are worth.
using FloatMethods = MethodList<DormandPrince5, Tsit5>;

}  // namespace gradsolve::tool
