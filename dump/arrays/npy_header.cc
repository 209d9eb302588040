#include "dump/arrays/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kLongestHeader = 1 << 20;  // bytes

struct TypeCode {
  std::string_view code;  // without the byte order
  StoredType type;
};

constexpr std::array kTypeCodes = {
    TypeCode{"f2", StoredType::f16}, TypeCode{"f4", StoredType::f32},
    TypeCode{"f8", StoredType::f64}, TypeCode{"i1", StoredType::i8},
    TypeCode{"i2", StoredType::i16}, TypeCode{"i4", StoredType::i32},
    TypeCode{"i8", StoredType::i64}, TypeCode{"u1", StoredType::u8},
    TypeCode{"u2", StoredType::u16}, TypeCode{"u4", StoredType::u32},
    TypeCode{"u8", StoredType::u64}, TypeCode{"b1", StoredType::boolean},
    TypeCode{"c8", StoredType::c64}, TypeCode{"c16", StoredType::c128},
};

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongestQuote = 60;  // bytes
  return fmt::format("'{}'", printable(excerpt(text, kLongestQuote)));
}

// Parser of the header's dictionary, a Python literal.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accepts('}')) {
      const std::string_view key = string("a key");
      expect(':');
      if (key == "descr") {
        set_type(header);
        has_descr = true;
      } else if (key == "fortran_order") {
        header.is_fortran = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = extents();
        has_shape = true;
      } else {
        throw Error(fmt::format("header: unknown key {}; allowed are descr, fortran_order, shape",
                                in_quotes(key)));
      }
      if (!accepts(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr) throw Error("header: descr is missing");
    if (!has_order) throw Error("header: fortran_order is missing");
    if (!has_shape) throw Error("header: shape is missing");
    skip_blanks();
    if (!text_.empty()) fail("its end");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    throw Error(fmt::format("header: expected {}, found {}", wanted, in_quotes(text_)));
  }

  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }

  bool accepts(char letter) {
    skip_blanks();
    if (text_.empty() || text_.front() != letter) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char letter) {
    if (!accepts(letter)) fail(fmt::format("'{}'", letter));
  }

  std::string_view string(std::string_view wanted) {
    skip_blanks();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') fail(wanted);
    const std::size_t end = text_.find(quote, 1);
    if (end == text_.npos) fail("the end of a string");
    const std::string_view result = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    fail("fortran_order to be True or False");
  }

  void set_type(NpyHeader& header) {
    skip_blanks();
    if (text_.starts_with('[')) {
      throw Error("header: descr: structured elements; allowed are numbers and booleans");
    }
    header.type_name = string("descr to be a type such as '<f4'");
    std::string_view code = header.type_name;
    const char order = code.empty() ? '\0' : code.front();
    if (order == '<' || order == '>' || order == '|' || order == '=') code.remove_prefix(1);
    for (const TypeCode& known : kTypeCodes) {
      if (known.code != code) continue;
      header.type = known.type;
      header.is_swapped = order == '>' && size_of(known.type) > 1;
    }
    if (header.type != StoredType::none) return;
    std::vector<std::string_view> codes;
    for (const TypeCode& known : kTypeCodes) codes.push_back(known.code);
    throw Error(fmt::format("header: descr: unknown type {}; allowed are {}",
                            in_quotes(header.type_name), fmt::join(codes, " ")));
  }

  Dims extents() {
    expect('(');
    Dims shape;
    while (!accepts(')')) {
      shape.push_back(extent());
      if (shape.size() > kLargestRank) {
        throw Error(fmt::format("header: shape: more than {} extents", kLargestRank));
      }
      if (accepts(',')) continue;
      expect(')');
      break;
    }
    try {
      element_count(shape);
    } catch (const Error& error) {
      throw Error(fmt::format("header: shape: {}", error.what()));
    }
    return shape;
  }

  std::int64_t extent() {
    skip_blanks();
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc() || value < 0) {
      fail(fmt::format("an extent of 0 to {} in shape", std::numeric_limits<std::int64_t>::max()));
    }
    text_.remove_prefix(static_cast<std::size_t>(rest - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2 wrote 3L
    return value;
  }

  std::string_view text_;
};

void read_all(const ReadNext& read, void* to, std::size_t count, std::string_view what) {
  const std::size_t got = read(to, count);
  if (got == count) return;
  throw Error(fmt::format("{}: cut after {} of {} bytes", what, got, count));
}

std::string_view descr(StoredType type) {
  for (const TypeCode& known : kTypeCodes) {
    if (known.type == type) return known.code;
  }
  throw Error(fmt::format("a tensor of {} cannot be saved as .npy",
                          type == StoredType::none ? "an unknown type" : numpy_name(type)));
}

}  // namespace

NpyHeader read_npy_header(const ReadNext& read) {
  constexpr std::size_t kPreamble = 8;  // magic and version
  std::array<char, kPreamble> start{};
  const std::size_t got = read(start.data(), start.size());
  if (std::string_view(start.data(), got).substr(0, kNpyMagic.size()) != kNpyMagic ||
      got < kPreamble) {
    throw Error(
        fmt::format("not a .npy file: it begins with {}, expected '\\x93NUMPY' and a version",
                    in_quotes({start.data(), got})));
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3 || start[7] != 0) {
    throw Error(fmt::format("version: found {}.{}; allowed are 1.0, 2.0, 3.0", version,
                            int{static_cast<unsigned char>(start[7])}));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::array<unsigned char, 4> length{};
  read_all(read, length.data(), length_bytes, "header length");
  std::size_t count = 0;
  for (std::size_t i = length_bytes; i-- > 0;) count = count << 8 | length[i];
  if (count > kLongestHeader) {
    throw Error(
        fmt::format("header length: found {}, at most {} is allowed", count, kLongestHeader));
  }
  std::string text(count, '\0');
  read_all(read, text.data(), count, "header");
  NpyHeader header = Literal(text).read();
  header.bytes = kPreamble + length_bytes + count;
  return header;
}

// Magic, version 1.0, length, and a Python literal padded with blanks to a multiple of 64 bytes.
std::string npy_header(StoredType type, const Dims& shape) {
  const std::string extents =
      shape.size() == 1 ? fmt::format("{},", shape[0]) : fmt::format("{}", fmt::join(shape, ", "));
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 size_of(type) == 1 ? '|' : '<', descr(type), extents);
  constexpr std::size_t kPreamble = 10, kAlignment = 64;  // numpy.lib.format
  while ((kPreamble + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  return fmt::format("{}{}{}{}{}{}", kNpyMagic, '\x01', '\0', static_cast<char>(text.size() & 0xff),
                     static_cast<char>(text.size() >> 8), text);
}

}  // namespace opbench
