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

#include <gtest/gtest.h>

#include <string>

/// Every method of the library, for TYPED_TEST_SUITE(Suite, AllMethods, NameOfMethod).
using AllMethods =
    ::testing::Types<gradsolve::Euler, gradsolve::Heun, gradsolve::RK4, gradsolve::BogackiShampine3,
                     gradsolve::DormandPrince5, gradsolve::Tsit5, gradsolve::Verner7,
                     gradsolve::Verner9, gradsolve::Dop853>;

struct NameOfMethod {
  template <class M>
  static std::string GetName(int) {
    return M::name;
  }
};
