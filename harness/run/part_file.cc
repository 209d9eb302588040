#include "harness/run/part_file.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "harness/run/results_file.h"
#include "harness/run/results_json.h"
#include "tensor/error.h"
#include "text/json_reader.h"

namespace opbench::units {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostUnits = std::int64_t{1} << 40;
constexpr double kLongestSeconds = 1e12;
// Microseconds since 1970: the year 2255.
constexpr std::int64_t kLatestMicros = std::int64_t{1} << 53;
constexpr const char* kPartKey = "opbench_part";

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

bool is_digest(const std::string& text) {
  return text.size() == 16 && std::all_of(text.begin(), text.end(), [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
         });
}

PartHeader read_header(const JsonValue& root) {
  read_version(root, kPartKey, kPartVersion);
  PartHeader header;
  header.results_version = read_version(root, "results", kResultsVersion);
  const JsonValue plan = root.member("plan");
  header.plan = plan.text();
  if (!is_digest(header.plan)) {
    plan.fail(fmt::format("is '{}'; it must be 16 hexadecimal digits", header.plan));
  }
  header.units = static_cast<std::size_t>(root.member("units").integer(0, kMostUnits));
  const JsonValue part = root.member("part");
  part.located([&] { header.part = parse_part(part.text()); });
  header.command = root.member("command").text();
  header.machine = read_machine(root.member("machine"));
  return header;
}

// A unit's record: results.json without its samples' times, plus these times.
Json unit_record_value(const Record& record) {
  Json value = record_value(record);
  if (!record.times) return value;
  Json starts = Json::array(), durations = Json::array(), preemptions = Json::array();
  for (const Sample& sample : record.times->samples) {
    starts.push_back(sample.start_us);
    durations.push_back(sample.duration_us);
    preemptions.push_back(sample.preemptions);
  }
  value["start_us"] = std::move(starts);
  value["duration_us"] = std::move(durations);
  value["sample_preemptions"] = std::move(preemptions);
  return value;
}

void read_of_samples(const JsonValue& list, std::vector<Sample>& samples,
                     const std::function<void(const JsonValue& value, Sample& sample)>& take) {
  std::size_t known = 0;
  list.elements([&](const JsonValue& value) {
    if (known < samples.size()) take(value, samples[known]);
    ++known;
  });
  if (known != samples.size()) {
    list.fail(fmt::format("has {} numbers for {} samples", known, samples.size()));
  }
}

Record read_unit_record(const JsonValue& value, int results_version) {
  Record record = read_record(value, results_version);
  if (!record.times || !value.has("start_us")) return record;
  std::vector<Sample>& samples = record.times->samples;
  read_of_samples(value.member("start_us"), samples, [](const JsonValue& us, Sample& sample) {
    sample.start_us = us.number(0, kLongestSeconds);
  });
  read_of_samples(value.member("duration_us"), samples, [](const JsonValue& us, Sample& sample) {
    sample.duration_us = us.number(0, kLongestSeconds);
  });
  read_of_samples(value.member("sample_preemptions"), samples,
                  [](const JsonValue& count, Sample& sample) {
                    sample.preemptions = count.integer(0, std::numeric_limits<int>::max());
                  });
  return record;
}

UnitResult read_unit(const JsonValue& root, int results_version) {
  UnitResult result;
  if (root.has("began_us")) result.began_us = root.member("began_us").integer(0, kLatestMicros);
  result.unit = static_cast<std::size_t>(root.member("unit").integer(0, kMostUnits));
  result.id = root.member("id").text();
  result.seconds = root.member("seconds").number(0, kLongestSeconds);
  result.run = read_run(root.member("run"));
  root.member("records").elements([&](const JsonValue& record) {
    result.run.records.push_back(read_unit_record(record, results_version));
  });
  return result;
}

/// Lines of one file.
class Lines {
 public:
  Lines(const std::string& path, const PartReader& reader) : path_(path), reader_(reader) {}

  void take(const std::string& text) {
    place_ = fmt::format("{}:{}", path_, ++line_);
    if (text.empty()) return;  // a torn line ended here
    const Json json = parse_json(text, place_);
    const JsonValue root(json, place_);
    if (json.is_object() && json.contains(kPartKey)) return take_header(root);
    if (!header_) {
      root.fail(fmt::format("is not a part of opbench run: its first line must have the key '{}'",
                            kPartKey));
    }
    UnitResult result = read_unit(root, header_->results_version);
    if (result.unit >= header_->units) {
      root.member("unit").fail(
          fmt::format("is {}; the plan has {} units", result.unit, header_->units));
    }
    if (reader_.unit) reader_.unit(*header_, std::move(result), line_);
  }

 private:
  void take_header(const JsonValue& root) {
    PartHeader header = read_header(root);
    if (header_ && (header.plan != header_->plan || header.units != header_->units)) {
      root.member("plan").fail(
          fmt::format("is '{}' with {} units, and '{}' with {} above; a part "
                      "is of one plan",
                      header.plan, header.units, header_->plan, header_->units));
    }
    header_ = std::move(header);
    if (reader_.header) reader_.header(*header_, line_);
  }

  const std::string& path_;
  const PartReader& reader_;
  std::string place_;
  std::size_t line_ = 0;
  std::optional<PartHeader> header_;
};

}  // namespace

std::string header_line(const PartHeader& header) {
  return line_of({{kPartKey, kPartVersion},
                  {"results", kResultsVersion},
                  {"plan", header.plan},
                  {"units", header.units},
                  {"part", to_string(header.part)},
                  {"command", header.command},
                  {"machine", machine_value(header.machine)}});
}

std::string unit_line(const UnitResult& result) {
  Json records = Json::array();
  for (const Record& record : result.run.records) records.push_back(unit_record_value(record));
  return line_of({{"unit", result.unit},
                  {"id", result.id},
                  {"began_us", result.began_us},
                  {"seconds", result.seconds},
                  {"run", run_value(result.run)},
                  {"records", std::move(records)}});
}

UnitResult parse_unit_line(const std::string& line, const std::string& place, int results_version) {
  const Json json = parse_json(line, place);
  return read_unit(JsonValue(json, place), results_version);
}

void read_part(std::istream& in, const std::string& path, const PartReader& reader) {
  Lines lines(path, reader);
  for (std::string line; std::getline(in, line) && !in.eof();) lines.take(line);
}

void read_part_file(const std::string& path, const PartReader& reader) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(fmt::format("cannot read '{}': it is not a regular file", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  read_part(in, path, reader);
  if (in.bad()) throw RunError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
}

// On a file system without locks the file is not locked.
PartFile::PartFile(const std::string& path, const PartHeader& header)
    : path_(path), file_(path, {fmt::format("'{}'", path), "another process is writing it"}) {
  if (flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) file_.fail(errno);
  cut_torn_line();
  append(header_line(header));
}

// Cuts everything behind the last line end.
void PartFile::cut_torn_line() const {
  const int file = file_.descriptor();
  const off_t size = file_.size();
  char buffer[4096];
  off_t end = size;
  while (end > 0) {
    const auto count = static_cast<std::size_t>(std::min<off_t>(end, sizeof buffer));
    const off_t start = end - static_cast<off_t>(count);
    if (pread(file, buffer, count, start) != static_cast<ssize_t>(count)) file_.fail(errno);
    const auto newline = std::string_view(buffer, count).rfind('\n');
    if (newline != std::string_view::npos) {
      end = start + static_cast<off_t>(newline) + 1;
      break;
    }
    end = start;
  }
  if (end != size && ftruncate(file, end) != 0) file_.fail(errno);
}

}  // namespace opbench::units
