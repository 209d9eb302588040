#include "harness/run/results_file.h"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/run/results_json.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

constexpr double kLargestNumber = std::numeric_limits<double>::max();
constexpr const char* kVersionKey = "opbench";
constexpr std::int64_t kLargestInteger = std::numeric_limits<std::int64_t>::max();

// The value in nanoseconds whose conversion gives the microseconds of the file. The product is at
// most two roundings away, so its neighbours are tried.
double nanoseconds(double us) {
  const double near = us * 1e3;
  double below = near, above = near;
  for (int step = 0; step <= 2; ++step) {
    if (below / 1e3 == us) return below;
    if (above / 1e3 == us) return above;
    below = std::nextafter(below, 0.0);
    above = std::nextafter(above, kLargestNumber);
  }
  return near;
}

std::vector<Sample> read_samples(const JsonValue& record) {
  std::vector<Sample> samples;
  record.member("samples_us").elements([&](const JsonValue& us) {
    Sample sample;
    sample.ns_per_call = nanoseconds(us.number(0, 1e300));
    samples.push_back(sample);
  });
  std::size_t known = 0;
  const JsonValue iterations = record.member("iterations");
  iterations.elements([&](const JsonValue& value) {
    const std::int64_t count = value.integer(0, kLargestInteger);
    if (known < samples.size()) samples[known].iterations = count;
    ++known;
  });
  if (known != samples.size()) {
    iterations.fail(fmt::format("has {} numbers and samples_us has {}; both must have as many",
                                known, samples.size()));
  }
  if (!record.has("throttled_samples")) return samples;
  record.member("throttled_samples").elements([&](const JsonValue& place) {
    const auto last = static_cast<std::int64_t>(samples.size()) - 1;
    samples.at(static_cast<std::size_t>(place.integer(0, last))).is_throttled = true;
  });
  return samples;
}

// The counters alone: other numbers follow from them.
Counts read_counts(const JsonValue& value) {
  constexpr std::string_view kShare = "counted_share";
  Counts counts = Counts::unknown();
  counts.calls = 1;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::string_view name = count_columns()[i].name;
    if (value.has(name)) counts.values[i] = value.member(name).number(0, kLargestNumber);
  }
  if (value.has(kShare)) counts.counted_share = value.member(kShare).number(0, 1);
  return counts;
}

}  // namespace

int read_version(const JsonValue& root, const char* key, int newest) {
  const JsonValue value = root.member(key);
  const std::int64_t version = value.integer(1, kLargestInteger);
  if (version > newest) {
    value.fail(
        fmt::format("is version {} of the format; this opbench reads versions up to {}: use the "
                    "version that wrote the file, or a later one",
                    version, newest));
  }
  return static_cast<int>(version);
}

Record read_record(const JsonValue& value, int version) {
  Record record;
  // The parts come first, because other values depend on them.
  std::vector<Sample> samples = read_samples(value);
  if (!samples.empty()) record.times.emplace().samples = std::move(samples);
  if (record.times && value.has("counters")) {
    record.times->counts = read_counts(value.member("counters"));
  }
  if (!value.member("nonfinite_mismatches").is_null()) record.accuracy.emplace();
  const bool has_step = version >= 2 && value.has("step");
  if (has_step) record.step = read_step_texts(value.member("step"));
  for (const Field& field : record_fields()) {
    if (field.since <= version) field.read(value.member(column_name(field)), record);
  }
  if (has_step) read_step_lists(value.member("step"), *record.step);
  return record;
}

ResultsFile parse_results(const JsonValue& root, const std::string& path, RecordLists taken) {
  ResultsFile file;
  file.path = path;
  if (!root.has(kVersionKey)) {
    root.fail("is not a result of opbench run --json: it has no 'opbench', the format's version");
  }
  file.version = read_version(root, kVersionKey, kResultsVersion);
  file.command = root.member("command").text();
  file.machine = read_machine(root.member("machine"));
  file.run = read_run(root.member("run"));
  file.run.records = std::move(taken[root.is_whole() ? "" : root.place()]);
  root.member("records").elements([&](const JsonValue& record) {
    file.run.records.push_back(read_record(record, file.version));
  });
  if (!root.has("others")) return file;
  const JsonValue others = root.member("others");
  others.elements([&](const JsonValue& other) {
    if (other.has("others"))
      other.member("others").fail("is nested: results in 'others' have no 'others'");
    RecordLists own;
    own[other.place()] = std::move(taken[other.place()]);
    file.others.push_back(parse_results(other, path, std::move(own)));
  });
  return file;
}

ResultsFile parse_results(std::istream& in, const std::string& path) {
  OpbenchFile file = read_opbench_file(in, path);
  return file.results ? *std::move(file.results)
                      : parse_results(JsonValue(*file.document, path), path);
}

ResultsFile parse_results(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  return parse_results(in, path);
}

ResultsFile read_results_file(const std::string& path) {
  InputFile file(path, "", kLargestResultsFile);
  std::istream in(&file);
  return parse_results(in, path);
}

namespace {

// True for the place of results, or of results of another machine in them.
bool is_document(const std::string& place) {
  return place.empty() || (place.starts_with("others[") && place.find(']') == place.size() - 1);
}

/// Converts a document's elements to records while they are parsed.
class RecordTaker {
 public:
  explicit RecordTaker(const std::string& path) : path_(path) {}

  JsonTaking taking() {
    return {"records", kVersionKey,
            [this](const std::string& place, const nlohmann::ordered_json& value) {
              note_version(place, value);
            },
            [this](const std::string& place, std::size_t index,
                   const nlohmann::ordered_json& element) { return take(place, index, element); }};
  }
  RecordLists lists() { return std::move(lists_); }

 private:
  // An unknown version is reported by the reader of the document.
  void note_version(const std::string& place, const nlohmann::ordered_json& value) {
    if (!is_document(place)) return;
    versions_.erase(place);
    if (!value.is_number_unsigned()) return;
    const auto version = value.get<std::uint64_t>();
    if (version >= 1 && version <= kResultsVersion) versions_[place] = static_cast<int>(version);
  }

  // Elements without a preceding version stay in the document.
  bool take(const std::string& place, std::size_t index, const nlohmann::ordered_json& element) {
    const auto version = versions_.find(place);
    if (version == versions_.end()) return false;
    std::vector<Record>& list = lists_[place];
    if (index == 0) list.clear();  // of duplicate keys the last counts
    const JsonValue value(element, path_,
                          fmt::format("{}{}records[{}]", place, place.empty() ? "" : ".", index));
    list.push_back(read_record(value, version->second));
    if (list.back().times) samples_ += list.back().times->samples.size();
    if (samples_ > kMostSamples) {
      value.fail(fmt::format("holds one of more than {} samples in the file", kMostSamples));
    }
    return true;
  }

  const std::string& path_;
  std::map<std::string, int> versions_;
  RecordLists lists_;
  std::size_t samples_ = 0;
};

}  // namespace

OpbenchFile read_opbench_file(std::istream& in, const std::string& path) {
  RecordTaker taker(path);
  OpbenchFile file;
  file.document = std::make_shared<nlohmann::ordered_json>(parse_json(in, path, taker.taking()));
  if (!file.document->is_object() || !file.document->contains(kVersionKey)) return file;
  file.results = parse_results(JsonValue(*file.document, path), path, taker.lists());
  return file;
}

OpbenchFile read_opbench_file(const std::string& path) {
  InputFile file(path, "", kLargestResultsFile);
  std::istream in(&file);
  return read_opbench_file(in, path);
}

}  // namespace opbench
