#include "cli/unit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run_outputs.h"
#include "cli/run_printing.h"
#include "harness/report/report.h"
#include "harness/run/join_results.h"
#include "harness/run/part_file.h"
#include "harness/run/run_folder.h"
#include "harness/run/unit_process.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/program.h"
#include "workers/interrupt.h"
#include "workers/measuring_turn.h"
#include "workers/ranks.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using units::CollectedUnits;
using units::UnitPlan;
using units::UnitResult;

constexpr double kNoTimeout = 1e6;  // seconds; the most that --unit-timeout allows

// A resumed run writes to the same file names as the original run.
RunFlags flags_of_outputs(const RunFlags& flags) {
  RunFlags outputs = flags;
  outputs.out_dir = part_of(flags).is_whole() ? flags.units_dir() : "";
  return outputs;
}

// The number of units that have rows in the table.
std::size_t operator_units(const UnitPlan& plan) {
  return count_cases(plan.units) == 0 ? 0 : plan.units.size();
}

// Command line of the process that answers a `units::UnitChild`: this program again.
std::vector<std::string> worker_args(const CommandContext& context, bool takes_turns) {
  std::vector<std::string> args = {fs::read_symlink("/proc/self/exe"), "unit-worker"};
  const bool has_name = !context.args.empty() && context.args.front() == "run";
  args.insert(args.end(), context.args.begin() + (has_name ? 1 : 0), context.args.end());
  if (takes_turns) args.emplace_back(kTakeTurns);
  return args;
}

/// A run in work units in this process, from reading earlier results to printing the summary.
class UnitRun {
 public:
  UnitRun(const RunFlags& flags, const RunOptions& options, UnitPlan plan, CommandContext& context)
      : flags_(flags),
        options_(options),
        plan_(std::move(plan)),
        part_(part_of(flags)),
        folder_(flags.units_dir()),
        context_(context),
        line_(context),
        page_(page_of(flags, operator_units(plan_), context)),
        progress_(plan_.costs, line_),
        header_{plan_.digest, plan_.units.size(), part_, context.command_line, {}, 0} {
    if (takes_turns(flags, options, context.ranks)) {
      turns_.emplace(measuring_turns_file());
      if (!context.ranks.is_alone()) use_cores_of_launcher();
    }
    header_.machine = describe_machine();
    if (context.ranks.is_first()) outputs_.emplace(flags_of_outputs(flags), context, plan_.units);
    if (context.ranks.is_alone()) hooks_ = make_hooks(context, page_, line_, *outputs_);
    hooks_.progress = {};  // this hook is for one unit; the run has its own line
    hooks_.turns = turns_ ? &*turns_ : nullptr;
    if (flags_.unit_timeout || has_own_kernels(plan_.units)) {
      child_.emplace(worker_args(context, turns_.has_value()), plan_, options_,
                     flags_.unit_timeout.value_or(kNoTimeout));
    }
  }

  int run() {
    double load = 0;
    getloadavg(&load, 1);
    open();
    std::vector<std::size_t> todo = units::units_of(plan_, part_);
    const std::size_t wanted = todo.size();
    std::erase_if(todo, [&](std::size_t unit) { return collected_.has(unit); });
    const bool has_table = count_cases(plan_.units) > 0 && !page_.is_digest;
    if (!todo.empty() && has_table && context_.ranks.is_alone()) begin_page(page_, context_);
    progress_.begin(todo, wanted - todo.size());
    if (context_.ranks.is_alone()) {
      for (const std::size_t unit : todo) {
        if (!run_one(unit)) break;
      }
      line_.clear();
    } else {
      run_on_ranks(todo);
    }
    return finish(load);
  }

  /// Work of all ranks except the first.
  int serve() {
    while (opbench::serve(context_.ranks, plan_.digest, work())) {
    }
    return kAllWell;
  }

 private:
  // Reads earlier results and opens the file for new ones.
  void open() {
    const std::string& command = context_.command_line;
    if (flags_.units_dir().empty()) return;
    if (!flags_.resume.empty()) {
      collected_ = folder_.resume(plan_, part_, command);
    } else {
      folder_.start_new(plan_, part_, command);
    }
    if (collected_.is_empty()) {
      folder_.write_plan(plan_, command);
    } else {
      header_.command = collected_.command();
    }
    if (context_.ranks.is_alone()) file_.emplace(folder_.part_file(part_), header_);
  }

  UnitWork work() {
    return unit_work(context_.ranks, header_, [this](std::size_t unit) { return attempt(unit); });
  }

  void run_on_ranks(const std::vector<std::size_t>& todo) {
    const bool has_folder = !flags_.units_dir().empty();
    RankedUnits ranked(context_.ranks, plan_, has_folder ? &folder_ : nullptr, progress_);
    try {
      ranked.run(todo, work());
    } catch (const RunError& error) {
      line_.clear();
      if (!has_folder) throw;
      throw RunError(fmt::format("{}; earlier results are kept, and --resume {} continues",
                                 error.what(), flags_.units_dir()));
    }
    line_.clear();
    collected_ = ranked.collected();
  }

  // Null if the run was interrupted.
  std::optional<UnitResult> attempt(std::size_t unit) {
    try {
      UnitResult result =
          child_ ? child_->run(unit) : units::run_unit(plan_, unit, options_, hooks_);
      if (!interrupted()) return result;
      rest_ = std::move(result);  // finished rows are shown, and the unit runs again
    } catch (const RunError&) {
      if (!interrupted()) throw;
    }
    return std::nullopt;
  }

  // False if the run was interrupted.
  bool run_one(std::size_t unit) {
    progress_.begin_unit(unit);
    if (child_) line_.activity(plan_.units[unit].id);
    std::optional<UnitResult> result = attempt(unit);
    if (!result) return false;
    if (child_ && hooks_.case_done) hooks_.case_done(result->run.records);
    if (file_) file_->append(*result);
    progress_.end_unit(unit, result->seconds);
    collected_.add(header_, std::move(*result));
    return true;
  }

  int finish(double load) {
    ResultsFile results = collected_.is_empty() ? ResultsFile{} : collected_.results();
    if (collected_.is_empty()) results.machine = describe_machine();
    results.command = header_.command;
    results.version = kResultsVersion;
    results.run.load = load;
    results.run.was_interrupted = interrupted();
    add_run(results.run, collected_.on_clock(rest_));
    if (!context_.ranks.is_alone() && flags_.units_dir().empty() && !page_.is_digest) {
      print_cases(results.run);
    }
    page_.is_kept = keep_last_run(results);
    print_end(results.run, page_, context_);
    for (const ResultsFile& other : results.others) print_end(other.run, page_, context_);
    if (part_.is_whole() && !outputs_->write(results)) return kCouldNotFinish;
    tell_errors(results.run, context_);
    if (part_.is_whole() || interrupted()) return exit_code_of(results);
    say_what_merges();
    // There are more parts than units. An error code would make a scheduler restart the part
    // forever.
    return results.run.records.empty() ? kAllWell : exit_code_of(results);
  }

  // Prints the cases of other ranks like those of this rank.
  void print_cases(const RunResult& run) const {
    if (context_.quiet) return;
    const ConsoleStyle style = table_style(context_);
    if (count_cases(plan_.units) > 0)
      report::print_heading(context_.out, style, detail_of(context_));
    const std::span<const Record> records = run.records;
    for (std::size_t first = 0, end = 0; first < records.size(); first = end) {
      while (end < records.size() && records[end].case_id == records[first].case_id &&
             records[end].threads == records[first].threads) {
        ++end;
      }
      report::print_case(context_.out, records.subspan(first, end - first), style,
                         detail_of(context_));
    }
  }

  void say_what_merges() const {
    context_.err << fmt::format(
        "{}: part {} is complete in {}; with all parts: {} merge {}/parts/*.jsonl -o "
        "results.json\n",
        program_name(), to_string(part_), printable(file_->path()), program_name(),
        printable(flags_.units_dir()));
  }

  const RunFlags& flags_;
  const RunOptions& options_;
  const UnitPlan plan_;
  const Part part_;
  const units::RunFolder folder_;
  CommandContext& context_;
  ProgressLine line_;
  RunPage page_;
  UnitsProgress progress_;
  units::PartHeader header_;
  std::optional<MeasuringTurns> turns_;
  std::optional<RunOutputs> outputs_;  // only on rank 0
  RunHooks hooks_;
  std::optional<units::UnitChild> child_;
  CollectedUnits collected_;
  std::optional<units::PartFile> file_;
  UnitResult rest_;  ///< of a unit that was interrupted
};

}  // namespace

int run_in_units(const RunFlags& flags, const RunOptions& options, UnitPlan plan,
                 CommandContext& context) {
  UnitRun run(flags, options, std::move(plan), context);
  return context.ranks.is_first() ? run.run() : run.serve();
}

}  // namespace opbench
