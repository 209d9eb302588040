#include "compare/implementation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "harness/plan/call_plan.h"
#include "harness/run/open_item.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// How many elements of all recorded outputs a variant leaves as they were recorded.
struct Likeness {
  std::string kernel;
  std::int64_t equal = 0, elements = 0;

  bool is_complete() const { return equal == elements; }
  double share() const { return static_cast<double>(equal) / static_cast<double>(elements); }
};

void copy_elements(const TensorDesc& from, const void* source, const TensorDesc& to, void* target) {
  std::vector<std::byte> bits;
  for (std::int64_t i = 0; i < block_count(to); ++i) {
    const ElementRange range = block(to, i);
    bits.resize(static_cast<std::size_t>(range.count) * size_of(to.dtype));
    read_elements(from, source, range, bits.data());
    write_elements(to, target, range, bits.data());
  }
}

void count_equal(const TensorDesc& recorded, const void* values, const TensorDesc& desc,
                 const void* computed, Likeness& likeness) {
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    a.resize(static_cast<std::size_t>(range.count));
    b.resize(a.size());
    read_doubles(recorded, values, range, a);
    read_doubles(desc, computed, range, b);
    for (std::size_t k = 0; k < a.size(); ++k) {
      likeness.equal += a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]));
    }
    likeness.elements += range.count;
  }
}

/// The inputs of a call that is in memory.
class LoadedInputs : public InputSource {
 public:
  explicit LoadedInputs(const std::vector<Tensor>& inputs) : inputs_(inputs) {}
  void fill(std::size_t input, const TensorDesc& desc, void* to) const override {
    if (desc.format != desc.origin) std::memset(to, 0, desc.bytes());
    copy_elements(inputs_[input].desc, inputs_[input].data(), desc, to);
  }

 private:
  const std::vector<Tensor>& inputs_;
};

Likeness run_variant(const LoadedCall& loaded, PlannedCase plan, int threads) {
  Likeness likeness;
  likeness.kernel = plan.variants[0].variant;
  PhaseTimes times;
  OpenItem open(make_item(std::move(plan), std::make_shared<LoadedInputs>(loaded.inputs)), threads,
                times);
  const std::size_t chosen[] = {0};
  open.require_memory(chosen, false);
  open.allocate(chosen);
  open.prepare(0);
  open.load(0, {open.item().seed});
  const Runnable& runnable = open.runnable(0);
  const Node& node = runnable.graph->nodes[0];
  with_threads(threads, [&] { open.bound(0).run(); });
  for (std::size_t i = 0; i < loaded.outputs.size(); ++i) {
    if (loaded.call->outputs[i] == nullptr) continue;
    count_equal(loaded.outputs[i].desc, loaded.outputs[i].data(), node.problem.outputs[i],
                open.workspace().at(runnable, node.outputs[i]), likeness);
  }
  return likeness;
}

std::vector<Likeness> all_variants(const LoadedCall& loaded, int threads) {
  std::vector<Likeness> all;
  const Problem& problem = loaded.call->problem;
  for (const Kernel* kernel : kernels_of(problem.op->name)) {
    std::optional<PlannedCase> plan = plan_call(problem, *kernel);
    if (!plan) continue;
    try {
      all.push_back(run_variant(loaded, std::move(*plan), threads));
    } catch (const RunError&) {
      // Too large to be run here: nothing is said of it.
    }
  }
  return all;
}

}  // namespace

std::string implementation_of(const LoadedCall& loaded, int threads) {
  std::vector<Likeness> all = all_variants(loaded, threads);
  std::erase_if(all, [](const Likeness& one) { return one.elements == 0; });
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const Likeness& a, const Likeness& b) { return a.equal > b.equal; });
  std::vector<std::string> complete;
  for (const Likeness& one : all) {
    if (one.is_complete()) complete.push_back(one.kernel);
  }
  if (complete.size() == all.size() && all.size() > 1) return {};
  if (!complete.empty()) {
    return fmt::format("equals {} bit for bit", fmt::join(complete, ", "));
  }
  constexpr double kNear = 0.9, kFar = 0.5;  // of those elements in which the others differ
  const Likeness& best = all.front();
  if (all.size() < 2 || best.share() < kNear) return {};
  if (1 - best.share() > kFar * (1 - all[1].share())) return {};
  return fmt::format("nearest to {} ({:.4g} % equal; {} {:.4g} %)", best.kernel, 100 * best.share(),
                     all[1].kernel, 100 * all[1].share());
}

}  // namespace opbench
