// Rows at points of several axes, copied one by one, or added in fp32.
#include "ops/index_axes.h"

#include <cstring>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "ops/broadcast.h"
#include "ops/index.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Points {
  IndexedAxes of;
  DType dtype;
  std::vector<DType> index;
  std::vector<BroadcastView> views;
  std::int64_t count;

  Points(const Problem& problem, const Dims& x)
      : of(problem.op->name, x, std::span(problem.inputs).subspan(1), problem.attrs),
        dtype(problem.inputs[0].dtype),
        count(element_count(of.index)) {
    for (std::size_t i = 1; i < problem.inputs.size(); ++i) {
      index.push_back(problem.inputs[i].dtype);
      views.emplace_back(problem.inputs[i].shape, of.index);
    }
  }

  std::int64_t place(const KernelArgs& args, std::int64_t point) const {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
      const void* const from = args.inputs[k + 1];
      const std::int64_t element = views[k].is_whole() ? point : views[k].run_at(point).first;
      const std::int64_t value = index[k] == DType::int64
                                     ? static_cast<const std::int64_t*>(from)[element]
                                     : static_cast<const std::int32_t*>(from)[element];
      place = place * of.extents[k] + from_front(value, of.extents[k]);
    }
    return place;
  }
};

Launch prepare(const Problem& problem) {
  return [points = Points(problem, problem.inputs[0].shape)](const KernelArgs& args) {
    const IndexedAxes& of = points.of;
    const std::size_t row = static_cast<std::size_t>(of.inner) * size_of(points.dtype);
    parallel_ranges(of.outer * points.count, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t from =
            i / points.count * of.places() + points.place(args, i % points.count);
        std::memcpy(at(args.outputs[0], points.dtype, i * of.inner),
                    at(args.inputs[0], points.dtype, from * of.inner), row);
      }
    });
  };
}

// dx in fp32, rounded at the end.
struct Gradient {
  Points points;
  std::vector<float> sums;

  explicit Gradient(const Problem& problem)
      : points(problem, problem.attrs.list("size")),
        sums(static_cast<std::size_t>(problem.outputs[0].elements())) {}

  void part(const KernelArgs& args, std::int64_t outer) {
    const IndexedAxes& of = points.of;
    const std::int64_t length = of.places() * of.inner;
    float* const to = sums.data() + outer * length;
    std::fill_n(to, length, 0.0f);
    for (std::int64_t i = 0; i < points.count; ++i) {
      float* const row = to + points.place(args, i) * of.inner;
      const std::int64_t from = (outer * points.count + i) * of.inner;
      for (std::int64_t k = 0; k < of.inner; ++k) {
        float value = 0;
        load_floats(points.dtype, at(args.inputs[0], points.dtype, from + k), 1, &value);
        row[k] += value;
      }
    }
    store_floats(points.dtype, to, length, at(args.outputs[0], points.dtype, outer * length));
  }

  void operator()(const KernelArgs& args) {
    parallel_blocks(points.of.outer, [&](std::int64_t outer) { part(args, outer); });
  }
};

const RegisteredKernel native{{
    .op = "index_axes",
    .name = "native",
    .provider = Provider::framework,
    .summary = "point by point, the axes after them copied as a row",
    .prepare = prepare,
}};

const RegisteredKernel native_grad{{
    .op = "index_axes_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then the rows of dy added one after the other, in fp32",
    .prepare = [](const Problem& problem) -> Launch { return Gradient(problem); },
    .temporary_bytes =
        [](const Problem& problem) {
          return static_cast<std::size_t>(problem.outputs[0].elements()) * sizeof(float);
        },
}};

}  // namespace
}  // namespace opbench
