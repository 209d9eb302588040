#include "harness/record/join_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/record/benchmark_name.h"
#include "tensor/error.h"

namespace opbench {
namespace {

struct Trait {
  std::string_view name;
  std::string (*value)(const Machine&);
};

// What must be the same for numbers to stand in one table.
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
  for (const Trait& trait : kTraits) {
    const std::string expected = trait.value(first.machine), found = trait.value(other.machine);
    if (found != expected) {
      throw Error(
          fmt::format("{}: machine.{} is '{}', and '{}' in {}; only results of one machine "
                      "and one build can be joined: report them apart",
                      other.path, trait.name, found, expected, first.path));
    }
  }
}

/// Which file each result came from.
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

ResultsFile join_results(std::vector<ResultsFile> files) {
  if (files.empty()) throw Error("there are no results to join");
  Origins origins;
  for (const ResultsFile& file : files) {
    check_same_machine(files.front(), file);
    origins.add(file);
  }
  ResultsFile joined = std::move(files.front());
  for (std::size_t i = 1; i < files.size(); ++i) {
    const ResultsFile& file = files[i];
    joined.command += '\n' + file.command;
    joined.run.records.insert(joined.run.records.end(), file.run.records.begin(),
                              file.run.records.end());
    add_times(joined.run.times, file.run.times);
    joined.run.cases_run += file.run.cases_run;
    joined.run.was_interrupted |= file.run.was_interrupted;
    joined.run.largest_case_bytes =
        std::max(joined.run.largest_case_bytes, file.run.largest_case_bytes);
  }
  return joined;
}

}  // namespace opbench
