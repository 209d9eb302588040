#include "harness/run/input_refill.h"

#include <algorithm>

#include "tensor/fill.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

template <class Bits>
void rotate_left(void* data, std::int64_t elements, std::int64_t by) {
  auto* const bits = static_cast<Bits*>(data);
  std::rotate(bits, bits + by, bits + elements);
}

}  // namespace

bool is_free(const GraphTensor& tensor) {
  const DistributionKind kind = tensor.data.kind;
  const bool is_given = tensor.role == GraphTensor::input || tensor.role == GraphTensor::parameter;
  return is_given && tensor.desc.elements() > 0 &&
         (kind == DistributionKind::normal || kind == DistributionKind::uniform ||
          kind == DistributionKind::integers);
}

InputRefill::InputRefill(const Runnable& runnable, const Workspace& workspace, std::uint64_t seed)
    : runnable_(runnable), workspace_(workspace), seed_(seed) {
  for (std::size_t i = 0; i < runnable.graph->tensors.size(); ++i) {
    const GraphTensor& tensor = runnable.graph->tensors[i];
    // A permutation that is rotated is one.
    if (!is_free(tensor) && tensor.data.kind != DistributionKind::permutation) continue;
    const auto elements = static_cast<std::size_t>(tensor.desc.elements());
    const bool is_dense = tensor.desc.bytes() == elements * size_of(tensor.desc.dtype);
    const bool is_rotated = is_dense && elements > 1;
    if (runnable.inputs != nullptr && !is_rotated) continue;
    if (tensor.role == GraphTensor::input || tensor.role == GraphTensor::parameter) {
      inputs_.push_back({i, is_rotated});
    }
  }
}

// splitmix64, Vigna 2015
std::uint64_t InputRefill::mixed(std::size_t tensor, std::uint64_t generation) const {
  std::uint64_t bits = seed_ + 0x9E3779B97F4A7C15 * (generation * 64 + tensor + 1);
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return bits ^ bits >> 31;
}

void InputRefill::rotate(Input& input, std::int64_t shift) const {
  const TensorDesc& desc = runnable_.graph->tensors[input.tensor].desc;
  const std::int64_t elements = desc.elements();
  const std::int64_t by = (shift - input.shift + elements) % elements;
  void* const data = workspace_.at(runnable_, input.tensor);
  input.shift = shift;
  switch (size_of(desc.dtype)) {
    case 1:
      return rotate_left<std::uint8_t>(data, elements, by);
    case 2:
      return rotate_left<std::uint16_t>(data, elements, by);
    case 4:
      return rotate_left<std::uint32_t>(data, elements, by);
    default:
      return rotate_left<std::uint64_t>(data, elements, by);
  }
}

void InputRefill::put(std::uint64_t generation) {
  if (generation == generation_) return;
  generation_ = generation;
  for (Input& input : inputs_) {
    const GraphTensor& tensor = runnable_.graph->tensors[input.tensor];
    const std::uint64_t random = generation == 0 ? 0 : mixed(input.tensor, generation);
    if (input.is_dense) {
      const auto others = static_cast<std::uint64_t>(tensor.desc.elements() - 1);
      rotate(input, generation == 0 ? 0 : 1 + static_cast<std::int64_t>(random % others));
    } else {
      fill(tensor.desc, workspace_.at(runnable_, input.tensor), tensor.data,
           runnable_.seed_of(input.tensor, seed_ + random));
    }
  }
  touch();
}

// One byte of each line is written as it is.
void InputRefill::touch() const {
  constexpr std::int64_t kLine = 64;
  for (std::size_t i = 0; i < runnable_.graph->tensors.size(); ++i) {
    auto* const begin = static_cast<volatile std::byte*>(workspace_.at(runnable_, i));
    const auto bytes = static_cast<std::int64_t>(runnable_.graph->tensors[i].desc.bytes());
    const bool is_written = runnable_.graph->tensors[i].is_computed();
    parallel_ranges((bytes + kLine - 1) / kLine, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t line = first; line < last; ++line) {
        const std::byte here = begin[line * kLine];
        if (is_written) begin[line * kLine] = here;
      }
    });
  }
}

}  // namespace opbench
