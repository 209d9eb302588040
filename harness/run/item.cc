#include "harness/run/item.h"

#include <utility>

namespace opbench {

bool Runnable::saturates() const {
  return checks_overflow ||
         (step != nullptr && step->spec.precision.half == Precision::Half::saturate);
}

bool Runnable::scales_loss() const {
  return step != nullptr && step->spec.precision.scaling != Precision::Scaling::none;
}

std::uint64_t Runnable::seed_of(std::size_t tensor, std::uint64_t seed) const {
  if (step != nullptr) return seed ^ text_hash(graph->tensors[tensor].name);
  return seed + 0x9E3779B97F4A7C15 * tensor;
}

Runnable make_runnable(const PlannedStep& step) {
  return {&step.graph, &step.selection, &step.memory, &step, nullptr, false};
}

Item make_item(PlannedCase planned, std::size_t slack) {
  Item item;
  item.id = case_id(planned.spec);
  item.seed = seed_of(planned.spec);
  item.memory = std::make_shared<MemoryPlan>(plan_apart(planned.graph, slack));
  item.planned_case = std::make_shared<PlannedCase>(std::move(planned));
  for (const Selection& variant : item.planned_case->variants) {
    item.runnables.push_back(
        {&item.planned_case->graph, &variant, item.memory.get(), nullptr, nullptr, false});
  }
  return item;
}

Item make_item(PlannedCase planned, std::shared_ptr<const InputSource> inputs,
               std::shared_ptr<const LoadedRecord> record) {
  Item item = make_item(std::move(planned));
  for (Runnable& runnable : item.runnables) runnable.inputs = inputs.get();
  item.inputs = std::move(inputs);
  item.record = std::move(record);
  return item;
}

Item make_item(PlannedContext planned, std::size_t slack) {
  Item item;
  item.id = planned.id();
  item.seed = planned.seed();
  item.context = std::make_shared<PlannedContext>(std::move(planned));
  for (PlannedStep& step : item.context->steps) {
    if (slack > 0) step.memory = plan_memory(step.graph, slack);
    item.runnables.push_back(make_runnable(step));
  }
  return item;
}

}  // namespace opbench
