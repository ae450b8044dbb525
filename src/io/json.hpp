// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

/// JSON, https://www.rfc-editor.org/rfc/rfc8259, by nlohmann-json; members keep their order.
namespace gradsolve::io {

using Json = nlohmann::ordered_json;

/// Throws BadInput, with the file's name and the place in it.
Json read_json(const std::string& path);

/// For a file or a terminal: indented, and ended by a newline. An infinite or NaN number is null,
/// as JSON has none.
std::string text_of(const Json& json);

}  // namespace gradsolve::io
