#include "harness/run/overflow_run.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "dump/dump_writer.h"
#include "harness/run/open_unit.h"
#include "harness/run/run_dump.h"
#include "harness/run/value_range.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

/// Runs units node by node. Node numbers continue from unit to unit.
class OverflowRunner {
 public:
  OverflowRunner(int threads, const OverflowHooks& hooks) : threads_(threads), hooks_(hooks) {}

  void run(const WorkUnit& unit) {
    OpenUnit open(unit, threads_, times_, {.checks_overflow = true});
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      if (open.variant(i).refusal().empty()) chosen.push_back(i);
    }
    if (chosen.empty()) return;
    try {
      open.require_memory(chosen, false);
      open.allocate(chosen);
    } catch (const std::exception& error) {
      result_.errors.push_back(fmt::format("{}: {}", open.unit().id, error.what()));
      return;
    }
    for (const std::size_t i : chosen) {
      if (!interrupted()) attempt(open, i);
    }
  }

  OverflowRun result() { return std::move(result_); }

 private:
  // An error of one unit does not affect the others.
  void attempt(OpenUnit& open, std::size_t i) {
    try {
      run_one(open, i);
    } catch (const std::exception& error) {
      result_.errors.push_back(
          fmt::format("{} {}: {}", open.unit().id, open.variant(i).name(), error.what()));
    }
    open.release(i);
  }

  void run_one(OpenUnit& open, std::size_t i) {
    open.prepare(i);
    open.load(i, {open.unit().seed});
    const UnitVariant& variant = open.variant(i);
    ranges_.clear();
    for (std::size_t n = 0; n < variant.graph->nodes.size() && !interrupted(); ++n) {
      ++seq_;
      if (!open.bound(i).is_skipped(n)) check_node(open, i, n);
    }
  }

  void check_node(const OpenUnit& open, std::size_t i, std::size_t n) {
    const UnitVariant& variant = open.variant(i);
    const Node& node = variant.graph->nodes[n];
    ValueRange inputs;
    for (const std::size_t input : node.inputs) inputs.merge(given_range(open, i, input));
    with_threads(threads_, [&] { open.bound(i).run_node(n); });
    ++result_.operators;
    RunOverflow overflow;
    overflow.has_flag = open.bound(i).node_has_saturated();
    for (const std::size_t output : node.outputs) {
      const TensorDesc& desc = variant.graph->tensors[output].desc;
      const void* const storage = open.workspace().at(variant, output);
      const ValueRange range = storage_range(desc, storage, desc.dtype);
      overflow.found.add(new_values(inputs, range));
      overflow.elements += range.elements;
      ranges_.insert_or_assign(output, range);
    }
    if (overflow.has_flag || overflow.found.is_any()) {
      report(open, i, n, std::move(overflow));
    }
  }

  // Value range of a node's input. It is already known if an earlier node computed it.
  const ValueRange& given_range(const OpenUnit& open, std::size_t i, std::size_t tensor) {
    const auto known = ranges_.find(tensor);
    if (known != ranges_.end()) return known->second;
    const UnitVariant& variant = open.variant(i);
    return ranges_
        .emplace(tensor, storage_range(variant.graph->tensors[tensor].desc,
                                       open.workspace().at(variant, tensor), DType::fp16))
        .first->second;
  }

  void report(const OpenUnit& open, std::size_t i, std::size_t n, RunOverflow overflow) {
    const UnitVariant& variant = open.variant(i);
    const Node& node = variant.graph->nodes[n];
    const LoadedRecord* loaded = open.unit().record.get();
    const int seq = loaded != nullptr ? loaded->seq : seq_;
    overflow.op = loaded != nullptr ? loaded->op : std::string(node.problem.op->ir_name);
    overflow.seq = std::to_string(seq);
    overflow.place = fmt::format("{} {}", open.unit().id, variant.name());
    if (!node.name.empty()) overflow.place += fmt::format(", {}", node.name);
    if (hooks_.dump != nullptr) {
      NodeDump dump(*hooks_.dump, open, i, n);
      dump.begin({{"opbench_case", open.unit().id}, {"opbench_variant", variant.name()}}, seq);
      dump.write_outputs();
    }
    hooks_.found(overflow);
    result_.found.push_back(std::move(overflow));
  }

  const int threads_;
  const OverflowHooks& hooks_;
  PhaseTimes times_;
  int seq_ = 0;
  std::map<std::size_t, ValueRange> ranges_;  // of the variant's tensors
  OverflowRun result_;
};

bool is_over(const OverflowHooks& hooks) {
  return interrupted() || (hooks.dump != nullptr && hooks.dump->has_failed());
}

}  // namespace

OverflowRun run_for_overflow(std::span<const WorkUnit> units, int threads,
                             const OverflowHooks& hooks) {
  OverflowRunner runner(threads, hooks);
  for (std::size_t i = 0; i < units.size() && !is_over(hooks); ++i) {
    hooks.progress(i, units.size());
    runner.run(units[i]);
  }
  return runner.result();
}

}  // namespace opbench
