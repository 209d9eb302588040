#include "harness/run/input_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "judge/outside_contract.h"
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

InputRefill::InputRefill(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed)
    : variant_(variant), workspace_(workspace), seed_(seed) {
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    const GraphTensor& tensor = variant.graph->tensors[i];
    // A rotated permutation is a permutation.
    if (!is_free(tensor) && tensor.data.kind != DistributionKind::permutation) continue;
    const auto elements = static_cast<std::size_t>(tensor.desc.elements());
    const bool is_dense = tensor.desc.bytes() == elements * size_of(tensor.desc.dtype);
    const bool is_rotated = is_dense && elements > 1;
    if (variant.inputs != nullptr && !is_rotated) continue;
    if (tensor.role == GraphTensor::input || tensor.role == GraphTensor::parameter) {
      inputs_.push_back({i, is_rotated});
    }
  }
}

// splitmix64 (Vigna 2015)
std::uint64_t InputRefill::mixed(std::size_t tensor, std::uint64_t generation) const {
  std::uint64_t bits = seed_ + 0x9E3779B97F4A7C15 * (generation * 64 + tensor + 1);
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return bits ^ bits >> 31;
}

void InputRefill::rotate(Input& input, std::int64_t shift) const {
  const TensorDesc& desc = variant_.graph->tensors[input.tensor].desc;
  const std::int64_t elements = desc.elements();
  const std::int64_t by = (shift - input.shift + elements) % elements;
  void* const data = workspace_.at(variant_, input.tensor);
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
    const GraphTensor& tensor = variant_.graph->tensors[input.tensor];
    const std::uint64_t random = generation == 0 ? 0 : mixed(input.tensor, generation);
    if (input.is_dense) {
      const auto others = static_cast<std::uint64_t>(tensor.desc.elements() - 1);
      rotate(input, generation == 0 ? 0 : 1 + static_cast<std::int64_t>(random % others));
    } else {
      fill(tensor.desc, workspace_.at(variant_, input.tensor), tensor.data,
           variant_.seed_of(input.tensor, seed_ + random));
    }
  }
  touch();
}

// Writes the first byte of each line back unchanged.
void InputRefill::touch() const {
  constexpr std::int64_t kLine = 64;  // bytes of a cache line
  for (std::size_t i = 0; i < variant_.graph->tensors.size(); ++i) {
    auto* const begin = static_cast<volatile std::byte*>(workspace_.at(variant_, i));
    const auto bytes = static_cast<std::int64_t>(variant_.graph->tensors[i].desc.bytes());
    const bool is_written = variant_.graph->tensors[i].is_computed();
    parallel_ranges((bytes + kLine - 1) / kLine, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t line = first; line < last; ++line) {
        const std::byte here = begin[line * kLine];
        if (is_written) begin[line * kLine] = here;
      }
    });
  }
}

namespace {

using IsWanted = std::function<bool(double corner)>;

// At most a quarter of the elements are corner values. Otherwise small tensors would hold nothing
// else.
std::size_t corner_count(std::int64_t elements, std::size_t corners) {
  return std::min(corners, static_cast<std::size_t>(elements / 4));
}

/// The inputs of a case that take corner values.
class Corners {
 public:
  Corners(const Workspace& workspace, const UnitVariant& variant, std::uint64_t seed)
      : workspace_(workspace),
        variant_(variant),
        problem_(variant.graph->nodes[0].problem),
        seed_(seed) {}

  template <class WantedOf>
  void write_inputs(WantedOf wanted_of) const {
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const TensorSpec& spec = problem_.op->input(i);
      if (spec.has_own_dtype() || spec.data != nullptr) continue;
      write(i, wanted_of(problem_.inputs[i].dtype));
    }
  }

  // For losses that are a mean. `value_of` gets the seed value that is used in timing.
  template <class ValueOf>
  void write_gradient_seeds(ValueOf value_of) const {
    const std::vector<GraphTensor>& tensors = variant_.graph->tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const GraphTensor& seed = tensors[i];
      if (seed.role != GraphTensor::gradient_seed) continue;
      if (seed.data.kind != DistributionKind::constant || seed.desc.elements() == 0) continue;
      const double value = value_of(seed.data.a);
      from_doubles(seed.desc.dtype, &value, 1, workspace_.at(variant_, i));
    }
  }

 private:
  // Writes a corner value to each corner's place. If it is not allowed, writes the generated value.
  void write(std::size_t input, const IsWanted& is_wanted) const {
    const TensorDesc& desc = problem_.inputs[input];
    const std::vector<double> corners = corner_values(problem_);
    const std::size_t count = corner_count(desc.elements(), corners.size());
    const std::int64_t stride = count == 0 ? 0 : desc.elements() / static_cast<std::int64_t>(count);
    for (std::size_t k = 0; k < count; ++k) {
      // The seed decides which corners a small tensor gets, and their neighbours. Each input has
      // its own places.
      const double corner = corners[(k + seed_) % corners.size()];
      const std::int64_t place =
          static_cast<std::int64_t>(k) * stride +
          static_cast<std::int64_t>((seed_ + input) % static_cast<std::size_t>(stride));
      std::byte value[sizeof(double)];
      if (is_wanted(corner)) {
        from_doubles(desc.dtype, &corner, 1, value);
      } else {
        generate(variant_.graph->tensors[input].data, variant_.seed_of(input, seed_), desc.dtype,
                 desc.elements(), {place, 1}, value);
      }
      write_elements(desc, workspace_.at(variant_, input), {place, 1}, value);
    }
  }

  const Workspace& workspace_;
  const UnitVariant& variant_;
  const Problem& problem_;
  const std::uint64_t seed_;
};

IsWanted wanted_by(const UnitVariant& variant, DType dtype) {
  constexpr double kLargestTerm = 128;
  const bool mixes = variant.graph->mixes_elements();
  const InputRange range =
      std::max(mixes ? InputRange::finite : InputRange::any, variant.selection->takes());
  return [mixes, range, dtype](double corner) {
    if (std::isfinite(corner) && mixes && std::fabs(corner) > kLargestTerm) return false;
    return is_inside(range, dtype, corner);
  };
}

}  // namespace

void add_corner_values(const Workspace& workspace, const UnitVariant& variant, std::uint64_t seed) {
  constexpr double kLargestHalf = 65504;  // largest finite fp16 number
  const Corners corners(workspace, variant, seed);
  corners.write_inputs([&](DType dtype) { return wanted_by(variant, dtype); });
  const auto elements = static_cast<double>(variant.graph->tensors.front().desc.elements());
  corners.write_gradient_seeds([&](double) { return std::clamp(elements, 1.0, kLargestHalf); });
}

void remove_corner_values(const Workspace& workspace, const UnitVariant& variant,
                          std::uint64_t seed) {
  const Corners corners(workspace, variant, seed);
  corners.write_inputs([](DType) { return IsWanted([](double) { return false; }); });
  corners.write_gradient_seeds([](double value) { return value; });
}

}  // namespace opbench
