#include "dump/npy_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <string>
#include <string_view>

#include "tensor/error.h"

namespace opbench {
namespace {

std::string_view descr(StoredType type) {
  static_assert(std::endian::native == std::endian::little);
  switch (type) {
    case StoredType::f16:
      return "<f2";
    case StoredType::f32:
      return "<f4";
    case StoredType::f64:
      return "<f8";
    case StoredType::i8:
      return "|i1";
    case StoredType::i16:
      return "<i2";
    case StoredType::i32:
      return "<i4";
    case StoredType::i64:
      return "<i8";
    case StoredType::u8:
      return "|u1";
    case StoredType::u16:
      return "<u2";
    case StoredType::u32:
      return "<u4";
    case StoredType::u64:
      return "<u8";
    case StoredType::boolean:
      return "|b1";
    case StoredType::none:
      break;
  }
  throw Error("a tensor of this type cannot be saved as .npy");
}

// Magic, version 1.0, length, a Python literal padded with blanks to a multiple of 64 bytes.
std::string header(StoredType type, const Dims& shape) {
  const std::string extents =
      shape.size() == 1 ? fmt::format("{},", shape[0]) : fmt::format("{}", fmt::join(shape, ", "));
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 descr(type), extents);
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  while ((kPreamble + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  std::string result("\x93NUMPY\x01\x00", 8);
  result += static_cast<char>(text.size() & 0xff);
  result += static_cast<char>(text.size() >> 8);
  return result + text;
}

}  // namespace

NpyWriter::NpyWriter(const std::filesystem::path& path, StoredType type, const Dims& shape)
    : file_(path) {
  const std::string text = header(type, shape);
  write(text.data(), text.size());
}

void NpyWriter::write(const void* elements, std::size_t bytes) {
  file_.write(elements, bytes);
  file_.check();
}

void NpyWriter::finish() { file_.commit(); }

}  // namespace opbench
