#include <algorithm>
#include <array>

#include "kernels/copy/repeat.h"
#include "kernels/reduce_all.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "tensor/half.h"

namespace opbench {
namespace {

struct Share {
  Dims shape, strides, from;  // of the output; strides in it and in the gradient
  double n;
};

// Iterates over the rows of the last axis and tracks where each begins in the gradient.
class RowsOf {
 public:
  RowsOf(const Share& plan, std::int64_t element) : plan_(plan) {
    for (std::size_t axis = 0; axis + 1 < plan.shape.size(); ++axis) {
      index_[axis] = element / plan.strides[axis];
      element %= plan.strides[axis];
      source_ += index_[axis] * plan.from[axis];
    }
  }
  std::int64_t source() const { return source_; }
  void next() {
    for (std::size_t axis = plan_.shape.size() - 1; axis-- > 0;) {
      source_ += plan_.from[axis];
      if (++index_[axis] < plan_.shape[axis]) return;
      source_ -= plan_.shape[axis] * plan_.from[axis];
      index_[axis] = 0;
    }
  }

 private:
  const Share& plan_;
  std::array<std::int64_t, kLargestRank> index_{};
  std::int64_t source_ = 0;
};

// The last axis was reduced: every row repeats one element. Many elements are divided at a time.
template <class T>
void share_rows(const Share& plan, DType dtype, std::int64_t begin, std::int64_t end, const T* dy,
                T* dx) {
  constexpr std::int64_t kRows = 64;  // rows that are divided together
  const std::int64_t length = plan.shape.back();
  RowsOf rows(plan, begin);
  for (std::int64_t i = begin; i < end;) {
    T parts[kRows];
    float values[kRows];
    const std::int64_t left = (end - i + i % length + length - 1) / length;
    const std::int64_t count = std::min(kRows, left);
    for (std::int64_t r = 0; r < count; ++r, rows.next()) parts[r] = dy[rows.source()];
    load_floats(dtype, parts, count, values);
    for (std::int64_t r = 0; r < count; ++r) values[r] = float(double(values[r]) / plan.n);
    store_floats(dtype, values, count, parts);
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t elements = std::min(length - i % length, end - i);
      repeat_element(&parts[r], sizeof(T), elements, dx + i);
      i += elements;
    }
  }
}

// Elements [begin, end), one row of the last axis after the other.
template <class T>
void share(const Share& plan, DType dtype, std::int64_t begin, std::int64_t end, const T* dy,
           T* dx) {
  if (begin == end) return;
  const std::int64_t length = plan.shape.back(), step = plan.from.back();
  if (step == 0) return share_rows(plan, dtype, begin, end, dy, dx);
  RowsOf rows(plan, begin);
  for (std::int64_t i = begin, first = begin % length; i < end; first = 0, rows.next()) {
    const std::int64_t count = std::min(length - first, end - i);
    const T* from = dy + rows.source() + first * step;
    for (std::int64_t k = 0; k < count; ++k) {
      dx[i + k] = T(float(double(float(from[k * step])) / plan.n));
    }
    i += count;
  }
}

Share share_of(const Problem& problem, bool is_mean) {
  const Dims& shape = problem.outputs[0].shape;
  const std::vector<bool> reduced = reduced_axes(problem.op->name, shape, problem.attrs);
  const double n = is_mean ? reduced_count(problem.op->name, shape, problem.attrs) : 1;
  if (shape.empty()) return {{1}, {1}, {0}, n};
  return {shape, row_major_strides(shape), strides_in_result(shape, reduced), n};
}

Launch share_out(const Problem& problem, bool is_mean) {
  return [dtype = problem.outputs[0].dtype, elements = stored_elements(problem),
          plan = share_of(problem, is_mean)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      visit_arithmetic(dtype, [&](auto tag) {
        using T = decltype(tag);
        share(plan, dtype, begin, end, static_cast<const T*>(args.inputs[0]),
              static_cast<T*>(args.outputs[0]));
      });
    });
  };
}

const RegisteredKernel native{{
    .op = "reduce_mean_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy/n expanded and made contiguous",
    .prepare = [](const Problem& problem) { return share_out(problem, true); },
}};

const RegisteredKernel native_sum{{
    .op = "sum_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy expanded and made contiguous",
    .prepare =
        [](const Problem& problem) {
          const bool is_scalar = problem.inputs[0].shape.empty();
          return is_scalar ? expand_to_all(problem, 1) : share_out(problem, false);
        },
}};

}  // namespace
}  // namespace opbench
