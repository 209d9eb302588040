// oneDNN's binary, sum and linear primitives as variants of add, mul, axpy, muls and adds.
#include <string_view>
#include <utility>

#include "kernels/onednn/primitive.h"
#include "ops/broadcast.h"

namespace opbench {
namespace {

using dnnl::algorithm;

/// The operands of the primitive, which can only repeat the second one.
struct Operands {
  dnnl::memory::desc first, second, result;
  std::size_t place_of_first = 0;
};

// The description with all axes; missing axes are added in front.
dnnl::memory::desc aligned(const TensorDesc& desc, std::size_t rank) {
  if (is_private(desc.format)) return onednn::axes_desc(desc);
  Dims shape(rank - desc.shape.size(), 1);
  shape.insert(shape.end(), desc.shape.begin(), desc.shape.end());
  return onednn::view_desc(desc.dtype, dense_view(shape));
}

Operands operands_of(const Problem& problem) {
  const auto& [op, inputs, outputs, attrs] = problem;
  if (!is_broadcast(problem)) {
    const auto memory = onednn::memory_desc(inputs[0]);
    return {memory, memory, memory};
  }
  const std::size_t rank = outputs[0].shape.size(), first = inputs[0] == outputs[0] ? 0 : 1;
  return {aligned(inputs[first], rank), aligned(inputs[1 - first], rank), aligned(outputs[0], rank),
          first};
}

dnnl::binary::primitive_desc binary_desc(algorithm kind, const Operands& of) {
  return {{kind, of.first, of.second, of.result}, onednn::engine()};
}

template <algorithm kAlgorithm>
Launch prepare_binary(const Problem& problem) {
  onednn::match_threads();
  const Operands of = operands_of(problem);
  return onednn::launch({{dnnl::binary(binary_desc(kAlgorithm, of)),
                          {{DNNL_ARG_SRC_0, of.first, of.place_of_first},
                           {DNNL_ARG_SRC_1, of.second, 1 - of.place_of_first}},
                          {{DNNL_ARG_DST, of.result, 0}}}});
}

dnnl::sum::primitive_desc sum_of(const Problem& problem) {
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const auto alpha = static_cast<float>(problem.attrs.number("alpha"));
  return {memory, {1.0f, alpha}, {memory, memory}, onednn::engine()};
}

Launch prepare_axpy(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  return onednn::launch(
      {{dnnl::sum(sum_of(problem)),
        {{DNNL_ARG_MULTIPLE_SRC, memory, 0}, {DNNL_ARG_MULTIPLE_SRC + 1, memory, 1}},
        {{DNNL_ARG_DST, memory, 0}}}});
}

// x*value, or x + value.
template <bool kIsSum>
Launch prepare_linear(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const auto value = static_cast<float>(problem.attrs.number("value"));
  const dnnl::eltwise_forward::primitive_desc desc(
      {dnnl::prop_kind::forward_inference, algorithm::eltwise_linear, memory, kIsSum ? 1 : value,
       kIsSum ? value : 0},
      onednn::engine());
  return onednn::launch(
      {{dnnl::eltwise_forward(desc), {{DNNL_ARG_SRC, memory, 0}}, {{DNNL_ARG_DST, memory, 0}}}});
}

std::string refuse_tensor(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

std::string refuse_broadcast(const Problem& problem) {
  return is_broadcast(problem) ? "oneDNN's sum does not broadcast" : refuse_tensor(problem);
}

template <algorithm kAlgorithm>
std::string refuse_binary(const Problem& problem) {
  if (!is_broadcast(problem)) return refuse_tensor(problem);
  const auto& [op, inputs, outputs, attrs] = problem;
  for (const TensorDesc& input : inputs) {
    if (const std::string reason = onednn::refusal(input); !reason.empty()) return reason;
  }
  if (inputs[0] != outputs[0] && inputs[1] != outputs[0])
    return "oneDNN broadcasts one of two tensors";
  if (outputs[0].shape.size() > 6) return "oneDNN is used for up to 6 dimensions here";
  const bool has_scalar = inputs[0].format != inputs[1].format || inputs[0].shape.size() != 4 ||
                          inputs[1].shape.size() != 4 || inputs[0].shape[1] != inputs[1].shape[1];
  if (is_private(outputs[0].format) && has_scalar)
    return "oneDNN broadcasts whole blocks of channels";
  const std::string_view code = binary_desc(kAlgorithm, operands_of(problem)).impl_info_str();
  return code.starts_with("ref") ? "oneDNN has reference code only for these shapes" : "";
}

const RegisteredKernel add{{
    .op = "add",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN binary add",
    .refusal = refuse_binary<algorithm::binary_add>,
    .prepare = prepare_binary<algorithm::binary_add>,
}};

const RegisteredKernel mul{{
    .op = "mul",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN binary mul",
    .refusal = refuse_binary<algorithm::binary_mul>,
    .prepare = prepare_binary<algorithm::binary_mul>,
}};

/// A primitive with operands that must not be exchanged.
template <algorithm kAlgorithm>
std::string refuse_ordered(const Problem& problem) {
  if (is_broadcast(problem) && problem.inputs[0] != problem.outputs[0]) {
    return "oneDNN broadcasts the second tensor only";
  }
  return refuse_binary<kAlgorithm>(problem);
}

Kernel binary_kernel(std::string_view op, std::string_view summary,
                     std::string (*refusal)(const Problem& problem),
                     Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = "onednn",
          .provider = Provider::vendor,
          .summary = summary,
          .refusal = refusal,
          .prepare = prepare,
          .takes = InputRange::finite};  // max(NaN, x) is x there
}

const RegisteredKernel kBinary[] = {
    RegisteredKernel(binary_kernel("sub", "oneDNN binary sub",
                                   refuse_ordered<algorithm::binary_sub>,
                                   prepare_binary<algorithm::binary_sub>)),
    RegisteredKernel(binary_kernel("div", "oneDNN binary div",
                                   refuse_ordered<algorithm::binary_div>,
                                   prepare_binary<algorithm::binary_div>)),
    RegisteredKernel(binary_kernel("maximum", "oneDNN binary max",
                                   refuse_binary<algorithm::binary_max>,
                                   prepare_binary<algorithm::binary_max>)),
    RegisteredKernel(binary_kernel("minimum", "oneDNN binary min",
                                   refuse_binary<algorithm::binary_min>,
                                   prepare_binary<algorithm::binary_min>)),
};

const RegisteredKernel axpy{{
    .op = "axpy",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN sum with scales 1 and alpha",
    .refusal = refuse_broadcast,
    .prepare = prepare_axpy,
    .note = onednn::note_of<prepare_axpy>,
}};

Kernel linear_kernel(std::string_view op, Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = "onednn",
          .provider = Provider::vendor,
          .summary = "oneDNN eltwise linear",
          .refusal = refuse_tensor,
          .prepare = prepare};
}

const RegisteredKernel kLinear[] = {
    RegisteredKernel(linear_kernel("muls", prepare_linear<false>)),
    RegisteredKernel(linear_kernel("adds", prepare_linear<true>)),
};

}  // namespace
}  // namespace opbench
