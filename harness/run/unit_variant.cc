#include "harness/run/unit_variant.h"

namespace opbench {

bool UnitVariant::saturates() const {
  return checks_overflow ||
         (step != nullptr && step->spec.precision.half == Precision::Half::saturate);
}

bool UnitVariant::scales_loss() const {
  return step != nullptr && step->spec.precision.scaling != Precision::Scaling::none;
}

std::uint64_t UnitVariant::seed_of(std::size_t tensor, std::uint64_t seed) const {
  if (step != nullptr) return seed ^ text_hash(graph->tensors[tensor].name);
  return seed + 0x9E3779B97F4A7C15 * tensor;
}

UnitVariant unit_variant(const PlannedStep& step) {
  return {&step.graph, &step.selection, &step.memory, &step, nullptr, false};
}

std::vector<UnitVariant> unit_variants(const WorkUnit& unit, const MemoryPlan& memory) {
  std::vector<UnitVariant> variants;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit.is_context())
      variants.push_back(unit_variant(unit.context->steps[i]));
    else
      variants.push_back(
          {&unit.graph(i), &unit.selection(i), &memory, nullptr, unit.inputs.get(), false});
  }
  return variants;
}

}  // namespace opbench
