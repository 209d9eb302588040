#pragma once

#include <cstdint>
#include <string>

#include "tensor/buffer.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace opbench {

/// The description of a tensor: element type, logical extents in the origin format, and storage.
struct TensorDesc {
  DType dtype = DType::fp32;
  Dims shape;  ///< logical, in the order of `origin`
  Format origin = Format::ND;
  Format format = Format::ND;  ///< of the storage
  int c0 = 16;                 ///< elements per inner block; used by private formats only
  int groups = 1;              ///< of the convolution; used by FRACTAL_Z only

  bool operator==(const TensorDesc&) const = default;

  std::int64_t elements() const { return element_count(shape); }
  /// Extents as stored; those of `shape` if the format is the origin's.
  Dims storage() const {
    return format == origin ? shape : storage_dims(format, shape, c0, groups);
  }
  std::int64_t storage_elements() const { return element_count(storage()); }
  /// Bytes stored, padding included.
  std::size_t bytes() const {
    return static_cast<std::size_t>(storage_elements()) * size_of(dtype);
  }
};

/// A description of `shape` with origin format by rank and default C0.
/// Errors: throws Error if the extents are negative, overflow or do not fit `format`.
TensorDesc describe(DType dtype, Dims shape, Format format);
TensorDesc describe(DType dtype, Dims shape);

/// "fp16[128x64x7x7] NC1HWC0", "fp16[128x4x3x3] FRACTAL_Z groups 16", for messages.
std::string to_string(const TensorDesc& desc);

/// A description and the memory that holds its elements.
struct Tensor {
  TensorDesc desc;
  Buffer buffer;

  explicit Tensor(TensorDesc d) : desc(std::move(d)), buffer(desc.bytes()) {}
  void* data() const { return buffer.data(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(buffer.data());
  }
};

}  // namespace opbench
