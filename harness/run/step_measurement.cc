#include "harness/run/step_measurement.h"

#include <algorithm>
#include <map>

#include "harness/plan/plan_tasks.h"
#include "harness/run/record.h"

namespace opbench {
namespace {

// Orders TransData, Cast and copies first, because tuning removes them.
int type_rank(const std::string& type) {
  if (type == "TransData") return 0;
  if (type == "Cast") return 1;
  return type == "contiguous" ? 2 : 3;
}

std::vector<TypeTime> types_of(const std::vector<TaskTime>& tasks) {
  std::map<std::string, TypeTime> by_type;
  double total = 0;
  for (const TaskTime& task : tasks) {
    TypeTime& type = by_type[task.type];
    type.type = task.type;
    type.min_us = type.count == 0 ? task.duration_us : std::min(type.min_us, task.duration_us);
    type.max_us = std::max(type.max_us, task.duration_us);
    type.total_us += task.duration_us;
    ++type.count;
    total += task.duration_us;
  }
  std::vector<TypeTime> types;
  for (auto& [name, type] : by_type) {
    type.avg_us = type.total_us / type.count;
    type.share = total > 0 ? type.total_us / total : 0;
    types.push_back(std::move(type));
  }
  std::stable_sort(types.begin(), types.end(), [](const TypeTime& a, const TypeTime& b) {
    const int first = type_rank(a.type), second = type_rank(b.type);
    return first != second ? first < second : a.total_us > b.total_us;
  });
  return types;
}

void add_tasks(const PlannedStep& step, const StepMeasurement& measured, StepDetails& details) {
  double start = 0;
  std::vector<int> makers(step.graph.tensors.size(), -1);
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    const Node& node = step.graph.nodes[i];
    const Kernel& kernel = *step.selection.kernels[i];
    TaskTime task;
    task.name = node.name;
    task.type = task_type(node, kernel);
    task.kernel = kernel.name;
    task.cause = node.cause;
    task.inputs = node.problem.inputs;
    task.outputs = node.problem.outputs;
    for (const std::size_t input : node.inputs) task.sources.push_back(makers[input]);
    for (const std::size_t output : node.outputs) makers[output] = static_cast<int>(i);
    task.start_us = start;
    task.duration_us = measured.task_us.empty() ? 0 : measured.task_us[i];
    start += task.duration_us;
    details.tasks.push_back(std::move(task));
  }
}

}  // namespace

std::vector<double> task_medians(std::span<const std::vector<double>> rounds) {
  std::vector<double> medians;
  if (rounds.empty()) return medians;
  for (std::size_t node = 0; node < rounds.front().size(); ++node) {
    std::vector<double> times;
    for (const std::vector<double>& round : rounds) times.push_back(round[node]);
    medians.push_back(median_of(std::move(times)));
  }
  return medians;
}

StepDetails step_details(const PlannedContext& planned, std::size_t index,
                         const StepMeasurement& measured) {
  const PlannedStep& step = planned.steps[index];
  StepDetails details;
  details.context = planned.id();
  details.summary = step.spec.summary;
  if (step.spec.after >= 0) {
    details.after = planned.steps[static_cast<std::size_t>(step.spec.after)].spec.name;
  }
  details.index = static_cast<int>(index);
  details.samples = step.spec.samples;
  details.published = step.spec.published;
  details.nodes = static_cast<int>(step.graph.nodes.size());
  const PlanCost cost = plan_cost(step.graph, step.selection);
  details.trans_data = cost.trans_data;
  details.trans_data_bytes = cost.trans_data_bytes;
  details.casts = cost.casts;
  details.copies = cost.copies;
  details.peak_bytes = step.memory.bytes;
  details.unshared_bytes = step.memory.unshared_bytes;
  details.planning_ms = step.planning_ms;
  details.has_overflow = measured.has_overflow;
  details.skipped_updates = measured.skipped_updates;
  details.gradient_error = measured.gradient_error;
  if (step.spec.precision.scaling != Precision::Scaling::none) {
    details.loss_scale = step.spec.precision.loss_scale;
  }
  add_tasks(step, measured, details);
  if (!measured.task_us.empty()) details.types = types_of(details.tasks);
  return details;
}

void compare_steps(const PlannedContext& planned, std::span<Record> records) {
  const auto per_sample = [&](std::size_t i) {
    return records[i].is_timed()
               ? records[i].times->median_us / static_cast<double>(planned.steps[i].spec.samples)
               : 0;
  };
  const auto comparable = [&](std::size_t i) {
    return is_comparable(records[i]) ? per_sample(i) : 0;
  };
  std::optional<double> first;
  for (std::size_t i = 0; i < records.size(); ++i) {
    StepDetails& details = *records[i].step;
    details.us_per_sample = per_sample(i);
    if (!first && records[i].is_timed()) first = comparable(i);
    const int after = planned.steps[i].spec.after;
    const double before = after < 0 ? 0 : comparable(static_cast<std::size_t>(after));
    if (const double own = comparable(i); own > 0) {
      details.speedup_over_previous = before / own;
      details.speedup_over_first = *first / own;
    }
    records[i].trans_data = details.trans_data;
  }
}

}  // namespace opbench
