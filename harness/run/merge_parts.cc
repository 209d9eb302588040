#include "harness/run/merge_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/run/join_results.h"
#include "harness/run/results_json.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench::units {
namespace {

// Removes the times and all values that depend on them: the rates, the best variant, and for a
// passed result the suspicion that it was too fast, with its reason. The number of calls that fit
// into the time decides the values on which the last call is verified. Therefore the largest error
// and its scale are removed too.
Record without_times(Record record) {
  if (record.times) record.accuracy.reset();
  record.formula.clear();
  record.times.reset();
  record.step.reset();
  record.is_best = false;
  record.copy_gb_per_s = record.copy_spread = record.peak_gflop_per_s = 0;
  record.copy_way.clear();
  record.bound = Bound::unknown;
  if (record.status == Status::suspicious) record.status = Status::passed;
  if (record.status == Status::passed) record.reason.clear();
  return record;
}

// Reason for another plan: another build, other flags, or another command.
std::string why_other_plan(const PartHeader& first, const PartHeader& other) {
  const Machine &a = first.machine, &b = other.machine;
  const auto build = [](const Machine& m) {
    return fmt::format("opbench {} ({}), {}, {}", m.version, m.revision, m.compiler, m.build_type);
  };
  if (build(a) != build(b))
    return fmt::format(": it was written by {}, and not by {}", build(b), build(a));
  if (a.flags != b.flags)
    return fmt::format(": built with '{}', and not with '{}'", b.flags, a.flags);
  return fmt::format(": its command was {}, and not {}", printable(other.command),
                     printable(first.command));
}

// A run whose samples start at `zero_us`, in microseconds since 1970; 0: unknown.
RunResult since(std::int64_t zero_us, const UnitResult& result) {
  RunResult run = result.run;
  const bool is_known = zero_us > 0 && result.began_us > 0;
  if (is_known) shift_samples(run, static_cast<double>(result.began_us - zero_us));
  return run;
}

// Appends a line unless it is already there.
void add_line(const std::string& line, std::string& lines) {
  if (('\n' + lines + '\n').find('\n' + line + '\n') != std::string::npos) return;
  lines += (lines.empty() ? "" : "\n") + line;
}

}  // namespace

bool is_same_but_for_times(const UnitResult& a, const UnitResult& b) {
  if (a.id != b.id || a.run.records.size() != b.run.records.size()) return false;
  for (std::size_t i = 0; i < a.run.records.size(); ++i) {
    if (record_value(without_times(a.run.records[i])) !=
        record_value(without_times(b.run.records[i]))) {
      return false;
    }
  }
  return true;
}

void CollectedUnits::add_file(const std::string& path) { read_part_file(path, reader_of(path)); }

void CollectedUnits::add(std::istream& in, const std::string& path) {
  read_part(in, path, reader_of(path));
}

PartReader CollectedUnits::reader_of(const std::string& path) {
  PartReader reader;
  reader.header = [this, path](const PartHeader& header, std::size_t line) {
    if (headers_.empty()) header_ = header;
    if (header.plan != header_.plan || header.units != header_.units) {
      throw Error(fmt::format(
          "{}:{}: is of plan {}, and {} of plan {}{}; parts of one plan are "
          "merged",
          path, line, header.plan, files_.front(), header_.plan, why_other_plan(header_, header)));
    }
    if (files_.empty() || files_.back() != path) files_.push_back(path);
    headers_.push_back(header);
  };
  reader.unit = [this, path](const PartHeader&, UnitResult result, std::size_t line) {
    add_unit(std::move(result), headers_.size() - 1, fmt::format("{}:{}", path, line));
  };
  return reader;
}

void CollectedUnits::add_unit(UnitResult result, std::size_t header, const std::string& place) {
  const std::size_t unit = result.unit;
  const auto [found, is_new] = found_.try_emplace(unit, Found{header, place, {}});
  if (is_new) {
    found->second.result = std::move(result);
  } else if (!is_same_but_for_times(found->second.result, result)) {
    throw Error(fmt::format("{}: unit {} ({}) has another result than in {}; leave one of them out",
                            place, unit, printable(result.id), found->second.place));
  }
}

void CollectedUnits::add(const PartHeader& header, UnitResult result) {
  if (headers_.empty()) header_ = header;
  if (!has_own_header_) headers_.push_back(header);
  has_own_header_ = true;
  add_unit(std::move(result), headers_.size() - 1, "this run");
}

void CollectedUnits::require_plan(const std::string& digest, const std::string& command) const {
  if (headers_.empty() || digest == header_.plan) return;
  PartHeader now;
  now.plan = digest;
  now.command = command;
  now.machine = describe_machine();
  throw Error(
      fmt::format("{} is of plan {}, and this is plan {}{}; resume with the same flags and the "
                  "same opbench, or name another folder",
                  files_.front(), header_.plan, digest, why_other_plan(header_, now)));
}

std::vector<std::size_t> CollectedUnits::missing() const {
  std::vector<std::size_t> missing;
  for (std::size_t unit = 0; unit < header_.units; ++unit) {
    if (!has(unit)) missing.push_back(unit);
  }
  return missing;
}

double CollectedUnits::unit_seconds() const {
  double sum = 0;
  for (const auto& [unit, found] : found_) sum += found.result.seconds;
  return sum;
}

std::vector<int> CollectedUnits::kinds_of_headers() const {
  std::vector<const Machine*> kinds;
  std::vector<int> kind_of;
  for (const PartHeader& header : headers_) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Machine* known) {
      return machine_difference(*known, header.machine).empty();
    });
    kind_of.push_back(static_cast<int>(same - kinds.begin()));
    if (same == kinds.end()) kinds.push_back(&header.machine);
  }
  return kind_of;
}

// Time of the first sample since 1970; 0 without samples. If units run in parallel, the
// first unit need not have the first sample.
std::int64_t CollectedUnits::first_sample_us() const {
  std::int64_t first = 0;
  for (const auto& [unit, found] : found_) {
    if (found.result.began_us == 0) continue;
    for (const Record& record : found.result.run.records) {
      if (!record.times) continue;
      const auto since_unit = static_cast<std::int64_t>(record.times->samples.front().start_us);
      const std::int64_t start = found.result.began_us + since_unit;
      if (first == 0 || start < first) first = start;
    }
  }
  return first;
}

RunResult CollectedUnits::on_clock(const UnitResult& result) const {
  return since(first_sample_us(), result);
}

ResultsFile CollectedUnits::results() const {
  const std::vector<int> kind_of = kinds_of_headers();
  std::map<int, ResultsFile> kinds;
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    ResultsFile& kind = kinds[kind_of[i]];
    if (kind.version == 0) kind.machine = headers_[i].machine;
    kind.version = kResultsVersion;
    add_line(headers_[i].command, kind.command);
  }
  const std::int64_t zero = first_sample_us();
  for (const auto& [unit, found] : found_) {
    add_run(kinds[kind_of[found.header]].run, since(zero, found.result));
  }
  // A machine that was lost before its first unit ended has no results.
  if (kinds.size() > 1)
    std::erase_if(kinds, [](auto& kind) { return kind.second.run.records.empty(); });
  if (kinds.empty()) throw Error("the parts hold no results");
  ResultsFile whole = std::move(kinds.begin()->second);
  for (auto kind = std::next(kinds.begin()); kind != kinds.end(); ++kind) {
    whole.others.push_back(std::move(kind->second));
  }
  return whole;
}

}  // namespace opbench::units
