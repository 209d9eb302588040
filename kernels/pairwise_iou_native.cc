#include <algorithm>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// Columns x1, y1, x2, y2 and the areas of boxes, in fp32.
struct Boxes {
  std::size_t count;
  std::vector<float> columns;

  explicit Boxes(std::int64_t n) : count(static_cast<std::size_t>(n)), columns(5 * count) {}
  const float* column(std::size_t i) const { return columns.data() + i * count; }

  template <class T>
  void read(const T* boxes) {
    for (std::size_t i = 0; i < count; ++i) {
      float* box = columns.data() + i;
      for (std::size_t k = 0; k < 4; ++k) box[k * count] = float(boxes[4 * i + k]);
      box[4 * count] = (box[2 * count] - box[0]) * (box[3 * count] - box[count]);
    }
  }
};

// A pass over all pairs. Calls `body(i, j, k)` for boxes i and j, and element k of the result.
template <class Body>
void for_each_pair(const Boxes& a, const Boxes& b, const Body& body) {
  for_each_range(static_cast<std::int64_t>(a.count * b.count),
                 [&](std::int64_t begin, std::int64_t end) {
                   const auto last = static_cast<std::size_t>(end);
                   for (auto k = static_cast<std::size_t>(begin); k < last;) {
                     const std::size_t i = k / b.count, row = i * b.count;
                     const std::size_t stop = std::min(row + b.count, last);
                     for (; k < stop; ++k) body(i, k - row, k);
                   }
                 });
}

// to = max(0, min(a.far, b.far) - max(a.near, b.near)) along one side.
void overlap(const Boxes& a, const Boxes& b, std::size_t side, float* to) {
  const float *near_a = a.column(side), *far_a = a.column(side + 2);
  const float *near_b = b.column(side), *far_b = b.column(side + 2);
  for_each_pair(a, b, [=](std::size_t i, std::size_t j, std::size_t k) {
    to[k] = std::max(0.0f, std::min(far_a[i], far_b[j]) - std::max(near_a[i], near_b[j]));
  });
}

template <class T>
void iou(const Boxes& a, const Boxes& b, float* first, float* second, T* y) {
  overlap(a, b, 0, first);
  overlap(a, b, 1, second);
  for_each_pair(a, b, [=](std::size_t, std::size_t, std::size_t k) { first[k] *= second[k]; });
  for_each_pair(
      a, b,
      [=, area_a = a.column(4), area_b = b.column(4)](std::size_t i, std::size_t j, std::size_t k) {
        second[k] = area_a[i] + area_b[j] - first[k];
      });
  for_each_pair(a, b, [=](std::size_t, std::size_t, std::size_t k) {
    y[k] = T(first[k] > 0 ? first[k] / second[k] : 0.0f);
  });
}

Launch prepare(const Problem& problem) {
  const auto pairs = static_cast<std::size_t>(problem.outputs[0].elements());
  return [dtype = problem.inputs[0].dtype, a = Boxes(problem.inputs[0].shape[0]),
          b = Boxes(problem.inputs[1].shape[0]), first = std::vector<float>(pairs),
          second = std::vector<float>(pairs)](const KernelArgs& args) mutable {
    visit_arithmetic(dtype, [&](auto tag) {
      using T = decltype(tag);
      a.read(static_cast<const T*>(args.inputs[0]));
      b.read(static_cast<const T*>(args.inputs[1]));
      iou(a, b, first.data(), second.data(), static_cast<T*>(args.outputs[0]));
    });
  };
}

std::size_t temporary_bytes(const Problem& problem) {
  const std::int64_t boxes = problem.inputs[0].shape[0] + problem.inputs[1].shape[0];
  const std::int64_t values = 5 * boxes + 2 * problem.outputs[0].elements();
  return static_cast<std::size_t>(values) * sizeof(float);
}

const RegisteredKernel native{{
    .op = "pairwise_iou",
    .name = "native",
    .provider = Provider::framework,
    .summary = "in fp32: five passes over all pairs, two temporaries of their size",
    .prepare = prepare,
    .temporary_bytes = temporary_bytes,
}};

}  // namespace
}  // namespace opbench
