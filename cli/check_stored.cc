#include "cli/check_stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/named_files.h"
#include "harness/check/report.h"
#include "harness/check/verdict.h"
#include "harness/report/report.h"
#include "harness/run/results_file.h"
#include "harness/run/runner.h"
#include "tensor/error.h"
#include "tensor/printable.h"
#include "text/output_file.h"
#include "text/program_name.h"
#include "text/same_bytes.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// What is in the way but cannot be looked at, as a link to itself, is there: reading it says why.
bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

void write_results(const std::string& path, const ResultsFile& results) {
  OutputFile(path).write([&](std::ostream& out) { write_json(out, results); });
}

// A copy is no second run either.
void require_two_files(const std::string& baseline, const std::string& current) {
  if (current.empty()) return;
  const bool is_one = is_same_file(baseline, current);
  if (!is_one && !has_same_bytes(baseline, current)) return;
  throw Error(
      fmt::format("--baseline {} and --current {} {}; comparing it with itself proves nothing",
                  baseline, current, is_one ? "are the same file" : "hold the same results"));
}

}  // namespace

bool StoredCheck::has_baseline() const { return flags_.update || is_there(flags_.baseline); }

ResultsFile StoredCheck::run_now() const {
  const RunOptions options = options_of_part(flags_.run);
  CaseFiles files(options.selection.symbols);
  const std::vector<PlannedCase> plan = make_plan(options.selection, files);
  RunHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t total) {
    if (context_.quiet || done >= plan.size()) return;
    context_.err << fmt::format("[{}/{}] {}\n", done + 1, total, case_id(plan[done].spec));
  };
  ResultsFile results;
  results.path = "this run";
  results.command = context_.command_line;
  results.run = run_plan(plan, make_context_plan(options.selection, files), options, hooks);
  results.machine = describe_machine();
  return results;
}

check::Report StoredCheck::compare() {
  check::WatchOptions options;
  options.rule = speed_rule_of(flags_);
  options.is_gate = flags_.gate == "stored";
  options.allow_other_machine = flags_.allow_other_machine;
  if (!flags_.gate.empty() && !options.is_gate) {
    throw Error(fmt::format("--gate is '{}'; it must be 'stored'", flags_.gate));
  }
  if (!flags_.current.empty()) selection_.emplace(flags_.run);
  if (flags_.update && selection_ && !selection_->is_everything()) {
    throw Error(
        "--update with --current FILE takes no selection: the baseline would lose the other cases");
  }
  const bool is_first = !is_there(flags_.baseline);
  if (!is_first) require_two_files(flags_.baseline, flags_.current);
  ResultsFile baseline;
  if (!is_first) baseline = read_results_file(flags_.baseline);
  if (flags_.current.empty()) {
    current_ = run_now();
  } else {
    read_current(baseline);
  }
  if (is_first) {
    baseline = current_;
    baseline.path = flags_.baseline;
  }
  check::Report report = check::run_watch(baseline, current_, options);
  if (is_first) report.notices.push_back("there was no baseline: it is compared with itself");
  note_anchor(report, options);
  return report;
}

void StoredCheck::read_current(ResultsFile& baseline) {
  current_ = read_results_file(flags_.current);
  selection_->require_names(baseline, current_);
  selection_->narrow(baseline);
  selection_->narrow(current_);
}

void StoredCheck::note_anchor(check::Report& report, const check::WatchOptions& options) const {
  if (!is_there(anchor_path())) return;
  ResultsFile anchor = read_results_file(anchor_path());
  if (selection_) selection_->narrow(anchor);
  const check::Report since = check::run_watch(anchor, current_, options);
  report.notices.push_back(
      fmt::format("since the anchor of {}: {}", anchor.machine.date, check::counts_text(since)));
  for (const check::Item& item : since.items) {
    if (item.verdict != check::Verdict::slower) continue;
    report.notices.push_back(
        fmt::format("since the anchor {}: {}", check::title_of(item), item.evidence));
  }
}

void StoredCheck::update() {
  const bool is_empty = std::none_of(current_.run.records.begin(), current_.run.records.end(),
                                     [](const Record& record) { return record.is_timed(); });
  if (is_empty || current_.run.was_interrupted) {
    throw RunError(fmt::format("{} is left as it is: the results are {}", flags_.baseline,
                               is_empty ? "empty" : "of an interrupted run"));
  }
  if (!is_there(anchor_path())) {
    const bool is_first = !is_there(flags_.baseline);
    write_results(anchor_path(), is_first ? current_ : read_results_file(flags_.baseline));
  }
  write_results(flags_.baseline, current_);
  context_.err << fmt::format("{}: {} is the new baseline; {} stays\n", program_name(),
                              printable(flags_.baseline), printable(anchor_path()));
}

}  // namespace opbench
