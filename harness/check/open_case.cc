#include "harness/check/open_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/plan/case_plan.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/graph.h"
#include "harness/plan/reference_kernel.h"
#include "harness/run/run_result.h"
#include "harness/run/step_measurement.h"
#include "tensor/dtype.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench::check {
namespace {

// Another version of the program may have an attribute that this one lacks. The key leaves out
// attributes at their defaults.
Case parse_case(const OpenRequest& request) {
  try {
    return parse_case_id(request.id);
  } catch (const Error&) {
    if (request.key == request.id) throw;
    return parse_case_id(request.key);
  }
}

// The requested variants that this build has. Others are missing from the answer.
std::vector<std::string> known_variants(const Case& c, const std::vector<std::string>& wanted) {
  std::set<std::string_view> known = {kReferenceVariant};
  for (const Kernel* kernel : kernels_of(c.op->name)) {
    known.insert(kernel->name);
    known.insert(kernel->family_name());
  }
  std::vector<std::string> result;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(result),
               [&](const std::string& name) { return known.contains(name); });
  return result;
}

PlannedCase plan_case(const OpenRequest& request) {
  const Case c = parse_case(request);
  CaseSelection selection;
  selection.case_ids = {case_id(c)};
  selection.variants = known_variants(c, request.variants);
  PlannedCase planned = std::move(make_case_plan(selection).front());
  if (selection.variants.empty() && !request.variants.empty()) planned.variants.clear();
  return planned;
}

// Plans the requested steps that this build has.
PlannedContext plan_context(const ContextSource& source, const std::vector<std::string>& steps) {
  CaseSelection selection;
  selection.case_files = {source.file};
  selection.filter = pattern_of_name(source.name);
  selection.dtypes = {source.dtype};
  selection.symbols = source.symbols;
  selection.variants = steps;
  std::vector<PlannedContext> planned = make_context_plan(selection);
  if (planned.empty()) {
    throw Error(
        fmt::format("{}: the file has no context '{}' with these steps", source.file, source.name));
  }
  return std::move(planned.front());
}

WorkUnit plan_unit(const OpenRequest& request) {
  if (!request.context) return plan_case(request);
  return plan_context(*request.context, request.variants);
}

// A move copies the given tensors. Below this size the copy is short relative to a sample of 20 ms.
// Larger units are placed when they are opened, and are not moved.
bool is_quickly_moved(const UnitVariant& variant) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  std::size_t bytes = 0;
  for (const GraphTensor& tensor : variant.graph->tensors) {
    if (!tensor.is_computed()) bytes += tensor.desc.bytes();
  }
  return bytes <= kMostBytes;
}

Status status_of(opbench::Verdict verdict) {
  return verdict == opbench::Verdict::passed   ? Status::passed
         : verdict == opbench::Verdict::failed ? Status::failed
                                               : Status::mistrusted;
}

}  // namespace

OpenCase::OpenCase(const OpenRequest& request)
    : is_cold_(request.cold),
      is_watched_(request.watch),
      sample_seconds_(request.sample_seconds),
      open_(plan_unit(request), request.threads, times_, {.slack = MemoryPlan::kPage}) {
  reply_.id = open_.unit().id;
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < open_.unit().size(); ++i) {
    const UnitVariant& variant = open_.variant(i);
    const bool is_refused = !variant.refusal().empty();
    OpenedVariant& opened = reply_.variants.emplace_back();
    opened.name = variant.name();
    opened.status = is_refused ? Status::skipped : Status::unverified;
    opened.reason = variant.refusal();
    if (is_refused) continue;
    taken.push_back(i);
    if (variant.step != nullptr) {
      opened.conversions = conversions_of(step_details(*open_.unit().context, i, {}));
    }
  }
  if (taken.empty()) return;
  open_.require_memory(taken, request.verify);
  open_.allocate(taken);
  open_.move(request.layout);
  is_movable_ = std::all_of(taken.begin(), taken.end(),
                            [&](std::size_t i) { return is_quickly_moved(open_.variant(i)); });
  open_.load(taken.front(), {open_.unit().seed});
  reply_.first_call = request.first_call;
  for (const std::size_t i : taken) {
    if (request.first_call) {
      ready_.emplace(reply_.variants[i].name, Ready{i});
    } else {
      prepare(i, request.verify);
    }
  }
}

void OpenCase::prepare(std::size_t i, bool verifies) {
  OpenedVariant& opened = reply_.variants[i];
  try {
    open_.prepare(i);
    open_.find_loss_scale(i);
    if (verifies) verify(i, opened);
    if (opened.status != Status::failed) ready_.emplace(opened.name, Ready{i});
  } catch (const std::exception& error) {
    opened.status = Status::errored;
    opened.reason = error.what();
  }
}

void OpenCase::verify(std::size_t i, OpenedVariant& opened) {
  const Verification found = open_.verify(i, open_.unit().seed);
  opened.status = status_of(found.judgement.verdict);
  opened.reason = found.judgement.reason;
  if (!found.known_limit.empty()) {
    opened.status = Status::failed;
    opened.reason = found.known_limit;
  }
  keep_worst(opened.accuracy, found.stats, found.elements);
  if (opened.accuracy) opened.bits = open_.result_bits(i);
  opened.results = results_of(i);
  const Graph& graph = *open_.variant(i).graph;
  opened.is_exact = true;
  for (const Node& node : graph.nodes) {
    opened.is_exact &= node.problem.op->accuracy == AccuracyClass::exact;
  }
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role != GraphTensor::output) continue;
    opened.epsilon = std::max(opened.epsilon, epsilon_of(tensor.desc.dtype));
  }
}

ShortSampler OpenCase::make_sampler(Ready& ready) const {
  const std::size_t i = ready.place;
  ShortSampler::Options options;
  options.seconds = sample_seconds_;
  options.watch = ready.watch.get();
  if (is_cold_) options.evict = [this, i] { open_.evict(i); };
  if (is_watched_ && open_.repeats(i)) {
    options.judge = [this, &ready] { judge_last_call(ready); };
  }
  return {[this, i] { open_.bound(i).run(); }, std::move(options)};
}

// Compares further calls with the timed call: two calls at least, one if a call is long, and more
// if they are fast.
void OpenCase::judge_last_call(Ready& ready) const {
  constexpr double kLongCallSeconds = 0.05, kSeconds = 0.001;
  constexpr int kMost = 16;
  const std::string timed = open_.result_bits(ready.place);
  double spent = 0;
  for (int calls = 0; calls < kMost; ++calls) {
    const int least = spent > kLongCallSeconds ? 1 : 2;
    if (calls >= least && spent > kSeconds) return;
    const PhaseTimer timer(spent);
    open_.bound(ready.place).run();
    if (open_.result_bits(ready.place) == timed) continue;
    ready.wrong = "its results differ from call to call on the same values";
    return;
  }
}

std::string OpenCase::results_of(std::size_t i) const {
  return open_.repeats(i) ? fmt::format("{:016x}", open_.element_bits(i)) : std::string();
}

// Calls that agree with each other may all be wrong. These results are compared with the verified
// ones.
std::string OpenCase::results_on_verified(std::size_t i) {
  if (!is_watched_ || !open_.repeats(i)) return {};
  open_.load(i, {open_.unit().seed, true});
  with_threads(open_.threads(), [&] { open_.bound(i).run(); });
  return results_of(i);
}

std::span<const Kernel* const> OpenCase::kernels(std::string_view variant) {
  return open_.variant(ready_of(variant).place).selection->kernels;
}

std::string OpenCase::plan_hash(std::string_view variant) {
  const UnitVariant& planned = open_.variant(ready_of(variant).place);
  return fmt::format("{:016x}",
                     text_hash(fmt::format("{}{}", text_of(*planned.graph, kernels(variant)),
                                           fmt::join(planned.memory->offsets, ","))));
}

OpenCase::Ready& OpenCase::ready_of(std::string_view variant) {
  const auto found = ready_.find(variant);
  if (found == ready_.end()) {
    throw Error(fmt::format("{}: no variant '{}' that can be timed", reply_.id, variant));
  }
  return found->second;
}

Sampled OpenCase::sample(std::string_view name, std::uint64_t layout) {
  Ready& ready = ready_of(name);
  if (layout != 0 && is_movable_) open_.move(layout);
  open_.load(ready.place, {open_.unit().seed});
  return reply_.first_call ? first_call(ready) : later_call(ready);
}

Sampled OpenCase::later_call(Ready& ready) {
  const std::size_t i = ready.place;
  if (is_watched_ && !ready.watch) {
    ready.watch =
        std::make_unique<CallWatch>(open_.variant(i), open_.workspace(), open_.unit().seed);
  }
  ready.wrong.clear();
  double us = 0;
  with_threads(open_.threads(), [&] {
    if (!ready.sampler) ready.sampler.emplace(make_sampler(ready));
    us = ready.sampler->sample_us();
  });
  const PlannedStep* step = open_.variant(i).step;
  const double calls = step == nullptr ? 1 : static_cast<double>(step->spec.samples);
  return {us / calls, ready.wrong, results_on_verified(i)};
}

// The result must equal that of a second call, because the preparation in the first call may have
// races.
Sampled OpenCase::first_call(Ready& ready) {
  const std::size_t i = ready.place;
  if (open_.is_prepared(i))
    throw Error(fmt::format("{}: its first call has already run", reply_.id));
  if (is_cold_) open_.evict(i);
  double seconds = 0;
  {
    const PhaseTimer timer(seconds);
    open_.prepare(i);
    with_threads(open_.threads(), [&] { open_.bound(i).run(); });
  }
  Sampled sampled{seconds * 1e6, ""};
  if (!is_watched_ || !open_.repeats(i)) return sampled;
  const std::string first = open_.result_bits(i);
  with_threads(open_.threads(), [&] { open_.bound(i).run(); });
  if (open_.result_bits(i) != first) {
    sampled.wrong = "the results of the first call differ from those of the second";
  }
  sampled.results = results_on_verified(i);
  return sampled;
}

}  // namespace opbench::check
