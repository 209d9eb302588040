#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/plan/work_unit.h"

namespace opbench {

/// One variant of a work unit: a variant of a case, or a step of a context. Refers to the plan of
/// the unit.
struct UnitVariant {
  const Graph* graph = nullptr;
  const SelectedKernels* selection = nullptr;
  const MemoryPlan* memory = nullptr;
  const PlannedStep* step = nullptr;    ///< of a context; null for a variant of a case
  const InputSource* inputs = nullptr;  ///< of a case; null: they are generated
  bool checks_overflow = false;         ///< its fp16 saturates, so that each node reports overflow

  const std::string& name() const { return selection->variant; }
  /// Why it does not run; empty if it runs.
  const std::string& refusal() const { return selection->refusal; }
  /// True if its fp16 is that of a device without Inf and NaN.
  bool saturates() const;
  /// True if its loss is scaled.
  bool scales_loss() const;
  /// Seed of a tensor's values if its unit has `seed`. Inputs of one case must differ, so the index
  /// of each selects its random stream. Steps of a context have the same inputs at other indices,
  /// so the name selects the stream.
  std::uint64_t seed_of(std::size_t tensor, std::uint64_t seed) const;
};

/// The variant refers to `step`.
UnitVariant unit_variant(const PlannedStep& step);

/// The variants of a unit, in its order. `memory`: layout of the tensors of a case, which all its
/// variants share.
std::vector<UnitVariant> unit_variants(const WorkUnit& unit, const MemoryPlan& memory);

}  // namespace opbench
