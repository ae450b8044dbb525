// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients of the benchmarks' ensembles (bench_gradient, bench_stiff) by CVODES of SUNDIALS: Adams
// and functional iteration for Lorenz, BDF and a dense LU for Robertson and HIRES. Every trajectory
// alone, one a thread at a time, with Jacobians written by hand. Arms:
//
//   forward      the sensitivity to the rate alone, which is all that the published loss needs
//   forward_all  the sensitivities to the rate and u0, as our gradient has them
//   adjoint      the continuous adjoint, which has both; the forward solution by Hermite
//   polynomials
//
// Sensitivities, and the integral of the adjoint, take no part in the error control: faster, and as
// in ours. perf/peers/run drives it: a line of JSON for every result, validated there, then one
// with its time for every line "go" on the standard input, until an empty line.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cvodes/cvodes.h>
#include <iostream>
#include <map>
#include <memory>
#include <nvector/nvector_serial.h>
#include <omp.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <vector>

namespace {

// Jacobians are by columns, as SUNDIALS keeps them: J[j][i] = d f_i / d u_j.
struct Lorenz {
  static constexpr int N = 3;
  static constexpr bool stiff = false;
  static constexpr double start[N] = {1, 0, 0}, t1 = 1, atol_per_rtol = 1e-3;
  static double rate(double x) { return 21 * x; }
  static void rhs(const double* u, double k, double* du) {
    du[0] = 10 * (u[1] - u[0]);
    du[1] = u[0] * (k - u[2]) - u[1];
    du[2] = u[0] * u[1] - 8.0 / 3 * u[2];
  }
  static void jacobian(const double* u, double k, double (*J)[N]) {
    J[0][0] = -10, J[0][1] = k - u[2], J[0][2] = u[1];
    J[1][0] = 10, J[1][1] = -1, J[1][2] = u[0];
    J[2][0] = 0, J[2][1] = -u[0], J[2][2] = -8.0 / 3;
  }
  static void by_rate(const double* u, double* d) { d[0] = 0, d[1] = u[0], d[2] = 0; }
};

struct Robertson {
  static constexpr int N = 3;
  static constexpr bool stiff = true;
  static constexpr double start[N] = {1, 0, 0}, t1 = 1e4, atol_per_rtol = 1e-4;
  static double rate(double x) { return 0.04 * std::pow(10.0, x - 0.5); }
  static void rhs(const double* u, double k, double* du) {
    du[0] = 1e4 * u[1] * u[2] - k * u[0];
    du[2] = 3e7 * u[1] * u[1];
    du[1] = -du[0] - du[2];
  }
  static void jacobian(const double* u, double k, double (*J)[N]) {
    J[0][0] = -k, J[0][1] = k, J[0][2] = 0;
    J[1][0] = 1e4 * u[2], J[1][2] = 6e7 * u[1], J[1][1] = -J[1][0] - J[1][2];
    J[2][0] = 1e4 * u[1], J[2][1] = -J[2][0], J[2][2] = 0;
  }
  static void by_rate(const double* u, double* d) { d[0] = -u[0], d[1] = u[0], d[2] = 0; }
};

struct Hires {
  static constexpr int N = 8;
  static constexpr bool stiff = true;
  static constexpr double start[N] = {1, 0, 0, 0, 0, 0, 0, 0.0057}, t1 = 321.8122,
                          atol_per_rtol = 1e-3;
  static double rate(double x) { return 1.71 * std::pow(10.0, 0.5 * x - 0.25); }
  static void rhs(const double* u, double k, double* du) {
    const double v = 280 * u[5] * u[7];
    du[0] = -k * u[0] + 0.43 * u[1] + 8.32 * u[2] + 0.0007;
    du[1] = k * u[0] - 8.75 * u[1];
    du[2] = -10.03 * u[2] + 0.43 * u[3] + 0.035 * u[4];
    du[3] = 8.32 * u[1] + 1.71 * u[2] - 1.12 * u[3];
    du[4] = -1.745 * u[4] + 0.43 * u[5] + 0.43 * u[6];
    du[5] = -v + 0.69 * u[3] + 1.71 * u[4] - 0.43 * u[5] + 0.69 * u[6];
    du[6] = v - 1.81 * u[6];
    du[7] = -v + 1.81 * u[6];
  }
  static void jacobian(const double* u, double k, double (*J)[N]) {
    std::fill(&J[0][0], &J[0][0] + N * N, 0.0);
    J[0][0] = -k, J[0][1] = k;
    J[1][0] = 0.43, J[1][1] = -8.75, J[1][3] = 8.32;
    J[2][0] = 8.32, J[2][2] = -10.03, J[2][3] = 1.71;
    J[3][2] = 0.43, J[3][3] = -1.12, J[3][5] = 0.69;
    J[4][2] = 0.035, J[4][4] = -1.745, J[4][5] = 1.71;
    J[5][4] = 0.43, J[5][5] = -280 * u[7] - 0.43, J[5][6] = 280 * u[7], J[5][7] = -280 * u[7];
    J[6][4] = 0.43, J[6][5] = 0.69, J[6][6] = -1.81, J[6][7] = 1.81;
    J[7][5] = -280 * u[5], J[7][6] = 280 * u[5], J[7][7] = -280 * u[5];
  }
  static void by_rate(const double* u, double* d) {
    std::fill(d, d + N, 0.0);
    d[0] = -u[0], d[1] = u[0];
  }
};

/// The functions that CVODES calls; the user data is the rate.
template <class P>
struct Callbacks {
  static constexpr int N = P::N;
  static double rate(void* user) { return *static_cast<double*>(user); }

  static int rhs(double, N_Vector u, N_Vector du, void* user) {
    P::rhs(NV_DATA_S(u), rate(user), NV_DATA_S(du));
    return 0;
  }
  static int jacobian(double, N_Vector u, N_Vector, SUNMatrix J, void* user, N_Vector, N_Vector,
                      N_Vector) {
    P::jacobian(NV_DATA_S(u), rate(user), reinterpret_cast<double (*)[N]>(SM_DATA_D(J)));
    return 0;
  }
  /// s' = J s, and with the derivative by the rate for the first.
  static int sensitivities(int directions, double, N_Vector u, N_Vector, N_Vector* s, N_Vector* ds,
                           void* user, N_Vector, N_Vector) {
    double J[N][N], constant[N];
    P::jacobian(NV_DATA_S(u), rate(user), J);
    P::by_rate(NV_DATA_S(u), constant);
    for (int d = 0; d < directions; ++d) {
      const double* x = NV_DATA_S(s[d]);
      for (int i = 0; i < N; ++i) {
        double sum = d == 0 ? constant[i] : 0;
        for (int j = 0; j < N; ++j) sum += J[j][i] * x[j];
        NV_Ith_S(ds[d], i) = sum;
      }
    }
    return 0;
  }
  /// lambda' = -J^T lambda
  static int adjoint(double, N_Vector u, N_Vector lambda, N_Vector slope, void* user) {
    double J[N][N];
    P::jacobian(NV_DATA_S(u), rate(user), J);
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int i = 0; i < N; ++i) sum -= J[j][i] * NV_Ith_S(lambda, i);
      NV_Ith_S(slope, j) = sum;
    }
    return 0;
  }
  static int adjoint_jacobian(double, N_Vector u, N_Vector, N_Vector, SUNMatrix out, void* user,
                              N_Vector, N_Vector, N_Vector) {
    double J[N][N];
    P::jacobian(NV_DATA_S(u), rate(user), J);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) SM_ELEMENT_D(out, j, i) = -J[j][i];
    return 0;
  }
  static int integrand(double, N_Vector u, N_Vector lambda, N_Vector slope, void*) {
    double d[N];
    P::by_rate(NV_DATA_S(u), d);
    NV_Ith_S(slope, 0) = 0;
    for (int i = 0; i < N; ++i) NV_Ith_S(slope, 0) += NV_Ith_S(lambda, i) * d[i];
    return 0;
  }
};

void check(int flag, const char* call) {
  if (flag < 0)
    throw std::runtime_error(std::string(call) + ": " + CVodeGetReturnFlagName(flag) +
                             ", where success was expected");
}
#define CALL(function, ...) check(function(__VA_ARGS__), #function)

/// One thread's solver: made once, set to the start again for every trajectory.
template <class P>
class Solver {
  using Call = Callbacks<P>;
  static constexpr int N = P::N;
  static constexpr int method = P::stiff ? CV_BDF : CV_ADAMS;
  // Steps between checkpoints: more than any trajectory takes, so that none is solved twice.
  static constexpr int stored_steps = 10000, max_steps = 1'000'000;

 public:
  Solver(double rtol, const std::string& arm)
      : directions_(arm == "forward"       ? 1
                    : arm == "forward_all" ? 1 + N
                                           : 0) {
    SUNContext_Create(nullptr, &context_);
    keep(context_, [](auto c) { SUNContext_Free(&c); });
    u_ = vector(N);
    const double atol = P::atol_per_rtol * rtol;
    cvode_ = CVodeCreate(method, context_);
    keep(cvode_, [](void* c) { CVodeFree(&c); });
    CALL(CVodeInit, cvode_, Call::rhs, 0, u_);
    CALL(CVodeSStolerances, cvode_, rtol, atol);
    CALL(CVodeSetUserData, cvode_, &rate_);
    CALL(CVodeSetMaxNumSteps, cvode_, max_steps);
    if constexpr (P::stiff) {
      const auto [solver, matrix] = linear_solver();
      CALL(CVodeSetLinearSolver, cvode_, solver, matrix);
      CALL(CVodeSetJacFn, cvode_, Call::jacobian);
    } else {
      CALL(CVodeSetNonlinearSolver, cvode_, keep(SUNNonlinSol_FixedPoint(u_, 0, context_)));
    }
    if (directions_ > 0) init_forward();
    if (arm == "adjoint") init_adjoint(rtol, atol);
  }
  ~Solver() {
    while (!owned_.empty()) owned_.pop_back();
  }
  Solver(const Solver&) = delete;

  /// Solves; u(t1) is in `end`. The derivative of the loss by the rate, 0 without an arm for it.
  double solve(double rate, double* end) {
    rate_ = rate;
    std::copy_n(P::start, N, NV_DATA_S(u_));
    CALL(CVodeReInit, cvode_, 0, u_);
    for (int d = 0; d < directions_; ++d) {
      N_VConst(0, sensitivities_[d]);
      if (d > 0) NV_Ith_S(sensitivities_[d], d - 1) = 1;
    }
    if (directions_ > 0) CALL(CVodeSensReInit, cvode_, CV_SIMULTANEOUS, sensitivities_.data());
    const double by_rate = lambda_ ? solve_adjoint(end) : solve_forward(end);
    CALL(CVodeGetNumSteps, cvode_, &steps_);
    return by_rate;
  }
  long steps() const { return steps_; }

 private:
  template <class T, class Free>
  T* keep(T* object, Free free) {
    if (!object) throw std::runtime_error("SUNDIALS made no object");
    owned_.emplace_back(object, free);
    return object;
  }
  SUNNonlinearSolver keep(SUNNonlinearSolver s) { return keep(s, SUNNonlinSolFree); }
  N_Vector vector(int size) { return keep(N_VNew_Serial(size, context_), N_VDestroy); }
  std::pair<SUNLinearSolver, SUNMatrix> linear_solver() {
    const SUNMatrix matrix = keep(SUNDenseMatrix(N, N, context_), SUNMatDestroy);
    return {keep(SUNLinSol_Dense(u_, matrix, context_), SUNLinSolFree), matrix};
  }

  void init_forward() {
    for (int d = 0; d < directions_; ++d) sensitivities_.push_back(vector(N));
    CALL(CVodeSensInit, cvode_, directions_, CV_SIMULTANEOUS, Call::sensitivities,
         sensitivities_.data());
    CALL(CVodeSensEEtolerances, cvode_);
    if constexpr (!P::stiff)
      CALL(CVodeSetNonlinearSolverSensSim, cvode_,
           keep(SUNNonlinSol_FixedPointSens(directions_ + 1, u_, 0, context_)));
  }
  void init_adjoint(double rtol, double atol) {
    lambda_ = vector(N), by_rate_ = vector(1);
    CALL(CVodeAdjInit, cvode_, stored_steps, CV_HERMITE);
    CALL(CVodeCreateB, cvode_, method, &backward_);
    CALL(CVodeInitB, cvode_, backward_, Call::adjoint, P::t1, lambda_);
    CALL(CVodeSStolerancesB, cvode_, backward_, rtol, atol);
    CALL(CVodeSetUserDataB, cvode_, backward_, &rate_);
    CALL(CVodeSetMaxNumStepsB, cvode_, backward_, max_steps);
    if constexpr (P::stiff) {
      const auto [solver, matrix] = linear_solver();
      CALL(CVodeSetLinearSolverB, cvode_, backward_, solver, matrix);
      CALL(CVodeSetJacFnB, cvode_, backward_, Call::adjoint_jacobian);
    } else {
      CALL(CVodeSetNonlinearSolverB, cvode_, backward_,
           keep(SUNNonlinSol_FixedPoint(u_, 0, context_)));
    }
    CALL(CVodeQuadInitB, cvode_, backward_, Call::integrand, by_rate_);
  }

  double solve_forward(double* end) {
    double t, by_rate = 0;
    CALL(CVodeSetStopTime, cvode_, P::t1);
    CALL(CVode, cvode_, P::t1, u_, &t, CV_NORMAL);
    std::copy_n(NV_DATA_S(u_), N, end);
    if (directions_ == 0) return 0;
    CALL(CVodeGetSens, cvode_, &t, sensitivities_.data());
    for (int i = 0; i < N; ++i) by_rate += 2 * end[i] * NV_Ith_S(sensitivities_[0], i);
    return by_rate;
  }
  double solve_adjoint(double* end) {
    double t;
    int checkpoints;
    CALL(CVodeAdjReInit, cvode_);
    CALL(CVodeSetStopTime, cvode_, P::t1);
    CALL(CVodeF, cvode_, P::t1, u_, &t, CV_NORMAL, &checkpoints);
    std::copy_n(NV_DATA_S(u_), N, end);
    for (int i = 0; i < N; ++i) NV_Ith_S(lambda_, i) = 2 * end[i];
    N_VConst(0, by_rate_);
    CALL(CVodeReInitB, cvode_, backward_, P::t1, lambda_);
    CALL(CVodeQuadReInitB, cvode_, backward_, by_rate_);
    CALL(CVodeB, cvode_, 0, CV_NORMAL);
    CALL(CVodeGetB, cvode_, backward_, &t, lambda_);
    CALL(CVodeGetQuadB, cvode_, backward_, &t, by_rate_);
    return -NV_Ith_S(by_rate_, 0);  // integrated from t1 to 0
  }

  std::vector<std::shared_ptr<void>> owned_;  // freed from the back
  SUNContext context_ = nullptr;
  void* cvode_ = nullptr;
  N_Vector u_ = nullptr, lambda_ = nullptr, by_rate_ = nullptr;
  std::vector<N_Vector> sensitivities_;
  int directions_, backward_ = 0;
  double rate_ = 0;
  long steps_ = 0;
};

/// The ensemble, with one solver a thread.
template <class P>
class Ensemble {
 public:
  Ensemble(int n, double rtol, const std::string& arm) : ends_(n * P::N) {
    for (int i = 0; i < omp_get_max_threads(); ++i)
      solvers_.push_back(std::make_unique<Solver<P>>(rtol, arm));
  }
  void solve() {
    const int n = size();
    double sum = 0, steps = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum, steps)
    for (int i = 0; i < n; ++i) {
      auto& solver = *solvers_[omp_get_thread_num()];
      sum += solver.solve(P::rate(double(i) / (n - 1)), &ends_[i * P::N]);
      steps += solver.steps();
    }
    gradient_sum_ = sum, mean_steps_ = steps / n;
  }
  int size() const { return int(ends_.size()) / P::N; }
  const std::vector<double>& ends() const { return ends_; }
  double gradient_sum() const { return gradient_sum_; }
  double mean_steps() const { return mean_steps_; }

 private:
  std::vector<std::unique_ptr<Solver<P>>> solvers_;
  std::vector<double> ends_;
  double gradient_sum_ = 0, mean_steps_ = 0;
};

/// The median relative error of u(t1) in an ensemble of 256, against rtol 1e-12.
template <class P>
double median_error(double rtol) {
  Ensemble<P> solved(256, rtol, ""), exact(256, 1e-12, "");
  solved.solve(), exact.solve();
  std::vector<double> errors;
  for (std::size_t i = 0; i < exact.ends().size(); ++i)
    if (exact.ends()[i] != 0) errors.push_back(std::abs(solved.ends()[i] / exact.ends()[i] - 1));
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  return errors[errors.size() / 2];
}

template <class P>
void run(const std::string& problem, int n, double rtol, const std::string& arm) {
  using Clock = std::chrono::steady_clock;
  Ensemble<P> ensemble(n, rtol, arm);
  ensemble.solve();
  std::printf(
      "{\"problem\": \"%s\", \"n\": %d, \"rtol\": %g, \"arm\": \"%s\", \"method\": \"%s\", "
      "\"accepted_mean\": %.2f, \"err\": %.3e, \"grad_sum\": %.15g, "
      "\"software\": \"SUNDIALS %s, %d threads\"}\n",
      problem.c_str(), n, rtol, arm.c_str(), P::stiff ? "bdf" : "adams", ensemble.mean_steps(),
      median_error<P>(rtol), ensemble.gradient_sum(), SUNDIALS_VERSION, omp_get_max_threads());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line) && !line.empty();) {
    double best = HUGE_VAL;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto start = Clock::now();
      ensemble.solve();
      best =
          std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::printf("{\"grad_ms\": %.6g}\n", best);
    std::fflush(stdout);
  }
}

const std::map<std::string, void (*)(const std::string&, int, double, const std::string&)> problems{
    {"lorenz", run<Lorenz>}, {"robertson", run<Robertson>}, {"hires", run<Hires>}};

std::map<std::string, std::string> parse(int argc, char** argv) {
  std::map<std::string, std::string> options{
      {"--problem", "lorenz"}, {"--n", "2048"}, {"--rtol", "1e-6"}, {"--arms", "forward"}};
  for (int i = 1; i < argc; i += 2) {
    if (!options.count(argv[i]) || i + 1 == argc)
      throw std::runtime_error(std::string(argv[i]) +
                               ": expected --problem, --n, --rtol or --arms and a value");
    options[argv[i]] = argv[i + 1];
  }
  if (!problems.count(options["--problem"]))
    throw std::runtime_error("--problem " + options["--problem"] +
                             ": expected lorenz, robertson or hires");
  if (const auto& arm = options["--arms"];
      arm != "forward" && arm != "forward_all" && arm != "adjoint")
    throw std::runtime_error("--arms " + arm + ": expected forward, forward_all or adjoint");
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto options = parse(argc, argv);
  std::istringstream sizes(options.at("--n"));
  for (std::string n; std::getline(sizes, n, ',');)
    problems.at(options.at("--problem"))(options.at("--problem"), std::stoi(n),
                                         std::stod(options.at("--rtol")), options.at("--arms"));
} catch (const std::exception& error) {
  std::fprintf(stderr, "peer_sundials: %s\n", error.what());
  return 1;
}
