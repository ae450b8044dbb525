// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// What a profiler sees: every kernel and every allocation carries our name, and in steady state
/// sweeps allocate nothing and wait for nothing but their own execution space instance.
namespace gradsolve::test {
namespace {

namespace tools = Kokkos::Tools::Experimental;

struct Kernel {
  std::string name;
  std::uint32_t device;
};
std::vector<Kernel> kernels;
std::vector<std::string> allocations, fences, copies, regions;
std::vector<std::uint32_t> fence_devices;

void see_kernel(const char* name, std::uint32_t device, std::uint64_t*) {
  kernels.push_back({name, device});
}

/// Notes what happens while it lives.
class Watch {
 public:
  Watch() {
    kernels.clear();
    allocations.clear();
    fences.clear();
    fence_devices.clear();
    copies.clear();
    regions.clear();
    tools::set_begin_parallel_for_callback(see_kernel);
    tools::set_begin_parallel_reduce_callback(see_kernel);
    tools::set_begin_parallel_scan_callback(see_kernel);
    tools::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t) {
          // A pool of CUDA's, filled launch by launch.
          if (std::string(label) != "Kokkos::CudaSpace::TeamScratchMemory")
            allocations.push_back(label);
        });
    tools::set_begin_fence_callback([](const char* name, std::uint32_t device, std::uint64_t*) {
      if (std::string(name).rfind("Kokkos::Tools::", 0) == 0) return;  // on behalf of a tool: us
      fences.push_back(name);
      fence_devices.push_back(device);
    });
    tools::set_begin_deep_copy_callback([](Kokkos_Profiling_SpaceHandle, const char* to,
                                           const void*, Kokkos_Profiling_SpaceHandle, const char*,
                                           const void*, std::uint64_t) { copies.push_back(to); });
    tools::set_push_region_callback([](const char* name) { regions.push_back(name); });
  }
  ~Watch() { stop(); }

  void stop() {
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
    tools::set_allocate_data_callback(nullptr);
    tools::set_begin_fence_callback(nullptr);
    tools::set_begin_deep_copy_callback(nullptr);
    tools::set_push_region_callback(nullptr);
  }
};

/// A fence of this instance: not of its device, of all devices or of a copy.
bool is_fence_of(const Exec& exec, std::uint32_t device) {
  const std::uint32_t everything = tools::int_for_synchronization_reason(
      tools::SpecialSynchronizationCases::GlobalDeviceSynchronization);
  return device == tools::device_id(exec) &&
         tools::identifier_from_devid(device).instance_id != everything;
}

/// Ours; what Kokkos does for one of our Views; or the scratch memory of an execution space.
bool is_ours(const std::string& label) {
  static const std::regex ours(
      "gradsolve::.+|Kokkos::View::\\w+ \\[gradsolve::.+\\].*|Kokkos::[\\w:]*[sS]cratch\\w*");
  return std::regex_match(label, ours);
}

constexpr int n = 300;
const Options tight{.rtol = 1e-6, .atol = 1e-8};

struct Sweeps {
  Inputs<double> inputs = lotka_volterra(n);
  ColumnOf<double> shared = column<double>({1.5, 1.0, 3.0, 1.0});
  MatrixOf<double> w = matrix<double>(n, 2, [](int, int) { return 1.0; });
  Record<Tsit5, double, Memory> recorded;
  Replay<double, Memory> replayed;
  Gradient<double, Memory> slopes, sums, pulled;
  Tangent<double, Memory> tangent;

  void record_again(const Exec& exec) {
    record(exec, LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 3.0), tight, recorded);
  }
  void others_again(const Exec& exec) {
    const auto ensemble = inputs.ensemble(0.0, 3.0);
    replay(exec, LotkaVolterra{}, recorded, ensemble, replayed);
    replay_with_error_ratio(exec, LotkaVolterra{}, recorded, ensemble, replayed);
    gradient(exec, LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, slopes);
    gradient(exec, LotkaVolterra{}, recorded, Ensemble(inputs.u0, shared, 0.0, 3.0), SquaredNorm{},
             sums);
    vjp(exec, LotkaVolterra{}, recorded, ensemble, w, pulled);
    jvp(exec, LotkaVolterra{}, recorded, ensemble, w, MatrixOf<double>(), tangent);
  }
};

TEST(Tools, EveryKernelAndAllocationCarriesOurName) {
  Sweeps sweeps;
  Exec().fence();
  Watch watch;
  sweeps.record_again(Exec());
  sweeps.others_again(Exec());
  count_status(Exec(), sweeps.recorded);
  watch.stop();
  EXPECT_GE(kernels.size(), 10u);
  EXPECT_GE(allocations.size(), 10u);
  EXPECT_GE(regions.size(), 6u);
  for (const auto& kernel : kernels) EXPECT_TRUE(is_ours(kernel.name)) << kernel.name;
  for (const auto& label : allocations) EXPECT_TRUE(is_ours(label)) << label;
  for (const auto& region : regions) EXPECT_TRUE(is_ours(region)) << region;
}

TEST(Tools, EveryKernelRunsOnTheInstanceThatWasGiven) {
  Sweeps sweeps;
  const auto parts = Kokkos::Experimental::partition_space(Exec(), 1, 1);
  const Exec exec = parts[1];
  exec.fence();
  Watch watch;
  sweeps.record_again(exec);
  sweeps.others_again(exec);
  watch.stop();
  const std::uint32_t expected = tools::device_id(exec);
  for (const auto& kernel : kernels) EXPECT_EQ(kernel.device, expected) << kernel.name;
  exec.fence();
}

TEST(Tools, InSteadyStateNothingIsAllocated) {
  Sweeps sweeps;
  sweeps.record_again(Exec());
  sweeps.others_again(Exec());
  Exec().fence();
  Watch watch;
  for (int i = 0; i < 3; ++i) {
    sweeps.record_again(Exec());
    sweeps.others_again(Exec());
  }
  watch.stop();
  EXPECT_TRUE(allocations.empty()) << allocations[0];
  EXPECT_TRUE(copies.empty()) << copies[0];
}

TEST(Tools, InSteadyStateARecordWaitsForItsOwnInstanceOnce) {
  Sweeps sweeps;
  sweeps.record_again(Exec());
  Exec().fence();
  Watch watch;
  sweeps.record_again(Exec());
  watch.stop();
  ASSERT_EQ(fences.size(), 1u);
  EXPECT_EQ(fences[0], "gradsolve::record: number of steps");
  EXPECT_TRUE(is_fence_of(Exec(), fence_devices[0]));
  EXPECT_EQ(kernels.size(), 1u);
}

TEST(Tools, InSteadyStateTheOtherSweepsWaitForNothing) {
  Sweeps sweeps;
  sweeps.record_again(Exec());
  sweeps.others_again(Exec());
  Exec().fence();
  Watch watch;
  sweeps.others_again(Exec());
  watch.stop();
  for (std::size_t i = 0; i < fences.size(); ++i) ADD_FAILURE() << "fence: " << fences[i];
}

TEST(Tools, AFirstRecordWaitsForItsOwnInstanceOnly) {
  Sweeps sweeps;
  // What is allocated once in the life of a program or of an object.
  sweeps.recorded.overflow = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>("test::overflow");
  Exec().fence();
  Watch watch;
  sweeps.record_again(Exec());
  watch.stop();
  for (std::size_t i = 0; i < fences.size(); ++i)
    EXPECT_TRUE(is_fence_of(Exec(), fence_devices[i])) << fences[i];
}

/// What a gradient left holds no loss for a vjp: the sanitizers see where one is written.
TEST(Handles, OfAGradient_ServeAVjp) {
  Sweeps sweeps;
  sweeps.record_again(Exec());
  sweeps.others_again(Exec());
  for (int again = 0; again < 2; ++again) {
    vjp(Exec(), LotkaVolterra{}, sweeps.recorded, sweeps.inputs.ensemble(0.0, 3.0), sweeps.w,
        sweeps.slopes);
    Exec().fence();
    EXPECT_EQ(sweeps.slopes.loss.extent(0), 0u);
    EXPECT_TRUE(finite_everywhere(sweeps.slopes.params));
    EXPECT_TRUE(same_bits_everywhere(sweeps.slopes.params, sweeps.pulled.params));
  }
}

}  // namespace
}  // namespace gradsolve::test
