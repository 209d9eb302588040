#include "harness/run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/run/results_file.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/json_reader.h"
#include "text/output_file.h"

namespace opbench::units {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPlanVersion = 1;
constexpr const char* kPlanKey = "opbench_plan";
constexpr const char* kPlanFile = "plan.json";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::string RunFolder::part_file(const Part& part) const {
  return parts() / fmt::format("part-{}-of-{}.jsonl", part.index, part.count);
}

std::string RunFolder::rank_file(int rank) const {
  return parts() / fmt::format("rank-{}.jsonl", rank);
}

std::vector<std::string> RunFolder::part_files() const {
  std::vector<std::string> files;
  if (!is_there(parts())) return files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parts(), error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (error) throw Error(fmt::format("cannot read '{}': {}", parts().string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> RunFolder::own_files(const Part& part) const {
  if (part.is_whole()) return part_files();
  const std::string own = part_file(part);
  return is_there(own) ? std::vector<std::string>{own} : std::vector<std::string>{};
}

CollectedUnits RunFolder::resume(const UnitPlan& plan, const Part& part,
                                 const std::string& command) const {
  CollectedUnits collected;
  for (const std::string& file : own_files(part)) {
    collected.add_file(file);
    collected.require_plan(plan.digest, command);
  }
  return collected;
}

void RunFolder::start_new(const UnitPlan& plan, const Part& part,
                          const std::string& command) const {
  const std::vector<std::string> files = own_files(part);
  CollectedUnits earlier;
  for (const std::string& file : files) earlier.add_file(file);
  if (!part.is_whole()) earlier.require_plan(plan.digest, command);
  const std::size_t wanted = part.is_whole() ? earlier.units() : units_of(plan, part).size();
  if (!earlier.is_empty() && earlier.size() < wanted) {
    throw Error(fmt::format(
        "'{}' has {} of {} units of an incomplete run; continue with --resume {}, or remove it",
        part.is_whole() ? parts().string() : files.front(), earlier.size(), wanted,
        directory_.string()));
  }
  for (const std::string& file : files) {
    std::error_code error;
    if (!fs::remove(file, error) && error) {
      throw RunError(fmt::format("cannot remove '{}': {}", file, error.message()));
    }
  }
}

void RunFolder::write_plan(const UnitPlan& plan, const std::string& command) const {
  make_directory(parts());
  Json units = Json::array();
  for (const UnitCost& unit : plan.costs)
    units.push_back({{"id", unit.id}, {"seconds", unit.seconds}});
  const Json document = {{kPlanKey, kPlanVersion},
                         {"plan", plan.digest},
                         {"command", command},
                         {"units", std::move(units)}};
  OutputFile((directory_ / kPlanFile).string()).write([&](std::ostream& out) {
    out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  });
}

std::vector<std::string> read_unit_ids(const std::string& part_file, const std::string& digest) {
  const std::string path =
      (fs::absolute(part_file).lexically_normal().parent_path().parent_path() / kPlanFile).string();
  std::vector<std::string> ids;
  if (!is_there(path)) return ids;
  const Json document = parse_json(read_input_file(path, "", kLargestDocument), path);
  const JsonValue root(document, path);
  if (root.member(kPlanKey).integer(1, kPlanVersion) != kPlanVersion) return ids;
  if (root.member("plan").text() != digest) return ids;
  root.member("units").elements(
      [&](const JsonValue& unit) { ids.push_back(unit.member("id").text()); });
  return ids;
}

}  // namespace opbench::units
