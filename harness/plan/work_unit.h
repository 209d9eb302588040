#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/case_plan.h"
#include "harness/plan/context_plan.h"

namespace opbench {

/// Source of recorded values of a case's inputs. Without it they are generated.
class InputSource {
 public:
  InputSource() = default;
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;
  virtual ~InputSource() = default;

  /// Writes input `input` of the case to memory with the layout of `desc`. Padding becomes zero.
  /// Every call writes the same values.
  /// Errors: throws Error if the values are not available.
  virtual void fill(std::size_t input, const TensorDesc& desc, void* to) const = 0;
};

/// A record of a dump that a unit computes again, and the outputs that are written to another dump.
struct LoadedRecord {
  std::string op;  ///< name in the file
  int seq = 0;
  std::vector<std::string> outputs;  ///< recorded names of the case's outputs; "": not recorded
  std::string variant;               ///< the variant whose outputs are written; "": none is written
  std::vector<std::string> selecting = {};  ///< words of a command line that select the record
};

/// A case with its variants, or a context with its steps. A unit is planned, run and recorded as a
/// whole, with one or several numbers of threads. Cheap to copy: copies share the plan.
struct WorkUnit {
  WorkUnit(PlannedCase planned, std::shared_ptr<const InputSource> recorded = nullptr);
  WorkUnit(PlannedContext planned);

  std::string id;  ///< id of the case or context: the name in reports
  std::uint64_t seed = 0;

  // Exactly one of the two is set.
  std::shared_ptr<const PlannedCase> planned_case;
  std::shared_ptr<PlannedContext> context;

  // Set for a case that was recorded in a dump.
  std::shared_ptr<const InputSource> inputs;
  std::shared_ptr<const LoadedRecord> record;  ///< may be null even with inputs
  bool is_repeat = false;  ///< repeats a timed unit: only its wrong results have a row

  bool is_context() const { return context != nullptr; }
  /// The name in its file; may be empty.
  const std::string& name() const {
    return is_context() ? context->spec.name : planned_case->spec.name;
  }
  /// Bytes of its tensors; of the largest step for a context.
  std::size_t bytes() const;

  /// Number of variants or steps; each has a graph.
  std::size_t size() const {
    return is_context() ? context->steps.size() : planned_case->variants.size();
  }
  const SelectedKernels& selection(std::size_t i) const {
    return is_context() ? context->steps[i].selection : planned_case->variants[i];
  }
  const Graph& graph(std::size_t i) const {
    return is_context() ? context->steps[i].graph : planned_case->graph;
  }
};

/// All selected units: the cases, then the contexts.
/// Errors: those of `make_case_plan` and `make_context_plan`.
std::vector<WorkUnit> make_plan(const CaseSelection& selection);

/// Number of units that are cases.
std::size_t count_cases(std::span<const WorkUnit> units);

}  // namespace opbench
