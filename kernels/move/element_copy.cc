#include "kernels/move/element_copy.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainElements = 16 * 1024;  // worth waking a thread for

/// Two views of one shape; a leading axis of 1 gives a scalar a last axis, too.
struct ViewPair {
  StridedView from, to;
  std::int64_t length, rows;

  ViewPair(const StridedView& f, const StridedView& t) : from(f), to(t) {
    assert(f.shape == t.shape);
    for (StridedView* view : {&from, &to}) {
      view->shape.insert(view->shape.begin(), 1);
      view->strides.insert(view->strides.begin(), 0);
    }
    length = from.shape.back();
    rows = length == 0 ? 0 : element_count(from.shape) / length;
  }
};

/// Walks the rows of a pair as an odometer.
class Rows {
 public:
  Rows(const ViewPair& pair, std::int64_t row)
      : pair_(pair), from_(pair.from.offset), to_(pair.to.offset) {
    for (std::size_t axis = pair.from.shape.size() - 1; axis-- > 0;) {
      index_[axis] = row % pair.from.shape[axis];
      row /= pair.from.shape[axis];
      move(axis, index_[axis]);
    }
  }
  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }
  void next() {
    for (std::size_t axis = pair_.from.shape.size() - 1; axis-- > 0;) {
      move(axis, 1);
      if (++index_[axis] < pair_.from.shape[axis]) return;
      move(axis, -index_[axis]);
      index_[axis] = 0;
    }
  }

 private:
  void move(std::size_t axis, std::int64_t steps) {
    from_ += steps * pair_.from.strides[axis];
    to_ += steps * pair_.to.strides[axis];
  }

  const ViewPair& pair_;
  std::array<std::int64_t, kLargestRank + 1> index_{};
  std::int64_t from_, to_;
};

template <class T>
void copy_rows(const ViewPair& pair, std::int64_t begin, std::int64_t end, const T* from, T* to) {
  const std::int64_t from_step = pair.from.strides.back(), to_step = pair.to.strides.back();
  Rows rows(pair, begin);
  for (std::int64_t row = begin; row < end; ++row, rows.next()) {
    const T* source = from + rows.from();
    T* target = to + rows.to();
    for (std::int64_t i = 0; i < pair.length; ++i) target[i * to_step] = source[i * from_step];
  }
}

/// A box of a logical (N, C, H, W) tensor in NC1HWC0 storage, from `start` on.
struct Box {
  Dims nchw, start;
  std::int64_t c0;

  Box(const TensorDesc& desc, std::size_t axis, std::int64_t first)
      : nchw(expand_to_nchw(desc.shape)), start(4, 0), c0(desc.c0) {
    const bool is_expanded = desc.shape.size() < 4;  // by an axis in front
    start[axis + (is_expanded ? 1 : 0)] = first;
  }
  std::int64_t row_stride() const { return nchw[3] * c0; }
  /// Offset of element (n, c, 0, 0) of the box.
  std::int64_t plane(std::int64_t n, std::int64_t c) const {
    const std::int64_t channel = start[1] + c, blocks = (nchw[1] + c0 - 1) / c0;
    const std::int64_t slab = (start[0] + n) * blocks + channel / c0;
    return ((slab * nchw[2] + start[2]) * nchw[3] + start[3]) * c0 + channel % c0;
  }
};

/// `extents` (N, C, H, W) from one box to the other.
ElementCopy copy_box(const Box& from, const Box& to, const Dims& extents, std::size_t bytes) {
  return [=](const void* source, void* target) {
    const std::int64_t channels = extents[1], height = extents[2], width = extents[3];
    parallel_ranges(extents[0] * channels, 1, [&](std::int64_t begin, std::int64_t end) {
      visit_width(bytes, [&](auto tag) {
        using T = decltype(tag);
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const std::int64_t n = plane / channels, c = plane % channels;
          const T* in = static_cast<const T*>(source) + from.plane(n, c);
          T* out = static_cast<T*>(target) + to.plane(n, c);
          for (std::int64_t h = 0; h < height; ++h) {
            for (std::int64_t w = 0; w < width; ++w) {
              out[h * to.row_stride() + w * to.c0] = in[h * from.row_stride() + w * from.c0];
            }
          }
        }
      });
    });
  };
}

StridedView narrowed(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                     std::int64_t start) {
  return slice(dense_view(whole.shape), static_cast<std::int64_t>(axis), start, part.shape[axis]);
}

}  // namespace

ElementCopy copy_elements(const StridedView& from, const StridedView& to,
                          std::size_t element_bytes) {
  return [pair = ViewPair(from, to), element_bytes](const void* source, void* target) {
    const std::int64_t grain =
        std::max<std::int64_t>(1, kGrainElements / std::max<std::int64_t>(1, pair.length));
    parallel_ranges(pair.rows, grain, [&](std::int64_t begin, std::int64_t end) {
      visit_width(element_bytes, [&](auto tag) {
        using T = decltype(tag);
        copy_rows(pair, begin, end, static_cast<const T*>(source), static_cast<T*>(target));
      });
    });
  };
}

ElementCopy copy_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                      std::int64_t start) {
  const std::size_t bytes = size_of(part.dtype);
  if (part.format == Format::NC1HWC0) {
    return copy_box({part, axis, 0}, {whole, axis, start}, expand_to_nchw(part.shape), bytes);
  }
  return copy_elements(dense_view(part.shape), narrowed(whole, part, axis, start), bytes);
}

ElementCopy copy_out_of(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                        std::int64_t start) {
  const std::size_t bytes = size_of(part.dtype);
  if (part.format == Format::NC1HWC0) {
    return copy_box({whole, axis, start}, {part, axis, 0}, expand_to_nchw(part.shape), bytes);
  }
  return copy_elements(narrowed(whole, part, axis, start), dense_view(part.shape), bytes);
}

}  // namespace opbench
