// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/lanes/warp.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>
#include <vector>

/// Code that the threads of a warp run together, alone: on a warp of the GPU in a build for one,
/// else on threads of the host that stand in for it.
#if defined(KOKKOS_ENABLE_CUDA)

inline constexpr int warp_threads = 32;
using TestWarp = gradsolve::detail::Warp<warp_threads>;
using TestGroup = gradsolve::detail::WarpGroup<4>;

template <class Work>
struct OnWarp {
  Work work;
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, warp_threads),
                         [&](int thread) { work(thread); });
  }
};
/// Calls work(thread) on each thread of a warp.
template <class Work>
void on_warp(const Work& work) {
  Kokkos::parallel_for("on_warp", Kokkos::TeamPolicy<>(1, 1, warp_threads), OnWarp<Work>{work});
  Kokkos::fence();
}

#else

inline constexpr int warp_threads = 4;

/// As gradsolve::detail::Warp.
class TestWarp {
 public:
  static void sync() { barrier_.arrive_and_wait(); }

  template <class S>
  static S from(S x, int thread) {
    return with_all(x, [&](const auto& all) { return S(all[thread]); });
  }
  template <class S>
  static S sum(S x) {
    return with_all(x, [](const auto& all) {
      S sum(0);
      for (const double y : all) sum += S(y);
      return sum;
    });
  }
  template <class S>
  static S max(S x) {
    return with_all(x,
                    [](const auto& all) { return S(*std::max_element(all.begin(), all.end())); });
  }
  template <class S>
  static S min(S x) {
    return with_all(x,
                    [](const auto& all) { return S(*std::min_element(all.begin(), all.end())); });
  }

  static int thread() { return thread_; }

  template <class Work>
  static void run(const Work& work) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < warp_threads; ++thread)
      threads.emplace_back([&work, thread] {
        thread_ = thread;
        work(thread);
      });
    for (auto& thread : threads) thread.join();
  }

 private:
  template <class S, class Read>
  static S with_all(S x, Read&& read) {
    all_[thread_] = x;
    sync();
    const S result = read(all_);
    sync();
    return result;
  }

  static inline std::barrier<> barrier_{warp_threads};
  static inline std::array<double, warp_threads> all_;
  static inline thread_local int thread_;
};

/// As gradsolve::detail::WarpGroup.
struct TestGroup {
  static constexpr int size = warp_threads;
  static int rank() { return TestWarp::thread(); }

  template <int Count, class S>
  static void gather(const S (&own)[Count], S (&all)[size * Count]) {
    for (int k = 0; k < size * Count; ++k) all[k] = read(own, k / Count, k % Count);
  }
  template <int Count, class S>
  static void scatter(const S (&all)[size * Count], S (&parts)[size * Count]) {
    for (int rank_of_part = 0; rank_of_part < size; ++rank_of_part)
      for (int i = 0; i < Count; ++i)
        for (int reader = 0; reader < size; ++reader) {
          const S x = read(all, rank_of_part, reader * Count + i);
          if (reader == rank()) parts[rank_of_part * Count + i] = x;
        }
  }

 private:
  template <class S, int Size>
  static S read(const S (&x)[Size], int thread, int place) {
    return static_cast<S>(TestWarp::from(static_cast<double>(x[place]), thread));
  }
};

/// Calls work(thread) on each thread of a warp.
template <class Work>
void on_warp(const Work& work) {
  TestWarp::run(work);
}

#endif
