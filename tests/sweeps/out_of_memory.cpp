// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that runs out at every allocation of a sweep in turn: what is left is as it was, refused
// or taken anew, and the sweep goes through once there is memory again.
#include <gradsolve/gradsolve.hpp>

#include <cstdlib>
#include <limits>
#include <new>
#include <support/ensembles.hpp>
#include <support/systems.hpp>

namespace {
constexpr int many = std::numeric_limits<int>::max();
// Of Kokkos on the host: so many allocations are served, then so many fail.
int served = many, failing = 0;

bool memory_is_left() {
  if (served > 0) {
    served -= served != many;
    return true;
  }
  if (failing == 0) return true;
  failing -= failing != many;
  return false;
}
}  // namespace

// What Kokkos::HostSpace allocates by.
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (!memory_is_left()) return nullptr;
  const auto step = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace gradsolve::test {
namespace {

/// Calls sweep() with memory for none, one, two ... allocations, until it is enough; checks after
/// each failure. Returns the number of failures.
template <class Prepare, class Sweep, class Check>
int run_out_of_memory(Prepare&& prepare, Sweep&& sweep, Check&& check) {
  for (int memory = 0;; ++memory) {
    prepare();
    served = memory;
    failing = many;
    bool failed = false;
    try {
      sweep();
    } catch (const InvalidArgument&) {
      ADD_FAILURE() << "an argument is blamed";
    } catch (const std::exception&) {
      failed = true;
    }
    served = many;
    failing = 0;
    if (!failed) return memory;
    check();
  }
}

class OutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<Memory, Kokkos::HostSpace>) GTEST_SKIP() << "memory of the host alone";
  }

  const Exec exec;
  const LotkaVolterra system{};
  const Inputs<double> large_inputs = lotka_volterra(300), small_inputs = lotka_volterra(150);
  const Ensemble<MatrixOf<double>, MatrixOf<double>> large = large_inputs.ensemble(0.0, 1.0),
                                                     small = small_inputs.ensemble(0.0, 3.0);
};

TEST_F(OutOfMemory, ARecordIsWholeOrRefused) {
  const auto expected = record(exec, system, Tsit5{}, small);
  const auto gradient_of_small = gradient(exec, system, expected, small, SquaredNorm{});
  Record<Tsit5> out;
  const int failures = run_out_of_memory(
      [&] { out = record(exec, system, Tsit5{}, large, {.keep_states = true}); },
      [&] { record(exec, system, Tsit5{}, small, {.keep_states = true}, out); },
      [&] {
        for (const auto& ensemble : {large, small})
          EXPECT_THROW(gradient(exec, system, out, ensemble, SquaredNorm{}), InvalidArgument);
        record(exec, system, Tsit5{}, small, {}, out);
        EXPECT_TRUE(same_bits_everywhere(out.states, expected.states));
        const auto again = gradient(exec, system, out, small, SquaredNorm{});
        EXPECT_TRUE(same_bits_everywhere(again.u0, gradient_of_small.u0));
      });
  EXPECT_GT(failures, 8);
}

TEST_F(OutOfMemory, ASolveGoesThroughTheNextTime) {
  const auto expected = solve(exec, system, Tsit5{}, small);
  Solved<> out;
  const int failures =
      run_out_of_memory([&] { out = solve(exec, system, Tsit5{}, large); },
                        [&] { solve(exec, system, Tsit5{}, small, {}, out); },
                        [&] {
                          solve(exec, system, Tsit5{}, small, {}, out);
                          EXPECT_TRUE(same_bits_everywhere(out.states, expected.states));
                        });
  EXPECT_GT(failures, 3);
}

TEST_F(OutOfMemory, GradientsAndSensitivitiesGoThroughTheNextTime) {
  const auto recorded_large = record(exec, system, Tsit5{}, large);
  const auto recorded = record(exec, system, Tsit5{}, small);
  const auto expected = gradient(exec, system, recorded, small, SquaredNorm{});
  Gradient<> out;
  int failures =
      run_out_of_memory([&] { out = gradient(exec, system, recorded_large, large, SquaredNorm{}); },
                        [&] { gradient(exec, system, recorded, small, SquaredNorm{}, out); },
                        [&] {
                          gradient(exec, system, recorded, small, SquaredNorm{}, out);
                          EXPECT_TRUE(same_bits_everywhere(out.u0, expected.u0));
                          EXPECT_TRUE(same_bits_everywhere(out.params, expected.params));
                        });
  EXPECT_GT(failures, 3);

  const auto all = sensitivity(exec, system, recorded, small);
  Sensitivity<> forward;
  failures = run_out_of_memory(
      [&] { forward = sensitivity(exec, system, recorded_large, large); },
      [&] { sensitivity(exec, system, recorded, small, {.params = {1}}, forward); },
      [&] {
        sensitivity(exec, system, recorded, small, {}, forward);
        EXPECT_TRUE(same_bits_everywhere(forward.sensitivities, all.sensitivities));
      });
  EXPECT_GT(failures, 1);
}

/// A buffer for the states that memory has no room for becomes smaller, with the same bits, and
/// the next gradient does not ask for more.
TEST_F(OutOfMemory, AGradientKeepsFewerStates) {
  const auto recorded = record(exec, system, Tsit5{}, small);
  const auto expected = gradient(exec, system, recorded, small, SquaredNorm{});
  auto out = gradient(exec, system, recorded, small, SquaredNorm{});
  out.workspace.buffer = {};
  served = 0;
  failing = 1;
  gradient(exec, system, recorded, small, SquaredNorm{}, out);
  EXPECT_EQ(failing, 0);
  EXPECT_LE(2 * out.workspace.buffer.extent(0), expected.workspace.buffer.extent(0));
  EXPECT_TRUE(same_bits_everywhere(out.u0, expected.u0));
  const auto* const buffer = out.workspace.buffer.data();
  gradient(exec, system, recorded, small, SquaredNorm{}, out);
  EXPECT_EQ(out.workspace.buffer.data(), buffer);
}

TEST_F(OutOfMemory, ChunksBecomeSmaller_AndStaySo) {
  const auto recorded = record(exec, system, Tsit5{}, large);
  const auto expected = gradient(exec, system, recorded, large, SquaredNorm{});
  ChunkedGradient<> out;
  const auto in_chunks = [&] {
    record_and_gradient_in_chunks(exec, system, Tsit5{}, large, {}, SquaredNorm{}, out);
  };
  in_chunks();
  EXPECT_EQ(out.num_chunks, 1);
  served = 4;  // in the record of the first chunk
  failing = 1;
  in_chunks();
  EXPECT_EQ(out.num_chunks, 2);
  EXPECT_TRUE(same_bits_everywhere(out.u0, expected.u0));
}

}  // namespace
}  // namespace gradsolve::test
