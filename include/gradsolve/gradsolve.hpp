// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Everything: ensembles of small ODE systems, solved and differentiated exactly.
#include <gradsolve/check_gradient.hpp>
#include <gradsolve/chunks.hpp>
#include <gradsolve/ensemble.hpp>
#include <gradsolve/extra_states.hpp>
#include <gradsolve/gradient.hpp>
#include <gradsolve/memory_plan.hpp>
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
#include <gradsolve/observe/loss.hpp>
#include <gradsolve/observe/save_times.hpp>
#include <gradsolve/options.hpp>
#include <gradsolve/record.hpp>
#include <gradsolve/refresh.hpp>
#include <gradsolve/replay.hpp>
#include <gradsolve/second_order.hpp>
#include <gradsolve/sensitivity.hpp>
#include <gradsolve/solution.hpp>
#include <gradsolve/status.hpp>
#include <gradsolve/stiffness.hpp>
#include <gradsolve/system.hpp>
