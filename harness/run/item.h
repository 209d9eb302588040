#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/plan/plan.h"
#include "tensor/tensor.h"

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

/// A record of a dump that an item computes again, and what is written of it into another dump.
struct LoadedRecord {
  std::string op;  ///< as in the file
  int seq = 0;
  std::vector<std::string> outputs;  ///< what the case's outputs are called; "": is not recorded
  std::string variant;               ///< whose outputs are written; "": nobody's
  std::vector<std::string> selecting = {};  ///< words of a command line that name the record
};

/// One way to compute an item: a variant of a case, or a step of a context. Refers to the item's
/// plan.
struct Runnable {
  const Graph* graph = nullptr;
  const Selection* selection = nullptr;
  const MemoryPlan* memory = nullptr;
  const PlannedStep* step = nullptr;    ///< of a context; null for a variant of a case
  const InputSource* inputs = nullptr;  ///< of a case; null: they are generated
  bool checks_overflow = false;  ///< its fp16 saturates, so that each node says whether it did

  const std::string& name() const { return selection->variant; }
  /// Why it does not run; empty if it does.
  const std::string& refusal() const { return selection->refusal; }
  /// True if its fp16 is that of a device without Inf and NaN.
  bool saturates() const;
  /// True if its loss is scaled.
  bool scales_loss() const;
  /// The seed of a tensor's values where its item has `seed`. Inputs of one case must not be alike:
  /// each has a stream by its place. Steps of a context have the same inputs in other places: there
  /// the name chooses the stream.
  std::uint64_t seed_of(std::size_t tensor, std::uint64_t seed) const;
};

/// What is planned, run and recorded as one: a case with its variants, or a context with its steps.
/// Variants compute one graph on the same data, which stands in memory once. Steps have graphs of
/// their own and take turns in the memory of the largest.
struct Item {
  std::string id;  ///< of the case or context: the name in reports
  std::uint64_t seed = 0;
  std::vector<Runnable> runnables;

  /// One of both is there. A context is a copy, since a dynamic loss scale plans its steps anew.
  std::shared_ptr<const PlannedCase> planned_case;
  std::shared_ptr<PlannedContext> context;
  std::shared_ptr<const MemoryPlan> memory;  ///< of the case's graph

  /// Of a case that was recorded in a dump.
  std::shared_ptr<const InputSource> inputs;
  std::shared_ptr<const LoadedRecord> record;  ///< may be null with inputs

  /// Larger outputs are verified on a sample of about so many elements.
  std::int64_t most_verified = std::numeric_limits<std::int64_t>::max();

  bool is_context() const { return context != nullptr; }
};

/// Refers to `step`.
Runnable make_runnable(const PlannedStep& step);

/// `slack`: as of `plan_memory`; a page of it is what `OpenItem::move` needs.
Item make_item(PlannedCase planned, std::size_t slack = 0);
Item make_item(PlannedContext planned, std::size_t slack = 0);
/// A case on recorded inputs.
Item make_item(PlannedCase planned, std::shared_ptr<const InputSource> inputs,
               std::shared_ptr<const LoadedRecord> record = nullptr);

}  // namespace opbench
