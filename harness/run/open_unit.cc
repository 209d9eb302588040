#include "harness/run/open_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/plan/precision.h"
#include "harness/run/input_values.h"
#include "harness/run/memory.h"
#include "harness/run/run_result.h"
#include "kernels/call_clock.h"
#include "tensor/buffer.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {

OpenUnit::OpenUnit(WorkUnit unit, int threads, PhaseTimes& times, const Options& options)
    : unit_(std::move(unit)),
      threads_(threads),
      copies_(options.copies),
      times_(times),
      case_memory_(std::make_unique<MemoryPlan>()),
      opened_(unit_.size()),
      rules_(rules_for(unit_, options.most_verified, options.rule)) {
  const std::size_t slack = copies_ > 1 ? MemoryPlan::kPage : options.slack;
  if (unit_.is_context()) {
    unit_.context = std::make_shared<PlannedContext>(*unit_.context);
    for (PlannedStep& step : unit_.context->steps) {
      if (slack > 0) step.memory = plan_memory(step.graph, slack);
    }
  } else {
    *case_memory_ = plan_apart(unit_.planned_case->graph, slack);
  }
  variants_ = unit_variants(unit_, *case_memory_);
  for (UnitVariant& variant : variants_) variant.checks_overflow = options.checks_overflow;
}

void OpenUnit::require_memory(std::span<const std::size_t> chosen, bool verifies) const {
  require_memory_of(unit_, chosen, threads_, verifies);
  if (copies_ == 1) return;
  // A kernel from outside has copies of its own.
  std::size_t largest = 0, places = 1;
  for (const std::size_t i : chosen) {
    largest = std::max(largest, variant(i).memory->bytes);
    places += variant(i).selection->kernels.front()->origin.is_outside();
  }
  opbench::require_memory(places * largest * static_cast<std::size_t>(copies_),
                          "take fewer copies of the inputs (--rotate-inputs), or fewer variants "
                          "at once (--variant)");
}

void OpenUnit::allocate(std::span<const std::size_t> chosen) {
  const PhaseTimer timer(times_.allocate);
  std::size_t largest = 0;
  for (const std::size_t i : chosen) largest = std::max(largest, variant(i).memory->bytes);
  workspace_.emplace(largest, copies_);
  choose_place(0);
}

void OpenUnit::prepare(std::size_t i) {
  const PhaseTimer timer(times_.allocate);
  const UnitVariant& chosen = variant(i);
  // Variants of a case have temporaries of their own, so that each is timed like a single variant.
  opened_[i].bound = std::make_unique<BoundGraph>(
      *chosen.graph, chosen.selection->kernels, workspace_->storage_of(chosen), threads_,
      chosen.saturates(), unit_.is_context() ? &scratch_ : nullptr);
}

void OpenUnit::move(std::uint64_t layout) {
  if (layout == workspace_->layout()) return;
  const Loaded* held = loaded_ ? &*loaded_ : timing_ ? &timing_->values : nullptr;
  const auto& all = variants_;
  const auto loaded = std::find_if(all.begin(), all.end(), [&](const UnitVariant& variant) {
    return held != nullptr && variant.graph == held->graph;
  });
  workspace_->move(layout, loaded == all.end() ? nullptr : &*loaded);
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (!is_prepared(i)) continue;
    opened_[i].bound->bind(*variant(i).graph, workspace_->storage_of(variant(i)));
  }
}

void OpenUnit::rotate() {
  if (copies_ == 1) return;
  if (timing_) timing_->watch.undo_changes();
  move(workspace_->layout() + 1);
  choose_place(static_cast<int>(workspace_->layout() % static_cast<std::uint64_t>(copies_)));
  if (!unit_.is_context()) poison_results(variant(0));
}

// All variants of a case have the same graph and memory.
void OpenUnit::poison_results(const UnitVariant& chosen) const {
  for (std::size_t tensor = 0; tensor < chosen.graph->tensors.size(); ++tensor) {
    if (chosen.graph->tensors[tensor].is_computed()) workspace_->poison(chosen, tensor);
  }
}

void OpenUnit::load(std::size_t i, const Values& values) {
  const PhaseTimer timer(times_.fill);
  const UnitVariant& chosen = variant(i);
  const bool is_recorded = chosen.inputs != nullptr;
  const Values wanted{is_recorded ? unit_.seed : values.seed,
                      values.has_corners && !unit_.is_context() && !is_recorded};
  const bool is_there =
      loaded_ && loaded_->graph == chosen.graph && loaded_->values.seed == wanted.seed;
  if (!is_there) {
    loaded_.reset();
    workspace_->load(chosen, wanted.seed);
  }
  // Each variant takes its own set of corner values.
  if (wanted.has_corners) {
    add_corner_values(*workspace_, chosen, wanted.seed);
  } else if (is_there && loaded_->values.has_corners) {
    remove_corner_values(*workspace_, chosen, wanted.seed);
  }
  loaded_ = {chosen.graph, wanted};
}

// With recorded inputs only the outputs are dumped, so no changes are put in place.
void OpenUnit::load_failed(std::size_t i, const Values& values) {
  load(i, values);
  const UnitVariant& chosen = variant(i);
  const TimedInputs& inputs = opened_[i].failed_on;
  if (chosen.inputs != nullptr || (inputs.generation == 0 && inputs.changes.empty())) return;
  loaded_.reset();
  CallWatch(chosen, *workspace_, values.seed).put(inputs);
}

Verification OpenUnit::verify(std::size_t i, std::uint64_t seed) {
  load(i, {seed, true});
  const PhaseTimer timer(times_.verify);
  // If the kernel fails or throws, its memory must be filled again before the next use.
  const Loaded before = *std::exchange(loaded_, std::nullopt);
  Verifier& verifier = verifiers_.try_emplace(seed, rules_).first->second;
  Verification found = verifier.verify(variant(i), *workspace_, bound(i), threads_);
  if (found.judgement.verdict == Verdict::failed) return found;
  loaded_ = before;
  if (unit_.is_context() && seed == unit_.seed) compare_with_first(i, found);
  return found;
}

void OpenUnit::compare_with_first(std::size_t i, Verification& found) {
  const UnitVariant& chosen = variant(i);
  found.judgement = firsts_.compare(*chosen.step, workspace_->storage_of(chosen), finds_rounding(i),
                                    opened_[i].scaling.has_overflow);
  if (found.judgement.reason.empty() && bound(i).has_saturated()) {
    found.judgement.reason = "fp16 values saturated";
  }
}

FindRounding OpenUnit::finds_rounding(std::size_t i) const {
  return [this, i](const std::vector<std::string>& gradients) {
    return rounding_of(variant(i), bound(i), workspace_->storage_of(variant(i)), threads_,
                       gradients);
  };
}

std::optional<double> OpenUnit::gradient_error(std::size_t i) {
  if (opened_[i].scaling.has_overflow) return std::nullopt;
  const PhaseTimer timer(times_.verify);
  const UnitVariant& chosen = variant(i);
  return anchors_.gradient_error(*unit_.context, *chosen.step, workspace_->storage_of(chosen),
                                 threads_);
}

bool OpenUnit::overflowed(std::size_t i) const {
  const UnitVariant& chosen = variant(i);
  for (const GraphResult& result : chosen.step->results) {
    if (result.name != kOverflowFlag) continue;
    return *static_cast<const float*>(workspace_->at(chosen, result.tensor)) != 0;
  }
  return false;
}

LossScaling OpenUnit::find_loss_scale(std::size_t i) {
  LossScaling& found = opened_[i].scaling;
  if (!variant(i).scales_loss()) return found;
  while (true) {
    load(i, {unit_.seed});
    {
      const PhaseTimer timer(times_.verify);
      with_threads(threads_, [&] { bound(i).run(); });
    }
    found.has_overflow = overflowed(i);
    if (!found.has_overflow) return found;
    ++found.skipped_updates;
    const Precision& precision = variant(i).step->spec.precision;
    if (precision.scaling == Precision::Scaling::fixed || precision.loss_scale <= 1) return found;
    replan(i, precision.loss_scale / 2);
    prepare(i);
  }
}

// Replaces the step in place, because the variant refers to it.
void OpenUnit::replan(std::size_t i, double loss_scale) {
  PlannedStep& step = unit_.context->steps[i];
  ContextStep scaled = step.spec;
  scaled.precision.loss_scale = loss_scale;
  release(i);
  loaded_.reset();
  const std::size_t slack = step.memory.slack;
  step = plan_step(unit_.context->spec, scaled, unit_.context->dtype);
  if (slack > 0) step.memory = plan_memory(step.graph, slack);
}

void OpenUnit::evict(std::size_t i) const {
  workspace_->evict(variant(i));
  request_cold_calls();
}

CallWatch& OpenUnit::begin_timing(std::size_t i, std::uint64_t seed) {
  load(i, {seed});
  const PhaseTimer timer(times_.verify);
  const UnitVariant& chosen = variant(i);
  const Loaded values = *std::exchange(loaded_, std::nullopt);
  if (!unit_.is_context()) poison_results(chosen);
  const std::uint64_t given = workspace_->given_fingerprint(chosen);
  timing_.emplace(Timing{values, given, CallWatch(chosen, *workspace_, seed)});
  return timing_->watch;
}

Verification OpenUnit::end_timing(std::size_t i) {
  const PhaseTimer timer(times_.verify);
  CallWatch& watch = timing_->watch;
  Verification found;
  Judgement& judged = found.judgement;
  if (!watch.missed().empty()) {
    judged = {Verdict::failed, watch.missed()};
  } else if (unit_.is_context()) {
    note_results(i);
  } else {
    found = judge_timed(i);
  }
  const bool is_failed = judged.verdict == Verdict::failed;
  if (is_failed) opened_[i].failed_on = watch.inputs();
  watch.restore();
  if (!is_failed && workspace_->given_fingerprint(variant(i)) != timing_->given) {
    judged = {Verdict::failed, "changed given tensors while it was timed"};
  } else if (!is_failed) {
    loaded_ = timing_->values;
  }
  timing_.reset();
  return found;
}

// Sets the verdict only. The accuracy is dropped, because it is that of repeated values. If judging
// is fast, some more calls are judged, each after one more change of an input.
Verification OpenUnit::judge_timed(std::size_t i) {
  // Kernels from outside may give other bits, so more of their calls are judged, and none compared.
  const bool is_outside = variant(i).selection->kernels.front()->origin.is_outside();
  const int most_calls = is_outside ? 24 : 16;
  const double most_seconds = is_outside ? 0.1 : 0.002;
  const std::uint64_t seed = timing_->values.values.seed;
  const Verifier& verifier = verifiers_.try_emplace(seed, rules_).first->second;
  double spent = 0;
  Verification found;
  for (int call = 0; call < most_calls && spent < most_seconds; ++call) {
    const PhaseTimer timer(spent);
    if (call > 0) {
      if (is_outside && call % 3 == 0) {
        timing_->watch.refill();
        timing_->watch.begin(most_calls);
      }
      timing_->watch.change_next();
      with_threads(threads_, [&] { bound(i).run(); });
    }
    found = verifier.judge(variant(i), *workspace_);
    if (found.judgement.verdict == Verdict::failed) {
      found.judgement.reason = "in a timed call: " + found.judgement.reason;
      break;
    }
  }
  found.stats = {};
  const bool is_right = found.judgement.verdict != Verdict::failed;
  if (is_right && repeats(i) && !repeats_timed(i)) {
    found.judgement = {Verdict::failed,
                       "in a timed call: the results do not belong to its inputs; on the same "
                       "values, after others, it gives other bits"};
  }
  return found;
}

bool OpenUnit::repeats_timed(std::size_t i) {
  constexpr double kSeconds = 0.01;
  const auto call = [&] { with_threads(threads_, [&] { bound(i).run(); }); };
  return timing_->watch.repeats_its_results(call, kSeconds);
}

bool OpenUnit::repeats(std::size_t i) const {
  const std::vector<const Kernel*>& kernels = variant(i).selection->kernels;
  return std::none_of(kernels.begin(), kernels.end(),
                      [](const Kernel* kernel) { return kernel->sums_by_thread; });
}

void OpenUnit::note_results(std::size_t i) {
  LastCall& last = opened_[i].last;
  last = {timing_->values.values.seed, timing_->watch.inputs(), element_bits(i), {}};
  if (repeats(i)) return;
  last.values = collect_results(*variant(i).step, workspace_->storage_of(variant(i)));
}

Verification OpenUnit::judge_rounds(std::size_t i) {
  const LastCall& last = opened_[i].last;
  load(i, {last.seed});
  const PhaseTimer timer(times_.verify);
  const UnitVariant& chosen = variant(i);
  loaded_.reset();
  for (const WatchedChange& change : last.inputs.changes) change.apply();
  opened_[i].failed_on = last.inputs;
  Verifier& verifier = verifiers_.try_emplace(last.seed, rules_).first->second;
  Verification found = verifier.verify(chosen, *workspace_, bound(i), threads_);
  found.stats = {};
  if (found.judgement.verdict == Verdict::failed || element_bits(i) == last.results) return found;
  found.judgement = {Verdict::failed, "a timed call left other results than a verified one"};
  if (!repeats(i)) {
    const std::vector<StepResult> now =
        collect_results(*chosen.step, workspace_->storage_of(chosen));
    found.judgement =
        compare_results(last.values, now, chosen.step->spec.standard, finds_rounding(i));
  }
  return found;
}

std::uint64_t OpenUnit::element_bits(std::size_t i) const {
  const UnitVariant& chosen = variant(i);
  std::uint64_t bits = 0;
  for (std::size_t n = 0; n < chosen.graph->nodes.size(); ++n) {
    if (bound(i).is_skipped(n)) continue;
    for (const std::size_t tensor : chosen.graph->nodes[n].outputs) {
      const GraphTensor& result = chosen.graph->tensors[tensor];
      if (result.role != GraphTensor::output) continue;
      bits = bits * 31 ^ elements_fingerprint(result.desc, workspace_->at(chosen, tensor));
    }
  }
  return bits;
}

std::string OpenUnit::result_bits(std::size_t i) const {
  return fmt::format("{:016x}", workspace_->result_fingerprint(variant(i)));
}

}  // namespace opbench
