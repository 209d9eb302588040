#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

#include "cli/check_command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "harness/check/report.h"
#include "harness/check/verdict.h"
#include "harness/check/watch.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/selected_kernels.h"
#include "harness/plan/work_unit.h"
#include "harness/report/report.h"
#include "harness/run/results_file.h"
#include "harness/run/runner.h"
#include "tensor/dtype.h"
#include "tensor/error.h"
#include "tensor/format.h"
#include "tensor/utf8.h"
#include "text/input_file.h"
#include "text/output_file.h"
#include "text/program.h"

namespace opbench {

namespace {

void refuse_flags_of_a_run(const RunFlags& flags) {
  refuse_given({{"--part", part_of(flags) != Part{}},
                {"--cold", flags.cold},
                {"--no-verify", flags.no_verify},
                {"--isa", !flags.isa.empty()}},
               "says how to run, and nothing runs with --current FILE; leave one of them out");
}

bool names_cases(const CaseSelection& s) {
  return !s.shapes_file.empty() || !s.case_files.empty() || !s.case_ids.empty() ||
         !s.symbols.empty() || s.backward;
}

std::set<std::string> planned_keys(const CaseSelection& selection) {
  std::set<std::string> keys;
  for (const WorkUnit& unit : make_plan(selection)) {
    keys.insert(unit.is_context() ? unit.id : case_key(unit.planned_case->spec));
  }
  return keys;
}

template <class Value>
bool is_named(const std::vector<Value>& wanted, std::string_view text) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                       [&](const Value& value) { return name(value) == text; });
}

bool is_wanted_variant(const Record& record, const std::vector<std::string>& wanted) {
  if (wanted.empty() || std::find(wanted.begin(), wanted.end(), record.variant) != wanted.end()) {
    return true;
  }
  if (record.step) return false;
  const auto kernels = kernels_of(record.op);
  return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel* kernel) {
    return kernel->name == record.variant && is_wanted(*kernel, wanted);
  });
}

template <class Visit>
void for_each_record(const ResultsFile& results, Visit visit) {
  for (const Record& record : results.run.records) visit(record);
  for (const ResultsFile& other : results.others) for_each_record(other, visit);
}

namespace fs = std::filesystem;

// A path that exists but cannot be examined, such as a link to itself, counts as there: the error
// of reading it has the reason.
bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

void write_results(const std::string& path, const ResultsFile& results) {
  OutputFile(path).write([&](std::ostream& out) { write_json(out, results); });
}

// A copy of the file does not count as a second run.
void require_two_files(const std::string& baseline, const std::string& current) {
  if (current.empty()) return;
  const bool is_one = is_same_file(baseline, current);
  if (!is_one && !has_same_bytes(baseline, current)) return;
  throw Error(
      fmt::format("--baseline {} and --current {} {}; comparing it with itself proves nothing",
                  baseline, current, is_one ? "are the same file" : "hold the same results"));
}

}  // namespace

StoredSelection::StoredSelection(const RunFlags& flags)
    : options_(options_of(flags)), filter_(options_.selection.filter) {
  refuse_flags_of_a_run(flags);
  for (const std::string& op : options_.selection.ops) find_op(op);
  if (names_cases(options_.selection)) keys_ = planned_keys(options_.selection);
}

void StoredSelection::require_names(const ResultsFile& baseline, const ResultsFile& current) const {
  std::set<std::string> variants;
  for (const ResultsFile* results : {&baseline, &current}) {
    for_each_record(*results, [&](const Record& record) {
      variants.insert(record.variant);
      for (const Kernel* kernel : kernels_of(record.op)) {
        if (kernel->name == record.variant) variants.emplace(kernel->family_name());
      }
    });
  }
  const std::vector<std::string> known(variants.begin(), variants.end());
  for (const std::string& variant : options_.selection.variants) {
    if (variants.contains(variant)) continue;
    throw Error(fmt::format("neither {} nor {} has results of a variant '{}'{}", baseline.path,
                            current.path, variant, suggestion(variant, known)));
  }
}

bool StoredSelection::takes(const Record& record) const {
  const CaseSelection& s = options_.selection;
  const auto is_in = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  // The plan contains --op with --shapes.
  const bool is_case =
      keys_ ? keys_->contains(check::case_key_of(record)) : is_in(s.ops, record.op);
  return is_case && is_in(options_.threads, record.threads) && is_named(s.dtypes, record.dtype) &&
         is_named(s.formats, record.format) && is_wanted_variant(record, s.variants) &&
         filter_.takes(record.case_id, record.case_name);
}

bool StoredSelection::is_everything() const {
  return options_.selection == CaseSelection{} && options_.threads.empty();
}

void StoredSelection::narrow(ResultsFile& results) const {
  std::erase_if(results.run.records, [&](const Record& record) { return !takes(record); });
  for (ResultsFile& other : results.others) narrow(other);
}

bool StoredCheck::has_baseline() const { return flags_.update || is_there(flags_.baseline); }

ResultsFile StoredCheck::run_now() const {
  const RunOptions options = options_of_part(flags_.run);
  const std::vector<WorkUnit> plan = make_plan(options.selection);
  ProgressLine progress(context_);
  RunHooks hooks;
  hooks.progress = [&, cases = count_cases(plan)](std::size_t done, std::size_t total) {
    if (done >= cases) return;
    progress.begin(done, total);
    progress.activity(plan[done].id);
  };
  ResultsFile results;
  results.path = "this run";
  results.command = context_.command_line;
  results.run = run_units(plan, options, hooks);
  results.machine = describe_machine();
  return results;
}

check::CheckReport StoredCheck::compare() {
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
  check::CheckReport report = check::run_watch(baseline, current_, options);
  if (is_first)
    report.notices.push_back("there was no baseline: the results are compared with themselves");
  note_anchor(report, options);
  return report;
}

void StoredCheck::read_current(ResultsFile& baseline) {
  current_ = read_results_file(flags_.current);
  selection_->require_names(baseline, current_);
  selection_->narrow(baseline);
  selection_->narrow(current_);
}

void StoredCheck::note_anchor(check::CheckReport& report,
                              const check::WatchOptions& options) const {
  if (!is_there(anchor_path())) return;
  ResultsFile anchor = read_results_file(anchor_path());
  if (selection_) selection_->narrow(anchor);
  const check::CheckReport since = check::run_watch(anchor, current_, options);
  report.notices.push_back(
      fmt::format("since the anchor of {}: {}", anchor.machine.date, check::counts_text(since)));
  for (const check::CheckedItem& item : since.items) {
    if (item.verdict != check::ChangeVerdict::slower) continue;
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
