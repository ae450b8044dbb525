// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Reads JSON, https://www.rfc-editor.org/rfc/rfc8259. What it says of a text that is wrong names
/// the place.
namespace gradsolve::io {

struct JsonValue {
  enum class Kind { null, boolean, number, string, list, object };
  Kind kind = Kind::null;
  std::string text;               ///< A number or boolean as it is written; a string's value.
  std::vector<std::string> keys;  ///< Of an object.
  std::vector<JsonValue> values;  ///< Of an object or a list.

  /// The member of that name, or null.
  const JsonValue* find(std::string_view key) const;
};

/// Throws BadInput, with the file's name.
JsonValue read_json(const std::string& path);

}  // namespace gradsolve::io
