#include "harness/run/join_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "harness/run/record.h"
#include "tensor/error.h"

namespace opbench {
namespace {

struct Trait {
  std::string_view name;
  std::string (*value)(const Machine&);
};

// Properties that must be equal for numbers of one table.
constexpr Trait kTraits[] = {
    {"cpu", [](const Machine& m) { return m.cpu; }},
    {"cores", [](const Machine& m) { return std::to_string(m.cores); }},
    {"version", [](const Machine& m) { return m.version; }},
    {"revision", [](const Machine& m) { return m.revision; }},
    {"compiler", [](const Machine& m) { return m.compiler; }},
    {"flags", [](const Machine& m) { return m.flags; }},
    {"build_type", [](const Machine& m) { return m.build_type; }},
    {"libraries",
     [](const Machine& m) {
       std::string text;
       for (const auto& [name, version] : m.libraries) {
         text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version);
       }
       return text;
     }},
};

void check_same_machine(const ResultsFile& first, const ResultsFile& other) {
  const std::string difference = machine_difference(first.machine, other.machine);
  if (difference.empty()) return;
  throw Error(
      fmt::format("{}: {} in {}; only results of one machine and one build can be joined: report "
                  "them apart",
                  other.path, difference, first.path));
}

/// File of each result.
class Origins {
 public:
  void add(const ResultsFile& file) {
    for (const Record& record : file.run.records) {
      const auto [place, is_new] =
          first_.emplace(std::tuple(benchmark_name(record), record.isa), &file);
      if (!is_new && place->second != &file) {
        throw Error(fmt::format("{}: {} (isa {}) is in {} too; a result can be joined once",
                                file.path, benchmark_name(record), record.isa,
                                place->second->path));
      }
    }
  }

 private:
  std::map<std::tuple<std::string, std::string>, const ResultsFile*> first_;
};

void add_times(PhaseTimes& sum, const PhaseTimes& more) {
  sum.total += more.total;
  sum.allocate += more.allocate;
  sum.fill += more.fill;
  sum.verify += more.verify;
  sum.measure += more.measure;
  sum.dump += more.dump;
}

}  // namespace

std::string machine_difference(const Machine& first, const Machine& other) {
  for (const Trait& trait : kTraits) {
    const std::string expected = trait.value(first), found = trait.value(other);
    if (found != expected) {
      return fmt::format("machine.{} is '{}', and '{}'", trait.name, found, expected);
    }
  }
  return {};
}

void add_run(RunResult& sum, RunResult more) {
  std::move(more.records.begin(), more.records.end(), std::back_inserter(sum.records));
  add_times(sum.times, more.times);
  sum.cases_run += more.cases_run;
  sum.was_interrupted |= more.was_interrupted;
  sum.largest_case_bytes = std::max(sum.largest_case_bytes, more.largest_case_bytes);
}

void shift_samples(RunResult& run, double us) {
  for (Record& record : run.records) {
    if (!record.times) continue;
    for (Sample& sample : record.times->samples) sample.start_us += us;
  }
}

ExitCode exit_code_of(const ResultsFile& file) {
  RunResult all = file.run;
  for (const ResultsFile& other : file.others) add_run(all, other.run);
  return all.exit_code();
}

ResultsFile join_results(std::vector<ResultsFile> files) {
  if (files.empty()) throw Error("no results to join");
  Origins origins;
  for (const ResultsFile& file : files) {
    if (!file.others.empty() && files.size() > 1) {
      throw Error(
          fmt::format("{}: holds results of {} different machines, which cannot be joined with "
                      "others: report it alone",
                      file.path, file.others.size() + 1));
    }
    check_same_machine(files.front(), file);
    origins.add(file);
  }
  ResultsFile joined = std::move(files.front());
  for (std::size_t i = 1; i < files.size(); ++i) {
    joined.command += '\n' + files[i].command;
    add_run(joined.run, std::move(files[i].run));
  }
  return joined;
}

}  // namespace opbench
