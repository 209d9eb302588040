#include "harness/report/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/change_points.h"

namespace opbench::pages {
namespace {

using Json = nlohmann::ordered_json;

std::string machine_of(const Json& machine) {
  return fmt::format("{}, {} cores, {}", machine.value("cpu", "-"), machine.value("cores", 0),
                     machine.value("isa", "-"));
}

// The time of a record of a run, an item of a check, or one of a history; 0: not timed.
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

// Of a run {"machine", "records"}; of a check or a line of a history {"machine", "date", "current",
// "items"}.
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
