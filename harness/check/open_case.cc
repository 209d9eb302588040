#include "harness/check/open_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "harness/plan/context_plan.h"
#include "harness/plan/plan.h"
#include "harness/plan/reference_kernel.h"
#include "harness/run/step_details.h"
#include "harness/spec/case_filter.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench::check {
namespace {

// An older or younger build may have an attribute that this one has not: the key leaves out those
// at their defaults.
Case parse_case(const OpenRequest& request) {
  try {
    return parse_case_id(request.id);
  } catch (const Error&) {
    if (request.key == request.id) throw;
    return parse_case_id(request.key);
  }
}

// The wanted variants that this build has; a variant that it lacks is missing from the answer.
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
  PlannedCase planned = std::move(make_plan(selection).front());
  if (selection.variants.empty() && !request.variants.empty()) planned.variants.clear();
  return planned;
}

// The wanted steps that this build has.
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
        fmt::format("{}: there is no context '{}' with such steps", source.file, source.name));
  }
  return std::move(planned.front());
}

opbench::Item plan_item(const OpenRequest& request) {
  return request.context ? make_item(plan_context(*request.context, request.variants))
                         : make_item(plan_case(request));
}

Status status_of(opbench::Verdict verdict) {
  return verdict == opbench::Verdict::passed   ? Status::passed
         : verdict == opbench::Verdict::failed ? Status::failed
                                               : Status::mistrusted;
}

}  // namespace

std::map<std::string, double, std::less<>> parse_slowdown(std::string_view text) {
  std::map<std::string, double, std::less<>> result;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto equals = part.find('=');
    double percent = 0;
    const char* const begin = part.data() + std::min(part.size(), equals + 1);
    const auto [end, status] = std::from_chars(begin, part.data() + part.size(), percent);
    if (equals == 0 || equals == std::string_view::npos || status != std::errc{} ||
        end != part.data() + part.size() || !(percent >= 1 && percent <= 1000)) {
      throw Error(fmt::format(
          "slowdown '{}' must be VARIANT=PERCENT[,VARIANT=PERCENT...] with 1 to 1000 percent",
          part));
    }
    result[std::string(part.substr(0, equals))] = percent / 100;
  }
  return result;
}

OpenCase::OpenCase(const OpenRequest& request, std::string_view slowdown)
    : is_cold_(request.cold),
      is_verified_(request.verify),
      sample_seconds_(request.sample_seconds),
      slowdown_(parse_slowdown(slowdown)),
      open_(plan_item(request), request.threads, times_) {
  reply_.id = open_.item().id;
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < open_.item().runnables.size(); ++i) {
    const Runnable& runnable = open_.runnable(i);
    const bool is_refused = !runnable.refusal().empty();
    OpenedVariant& opened = reply_.variants.emplace_back();
    opened.name = runnable.name();
    opened.status = is_refused ? Status::skipped : Status::unverified;
    opened.reason = runnable.refusal();
    if (is_refused) continue;
    taken.push_back(i);
    if (runnable.step != nullptr) {
      opened.conversions = conversions_of(step_details(*open_.item().context, i, {}));
    }
  }
  if (taken.empty()) return;
  open_.require_memory(taken, request.verify);
  open_.allocate(taken);
  open_.load(taken.front(), {open_.item().seed});
  for (const std::size_t i : taken) prepare(i, request.verify);
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
  const Verification found = open_.verify(i, open_.item().seed);
  opened.status = status_of(found.judgement.verdict);
  opened.reason = found.judgement.reason;
  keep_worst(opened.accuracy, found.stats);
  if (opened.accuracy) opened.bits = open_.result_bits(i);
}

ShortSampler OpenCase::make_sampler(std::size_t i, CallWatch* watch) const {
  ShortSampler::Options options;
  options.seconds = sample_seconds_;
  options.watch = watch;
  if (is_cold_) options.evict = [this, i] { open_.evict(i); };
  if (const auto found = slowdown_.find(open_.runnable(i).name()); found != slowdown_.end()) {
    options.extra_share = found->second;
  }
  return {[this, i] { open_.bound(i).run(); }, std::move(options)};
}

double OpenCase::sample_us(std::string_view name) {
  const auto found = ready_.find(name);
  if (found == ready_.end()) {
    throw Error(fmt::format("{}: no variant '{}' that can be timed", reply_.id, name));
  }
  auto& [i, watch, sampler] = found->second;
  double us = 0;
  open_.load(i, {open_.item().seed});
  if (is_verified_ && !watch) {
    watch = std::make_unique<CallWatch>(open_.runnable(i), open_.workspace(), open_.item().seed);
  }
  with_threads(open_.threads(), [&] {
    if (!sampler) sampler.emplace(make_sampler(i, watch.get()));
    us = sampler->sample_us();
  });
  const PlannedStep* step = open_.runnable(i).step;
  return step == nullptr ? us : us / static_cast<double>(step->spec.samples);
}

}  // namespace opbench::check
