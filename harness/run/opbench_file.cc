#include "harness/run/opbench_file.h"

#include <fmt/format.h>

#include <istream>
#include <limits>
#include <map>

#include "harness/run/results_values.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

constexpr const char* kVersionKey = "opbench";

// Of results, or of those of a further machine in them.
bool is_document(const std::string& place) {
  return place.empty() || (place.starts_with("others[") && place.find(']') == place.size() - 1);
}

/// Makes records of a document's elements as they come.
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
  // A version that is not known is left to who reads the document.
  void note_version(const std::string& place, const nlohmann::ordered_json& value) {
    if (!is_document(place)) return;
    versions_.erase(place);
    if (!value.is_number_unsigned()) return;
    const auto version = value.get<std::uint64_t>();
    if (version >= 1 && version <= kResultsVersion) versions_[place] = static_cast<int>(version);
  }

  // Without a version before them they stay.
  bool take(const std::string& place, std::size_t index, const nlohmann::ordered_json& element) {
    const auto version = versions_.find(place);
    if (version == versions_.end()) return false;
    std::vector<Record>& list = lists_[place];
    if (index == 0) list.clear();  // of a key that is there twice the last one counts
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
  file.document = parse_json(in, path, taker.taking());
  if (!file.document.is_object() || !file.document.contains(kVersionKey)) return file;
  file.results = parse_results(JsonValue(file.document, path), path, taker.lists());
  return file;
}

OpbenchFile read_opbench_file(const std::string& path) {
  InputFile file(path, "", kLargestResultsFile);
  std::istream in(&file);
  return read_opbench_file(in, path);
}

}  // namespace opbench
