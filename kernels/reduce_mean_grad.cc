#include <algorithm>
#include <array>

#include "kernels/lanes/dtypes.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/reduce_view.h"
#include "kernels/move/repeat.h"

namespace opbench {
namespace {

struct Share {
  Dims shape, strides, from;  // of the output; strides in it and in the gradient
  double n;
};

// Walks the rows of the last axis and knows where each begins in the gradient.
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

// Elements [begin, end), one row of the last axis after the other.
template <class T>
void share(const Share& plan, std::int64_t begin, std::int64_t end, const T* dy, T* dx) {
  if (begin == end) return;
  const std::int64_t length = plan.shape.back(), step = plan.from.back();
  RowsOf rows(plan, begin);
  for (std::int64_t i = begin, first = begin % length; i < end; first = 0, rows.next()) {
    const std::int64_t count = std::min(length - first, end - i);
    const T* from = dy + rows.source() + first * step;
    if (step == 0) {
      const auto part = T(float(double(float(*from)) / plan.n));
      repeat_element(&part, sizeof(part), count, dx + i);
    } else {
      for (std::int64_t k = 0; k < count; ++k) {
        dx[i + k] = T(float(double(float(from[k * step])) / plan.n));
      }
    }
    i += count;
  }
}

Share share_of(const Problem& problem) {
  const Dims& shape = problem.outputs[0].shape;
  const std::vector<bool> reduced = reduced_axes("reduce_mean_grad", shape, problem.attrs);
  const double n = reduced_count("reduce_mean_grad", shape, problem.attrs);
  if (shape.empty()) return {{1}, {1}, {0}, n};
  return {shape, row_major_strides(shape), strides_in_result(shape, reduced), n};
}

Launch prepare(const Problem& problem) {
  return [dtype = problem.outputs[0].dtype, elements = stored_elements(problem),
          plan = share_of(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      visit_arithmetic(dtype, [&](auto tag) {
        using T = decltype(tag);
        share(plan, begin, end, static_cast<const T*>(args.inputs[0]),
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
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
