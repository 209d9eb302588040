#include "harness/check/compared_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/check/speed_verdict.h"
#include "harness/check/statistics.h"
#include "harness/check/verdict.h"
#include "harness/run/samples.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench::check {
namespace {

ComparedVariant& add_variant(ComparedCase& compared, const std::string& name) {
  ComparedVariant& variant = compared.variants.emplace_back();
  variant.item.case_id = compared.spec.id;
  variant.item.case_key = compared.spec.key;
  variant.item.case_name = compared.spec.name;
  variant.item.context = compared.spec.context;
  variant.item.variant = name;
  variant.item.count = compared.spec.count;
  variant.item.threads = compared.threads;
  return variant;
}

// A waived item is timed too. `settle_waived_errors` restores its errors in the end.
bool waive_errors(CheckedItem& item, const AccuracyRule& rule) {
  if (!item.is_error_growth || !rule.waiver_of_errors) return false;
  const std::optional<WaivedBy> waiver = rule.waiver_of_errors(item);
  if (!waiver) return false;
  item.waived_errors = WaivedErrors{*waiver, std::move(item.evidence)};
  item.evidence.clear();
  item.verdict = ChangeVerdict::ambiguous;
  item.is_regression = item.is_error_growth = false;
  return true;
}

// Adds the expectation of the case to a failure in both builds, and a notice to an unexpected pass.
void note_expectation(const ListedCase& spec, const OpenedVariant* current, CheckedItem& item) {
  if (!spec.expected_failure || current == nullptr) return;
  if (!spec.expected_failure->is_of(current->name)) return;
  const std::string& why = spec.expected_failure->reason;
  if (item.verdict == ChangeVerdict::incomparable && current->status == Status::failed) {
    item.evidence =
        fmt::format("not timed: fails as its case expects, {} ({})", why, current->reason);
  } else if (current->status == Status::passed || current->status == Status::mistrusted) {
    item.notices.push_back(fmt::format("passes, but its case expects it to fail: {}", why));
  }
}

// Null: the build does not have the variant.
void compare_opened(ComparedCase& compared, const std::string& name, const OpenedVariant* base,
                    const OpenedVariant* current, const AccuracyRule& rule) {
  // Operators have variants that do not take every case; this needs no report.
  const bool is_refused = is_absent(base) && is_absent(current);
  if (is_refused && !compared.spec.context) return;
  ComparedVariant& variant = add_variant(compared, name);
  if (is_refused) {
    variant.item.verdict = ChangeVerdict::incomparable;
    variant.item.evidence = fmt::format("skipped: {}", (current ? current : base)->reason);
    return;
  }
  if (base != nullptr) variant.base_results = base->results;
  if (current != nullptr) variant.current_results = current->results;
  const bool is_right = judge_accuracy(variant.item, base, current, rule.is_strict) ||
                        waive_errors(variant.item, rule);
  note_expectation(compared.spec, current, variant.item);
  variant.is_open = is_right && judge_conversions(variant.item, *base, *current);
}

// The path of an installed file differs between builds; its name does not.
std::string_view file_name_of(std::string_view file) {
  constexpr std::string_view kInstalled = "/share/opbench/cases/";
  const std::size_t place = file.rfind(kInstalled);
  return place == std::string_view::npos ? file : file.substr(place + kInstalled.size());
}

// Contexts of two files may have the same name.
std::string listed_key(const ListedCase& listed) {
  return listed.context ? fmt::format("{} of {}", listed.key, file_name_of(listed.context->file))
                        : listed.key;
}

// A case is new if the baseline refuses it and may not have it.
OpenReply open_base(const ComparedCase& compared, PairedRun& run, const OpenRequest& how) {
  if (!compared.base) return {};
  try {
    return run.open_base(base_request(compared, how));
  } catch (const WorkerError&) {
    if (!compared.base_may_refuse) throw;
    return {};
  }
}

}  // namespace

std::vector<ComparedVariant*> ComparedCase::open_variants() {
  std::vector<ComparedVariant*> open;
  for (ComparedVariant& variant : variants) {
    if (variant.is_open) open.push_back(&variant);
  }
  return open;
}

void ComparedCase::fail(const std::string& why) {
  if (variants.empty()) add_variant(*this, "").is_open = true;
  for (ComparedVariant* variant : open_variants()) variant->fail(why, false);
}

void ComparedCase::settle_as_same() {
  CheckedItem& item = add_variant(*this, "").item;
  item.verdict = ChangeVerdict::same;
  item.evidence = "both builds are the same program, byte for byte";
}

void ComparedCase::skip(const std::string& why) {
  CheckedItem& item = add_variant(*this, "").item;
  item.is_unfinished = true;
  item.evidence = why;
}

std::vector<ComparedCase> collect_cases(WorkerClient& base, WorkerClient& current,
                                        const RunOptions& options,
                                        std::vector<std::string>& notices) {
  // The part is applied to the joint list: an additional case in one build would shift all later
  // ones.
  CaseSelection whole = options.selection;
  whole.part = {};
  std::size_t place = 0;
  const auto is_in_part = [&] { return options.selection.part.takes(place++); };
  std::map<std::string, ListedCase> others;
  bool is_listed = true;
  try {
    for (ListedCase& c : base.list(whole)) others.emplace(listed_key(c), std::move(c));
  } catch (const WorkerError& error) {  // the baseline lacks an operator or a key of the case files
    is_listed = false;
    notices.push_back(fmt::format(
        "the baseline cannot read the selection ({}); cases that only it has are missing here",
        error.what()));
  }
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  std::vector<ComparedCase> cases;
  for (const ListedCase& c : current.list(whole)) {
    const auto other = others.find(listed_key(c));
    std::optional<ListedCase> same;
    if (!is_listed) same = c;
    if (other != others.end()) same = other->second;
    if (other != others.end()) others.erase(other);
    if (!is_in_part()) continue;
    for (const int count : threads) cases.push_back({c, same, !is_listed, true, count, {}, {}});
  }
  for (const auto& [key, c] : others) {
    if (is_in_part()) cases.push_back({c, c, false, false, threads.front(), {}, {}});
  }
  return cases;
}

OpenRequest current_request(const ComparedCase& compared, OpenRequest how) {
  how.id = compared.spec.id;
  how.key = compared.spec.key;
  how.threads = compared.threads;
  how.variants = compared.spec.variants;
  how.context = compared.spec.context;
  return how;
}

OpenRequest base_request(const ComparedCase& compared, OpenRequest how) {
  OpenRequest request = current_request(compared, std::move(how));
  request.id = compared.base->id;
  request.context = compared.base->context;
  // The current build may lack some of the baseline's variants and steps.
  request.variants = compared.base->variants;
  return request;
}

void open_in_both(ComparedCase& compared, PairedRun& run, const OpenRequest& how,
                  const AccuracyRule& rule) {
  if (!compared.is_in_current) {
    CheckedItem& item = add_variant(compared, "").item;
    item.verdict = ChangeVerdict::gone;
    item.is_regression = true;
    item.evidence = "only the baseline has this case";
    return;
  }
  const OpenReply base = open_base(compared, run, how);
  const OpenReply current = run.open_current(current_request(compared, how));
  std::map<std::string, const OpenedVariant*> others;
  for (const OpenedVariant& variant : base.variants) others.emplace(variant.name, &variant);
  for (const OpenedVariant& variant : current.variants) {
    const auto other = others.find(variant.name);
    const OpenedVariant* same = other == others.end() ? nullptr : other->second;
    compare_opened(compared, variant.name, same, &variant, rule);
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [name, variant] : others) compare_opened(compared, name, variant, nullptr, rule);
}

std::optional<double> typical_noise(const std::vector<ComparedCase>& cases) {
  std::vector<double> spreads;
  for (const ComparedCase& compared : cases) {
    for (const ComparedVariant& variant : compared.variants) {
      if (variant.is_timed()) spreads.push_back(spread_noise(variant.times.screening));
    }
  }
  if (spreads.empty()) return std::nullopt;
  return median_of(std::move(spreads));
}

void adjust_for_all(std::vector<ComparedCase>& cases) {
  std::vector<ComparedVariant*> timed;
  std::vector<double> p;
  for (ComparedCase& compared : cases) {
    for (auto* variants : {&compared.variants, &compared.first_calls}) {
      for (ComparedVariant& variant : *variants) {
        if (!variant.is_timed()) continue;
        p.push_back(variant.is_open ? variant.finding.change.sign_p : 1);
        timed.push_back(&variant);
      }
    }
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    timed[i]->finding.change.adjusted_p = adjusted[i];
  }
}

void note_budget(const std::vector<CheckedItem>& items, double budget_s,
                 std::vector<std::string>& notices) {
  const auto is_left = [](const CheckedItem& item) {
    return (item.is_unfinished || item.is_too_noisy) && item.verdict == ChangeVerdict::ambiguous;
  };
  const auto is_unmeasured = [&](const CheckedItem& item) { return is_left(item) && !item.speed; };
  const auto is_suspect = [&](const CheckedItem& item) {
    return is_left(item) && item.is_unfinished && item.speed;
  };
  const auto left = std::count_if(items.begin(), items.end(), is_left);
  if (left == 0) return;
  notices.push_back(fmt::format(
      "the budget of {:g} s ended with {} of {} undecided: {} look slower, {} were not measured; "
      "--budget gives more time",
      budget_s, left, items.size(), std::count_if(items.begin(), items.end(), is_suspect),
      std::count_if(items.begin(), items.end(), is_unmeasured)));
}

}  // namespace opbench::check
