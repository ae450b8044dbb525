// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy.hpp"

#include "bad_input.hpp"
#include "write.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace gradsolve::io {

static_assert(std::endian::native == std::endian::little,
              "a big-endian machine would have to swap");

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// What the header says: a Python dictionary with the keys descr, fortran_order and shape.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

class Reader {
 public:
  Reader(const std::string& path, std::size_t most_dimensions)
      : path_(path), most_dimensions_(most_dimensions), file_(path, std::ios::binary) {
    if (!file_ || std::filesystem::is_directory(path)) refuse("cannot be read");
  }

  Array read() {
    const Header header = parse_header(read_header_text());
    if (header.descr == "<f8") return read_values<double>(header);
    if (header.descr == "<f4") return read_values<float>(header);
    refuse("its numbers are of type '" + header.descr +
           "', expected '<f8' or '<f4' (float64 or float32, little endian)");
  }

 private:
  std::string read_header_text() {
    const std::string start = take(8, "is not a .npy file");
    if (!start.starts_with(magic)) refuse("is not a .npy file");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3)
      refuse(".npy format version " + std::to_string(version) + ", expected 1, 2 or 3");
    std::size_t length = 0;
    for (int shift = 0; const char byte : take(version == 1 ? 2 : 4, "ends within its header")) {
      length |= std::size_t(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    if (length > std::filesystem::file_size(path_)) refuse("ends within its header");
    return take(length, "ends within its header");
  }

  std::string take(std::size_t size, const char* otherwise) {
    std::string bytes(size, '\0');
    if (!file_.read(bytes.data(), static_cast<std::streamsize>(size))) refuse(otherwise);
    return bytes;
  }

  Header parse_header(std::string_view text) const {
    Header header;
    const std::string_view descr = value_of(text, "descr");
    if (descr.empty() || (descr[0] != '\'' && descr[0] != '"'))
      refuse("its numbers are records, expected '<f8' or '<f4'");
    header.descr = descr.substr(1, descr.find(descr[0], 1) - 1);
    header.fortran_order = value_of(text, "fortran_order").starts_with("True");
    header.shape = parse_shape(value_of(text, "shape"));
    return header;
  }

  /// What follows "'key':" in the dictionary.
  std::string_view value_of(std::string_view text, std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const auto at = text.find(quote + std::string(key) + quote);
      if (at == std::string_view::npos) continue;
      const auto begin = text.find_first_not_of(" :", at + key.size() + 2);
      if (begin != std::string_view::npos) return text.substr(begin);
    }
    refuse("its header has no '" + std::string(key) + "'");
  }

  std::vector<std::size_t> parse_shape(std::string_view text) const {
    std::vector<std::size_t> shape;
    const auto end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos) refuse("its shape is malformed");
    text = text.substr(1, end - 1);
    while (true) {
      const auto begin = text.find_first_not_of(" ,L");
      if (begin == std::string_view::npos) break;
      text.remove_prefix(begin);
      std::size_t extent = 0;
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
      if (error != std::errc()) refuse("its shape is malformed");
      shape.push_back(extent);
      text.remove_prefix(rest - text.data());
    }
    if (shape.empty() || shape.size() > most_dimensions_)
      refuse("has " + std::to_string(shape.size()) + " dimensions, expected 1 to " +
             std::to_string(most_dimensions_));
    for (const std::size_t extent : shape)
      if (extent == 0) refuse("holds no numbers");
    return shape;
  }

  template <class T>
  Array read_values(const Header& header) {
    const std::size_t count = check_size(header.shape, sizeof(T));
    std::vector<T> raw(count);
    file_.read(reinterpret_cast<char*>(raw.data()),
               static_cast<std::streamsize>(count * sizeof(T)));
    if (!file_) refuse("cannot be read");
    Array array{header.shape, std::vector<double>(count)};
    for (std::size_t i = 0; i < count; ++i)
      array.values[i] = raw[header.fortran_order ? fortran_place(header.shape, i) : i];
    return array;
  }

  /// Where Fortran order puts number i of C order.
  static std::size_t fortran_place(const std::vector<std::size_t>& shape, std::size_t i) {
    std::size_t place = 0;
    for (std::size_t d = shape.size(), left = i; d-- > 0; left /= shape[d]) {
      std::size_t stride = 1;
      for (std::size_t k = 0; k < d; ++k) stride *= shape[k];
      place += left % shape[d] * stride;
    }
    return place;
  }

  /// The number of values; their bytes must be what is left of the file. A wrong header must not
  /// ask for memory that no file could fill.
  std::size_t check_size(const std::vector<std::size_t>& shape, std::size_t each) {
    const std::size_t left =
        std::filesystem::file_size(path_) - static_cast<std::size_t>(file_.tellg());
    std::size_t count = 1;
    bool fits = true;
    std::string text;
    for (const std::size_t extent : shape) {
      fits = fits && extent <= left / count;
      count = fits ? count * extent : count;
      text += (text.empty() ? "" : ", ") + std::to_string(extent);
    }
    if (!fits || count * each != left)
      refuse("holds " + std::to_string(left) + " bytes of numbers, expected " +
             (fits ? std::to_string(count * each) : "more") + " for the shape (" + text +
             (shape.size() == 1 ? ",)" : ")"));
    return count;
  }

  [[noreturn]] void refuse(const std::string& what) const { throw BadInput(path_ + ": " + what); }

  std::string path_;
  std::size_t most_dimensions_;
  std::ifstream file_;
};

template <class T>
constexpr const char* descr_of() {
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, float>) return "<f4";
  if constexpr (std::is_same_v<T, std::int32_t>) return "<i4";
  if constexpr (std::is_same_v<T, std::int8_t>) return "|i1";
}

/// Magic, version, length and dictionary, padded to a multiple of 64 bytes as the format asks.
std::string header_bytes(const char* descr, const std::vector<std::size_t>& shape) {
  std::string text = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (";
  for (const std::size_t extent : shape) text += std::to_string(extent) + ", ";
  text += "), }";
  if (shape.size() > 1) text.replace(text.rfind(", )"), 3, ")");
  text.append(63 - (magic.size() + 4 + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(magic);
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

}  // namespace

Array read_npy(const std::string& path, std::size_t most_dimensions) {
  return Reader(path, most_dimensions).read();
}

template <class T>
void write_npy(const std::string& path, const std::vector<std::size_t>& shape,
               const std::vector<T>& values) {
  write_whole(path, [&](std::ostream& file) {
    const std::string header = header_bytes(descr_of<T>(), shape);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
  });
}

template void write_npy(const std::string&, const std::vector<std::size_t>&,
                        const std::vector<double>&);
template void write_npy(const std::string&, const std::vector<std::size_t>&,
                        const std::vector<float>&);
template void write_npy(const std::string&, const std::vector<std::size_t>&,
                        const std::vector<std::int32_t>&);
template void write_npy(const std::string&, const std::vector<std::size_t>&,
                        const std::vector<std::int8_t>&);

}  // namespace gradsolve::io
