#include "harness/pages/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/pages/tracks.h"
#include "harness/record/results_file.h"
#include "tensor/error.h"
#include "text/json_reader.h"

namespace opbench::pages {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLeastRows = 4;

bool has(const Json& json, const char* key) { return json.is_object() && json.contains(key); }

// Checked, and in today's form whichever version wrote it.
Json run_data(const Json& json, const std::string& path) {
  const ResultsFile file = parse_results(JsonValue(json, path), path);
  std::ostringstream text;
  write_json(text, file.run, file.machine, file.command);
  return Json::parse(text.str());
}

Json same_data(const Json& json, const std::string&) { return json; }

struct Kind {
  const char* name;
  const char* made_by;
  bool (*is_this)(const Json& json);
  Json (*data)(const Json& json, const std::string& path);
};

constexpr Kind kKinds[] = {
    {"run", "opbench run --json", [](const Json& j) { return has(j, "opbench"); }, run_data},
    {"compare", "opbench compare -o", [](const Json& j) { return has(j, "opbench_compare"); },
     same_data},
    {"judge", "opbench judge --json",
     [](const Json& j) {
       return (has(j, "guilty") && has(j, "records")) || (has(j, "first") && has(j, "pairs"));
     },
     same_data},
    {"check", "opbench check --json", [](const Json& j) { return has(j, "opbench_check"); },
     same_data},
    {"ingest", "opbench ingest --json",
     [](const Json& j) { return has(j, "schema") && j["schema"] == "opbench-ingest"; }, same_data},
};

// A line for each run; those that a killed run left unfinished are passed over.
Json history_data(const std::string& text) {
  Json runs = Json::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Json run = Json::parse(line, nullptr, false);
    if (has(run, "opbench_history")) runs.push_back(std::move(run));
  }
  return {{"tracks", tracks_of(runs)}};
}

bool is_history(const std::string& text) { return text.starts_with("{\"opbench_history\""); }

bool have_same_keys(const Json& list) {
  if (list.size() < kLeastRows || !list.front().is_object() || list.front().empty()) return false;
  const Json& first = list.front();
  return std::all_of(list.begin(), list.end(), [&](const Json& row) {
    return row.is_object() && row.size() == first.size() &&
           std::equal(row.items().begin(), row.items().end(), first.items().begin(),
                      [](const auto& a, const auto& b) { return a.key() == b.key(); });
  });
}

Json table(const Json& list) {
  Json keys = Json::array(), rows = Json::array();
  for (const auto& [key, value] : list.front().items()) keys.push_back(key);
  for (const Json& object : list) {
    Json row = Json::array();
    for (const Json& value : object) row.push_back(with_tables(value));
    rows.push_back(std::move(row));
  }
  return {{"$keys", std::move(keys)}, {"$rows", std::move(rows)}};
}

}  // namespace

Json with_tables(const Json& value) {
  if (value.is_array() && have_same_keys(value)) return table(value);
  if (!value.is_structured()) return value;
  Json result = value;
  for (Json& child : result) child = with_tables(child);
  return result;
}

Json page_data(const PageInput& input) {
  if (is_history(input.text)) {
    return {{"kind", "history"}, {"path", input.path}, {"data", history_data(input.text)}};
  }
  const Json json = parse_json(input.text, input.path);
  for (const Kind& kind : kKinds) {
    if (!kind.is_this(json)) continue;
    return {{"kind", kind.name}, {"path", input.path}, {"data", kind.data(json, input.path)}};
  }
  throw Error(fmt::format("{}: no file that a page can show; it must be one of {}", input.path,
                          known_inputs()));
}

void add_trends(Json& inputs) {
  for (const auto& [kind, title] : {std::pair("run", "runs"), {"check", "checks"}}) {
    Json several = Json::array();
    for (const Json& input : inputs) {
      if (input["kind"] == kind) several.push_back(input["data"]);
    }
    if (several.size() < 2) continue;
    inputs.push_back(
        {{"kind", "history"}, {"path", title}, {"data", {{"tracks", tracks_of(several)}}}});
  }
}

std::string known_inputs() {
  std::string names;
  for (const Kind& kind : kKinds) names += fmt::format("{}, ", kind.made_by);
  return names + "opbench check --history";
}

}  // namespace opbench::pages
