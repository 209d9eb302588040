// Rows of a source combined with rows of self, one after the other in the order of the index.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "ops/scatter_plan.h"
#include "tensor/half.h"

namespace opbench {
namespace {

/// The plan of a call with room for its indices.
struct Rows {
  ScatterPlan plan;
  std::vector<TensorDesc> descs;
  std::vector<InputReader> readers;
  std::vector<std::vector<std::int64_t>> indices;

  explicit Rows(const Problem& problem)
      : plan(*problem.op, problem.inputs, problem.attrs),
        descs(problem.inputs),
        indices(plan.room()) {}

  // Places are read again by every call.
  void read(const KernelArgs& args) {
    readers.clear();
    for (std::size_t i = 0; i < descs.size(); ++i) readers.emplace_back(descs[i], args.inputs[i]);
    plan.read(readers, indices);
  }
};

/// A copy of self, then one row after the other.
struct Update {
  Rows rows;

  void operator()(const KernelArgs& args) {
    const DType dtype = rows.descs[0].dtype;
    rows.read(args);
    std::memcpy(args.outputs[0], args.inputs[0], rows.descs[0].bytes());
    for (std::int64_t i = 0; i < rows.plan.rows; ++i) {
      const auto [to, from] = rows.plan.places(rows.indices, i);
      std::memcpy(at(args.outputs[0], dtype, to), at(args.inputs[rows.plan.source], dtype, from),
                  static_cast<std::size_t>(rows.plan.length) * size_of(dtype));
    }
  }
};

/// Elements in fp32 or int64 that are stored at the end. T: the stored type.
template <class T>
struct Combination {
  using Work = std::conditional_t<std::is_integral_v<T>, std::int64_t, float>;

  Rows rows;
  std::vector<Work> y;
  std::vector<std::int32_t> met;  // the number of elements that were combined

  explicit Combination(const Problem& problem)
      : rows(problem), y(static_cast<std::size_t>(problem.outputs[0].elements())), met(y.size()) {}

  void combine(const T* source) {
    const ScatterPlan& plan = rows.plan;
    std::fill(met.begin(), met.end(), plan.includes_self ? 1 : 0);
    for (std::int64_t i = 0; i < plan.rows; ++i) {
      const auto [to, from] = plan.places(rows.indices, i);
      for (std::int64_t k = 0; k < plan.length; ++k) {
        const auto place = static_cast<std::size_t>(to + k);
        const auto value = static_cast<Work>(source[from + k]);
        y[place] = met[place]++ == 0 ? value : combined(plan.reduce, y[place], value);
      }
    }
  }

  void operator()(const KernelArgs& args) {
    const auto* const self = static_cast<const T*>(args.inputs[0]);
    auto* const out = static_cast<T*>(args.outputs[0]);
    const bool is_mean = rows.plan.reduce == Reduce::mean;
    rows.read(args);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<Work>(self[i]);
    combine(static_cast<const T*>(args.inputs[rows.plan.source]));
    for (std::size_t i = 0; i < y.size(); ++i) {
      out[i] = static_cast<T>(is_mean && met[i] > 1 ? mean_of(y[i], met[i]) : y[i]);
    }
  }
};

Launch prepare(const Problem& problem) {
  const DType dtype = problem.inputs[0].dtype;
  if (Rows(problem).plan.reduce == Reduce::update) return Update{Rows(problem)};
  Launch launch;
  const auto set = [&]<class T>(T) { launch = Combination<T>(problem); };
  if (is_integer(dtype)) {
    visit_integer(dtype, set);
  } else {
    visit_arithmetic(dtype, set);
  }
  return launch;
}

std::size_t temporary_bytes(const Problem& problem) {
  const bool is_integral = is_integer(problem.inputs[0].dtype);
  const std::size_t each =
      (is_integral ? sizeof(std::int64_t) : sizeof(float)) + sizeof(std::int32_t);
  return static_cast<std::size_t>(problem.outputs[0].elements()) * each;
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "a copy of self, then row after row; sums in fp32, stored at the end",
          .prepare = prepare,
          .temporary_bytes = temporary_bytes};
}

const RegisteredKernel kKernels[] = {RegisteredKernel(native("scatter")),
                                     RegisteredKernel(native("index_put")),
                                     RegisteredKernel(native("scatter_nd_update"))};

}  // namespace
}  // namespace opbench
