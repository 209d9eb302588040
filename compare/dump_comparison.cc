#include "compare/dump_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <system_error>
#include <utility>

#include "compare/analysis.h"
#include "compare/matching.h"
#include "compare/msaccucmp/msaccucmp_match.h"
#include "compare/number_shift.h"
#include "compare/symptoms.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
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

DumpContents contents_of(DumpSource& file) { return {file.records(), file.strays()}; }

ValueSample sampler(DumpSource& file) {
  return [&file](const DumpEntry& entry) {
    return sample_values(pair_side(file, entry), entry.desc.elements());
  };
}

ComparedFile describe_file(DumpSource& file) {
  ComparedFile described;
  described.path = file.name();
  described.device = to_string(device_of(file.records()));
  described.problems = file.problems();
  described.bytes = file.bytes();
  described.operators = file.records().size();
  described.damaged = file.damaged();
  for (const DumpRecord& record : file.records()) {
    described.tensors += static_cast<std::size_t>(
        std::count_if(record.entries.begin(), record.entries.end(),
                      [](const DumpEntry& entry) { return entry.kind == EntryKind::tensor; }));
  }
  return described;
}

// The files' names if they differ, otherwise the paths.
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
      actual_(options_.open_actual ? options_.open_actual() : DumpSource(options_.actual)),
      expected_(options_.expected),
      sides_(side_names(options_.actual, options_.expected)) {
  check_different(options_.actual, options_.expected);
  if (!options_.golden.empty()) {
    golden_.emplace(options_.golden);
    check_different(options_.actual, options_.golden);
    check_different(options_.expected, options_.golden);
  }
  if (options_.wants_digests) pairs_.want_digests();
  list_all();
  comparison_.actual = describe_file(actual_);
  comparison_.expected = describe_file(expected_);
  comparison_.standard = options_.standard;
  comparison_.is_load_mode = is_load_mode(actual_.records());
  if (comparison_.is_load_mode) {
    comparison_.number_shift = number_shift(actual_.records(), expected_.records(), options_.map,
                                            {options_.rule, sampler(actual_), sampler(expected_)});
  }
  // Matching needs much memory for a while, so it runs before there are results.
  if (options_.wants_msaccucmp) {
    for (const MsaccucmpRow& row :
         match_as_msaccucmp(actual_.records(), expected_.records(), options_.map)) {
      rows_.add(row);
    }
  }
  plan();
  if (golden_) plan_golden();
  if (options_.wants_msaccucmp) plan_msaccucmp();
}

// Lists the files at the same time. Each file has a process that lists it and waits while its list
// is taken.
void DumpComparison::list_all() {
  const auto list = [](DumpSource& file) { file.records(); };
  const auto begin = [&](DumpSource& file) {
    return std::async(std::launch::async, list, std::ref(file));
  };
  std::future<void> expected = begin(expected_), golden;
  if (golden_) golden = begin(*golden_);
  list(actual_);
  expected.get();
  if (golden_) golden.get();
}

std::vector<OperatorMatch> DumpComparison::match(DumpSource& a, DumpSource& b) const {
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
                    .table = &options_.table,
                    .damaged = {comparison_.actual.damaged > 0, comparison_.expected.damaged > 0},
                    .only = only_});
  for_each_tensor(comparison_, [&](TensorResult& result) {
    if (!is_waiting(result)) return;
    pairs_.add(actual_, expected_, result.match, result.standard->tolerance);
    results_.push_back(&result);  // no tensor is asked for twice
  });
}

void DumpComparison::plan_golden() {
  comparison_.golden = describe_file(*golden_);
  golden_matches_ =
      match_golden(comparison_.operators, match(actual_, *golden_), match(expected_, *golden_));
  std::size_t next = 0;
  for_each_tensor(comparison_, [&](TensorResult& result) {
    const GoldenMatch& golden = golden_matches_[next++];
    if (!is_waiting(result)) return;
    Obstacle found = why_not_cross_checked(golden, sides_, golden_->name());
    if (found.kind == Obstacle::Kind::none) {
      pairs_.add(actual_, *golden_, golden.npu, result.standard->tolerance);
      pairs_.add(expected_, *golden_, golden.gpu, result.standard->tolerance);
    } else if (needs_golden(result.standard->kind)) {
      result.judgement = {found.is_unread() ? Verdict::unread : Verdict::not_compared,
                          std::move(found.reason)};
    }
  });
}

void DumpComparison::plan_msaccucmp() {
  static const Tolerance none;
  const auto is_wanted = [&](const MsaccucmpRow& row) {
    return !only_ || only_(row.npu_dump) || only_(row.npu_path()) || only_(row.golden_path());
  };
  const KeptRows all = std::exchange(rows_, {});
  for (std::size_t place = 0; place < all.size(); ++place) {
    MsaccucmpRow row = all[place];
    if (!is_wanted(row)) continue;
    const TensorMatch& match = row.tensors;
    if (match.actual != nullptr && match.expected != nullptr) {
      row.reason = msaccucmp_refusal(row.npu_dump, *match.actual, *match.expected);
      if (row.reason.empty()) row.reason = obstacle(match, sides_).reason;
      if (row.reason.empty()) pairs_.add(actual_, expected_, match, none);
    }
    rows_.add(row);
  }
}

void DumpComparison::measure(Ranks& ranks, const MeasureHooks& hooks) {
  for (DumpSource* file : {&actual_, &expected_, golden_ ? &*golden_ : nullptr}) {
    if (file != nullptr) file->stop_when(hooks.stop);
  }
  if (golden_) kept_.resize(pairs_.size());
  if (options_.wants_msaccucmp) for_columns_ = KeptMeasures(pairs_.size());
  const MeasureOptions measuring{.memory_bytes = options_.memory_bytes,
                                 .wants_kl = options_.wants_msaccucmp};
  pairs_.measure(ranks, measuring, hooks,
                 [&](std::size_t pair, PairMeasures&& found) { take(pair, std::move(found)); });
  if (!ranks.is_first()) return;
  std::size_t next = 0, next_pair = 0;
  for_each_tensor(comparison_, [&](TensorResult& result) {
    const std::size_t index = next++;
    if (next_pair == results_.size() || results_[next_pair] != &result) return;
    ++next_pair;
    if (is_waiting(result)) result.judgement.reason = "not reached";
    if (golden_) judge_by_golden(result, golden_matches_[index]);
  });
  comparison_.is_partial = hooks.stop && hooks.stop();
  analyse(comparison_);
}

void DumpComparison::explain(const std::function<void(std::size_t done, std::size_t all)>& progress,
                             const std::function<bool()>& stop) {
  // Limits one call at a time, which is in memory as a whole.
  constexpr std::int64_t kLeastMemory = std::int64_t{512} << 20;
  ExplainOptions explaining;
  explaining.which = options_.explain;
  explaining.sides = sides_;
  explaining.table = &options_.table;
  explaining.judging.implementations = NameImplementations::none;
  explaining.judging.memory =
      static_cast<std::size_t>(std::max(options_.memory_bytes, kLeastMemory));
  explaining.judging.threads = thread_count();
  explaining.progress = progress;
  explaining.stop = stop;
  opbench::explain(comparison_, actual_, expected_, explaining);
  look_for_symptoms(comparison_, actual_, expected_);
}

// Stores the verdict as soon as a pair is measured: the measures of 40,000 pairs need much memory.
void DumpComparison::take(std::size_t pair, PairMeasures&& found) {
  if (options_.wants_msaccucmp) for_columns_.put(pair, found);
  // A golden file without the tensor may have decided already.
  const bool decides = pair < results_.size() && is_waiting(*results_[pair]);
  if (decides && found.is_done) add_measures(*results_[pair], found);
  if (golden_) kept_[pair] = std::move(found);
}

const PairMeasures* DumpComparison::kept(const TensorMatch& match) const {
  const auto pair = pairs_.find(match);
  return pair ? &kept_[*pair] : nullptr;
}

void DumpComparison::judge_by_golden(TensorResult& result, const GoldenMatch& golden) const {
  const PairMeasures* npu = kept(golden.npu);
  const PairMeasures* gpu = kept(golden.gpu);
  if (result.is_measured && is_good(npu) && is_good(gpu)) {
    add_cross_check(result, *npu, *gpu);
  } else if (needs_golden(result.standard->kind) && result.judgement.reason.empty()) {
    const bool is_there = !has_error(npu) && !has_error(gpu);
    result.judgement = {is_there ? Verdict::not_compared : Verdict::unread,
                        "it could not be measured against the golden dump"};
  }
}

std::vector<TensorDigests> DumpComparison::digests() const {
  std::vector<TensorDigests> all;
  for (std::size_t pair = 0; pair < results_.size(); ++pair) {
    if (const auto found = pairs_.digests(pair)) {
      all.push_back({results_[pair]->match.actual->path, found->first, found->second});
    }
  }
  return all;
}

MsaccucmpLines DumpComparison::msaccucmp_lines(std::vector<Metric> metrics) const {
  return [this, metrics = std::move(metrics)](const auto& use) {
    for (std::size_t place = 0; place < rows_.size(); ++place) {
      const MsaccucmpRow row = rows_[place];
      const auto pair = row.reason.empty() ? pairs_.find(row.tensors) : std::nullopt;
      const MsaccucmpMeasures measures = pair ? for_columns_[*pair] : MsaccucmpMeasures();
      use(msaccucmp_line(row, metrics, pair ? &measures : nullptr));
    }
  };
}

}  // namespace opbench
