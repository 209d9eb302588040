#include "harness/plan/work_unit.h"

#include <algorithm>
#include <utility>

namespace opbench {

WorkUnit::WorkUnit(PlannedCase planned, std::shared_ptr<const InputSource> recorded)
    : id(case_id(planned.spec)),
      seed(seed_of(planned.spec)),
      planned_case(std::make_shared<PlannedCase>(std::move(planned))),
      inputs(std::move(recorded)) {}

WorkUnit::WorkUnit(PlannedContext planned)
    : id(planned.id()),
      seed(planned.seed()),
      context(std::make_shared<PlannedContext>(std::move(planned))) {}

std::size_t WorkUnit::bytes() const {
  return is_context() ? context->largest_step_bytes() : planned_case->graph.memory_bytes();
}

namespace {

// A device runs in addition to the framework's variant on this processor, unless variants are
// named.
CaseSelection with_variants_of_devices(CaseSelection selection) {
  const std::vector<std::string>& devices = selection.foreign.devices;
  if (devices.empty() || !selection.variants.empty()) return selection;
  selection.variants = devices;
  selection.variants.emplace_back("native");
  return selection;
}

}  // namespace

std::vector<WorkUnit> make_plan(const CaseSelection& selection) {
  add_foreign_kernels(selection.foreign);
  CaseFiles files(selection.symbols);
  std::vector<WorkUnit> units;
  for (PlannedCase& planned : make_case_plan(with_variants_of_devices(selection), files))
    units.push_back(std::move(planned));
  for (PlannedContext& planned : make_context_plan(selection, files)) {
    units.push_back(std::move(planned));
  }
  return units;
}

std::size_t count_cases(std::span<const WorkUnit> units) {
  return static_cast<std::size_t>(
      std::count_if(units.begin(), units.end(), [](const WorkUnit& u) { return !u.is_context(); }));
}

}  // namespace opbench
