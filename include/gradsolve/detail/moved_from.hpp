// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

namespace gradsolve::detail {

/// A member of every result: whether it was moved from. Its Views point to another's memory then (a
/// Kokkos::View that was moved from keeps its pointer), and the next sweep into it starts anew.
class MovedFrom {
 public:
  MovedFrom() = default;
  MovedFrom(const MovedFrom&) = default;
  MovedFrom& operator=(const MovedFrom&) = default;
  MovedFrom(MovedFrom&& other) noexcept : value_(std::exchange(other.value_, true)) {}
  MovedFrom& operator=(MovedFrom&& other) noexcept {
    value_ = std::exchange(other.value_, true);
    return *this;
  }
  explicit operator bool() const { return value_; }

 private:
  bool value_ = false;
};

template <class Result>
void renew_if_moved_from(Result& out) {
  if (out.moved_from) out = Result{};
}

}  // namespace gradsolve::detail
