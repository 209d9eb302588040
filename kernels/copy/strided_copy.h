#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace opbench {

/// A copy bound to shapes and strides. It uses the threads of the enclosing `with_threads`.
using ElementCopy = std::function<void(const void* from, void* to)>;

/// Copies the elements of one view to those of another of the same shape, like a framework's copy
/// of non-contiguous tensors: in the best order of axes, with plain stores.
ElementCopy copy_view(const StridedView& from, const StridedView& to, std::size_t element_bytes);

/// Copies between a dense tensor `part` and the elements of `whole` from `start` on along `axis`.
/// Both are plain or both NC1HWC0.
ElementCopy copy_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                      std::int64_t start);
ElementCopy copy_out_of(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                        std::int64_t start);

/// One loop of a strided copy; strides count elements.
struct StridedLoop {
  std::int64_t extent = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  /// Zeros are written from here on. Only for the loop with to_stride 1.
  std::int64_t valid = extent;
  /// Elements that may be loaded, needed or not. Only for the loop with from_stride 1.
  std::int64_t readable = extent;
};

/// to[to_offset + sum(i_k * to_stride_k)] = from[from_offset + sum(i_k * from_stride_k)] over all
/// loops, in any order. Elements have different places.
struct StridedNest {
  int element_bytes = 4;  ///< 1, 2, 4 or 8
  std::int64_t from_offset = 0, to_offset = 0;
  std::vector<StridedLoop> loops;
};

/// A prepared strided copy: loops are joined and ordered, and the fastest of three ways is
/// selected. Rows: neighbours stay neighbours. Planes: neighbours of the input and of the output
/// are on two axes, and planes are transposed in registers. Single elements otherwise.
class StridedCopy {
 public:
  StridedCopy(StridedNest nest, bool stream);
  ~StridedCopy();
  StridedCopy(StridedCopy&&) noexcept;

  /// Copies on all threads.
  void run(const void* from, void* to) const;

  class Way;

 private:
  std::int64_t from_offset_, to_offset_;  ///< bytes
  std::unique_ptr<Way> way_;
};

}  // namespace opbench
