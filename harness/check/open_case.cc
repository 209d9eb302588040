#include "harness/check/open_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "harness/plan/reference_kernel.h"
#include "harness/plan/selection.h"
#include "harness/run/memory.h"
#include "harness/run/timing.h"
#include "harness/run/verify.h"
#include "tensor/checksum.h"
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
  RunOptions options;
  options.case_ids = {case_id(c)};
  options.variants = known_variants(c, request.variants);
  PlannedCase planned = std::move(make_plan(options).front());
  if (options.variants.empty() && !request.variants.empty()) planned.variants.clear();
  return planned;
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
    : planned_(std::make_unique<PlannedCase>(plan_case(request))),
      threads_(request.threads),
      is_cold_(request.cold),
      sample_seconds_(request.sample_seconds),
      slowdown_(parse_slowdown(slowdown)) {
  reply_.id = case_id(planned_->spec);
  std::vector<const Selection*> taken;
  for (const Selection& selection : planned_->variants) {
    const bool is_refused = !selection.refusal.empty();
    reply_.variants.push_back({selection.variant,
                               is_refused ? Status::skipped : Status::unverified,
                               selection.refusal,
                               {}});
    if (!is_refused) taken.push_back(&selection);
  }
  if (taken.empty()) return;
  require_memory(planned_->graph, taken, threads_);
  workspace_.emplace(planned_->graph);
  data_ = input_data(planned_->spec, planned_->graph.nodes[0].problem);
  workspace_->fill_inputs(data_, seed_of(planned_->spec));
  prepare_variants(request);
}

void OpenCase::prepare_variants(const OpenRequest& request) {
  for (std::size_t i = 0; i < reply_.variants.size(); ++i) {
    OpenedVariant& opened = reply_.variants[i];
    if (opened.status == Status::skipped) continue;
    try {
      Variant variant{&planned_->variants[i], nullptr, {}};
      variant.bound = std::make_unique<BoundGraph>(planned_->graph, variant.selection->kernels,
                                                   workspace_->storage(), threads_);
      if (request.verify) verify_variant(variant, opened);
      if (opened.status != Status::failed) variants_.emplace(opened.name, std::move(variant));
    } catch (const std::exception& error) {
      opened.status = Status::errored;
      opened.reason = error.what();
    }
  }
  if (request.verify) workspace_->remove_corner_values(data_, seed_of(planned_->spec));
}

void OpenCase::verify_variant(const Variant& variant, OpenedVariant& opened) {
  const std::uint64_t seed = seed_of(planned_->spec);
  const Verification found =
      verify_with_corners(*workspace_, *variant.bound, *variant.selection, data_, seed, threads_);
  opened.status = status_of(found.judgement.verdict);
  opened.reason = found.judgement.reason;
  keep_worst(opened.accuracy, found.stats);
  if (opened.accuracy) opened.bits = result_bits();
  if (opened.status == Status::failed) {
    // It may have spoilt the data of the next one.
    workspace_->restore_guards();
    workspace_->fill_inputs(data_, seed);
  }
}

std::string OpenCase::result_bits() const {
  std::uint64_t bits = 0;
  const std::vector<GraphTensor>& tensors = workspace_->graph().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != GraphTensor::output) continue;
    bits = (bits * 31) ^ checksum(workspace_->data(i), tensors[i].desc.bytes());
  }
  return fmt::format("{:016x}", bits);
}

ShortSampler OpenCase::make_sampler(const Variant& variant, std::string_view name) const {
  ShortSampler::Options options;
  options.seconds = sample_seconds_;
  if (is_cold_) {
    options.evict = [this] {
      for (std::size_t i = 0; i < planned_->graph.tensors.size(); ++i) {
        evict_from_caches(workspace_->data(i), planned_->graph.tensors[i].desc.bytes());
      }
    };
  }
  if (const auto found = slowdown_.find(name); found != slowdown_.end()) {
    options.extra_share = found->second;
  }
  return {[bound = variant.bound.get()] { bound->run(); }, std::move(options)};
}

double OpenCase::sample_us(std::string_view name) {
  const auto found = variants_.find(name);
  if (found == variants_.end()) {
    throw Error(fmt::format("{}: no variant '{}' that can be timed", reply_.id, name));
  }
  Variant& variant = found->second;
  double us = 0;
  with_threads(threads_, [&] {
    if (!variant.sampler) variant.sampler.emplace(make_sampler(variant, name));
    us = variant.sampler->sample_us();
  });
  return us;
}

}  // namespace opbench::check
