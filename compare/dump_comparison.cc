#include "compare/dump_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compare/analysis.h"
#include "compare/match/sample.h"
#include "compare/msaccucmp/msaccucmp_match.h"
#include "tensor/error.h"
#include "text/name_pattern.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

void check_different(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) {
    throw Error(
        fmt::format("{} and {} are the same file; comparing it with itself proves nothing", a, b));
  }
}

DumpContents contents_of(DumpFile& file) { return {file.records(), file.strays()}; }

ValueSample sampler(DumpFile& file) {
  return [&file](const DumpEntry& entry) {
    return sample_values(pair_side(file, entry), entry.desc.elements());
  };
}

ComparedFile describe(DumpFile& file) {
  ComparedFile described;
  described.path = file.name();
  described.device = to_string(device_of(file.records()));
  described.problems = file.problems();
  std::error_code ignored;
  described.bytes = static_cast<std::int64_t>(fs::file_size(file.name(), ignored));
  described.operators = file.records().size();
  described.damaged = file.damaged();
  for (const DumpRecord& record : file.records()) {
    described.tensors += static_cast<std::size_t>(
        std::count_if(record.entries.begin(), record.entries.end(),
                      [](const DumpEntry& entry) { return entry.kind == EntryKind::tensor; }));
  }
  return described;
}

// The files' names where they differ, else the paths.
SideNames side_names(const std::string& actual, const std::string& expected) {
  const fs::path a = fs::path(actual).filename(), b = fs::path(expected).filename();
  return a == b ? SideNames{actual, expected} : SideNames{a.string(), b.string()};
}

bool is_good(const PairMeasures* measures) {
  return measures != nullptr && measures->is_done && measures->error.empty();
}

bool has_error(const PairMeasures* measures) {
  return measures != nullptr && !measures->error.empty();
}

template <class Visit>
void for_each_tensor(Comparison& comparison, Visit&& visit) {
  for (OperatorResult& op : comparison.operators) {
    for (TensorResult& tensor : op.tensors) visit(tensor);
  }
}

}  // namespace

DumpComparison::DumpComparison(ComparisonOptions options)
    : options_(std::move(options)),
      only_(options_.only.empty() ? nullptr : name_pattern(options_.only, "--only")),
      actual_(options_.actual),
      expected_(options_.expected),
      sides_(side_names(options_.actual, options_.expected)) {
  check_different(options_.actual, options_.expected);
  if (!options_.golden.empty()) {
    golden_.emplace(options_.golden);
    check_different(options_.actual, options_.golden);
    check_different(options_.expected, options_.golden);
  }
  comparison_.actual = describe(actual_);
  comparison_.expected = describe(expected_);
  comparison_.standard = options_.standard;
  comparison_.is_load_mode = is_load_mode(actual_.records());
  plan();
  if (golden_) plan_golden();
  if (options_.wants_msaccucmp) plan_msaccucmp();
}

std::vector<OperatorMatch> DumpComparison::match(DumpFile& a, DumpFile& b) const {
  return match_dumps(contents_of(a), contents_of(b), options_.map,
                     {options_.rule, sampler(a), sampler(b)});
}

void DumpComparison::plan() {
  comparison_.operators =
      plan_results(match(actual_, expected_),
                   {.standards = options_.standards,
                    .choice = options_.standard,
                    .sides = sides_,
                    .is_load_mode = comparison_.is_load_mode,
                    .max_elements = options_.max_elements,
                    .damaged = {comparison_.actual.damaged > 0, comparison_.expected.damaged > 0},
                    .only = only_});
  for_each_tensor(comparison_, [&](TensorResult& result) {
    if (!is_waiting(result)) return;
    pairs_.add(actual_, expected_, result.match, result.standard.tolerance);
  });
}

void DumpComparison::plan_golden() {
  comparison_.golden = describe(*golden_);
  golden_matches_ =
      match_golden(comparison_.operators, match(actual_, *golden_), match(expected_, *golden_));
  std::size_t next = 0;
  for_each_tensor(comparison_, [&](TensorResult& result) {
    const GoldenMatch& golden = golden_matches_[next++];
    if (!is_waiting(result)) return;
    Obstacle found = why_not_cross_checked(golden, sides_, golden_->name());
    if (found.kind == Obstacle::Kind::none) {
      pairs_.add(actual_, *golden_, golden.npu, result.standard.tolerance);
      pairs_.add(expected_, *golden_, golden.gpu, result.standard.tolerance);
    } else if (result.standard.kind == StandardKind::cross_check) {
      result.judgement = {found.is_unread() ? Verdict::unread : Verdict::not_compared,
                          std::move(found.reason)};
    }
  });
}

void DumpComparison::plan_msaccucmp() {
  const auto is_wanted = [&](const MsaccucmpRow& row) {
    return !only_ || only_(row.npu_dump) || only_(row.npu_path) || only_(row.golden_path);
  };
  for (MsaccucmpRow& row :
       match_as_msaccucmp(actual_.records(), expected_.records(), options_.map)) {
    if (!is_wanted(row)) continue;
    const TensorMatch& match = row.tensors;
    if (match.actual != nullptr && match.expected != nullptr) {
      row.reason = msaccucmp_refusal(row.npu_dump, *match.actual, *match.expected);
      if (row.reason.empty()) row.reason = obstacle(match, sides_).reason;
      if (row.reason.empty()) pairs_.add(actual_, expected_, match, {});
    }
    rows_.push_back(std::move(row));
  }
}

void DumpComparison::measure(const MeasureHooks& hooks) {
  for (DumpFile* file : {&actual_, &expected_, golden_ ? &*golden_ : nullptr}) {
    if (file != nullptr) file->stop_when(hooks.stop);
  }
  pairs_.measure({.memory_bytes = options_.memory_bytes, .wants_kl = options_.wants_msaccucmp},
                 hooks);
  std::size_t next = 0;
  for_each_tensor(comparison_, [&](TensorResult& result) {
    const std::size_t index = next++;
    if (!is_waiting(result)) return;
    judge(result);
    if (golden_) judge_by_golden(result, golden_matches_[index]);
  });
  comparison_.is_partial = hooks.stop && hooks.stop();
  analyse(comparison_);
}

void DumpComparison::judge(TensorResult& result) const {
  const PairMeasures* measures = pairs_.find(result.match);
  if (measures == nullptr || !measures->is_done) {
    result.judgement.reason = "not reached";
  } else {
    add_measures(result, *measures);
  }
}

void DumpComparison::judge_by_golden(TensorResult& result, const GoldenMatch& golden) const {
  const PairMeasures* npu = pairs_.find(golden.npu);
  const PairMeasures* gpu = pairs_.find(golden.gpu);
  if (result.is_measured && is_good(npu) && is_good(gpu)) {
    add_cross_check(result, *npu, *gpu);
  } else if (result.standard.kind == StandardKind::cross_check && result.judgement.reason.empty()) {
    const bool is_there = !has_error(npu) && !has_error(gpu);
    result.judgement = {is_there ? Verdict::not_compared : Verdict::unread,
                        "it could not be measured against the golden dump"};
  }
}

MsaccucmpLines DumpComparison::msaccucmp_lines(std::vector<Metric> metrics) const {
  return [this, metrics = std::move(metrics)](const auto& use) {
    for (const MsaccucmpRow& row : rows_) {
      const bool is_measured = row.reason.empty() && row.tensors.actual != nullptr;
      use(msaccucmp_line(row, metrics, is_measured ? pairs_.find(row.tensors) : nullptr));
    }
  };
}

}  // namespace opbench
