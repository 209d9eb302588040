#include <cstring>

#include "kernels/index_add.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// One row of the source after the other, one element after the other.
template <class T>
void add_elements(const IndexAddCall& call, const IndexAddColumns& columns) {
  for (std::int64_t i = 0; i < call.added; ++i) {
    T* y = static_cast<T*>(call.y) + (columns.outer * call.extent + call.index[i]) * call.inner;
    const T* x = static_cast<const T*>(call.source) + (columns.outer * call.added + i) * call.inner;
    for (std::int64_t j = columns.first; j < columns.last; ++j) {
      y[j] = T(float(y[j]) + call.alpha * float(x[j]));
    }
  }
}

Launch prepare_native(const Problem& problem) {
  return [plan = IndexAddPlan(problem)](const KernelArgs& args) mutable {
    plan.read_index(args.inputs[1]);
    const IndexAddCall call = plan.call(args, plan.index);
    for_each_range(plan.elements(), [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(at(args.outputs[0], plan.dtype, begin), at(args.inputs[0], plan.dtype, begin),
                  static_cast<std::size_t>(end - begin) * size_of(plan.dtype));
    });
    for_each_column_range(plan.view,
                          [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
                            visit_arithmetic(plan.dtype, [&](auto tag) {
                              add_elements<decltype(tag)>(call, {outer, first, last});
                            });
                          });
  };
}

const RegisteredKernel native{{
    .op = "index_add",
    .name = "native",
    .provider = Provider::framework,
    .summary = "self copied, then row after row of the source added",
    .prepare = prepare_native,
    .temporary_bytes = IndexAddPlan::bytes,
}};

}  // namespace
}  // namespace opbench
