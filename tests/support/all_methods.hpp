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

#include <gtest/gtest.h>

#include <string>

/// Every explicit method of the library, for TYPED_TEST_SUITE(Suite, AllMethods, NameOfMethod).
using AllMethods =
    ::testing::Types<gradsolve::Euler, gradsolve::Heun, gradsolve::RK4, gradsolve::BogackiShampine3,
                     gradsolve::DormandPrince5, gradsolve::Tsit5, gradsolve::Verner7,
                     gradsolve::Verner9, gradsolve::Dop853>;

/// Every Rosenbrock method.
using RosenbrockMethods =
    ::testing::Types<gradsolve::Rosenbrock23, gradsolve::ROS3P, gradsolve::Rodas3P,
                     gradsolve::Rodas4, gradsolve::Rodas5P>;

/// Every implicit method, and those of them that differ most: each costs a stiff sweep some 20 s of
/// compilation.
using ImplicitMethods =
    ::testing::Types<gradsolve::Rosenbrock23, gradsolve::ROS3P, gradsolve::Rodas3P,
                     gradsolve::Rodas4, gradsolve::Rodas5P, gradsolve::Kvaerno5>;
using SomeImplicitMethods =
    ::testing::Types<gradsolve::Rosenbrock23, gradsolve::Rodas5P, gradsolve::Kvaerno5>;

struct NameOfMethod {
  template <class M>
  static std::string GetName(int) {
    return M::name;
  }
};
