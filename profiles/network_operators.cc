#include "profiles/network_operators.h"

#include "profiles/cann_operators.h"

namespace opbench {
namespace {

// Those of our operator, where no results are recorded.
void set_results(NetworkOperator& made) {
  made.built.outputs.clear();
  for (const TensorDesc& desc : made.problem.outputs) {
    made.built.outputs.push_back(made.recorded.outputs.size());
    made.recorded.outputs.push_back(
        {false, desc.dtype, Format::ND, desc.shape, desc.shape, false, {}});
  }
}

}  // namespace

const NetworkOperator& NetworkOperators::add(const RecordedOperator& found) {
  all_.push_back(std::make_unique<NetworkOperator>());
  NetworkOperator& made = *all_.back();
  made.recorded = found.stored;
  made.built = built(found);
  if (made.built.spec) made.problem = problem_of(*made.built.spec);
  if (made.built.spec && !made.recorded.has_results) set_results(made);
  return made;
}

BuiltCase NetworkOperators::built(const RecordedOperator& found) const {
  BuiltCase built;
  const CannOperator* known = find_cann_operator(found.one.type);
  if (!found.obstacle.empty()) {
    built.obstacle = found.obstacle;
  } else if (known != nullptr && !known->part_of.empty()) {
    built.obstacle = "a part of " + known->part_of;
  } else if (known != nullptr && !known->each.empty()) {
    built.obstacle = "works on lists of tensors";
  } else if (known != nullptr && !known->into.empty()) {
    built.obstacle = "computes two gradients in one call";
  } else {
    built = builder_.build(found.one);
    built.notes.insert(built.notes.begin(), found.notes.begin(), found.notes.end());
  }
  return built;
}

}  // namespace opbench
