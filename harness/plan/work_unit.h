#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/case_plan.h"
#include "harness/plan/context_plan.h"

namespace opbench {

/// Where the values of a case's inputs come from if they are not generated: recorded ones.
class InputSource {
 public:
  InputSource() = default;
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;
  virtual ~InputSource() = default;

  /// Writes input `input` of the case to memory that is laid out as `desc` says; padding becomes
  /// zero. The same values every time. Errors: throws Error if they are not to be had.
  virtual void fill(std::size_t input, const TensorDesc& desc, void* to) const = 0;
};

/// A record of a dump that a unit computes again, and what is written of it into another dump.
struct LoadedRecord {
  std::string op;  ///< as in the file
  int seq = 0;
  std::vector<std::string> outputs;  ///< what the case's outputs are called; "": is not recorded
  std::string variant;               ///< whose outputs are written; "": nobody's
  std::vector<std::string> selecting = {};  ///< words of a command line that name the record
};

/// A case with its variants, or a context with its steps: planned, run and recorded as one, with
/// one or several numbers of threads. Cheap to copy: copies share the plan.
struct WorkUnit {
  WorkUnit(PlannedCase planned, std::shared_ptr<const InputSource> recorded = nullptr);
  WorkUnit(PlannedContext planned);

  std::string id;  ///< of the case or context: the name in reports
  std::uint64_t seed = 0;

  // One of both is there.
  std::shared_ptr<const PlannedCase> planned_case;
  std::shared_ptr<PlannedContext> context;

  // A case that was recorded in a dump has these, too.
  std::shared_ptr<const InputSource> inputs;
  std::shared_ptr<const LoadedRecord> record;  ///< may be null with inputs
  bool is_repeat = false;  ///< of another that is timed: only what it gets wrong has a row

  bool is_context() const { return context != nullptr; }
  /// The name in its file; may be empty.
  const std::string& name() const {
    return is_context() ? context->spec.name : planned_case->spec.name;
  }
  /// The bytes of its tensors; those of the largest step of a context.
  std::size_t bytes() const;

  /// How many variants or steps it has, and each of them with its graph.
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

/// Everything that is selected: the cases, then the contexts. Errors: those of `make_case_plan` and
/// `make_context_plan`.
std::vector<WorkUnit> make_plan(const CaseSelection& selection);

/// How many of the units are cases.
std::size_t count_cases(std::span<const WorkUnit> units);

}  // namespace opbench
