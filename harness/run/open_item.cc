#include "harness/run/open_item.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/plan/precision.h"
#include "harness/run/corner_values.h"
#include "harness/run/memory.h"
#include "harness/run/phase_timer.h"
#include "tensor/parallel.h"

namespace opbench {

OpenItem::OpenItem(Item item, int threads, PhaseTimes& times)
    : item_(std::move(item)), threads_(threads), times_(times), opened_(item_.runnables.size()) {}

void OpenItem::require_memory(std::span<const std::size_t> chosen, bool verifies) const {
  if (item_.is_context()) {
    for (const std::size_t i : chosen) require_memory_of(*runnable(i).step, threads_, verifies);
    return;
  }
  std::vector<const Selection*> selections;
  for (const std::size_t i : chosen) selections.push_back(runnable(i).selection);
  require_memory_of(item_.planned_case->graph, selections, threads_);
}

void OpenItem::allocate(std::span<const std::size_t> chosen) {
  const PhaseTimer timer(times_.allocate);
  std::size_t largest = 0;
  for (const std::size_t i : chosen) largest = std::max(largest, runnable(i).memory->bytes);
  workspace_.emplace(largest);
}

void OpenItem::prepare(std::size_t i) {
  const PhaseTimer timer(times_.allocate);
  const Runnable& chosen = runnable(i);
  // Variants of a case keep temporaries of their own, as they would alone.
  opened_[i].bound = std::make_unique<BoundGraph>(
      *chosen.graph, chosen.selection->kernels, workspace_->storage_of(chosen), threads_,
      chosen.saturates(), item_.is_context() ? &scratch_ : nullptr);
}

void OpenItem::load(std::size_t i, const Values& values) {
  const PhaseTimer timer(times_.fill);
  const Runnable& chosen = runnable(i);
  const Values wanted{values.seed, values.has_corners && !item_.is_context()};
  const bool is_there =
      loaded_ && loaded_->graph == chosen.graph && loaded_->values.seed == wanted.seed;
  if (!is_there) {
    loaded_.reset();
    workspace_->load(chosen, wanted.seed);
  }
  // Each variant takes corner values of its own.
  if (wanted.has_corners) {
    add_corner_values(*workspace_, chosen, wanted.seed);
  } else if (is_there && loaded_->values.has_corners) {
    remove_corner_values(*workspace_, chosen, wanted.seed);
  }
  loaded_ = {chosen.graph, wanted};
}

Verification OpenItem::verify(std::size_t i, std::uint64_t seed) {
  load(i, {seed, true});
  const PhaseTimer timer(times_.verify);
  // What a kernel that fails or throws has spoilt is filled anew for the next.
  const Loaded before = *std::exchange(loaded_, std::nullopt);
  Verifier& verifier = verifiers_.try_emplace(seed, rules_for(item_)).first->second;
  Verification found = verifier.verify(runnable(i), *workspace_, bound(i), threads_);
  if (found.judgement.verdict == Verdict::failed) return found;
  loaded_ = before;
  if (item_.is_context() && seed == item_.seed) hold_to_first(i, found);
  return found;
}

void OpenItem::hold_to_first(std::size_t i, Verification& found) {
  const Runnable& chosen = runnable(i);
  found.judgement = firsts_.hold(*chosen.step, workspace_->storage_of(chosen), found.random_sums,
                                 opened_[i].scaling.has_overflow);
  if (found.judgement.reason.empty() && bound(i).has_saturated()) {
    found.judgement.reason = "fp16 values saturated";
  }
}

bool OpenItem::overflowed(std::size_t i) const {
  const Runnable& chosen = runnable(i);
  for (const std::size_t tensor : chosen.step->results) {
    if (chosen.graph->tensors[tensor].name != kOverflowFlag) continue;
    return *static_cast<const float*>(workspace_->at(chosen, tensor)) != 0;
  }
  return false;
}

LossScaling OpenItem::find_loss_scale(std::size_t i) {
  LossScaling& found = opened_[i].scaling;
  if (!runnable(i).scales_loss()) return found;
  while (true) {
    load(i, {item_.seed});
    {
      const PhaseTimer timer(times_.verify);
      with_threads(threads_, [&] { bound(i).run(); });
    }
    found.has_overflow = overflowed(i);
    if (!found.has_overflow) return found;
    ++found.skipped_updates;
    const Precision& precision = runnable(i).step->spec.precision;
    if (precision.scaling == Precision::Scaling::fixed || precision.loss_scale <= 1) return found;
    replan(i, precision.loss_scale / 2);
    prepare(i);
  }
}

// In place, where the runnable refers to.
void OpenItem::replan(std::size_t i, double loss_scale) {
  PlannedStep& step = item_.context->steps[i];
  ContextStep scaled = step.spec;
  scaled.precision.loss_scale = loss_scale;
  release(i);
  loaded_.reset();
  step = plan_step(item_.context->spec, scaled, item_.context->dtype);
}

std::string OpenItem::result_bits(std::size_t i) const {
  std::uint64_t bits = 0;
  const Runnable& chosen = runnable(i);
  for (std::size_t tensor = 0; tensor < chosen.graph->tensors.size(); ++tensor) {
    if (chosen.graph->tensors[tensor].role != GraphTensor::output) continue;
    bits = (bits * 31) ^ workspace_->fingerprint(chosen, tensor);
  }
  return fmt::format("{:016x}", bits);
}

}  // namespace opbench
