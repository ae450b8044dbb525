// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json.hpp"

#include "bad_input.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace gradsolve::io {

namespace {

using Kind = JsonValue::Kind;

class Parser {
 public:
  Parser(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  JsonValue parse() {
    JsonValue value = parse_value(0);
    skip_space();
    if (at_ < text_.size()) refuse("the end of the file");
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + at_, '\n');
    throw BadInput(path_ + ": is not JSON: line " + std::to_string(line) + ", byte " +
                   std::to_string(at_) + ": expected " + expected);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(std::string(1, c));
  }

  JsonValue parse_value(int depth) {
    constexpr int deepest = 100;
    if (depth > deepest) refuse("at most " + std::to_string(deepest) + " values inside each other");
    if (take('{')) return parse_members('}', depth);
    if (take('[')) return parse_members(']', depth);
    if (peek() == '"') return {Kind::string, parse_string(), {}, {}};
    return parse_word();
  }

  JsonValue parse_members(char end, int depth) {
    JsonValue value;
    value.kind = end == '}' ? Kind::object : Kind::list;
    if (take(end)) return value;
    do {
      if (end == '}') {
        skip_space();
        value.keys.push_back(parse_string());
        expect(':');
      }
      value.values.push_back(parse_value(depth + 1));
    } while (take(','));
    expect(end);
    return value;
  }

  std::string parse_string() {
    expect('"');
    std::string value;
    while (peek() != '"') {
      if (static_cast<unsigned char>(peek()) < ' ') refuse("the end of a string");
      const char c = text_[at_++];
      value += c == '\\' ? parse_escape() : std::string(1, c);
    }
    ++at_;
    return value;
  }

  std::string parse_escape() {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const auto letter = letters.find(peek());
    if (peek() != '\0' && letter != letters.npos) return ++at_, std::string(1, meanings[letter]);
    unsigned code = 0;
    const char* const digits = text_.data() + at_ + 1;
    if (peek() != 'u' || at_ + 5 > text_.size() ||
        std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4)
      refuse("an escaped character");
    at_ += 5;
    return utf8(code);
  }

  /// Of the basic plane.
  static std::string utf8(unsigned code) {
    auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
    return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  }

  JsonValue parse_word() {
    skip_space();
    const auto end = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    const std::string word = text_.substr(at_, end - at_);
    JsonValue value{Kind::null, word, {}, {}};
    double number = 0;
    const char* const last = word.data() + word.size();
    if (word == "true" || word == "false")
      value.kind = Kind::boolean;
    else if (!word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) &&
             std::from_chars(word.data(), last, number).ptr == last)
      value.kind = Kind::number;
    else if (word != "null")
      refuse("a value");
    at_ = end;
    return value;
  }

  const std::string& path_;
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &values[found - keys.begin()];
}

JsonValue read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw BadInput(path + ": cannot be read");
  return Parser(path, text).parse();
}

}  // namespace gradsolve::io
