#include "tensor/tensor.h"

#include <fmt/format.h>

#include <utility>

#include "tensor/error.h"

namespace opbench {

TensorDesc describe(DType dtype, Dims shape, Format format) {
  TensorDesc desc{.dtype = dtype,
                  .shape = std::move(shape),
                  .origin = Format::ND,
                  .format = format,
                  .c0 = default_c0(dtype),
                  .groups = 1};
  desc.origin = origin_format(desc.shape.size());
  std::int64_t bytes;
  if (__builtin_mul_overflow(desc.storage_elements(), size_of(dtype), &bytes)) {
    throw Error(fmt::format("{}: more than 2^63 - 1 bytes", to_string(desc)));
  }
  return desc;
}

TensorDesc describe(DType dtype, Dims shape) {
  const Format format = origin_format(shape.size());
  return describe(dtype, std::move(shape), format);
}

std::string to_string(const TensorDesc& desc) {
  const bool grouped = desc.format == Format::FRACTAL_Z && desc.groups != 1;
  return fmt::format("{}[{}] {}{}", name(desc.dtype), to_string(desc.shape), name(desc.format),
                     grouped ? fmt::format(" groups {}", desc.groups) : "");
}

}  // namespace opbench
