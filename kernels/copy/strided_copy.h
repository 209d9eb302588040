#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace opbench {

/// A copy bound to shapes and strides, on the threads of the enclosing `with_threads`.
using ElementCopy = std::function<void(const void* from, void* to)>;

/// Copies the elements of one view to those of another of the same shape, as a framework's copy of
/// non-contiguous tensors does: along the axes as they lie best, with plain stores.
ElementCopy copy_view(const StridedView& from, const StridedView& to, std::size_t element_bytes);

/// The same between a dense tensor `part` and the elements of `whole` from `start` on along `axis`.
/// Both plain or both NC1HWC0.
ElementCopy copy_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                      std::int64_t start);
ElementCopy copy_out_of(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                        std::int64_t start);

/// One loop of a strided copy; strides count elements.
struct StridedLoop {
  std::int64_t extent = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  /// Only the loop with to_stride 1 may be padded: from here on zeros are written.
  std::int64_t valid = extent;
  /// Only of the loop with from_stride 1: elements that may be loaded, wanted or not.
  std::int64_t readable = extent;
};

/// to[to_offset + sum(i_k * to_stride_k)] = from[from_offset + sum(i_k * from_stride_k)] over all
/// loops, whatever their order. No two elements go to one place.
struct StridedNest {
  int element_bytes = 4;  ///< 1, 2, 4 or 8
  std::int64_t from_offset = 0, to_offset = 0;
  std::vector<StridedLoop> loops;
};

/// A strided copy made ready: loops joined and ordered, and the fastest way chosen, of which there
/// are three: rows, where elements that are neighbours stay neighbours; planes transposed in
/// registers, where neighbours of the input and of the output lie on two axes; single elements.
class StridedCopy {
 public:
  StridedCopy(StridedNest nest, bool stream);
  ~StridedCopy();
  StridedCopy(StridedCopy&&) noexcept;

  /// On all threads.
  void run(const void* from, void* to) const;

  class Way;

 private:
  std::int64_t from_offset_, to_offset_;  ///< bytes
  std::unique_ptr<Way> way_;
};

}  // namespace opbench
