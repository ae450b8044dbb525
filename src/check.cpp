// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/detail/check.hpp>
#include <gradsolve/options.hpp>

#include <charconv>
#include <cmath>

namespace gradsolve::detail {

void refuse(const char* function, const std::string& argument, const std::string& value,
            const std::string& expected) {
  throw InvalidArgument(std::string("gradsolve::") + function + ": " + argument + " is " + value +
                        ", expected " + expected);
}

namespace {
template <class S>
std::string shortest_text(S value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}
}  // namespace

std::string to_text(double value) { return shortest_text(value); }
std::string to_text(float value) { return shortest_text(value); }

std::string shape_text(std::size_t rows, std::size_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

void check_range(const char* function, int begin, int end, int size) {
  if (begin < 0 || end < begin || end > size)
    refuse(function, "[begin, end)", "[" + std::to_string(begin) + ", " + std::to_string(end) + ")",
           "trajectories of " + std::to_string(size) + ", from 0");
}

void check_options(const char* function, const Options& o, const char* method,
                   bool has_error_estimate) {
  auto need = [function](bool condition, const char* option, double value, const char* expected) {
    require(condition, function, option, value, expected);
  };
  auto finite = [](double x) { return std::isfinite(x); };
  need(finite(o.rtol) && o.rtol >= 0, "options.rtol", o.rtol, "a number >= 0");
  need(finite(o.atol) && o.atol >= 0, "options.atol", o.atol, "a number >= 0");
  need(o.rtol > 0 || o.atol > 0, "options.rtol", o.rtol, "> 0 where atol is 0");
  need(finite(o.first_step) && o.first_step >= 0, "options.first_step", o.first_step,
       "a size > 0, or 0 for the rule");
  need(finite(o.min_step) && o.min_step >= 0, "options.min_step", o.min_step, "a size >= 0");
  need(finite(o.max_step) && o.max_step >= 0, "options.max_step", o.max_step,
       "a size > 0, or 0 for no bound");
  need(o.max_step == 0 || o.min_step <= o.max_step, "options.min_step", o.min_step,
       "at most options.max_step");
  need(o.max_steps > 0, "options.max_steps", o.max_steps, "> 0");
  need(o.fixed_steps >= 0, "options.fixed_steps", o.fixed_steps, "> 0, or 0 for error control");
  need(o.fixed_steps <= o.max_steps, "options.fixed_steps", o.fixed_steps,
       "at most options.max_steps");
  need(finite(o.fixed_step) && o.fixed_step >= 0, "options.fixed_step", o.fixed_step,
       "a size > 0, or 0 for error control");
  need(o.fixed_steps == 0 || o.fixed_step == 0, "options.fixed_step", o.fixed_step,
       "0 where options.fixed_steps is given");
  const Controller& c = o.controller;
  need(c.safety > 0 && c.safety <= 1, "options.controller.safety", c.safety, "in (0, 1]");
  need(c.min_factor > 0 && c.min_factor < 1, "options.controller.min_factor", c.min_factor,
       "in (0, 1)");
  need(finite(c.max_factor) && c.max_factor >= 1, "options.controller.max_factor", c.max_factor,
       ">= 1");
  need(finite(c.integral) && finite(c.proportional) && finite(c.derivative) &&
           c.integral + c.proportional + c.derivative > 0,
       "options.controller.integral + proportional + derivative",
       c.integral + c.proportional + c.derivative, "> 0");
  need(o.stale_ratio > 0, "options.stale_ratio", o.stale_ratio, "> 0");
  if (!has_error_estimate && !o.is_fixed())
    refuse(function, "options.fixed_steps and options.fixed_step", "0",
           std::string("one of them > 0: ") + method + " has no error estimate");
}

}  // namespace gradsolve::detail
