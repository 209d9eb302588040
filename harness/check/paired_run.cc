#include "harness/check/paired_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench::check {
namespace {

/// The baseline could not be sampled, with the reason.
struct OtherBuildFailed {
  std::string why;
};

Sampled sample_other(WorkerClient& worker, const std::string& variant, std::uint64_t layout) {
  try {
    return worker.sample(variant, layout);
  } catch (const WorkerError& error) {
    throw OtherBuildFailed{error.what()};
  }
}

// No change of a kernel reaches this ratio. A build that answers without measuring may.
constexpr double kMostTimes = 1e5;

bool is_plausible(double base_us, double current_us) {
  return base_us <= kMostTimes * current_us && current_us <= kMostTimes * base_us;
}

}  // namespace

void ComparedVariant::fail(const std::string& why, bool is_regression) {
  is_open = false;
  item.verdict = ChangeVerdict::error;
  item.evidence = why;
  item.is_regression = is_regression;
  item.is_unfinished = !is_regression;
}

void ComparedVariant::leave_unmeasured() {
  times.screening = {};
  is_open = false;
  item.is_unfinished = true;
  item.evidence = "not measured: the budget ended";
}

void ComparedVariant::evaluate_times(const SpeedRule& rule) {
  finding = find_speed(times, rule);
  is_open = finding.call != SpeedCall::same;
}

std::string results_error(const Sampled& sampled, const std::string& verified) {
  const bool is_known = !sampled.results.empty() && !verified.empty();
  if (!sampled.wrong.empty() || !is_known || sampled.results == verified) return sampled.wrong;
  return "after timed calls its results differ from the verified results on the same values";
}

OpenReply PairedRun::open_base(const OpenRequest& request) {
  base_request_ = request;
  base_request_.layout = layout_;
  if (null_ != nullptr) null_->open(base_request_);
  return base_.open(base_request_);
}

OpenReply PairedRun::open_current(const OpenRequest& request) {
  current_request_ = request;
  current_request_.layout = layout_;
  return current_.open(current_request_);
}

void PairedRun::set_pair(int number) {
  pair_ = number;
  layout_ = kLayoutsPerPair * (1 + static_cast<std::uint64_t>(number));
}

void PairedRun::close() {
  base_.close();
  current_.close();
}

void PairedRun::take_pair(ComparedVariant& variant, StageMember stage, bool base_first) {
  const std::string& name = variant.item.variant;
  Sampled base, current, null;
  if (null_ != nullptr && base_first) null = sample_other(*null_, name, layout_);
  if (base_first) base = sample_other(base_, name, layout_);
  current = current_.sample(name, layout_);
  if (!base_first) base = sample_other(base_, name, layout_);
  if (null_ != nullptr && !base_first) null = sample_other(*null_, name, layout_);
  if (!is_plausible(base.us, current.us)) {
    variant.fail(fmt::format("the baseline answered {:.3g} us for a call, the current build {:.3g} "
                             "us; the ratio may be at most {:g}",
                             base.us, current.us, kMostTimes),
                 false);
    return;
  }
  PairedTimes::Stage& times = variant.times.*stage;
  times.add(base.us, current.us, pair_);
  if (null_ != nullptr) times.null_us.push_back(null.us);
  const std::string base_wrong = results_error(base, variant.base_results);
  note_wrong(variant, base_wrong.empty() ? results_error(null, variant.base_results) : base_wrong,
             results_error(current, variant.current_results));
}

// An error that the baseline also has is not a regression.
void PairedRun::note_wrong(ComparedVariant& variant, const std::string& base,
                           const std::string& current) {
  if (!base.empty() && !variant.is_base_wrong) {
    variant.is_base_wrong = true;
    variant.item.notices.push_back("in the baseline " + base);
  }
  if (!current.empty() && !variant.is_base_wrong) variant.fail(current, true);
}

void PairedRun::take_round(const std::vector<ComparedVariant*>& variants, StageMember stage,
                           bool base_first) {
  for (ComparedVariant* variant : variants) {
    if (!variant->is_open) continue;
    try {
      take_pair(*variant, stage, base_first);
    } catch (const ChildLost& lost) {
      variant->fail(lost.what(), false);
      recover(variants);
    } catch (const OtherBuildFailed& other) {
      variant->fail("in the baseline: " + other.why, false);
    } catch (const WorkerError& error) {
      variant->fail(error.what(), true);
    }
  }
}

void PairedRun::recover(const std::vector<ComparedVariant*>& variants) {
  std::vector<std::string> left;
  for (const ComparedVariant* variant : variants) {
    if (variant->is_open) left.push_back(variant->item.variant);
  }
  if (left.empty()) return;
  for (WorkerClient* worker : {&base_, &current_, null_}) {
    if (worker == nullptr || worker->is_running()) continue;
    OpenRequest request = worker == &current_ ? current_request_ : base_request_;
    request.variants = left;
    request.verify = false;  // already done
    worker->open(request);
  }
}

bool PairedRun::measure(const std::vector<ComparedVariant*>& variants, StageMember stage,
                        int rounds, const Budget& budget) {
  std::vector<std::size_t> before;
  for (const ComparedVariant* variant : variants) {
    before.push_back((variant->times.*stage).size());
  }
  for (int i = 0; i < rounds; ++i) {
    if (budget.is_spent()) {
      for (std::size_t j = 0; j < variants.size(); ++j) {
        (variants[j]->times.*stage).cut(before[j]);
      }
      return false;
    }
    take_round(variants, stage, i % 2 == 0);
    ++layout_;
  }
  return true;
}

}  // namespace opbench::check
