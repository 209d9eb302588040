#include "kernels/simd/in_fp32.h"

#include <memory>

#include "kernels/simd/elementwise.h"
#include "tensor/half.h"

namespace opbench {
namespace {

bool is_half(const TensorDesc& desc) {
  return desc.dtype == DType::fp16 || desc.dtype == DType::bf16;
}

// A tensor with its fp32 copy, if it needs one.
struct Copy {
  DType dtype;
  std::int64_t elements;
  std::shared_ptr<Scratch> values;  // null: used in place

  explicit Copy(const TensorDesc& desc)
      : dtype(desc.dtype),
        elements(desc.storage_elements()),
        values(is_half(desc) ? std::make_shared<Scratch>(elements) : nullptr) {}

  const void* widened(const void* from) const {
    if (values == nullptr) return from;
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      const auto count = static_cast<std::size_t>(end - begin);
      if (dtype == DType::fp16) {
        widen(static_cast<const half*>(from) + begin, values->data() + begin, count);
      } else {
        widen(static_cast<const bfloat16*>(from) + begin, values->data() + begin, count);
      }
    });
    return values->data();
  }

  void narrow_to(void* to) const {
    if (values == nullptr) return;
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      const auto count = static_cast<std::size_t>(end - begin);
      if (dtype == DType::fp16) {
        narrow(values->data() + begin, static_cast<half*>(to) + begin, count);
      } else {
        narrow(values->data() + begin, static_cast<bfloat16*>(to) + begin, count);
      }
    });
  }
};

struct InFp32 {
  std::vector<Copy> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::function<void(const KernelArgs&)> compute;

  void run(const KernelArgs& args) {
    for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].widened(args.inputs[i]);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      out[i] = outputs[i].values == nullptr ? args.outputs[i] : outputs[i].values->data();
    }
    compute({in, out});
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].narrow_to(args.outputs[i]);
  }
};

}  // namespace

Launch in_fp32(const Problem& problem, std::function<void(const KernelArgs&)> compute) {
  const auto plan = std::make_shared<InFp32>();
  for (const TensorDesc& input : problem.inputs) plan->inputs.emplace_back(input);
  for (const TensorDesc& output : problem.outputs) plan->outputs.emplace_back(output);
  plan->in.resize(plan->inputs.size());
  plan->out.resize(plan->outputs.size());
  plan->compute = std::move(compute);
  return [plan](const KernelArgs& args) { plan->run(args); };
}

std::size_t in_fp32_bytes(const Problem& problem) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      if (is_half(tensor)) {
        bytes += static_cast<std::size_t>(tensor.storage_elements()) * sizeof(float);
      }
    }
  }
  return bytes;
}

}  // namespace opbench
