#include "harness/run/corner_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "judge/outside_contract.h"
#include "tensor/fill.h"

namespace opbench {
namespace {

using IsWanted = std::function<bool(double corner)>;

// At most a quarter of the elements are corner values, or small tensors would hold nothing else.
std::size_t corner_count(std::int64_t elements, std::size_t corners) {
  return std::min(corners, static_cast<std::size_t>(elements / 4));
}

/// The inputs of a case that take corner values.
class Corners {
 public:
  Corners(const Workspace& workspace, const Runnable& runnable, std::uint64_t seed)
      : workspace_(workspace),
        runnable_(runnable),
        problem_(runnable.graph->nodes[0].problem),
        seed_(seed) {}

  template <class WantedOf>
  void write_inputs(WantedOf wanted_of) const {
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const TensorSpec& spec = problem_.op->input(i);
      if (spec.has_own_dtype() || spec.data != nullptr) continue;
      write(i, wanted_of(problem_.inputs[i].dtype));
    }
  }

  // Of losses that are a mean: `value_of` the number that stands there in timing.
  template <class ValueOf>
  void write_gradient_seeds(ValueOf value_of) const {
    const std::vector<GraphTensor>& tensors = runnable_.graph->tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const GraphTensor& seed = tensors[i];
      if (seed.role != GraphTensor::gradient_seed) continue;
      if (seed.data.kind != DistributionKind::constant || seed.desc.elements() == 0) continue;
      const double value = value_of(seed.data.a);
      from_doubles(seed.desc.dtype, &value, 1, workspace_.at(runnable_, i));
    }
  }

 private:
  // A corner value, or what was filled in where it is not wanted, in each corner's place.
  void write(std::size_t input, const IsWanted& is_wanted) const {
    const TensorDesc& desc = problem_.inputs[input];
    const std::vector<double> corners = corner_values(problem_);
    const std::size_t count = corner_count(desc.elements(), corners.size());
    const std::int64_t stride = count == 0 ? 0 : desc.elements() / static_cast<std::int64_t>(count);
    for (std::size_t k = 0; k < count; ++k) {
      // Which corners a small tensor gets, and beside which neighbours they stand, changes with the
      // seed; each input has its own places.
      const double corner = corners[(k + seed_) % corners.size()];
      const std::int64_t place =
          static_cast<std::int64_t>(k) * stride +
          static_cast<std::int64_t>((seed_ + input) % static_cast<std::size_t>(stride));
      std::byte value[sizeof(double)];
      if (is_wanted(corner)) {
        from_doubles(desc.dtype, &corner, 1, value);
      } else {
        generate(runnable_.graph->tensors[input].data, runnable_.seed_of(input, seed_), desc.dtype,
                 desc.elements(), {place, 1}, value);
      }
      write_elements(desc, workspace_.at(runnable_, input), {place, 1}, value);
    }
  }

  const Workspace& workspace_;
  const Runnable& runnable_;
  const Problem& problem_;
  const std::uint64_t seed_;
};

IsWanted wanted_by(const Runnable& runnable, DType dtype) {
  constexpr double kLargestTerm = 128;
  const bool mixes = runnable.graph->mixes_elements();
  const InputRange range =
      std::max(mixes ? InputRange::finite : InputRange::any, runnable.selection->takes());
  return [mixes, range, dtype](double corner) {
    if (std::isfinite(corner) && mixes && std::fabs(corner) > kLargestTerm) return false;
    return is_inside(range, dtype, corner);
  };
}

}  // namespace

void add_corner_values(const Workspace& workspace, const Runnable& runnable, std::uint64_t seed) {
  constexpr double kLargestHalf = 65504;
  const Corners corners(workspace, runnable, seed);
  corners.write_inputs([&](DType dtype) { return wanted_by(runnable, dtype); });
  const auto elements = static_cast<double>(runnable.graph->tensors.front().desc.elements());
  corners.write_gradient_seeds([&](double) { return std::clamp(elements, 1.0, kLargestHalf); });
}

void remove_corner_values(const Workspace& workspace, const Runnable& runnable,
                          std::uint64_t seed) {
  const Corners corners(workspace, runnable, seed);
  corners.write_inputs([](DType) { return IsWanted([](double) { return false; }); });
  corners.write_gradient_seeds([](double value) { return value; });
}

}  // namespace opbench
