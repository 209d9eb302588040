#include "kernels/simd/elementwise.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// The factor is rounded to fp32, as the product; narrower elements are widened.
Launch prepare(const Problem& problem) {
  return
      [dtype = problem.inputs[0].dtype, elements = problem.outputs[0].elements(),
       scale = static_cast<float>(1 / problem.attrs.number("keep_prob"))](const KernelArgs& args) {
        visit_arithmetic(dtype, [&](auto tag) {
          using T = decltype(tag);
          const auto* x = static_cast<const T*>(args.inputs[0]);
          const auto* mask = static_cast<const std::uint8_t*>(args.inputs[1]);
          auto* y = static_cast<T*>(args.outputs[0]);
          for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              const float factor = (mask[i / 8] >> (i % 8) & 1) != 0 ? scale : 0;
              y[i] = static_cast<T>(static_cast<float>(x[i]) * factor);
            }
          });
        });
      };
}

const RegisteredKernel native{{
    .op = "dropout_do_mask",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one element after the other",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
