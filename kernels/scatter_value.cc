// A copy, then one number at every indexed place, in the order of the index.
#include <cstring>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "ops/movement.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

Launch prepare(const Problem& problem) {
  const TensorDesc &self = problem.inputs[0], &index = problem.inputs[1];
  const double value = problem.attrs.number("value");
  std::uint64_t element = 0;
  from_doubles(self.dtype, &value, 1, &element);
  return [=, dtype = self.dtype, bytes = self.bytes(), count = index.elements(),
          index_dtype = index.dtype, shape = index.shape,
          dim = axis_of("scatter_value", self.shape, problem.attrs.integer("dim")),
          strides = row_major_strides(self.shape),
          from = row_major_strides(index.shape)](const KernelArgs& args) {
    std::memcpy(args.outputs[0], args.inputs[0], bytes);
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t rest = k, place = index_at(index_dtype, args.inputs[1], k) * strides[dim];
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i != dim) place += rest / from[i] * strides[i];
        rest %= from[i];
      }
      std::memcpy(at(args.outputs[0], dtype, place), &element, size_of(dtype));
    }
  };
}

const RegisteredKernel native{{
    .op = "scatter_value",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a copy, then one place of the index after the other",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
