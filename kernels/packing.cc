// pack_int4 and trans_quant_param in one pass each.
#include "ops/packing.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"

namespace opbench {
namespace {

template <class From, class To>
void pack(const From* from, std::int64_t count, To* to) {
  constexpr int kCount = 2 * sizeof(To);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (int j = 0; j < kCount; ++j) bits |= (std::uint32_t(from[i * kCount + j]) & 15) << (4 * j);
    to[i] = static_cast<To>(bits);
  }
}

template <class From>
void pack_range(const KernelArgs& args, DType dtype, std::int64_t begin, std::int64_t end) {
  const auto* from = static_cast<const From*>(args.inputs[0]) + begin * 2 * size_of(dtype);
  void* const to = at(args.outputs[0], dtype, begin);
  if (dtype == DType::int32) return pack(from, end - begin, static_cast<std::uint32_t*>(to));
  pack(from, end - begin, static_cast<std::uint8_t*>(to));
}

Launch prepare_pack(const Problem& problem) {
  const TensorDesc& to = problem.outputs[0];
  return [from = problem.inputs[0].dtype, dtype = to.dtype,
          elements = to.elements()](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      if (from == DType::int32) return pack_range<std::int32_t>(args, dtype, begin, end);
      pack_range<std::int8_t>(args, dtype, begin, end);
    });
  };
}

Launch prepare_param(const Problem& problem) {
  const std::int64_t offsets = is_given(problem.inputs, 1) ? problem.inputs[1].elements() : 0;
  return [offsets, elements = problem.outputs[0].elements()](const KernelArgs& args) {
    const auto* const scale = static_cast<const float*>(args.inputs[0]);
    const auto* const offset = offsets == 0 ? nullptr : static_cast<const float*>(args.inputs[1]);
    auto* const to = static_cast<std::int64_t*>(args.outputs[0]);
    for (std::int64_t i = 0; i < elements; ++i) {
      to[i] = packed_quant_param(scale[i], offsets == 0 ? 0 : offset[offsets == 1 ? 0 : i]);
    }
  };
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "pack_int4",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "one pass, plain stores",
                      .prepare = prepare_pack}),
    RegisteredKernel({.op = "trans_quant_param",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "one pass on one thread",
                      .prepare = prepare_param}),
};

}  // namespace
}  // namespace opbench
