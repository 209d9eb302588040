#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <system_error>

#include "cli/compare_command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/job_report.h"
#include "compare/joined_dump.h"
#include "harness/report/compare.h"
#include "harness/run/machine.h"
#include "harness/run/unit_plan.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/output_file.h"
#include "text/packed.h"
#include "workers/dispatch.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

void check_job_flags(const CompareFlags& flags) {
  if (flags.post_process != 0) throw Error("-p is for one pair of dumps, not for folders of ranks");
  if (!flags.shards.empty() && !flags.golden.empty()) {
    throw Error("--shards and --golden: only one is allowed");
  }
  if (flags.advisor) throw Error("--advisor is for one pair of dumps, not for folders of ranks");
}

std::int64_t bytes_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return static_cast<std::int64_t>(fs::file_size(path, error));
  std::int64_t bytes = 0;
  for (fs::recursive_directory_iterator at(path, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(at->file_size(ignored));
  }
  return bytes;
}

/// Compares one rank's dumps at one step and reports as text. Runs on any rank.
class RankComparer {
 public:
  RankComparer(const JobPlan& plan, const ComparisonRequest& request, const CommandContext& context,
               bool writes_files)
      : plan_(plan), request_(request), context_(context), writes_files_(writes_files) {}

  // `unit`: the pair's number, and the date for its report.
  std::string operator()(std::string_view unit) const {
    Unpacker packed(unit);
    const auto number = packed.get<std::size_t>();
    const JobPairs::Pair& pair = plan_.pairs.pairs.at(number);
    const std::string date = packed.get_text();
    std::ostringstream json, csv;
    RankReport report;
    try {
      report = plan_.rules ? compare_joined(number, date, json, csv)
                           : compare(options_of(pair), pair.place, date, json, csv);
    } catch (const Error& error) {
      report = {};
      report.place = pair.place;
      report.error = error.what();
      report.code = kCouldNotFinish;
    }
    return pack_all(pack(report), json.str(), csv.str());
  }

 private:
  RankReport compare_joined(std::size_t number, const std::string& date, std::ostream& json,
                            std::ostream& csv) const {
    const JobPairs::Pair& pair = plan_.pairs.pairs[number];
    std::vector<std::int64_t> ranks;
    for (const JobDump& part : plan_.parts[number]) ranks.push_back(part.place.rank);
    JoinedDump joined(plan_.parts[number], *plan_.rules,
                      fmt::format("{}, {}, ranks {} joined", pair.actual.string(),
                                  to_string(pair.place), fmt::join(ranks, ", ")));
    ComparisonOptions options = options_of(pair);
    options.wants_digests = false;
    options.open_actual = [&] { return joined.source(); };
    RankReport report = compare(options, pair.place, date, json, csv);
    report.replicas_checked = joined.replicas();
    for (JoinedDump::Split& split : joined.splits()) {
      report.replicas.push_back(
          {pair.place.step, std::move(split.path), 0, ranks, std::move(split.apart)});
    }
    return report;
  }

  RankReport compare(const ComparisonOptions& options, const JobPlace& place,
                     const std::string& date, std::ostream& json, std::ostream& csv) const {
    DumpComparison run(options);
    MeasureHooks hooks;
    hooks.stop = [] { return interrupted(); };
    with_threads(request_.threads, [&] {
      run.measure(hooks);
      run.explain({}, hooks.stop);
    });
    Comparison& comparison = run.comparison();
    const Machine machine = describe_machine();
    comparison.command = context_.command_line;
    comparison.version = machine.version;
    comparison.revision = machine.revision;
    comparison.date = date;
    comparison.options = request_.given;
    if (writes_files_) {
      report::write_comparison_json(json, comparison);
      report::write_comparison_csv(csv, comparison);
    }
    return report_rank(place, run, request_.fail_on);
  }

  ComparisonOptions options_of(const JobPairs::Pair& pair) const {
    ComparisonOptions options = request_.options;
    options.actual = pair.actual.string();
    options.expected = pair.expected.string();
    for (const JobDump& golden : plan_.golden) {
      if (golden.place == pair.place) options.golden = golden.path.string();
    }
    options.wants_msaccucmp = false;
    options.wants_digests = true;
    return options;
  }

  const JobPlan& plan_;
  const ComparisonRequest& request_;
  const CommandContext& context_;
  const bool writes_files_;
};

/// Rank 0 collects the results of all ranks: it writes each file as it arrives, and the summary at
/// the end.
class JobCollector {
 public:
  JobCollector(const JobPlan& plan, const std::string& out_dir) : out_dir_(out_dir) {
    job_.only_actual = plan.pairs.only_actual;
    job_.only_expected = plan.pairs.only_expected;
  }

  void take(const std::string& result) {
    Unpacker packed(result);
    job_.ranks.push_back(unpack_rank_report(packed.get_text()));
    const RankReport& report = job_.ranks.back();
    const std::string json = packed.get_text(), csv = packed.get_text();
    if (out_dir_.empty() || !report.error.empty()) return;
    const std::string folder = fmt::format("{}/{}", out_dir_, folder_of(report.place));
    make_directory(folder);
    write(folder + "/compare.json", json);
    write(folder + "/compare.csv", csv);
  }

  // `planned`: the number of dumps to compare.
  JobReport& finish(std::size_t planned) {
    std::sort(job_.ranks.begin(), job_.ranks.end(),
              [](const RankReport& a, const RankReport& b) { return a.place < b.place; });
    conclude(job_);
    job_.is_partial |= job_.ranks.size() < planned;
    return job_;
  }

 private:
  static void write(const std::string& path, const std::string& content) {
    OutputFile(path).write([&](std::ostream& out) { out << content; });
  }

  const std::string& out_dir_;
  JobReport job_;
};

void write_whole(const JobReport& job, const report::JobOrigin& origin,
                 const std::string& out_dir) {
  OutputFile(out_dir + "/summary.json").write([&](std::ostream& out) {
    report::write_job_json(out, job, origin);
  });
  OutputFile(out_dir + "/summary.csv").write([&](std::ostream& out) {
    report::write_job_csv(out, job);
  });
}

report::JobOrigin origin_of(const ComparisonRequest& request, const CommandContext& context) {
  const Machine machine = describe_machine();
  return {context.command_line,
          machine.version,
          machine.revision,
          machine.date,
          request.options.actual,
          request.options.expected,
          to_string(request.options.standard),
          request.given};
}

// Name and cost of each pair of dumps.
std::vector<units::UnitCost> units_of(const JobPlan& plan) {
  constexpr double kBytesPerSecond = 1e9, kSecondsToOpen = 0.01;
  std::vector<units::UnitCost> units;
  for (const JobPairs::Pair& pair : plan.pairs.pairs) {
    const auto bytes = static_cast<double>(bytes_of(pair.actual) + bytes_of(pair.expected));
    units.push_back({to_string(pair.place), kSecondsToOpen + bytes / kBytesPerSecond});
  }
  return units;
}

void dispatch_all(const JobPlan& plan, const RankComparer& work, const std::string& date,
                  JobCollector& collector, CommandContext& context) {
  const std::vector<units::UnitCost> dumps = units_of(plan);
  std::vector<std::size_t> numbers;
  UnitQueue queue;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    numbers.push_back(queue.add(pack_all(i, date), dumps[i].seconds));
  }
  ProgressLine line(context);
  line.begin("comparing");
  line.activity(counted(dumps.size(), "dump"));
  UnitsProgress progress(dumps, line);
  progress.begin(numbers, 0);
  DispatchHooks hooks;
  hooks.done = [&](std::size_t dump, const std::string& result) {
    collector.take(result);
    progress.end_unit(dump, 0);
  };
  hooks.stop = [] { return interrupted(); };
  hooks.progress = [&](const DispatchState& state) { progress.show(state, state.slowest_unit); };
  dispatch(context.ranks, digest_of(plan), queue, work, hooks);
  line.clear();
}

}  // namespace

bool is_of_jobs(const ComparisonRequest& request) {
  const ComparisonOptions& options = request.options;
  std::error_code ignored;
  return fs::is_directory(options.actual, ignored) && fs::is_directory(options.expected, ignored) &&
         !list_job(options.actual).empty() && !list_job(options.expected).empty();
}

int compare_jobs(const CompareFlags& flags, const ComparisonRequest& request,
                 CommandContext& context) {
  check_job_flags(flags);
  const JobPlan plan = plan_job(request, flags.shards);
  const RankComparer work(plan, request, context, !flags.out_dir.empty());
  if (!context.ranks.is_first()) {
    serve(context.ranks, digest_of(plan), work);
    return kAllWell;
  }
  if (plan.pairs.pairs.empty()) {
    throw Error(fmt::format("{} and {} have no {} in common", request.options.actual,
                            request.options.expected,
                            flags.shards.empty() ? "rank and step" : "step"));
  }
  if (!flags.out_dir.empty()) {
    require_replaceable(std::vector<NamedFile>{{"-o", flags.out_dir + "/summary.json"},
                                               {"-o", flags.out_dir + "/summary.csv"}},
                        context);
    make_directory(flags.out_dir);
  }
  const report::JobOrigin origin = origin_of(request, context);
  JobCollector collector(plan, flags.out_dir);
  dispatch_all(plan, work, origin.date, collector, context);
  const JobReport& job = collector.finish(plan.pairs.pairs.size());
  report::print_job(context.out, job, origin, request.top, {context.colour()});
  if (!flags.out_dir.empty()) {
    write_whole(job, origin, flags.out_dir);
    context.out << fmt::format(
        "Results: {0}/summary.json, {0}/summary.csv, a folder for each dump\n",
        printable(flags.out_dir));
  }
  for (const RankReport& rank : job.ranks) {
    if (!rank.error.empty()) context.complain(rank.error);
  }
  return exit_code(job, request.fail_on);
}

}  // namespace opbench
