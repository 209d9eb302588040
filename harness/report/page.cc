#include "harness/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/report/change_points.h"
#include "harness/report/console.h"
#include "harness/run/record.h"
#include "harness/run/results_file.h"
#include "opbench_page.h"
#include "tensor/error.h"
#include "text/json_reader.h"
#include "text/program.h"

namespace opbench::pages {
namespace {

using Json = nlohmann::ordered_json;

std::string_view colour_name(std::string_view colour) {
  if (colour == kGreen) return "green";
  if (colour == kRed) return "red";
  return colour == kYellow ? "yellow" : "dim";
}

// The words and colours of the console, so that the page has the same ones.
Json verdict_colours() {
  Json colours = Json::object();
  for (const Status status : kAllStatuses) {
    colours[std::string(name(status))] = colour_name(report::status_colour(status));
  }
  return colours;
}

}  // namespace

std::string script_text(std::string json) {
  constexpr std::string_view kEscaped = "\\u003c";
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, kEscaped);
  }
  return json;
}

void write_page(std::ostream& out, const std::vector<PageInput>& inputs) {
  Json all = Json::array();
  std::string at;
  try {
    for (const PageInput& input : inputs) {
      at = input.path;
      for (Json& one : page_inputs(input)) all.push_back(std::move(one));
    }
    add_trends(all);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: not as opbench writes it: {}", at, error.what()));
  }
  Json data = {{"colours", verdict_colours()}, {"inputs", Json::array()}};
  for (Json& input : all) data["inputs"].push_back(with_tables(input));
  out << kPageHead << script_text(data.dump(-1, ' ', false, Json::error_handler_t::replace))
      << kPageTail;
}

namespace {

constexpr std::size_t kLeastRows = 4;

bool has(const Json& json, const char* key) { return json.is_object() && json.contains(key); }

Json input_of(const char* kind, const std::string& path, Json data) {
  return {{"kind", kind}, {"path", path}, {"data", std::move(data)}};
}

// Checks the results and converts them from any version to the current format. Each machine has
// separate results.
Json run_inputs(const Json& json, const std::string& path, const std::string& name) {
  const ResultsFile file = parse_results(JsonValue(json, path), path);
  Json inputs = Json::array();
  const auto add = [&](const ResultsFile& one, const std::string& shown) {
    std::ostringstream text;
    write_json(text, one.run, one.machine, one.command);
    inputs.push_back(input_of("run", shown, Json::parse(text.str())));
  };
  add(file, name);
  for (std::size_t i = 0; i < file.others.size(); ++i) {
    add(file.others[i], fmt::format("{}, machine {}", name, i + 2));
  }
  return inputs;
}

struct Kind {
  const char* name;
  const char* made_by;
  bool (*is_this)(const Json& json);
};

constexpr Kind kKinds[] = {
    {"run", "opbench run --json", [](const Json& j) { return has(j, "opbench"); }},
    {"compare", "opbench compare -o", [](const Json& j) { return has(j, "opbench_compare"); }},
    {"judge", "opbench judge --json",
     [](const Json& j) {
       return (has(j, "guilty") && has(j, "records")) || (has(j, "first") && has(j, "pairs"));
     }},
    {"check", "opbench check --json", [](const Json& j) { return has(j, "opbench_check"); }},
    {"ingest", "opbench ingest --json",
     [](const Json& j) { return has(j, "schema") && j["schema"] == "opbench-ingest"; }},
};

// Reads a line for each run. Incomplete lines of killed runs are skipped.
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

Json page_inputs(const PageInput& input) {
  const std::string& name = input.name.empty() ? input.path : input.name;
  if (is_history(input.text)) {
    return Json::array({input_of("history", name, history_data(input.text))});
  }
  const Json json = parse_json(input.text, input.path);
  for (const Kind& kind : kKinds) {
    if (!kind.is_this(json)) continue;
    if (std::string_view(kind.name) == "run") return run_inputs(json, input.path, name);
    return Json::array({input_of(kind.name, name, json)});
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
    const Json tracks = several.size() < 2 ? Json::array() : tracks_of(several);
    const bool is_any = std::any_of(tracks.begin(), tracks.end(),
                                    [](const Json& track) { return track["points"].size() > 1; });
    if (is_any) inputs.push_back(input_of("history", title, {{"tracks", tracks}}));
  }
}

std::string known_inputs() {
  std::string names;
  for (const Kind& kind : kKinds) names += fmt::format("{}, ", kind.made_by);
  return names + "opbench check --history";
}

namespace {

std::string machine_of(const Json& machine) {
  return fmt::format("{}, {} cores, {}", machine.value("cpu", "-"), machine.value("cores", 0),
                     machine.value("isa", "-"));
}

// The time of a record of a run, an item of a check, or an item of a history; 0: not timed.
double time_of(const Json& item) {
  for (const char* key : {"median_us", "current_us"}) {
    if (item.contains(key) && item[key].is_number()) return item[key];
  }
  const bool is_timed = item.contains("speed") && item["speed"].is_object() &&
                        item["speed"].contains("current_us") &&
                        item["speed"]["current_us"].is_number();
  return is_timed ? item["speed"]["current_us"].get<double>() : 0.0;
}

bool is_true(const Json& item, const char* key) {
  return item.contains(key) && item[key].is_boolean() && item[key].get<bool>();
}

const char* kind_of(const Json& item) {
  if (is_true(item, "cold")) return "cold";
  const bool is_first = is_true(item, "first_call") || item.value("measure", "") == "first call";
  return is_first ? "first call" : "";
}

struct Entry {
  const Json* item;
  std::string date, revision, machine;
};

// `run` is a run {"machine", "records"}, or a check or a line of a history {"machine", "date",
// "current", "items"}.
void add_entries(const Json& run, std::vector<Entry>& entries) {
  const Json& machine = run.at("machine");
  const bool is_check = run.contains("items");
  const Json& list = is_check ? run["items"] : run.at("records");
  for (const Json& item : list) {
    entries.push_back(
        {&item, is_check ? run.value("date", "") : machine.value("date", ""),
         is_check ? run.at("current").value("revision", "") : machine.value("revision", ""),
         machine_of(machine)});
  }
}

Json empty_track(const Entry& entry) {
  return {{"case", entry.item->at("case")},
          {"variant", entry.item->at("variant")},
          {"threads", entry.item->at("threads")},
          {"kind", kind_of(*entry.item)},
          {"machine", entry.machine},
          {"points", Json::array()},
          {"changes", Json::array()}};
}

std::vector<std::size_t> changes_of(const Json& points) {
  std::vector<double> logarithms;
  for (const Json& point : points) logarithms.push_back(std::log(point["us"].get<double>()));
  return check::change_points(logarithms);
}

}  // namespace

Json tracks_of(const Json& runs) {
  std::vector<Entry> entries;
  for (const Json& run : runs) add_entries(run, entries);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.date < b.date; });
  std::map<std::string, std::size_t> places;
  Json tracks = Json::array();
  for (const Entry& entry : entries) {
    const Json track = empty_track(entry);
    const auto [place, is_new] =
        places.emplace(track.dump(-1, ' ', false, Json::error_handler_t::replace), tracks.size());
    if (is_new) tracks.push_back(track);
    const double us = time_of(*entry.item);
    if (us <= 0) continue;
    tracks[place->second]["points"].push_back({{"date", entry.date},
                                               {"revision", entry.revision},
                                               {"us", us},
                                               {"verdict", entry.item->value("verdict", "")}});
  }
  for (Json& track : tracks) {
    Json& points = track["points"];
    if (points.size() > check::kLongestSeries) {
      const auto extra = static_cast<std::ptrdiff_t>(points.size() - check::kLongestSeries);
      points.erase(points.begin(), points.begin() + extra);
    }
    track["changes"] = changes_of(points);
  }
  return tracks;
}

}  // namespace opbench::pages
