#include "harness/run/artefact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <istream>
#include <sstream>
#include <streambuf>

#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/input_file.h"

namespace opbench {
namespace {

// Columns of the samples of all records, one record after another.
struct SampleColumns {
  std::vector<std::int64_t> record, iterations, preemptions;
  std::vector<double> start_us, duration_us, ns_per_call;

  void add(std::int64_t place, const Sample& sample) {
    record.push_back(place);
    start_us.push_back(sample.start_us);
    duration_us.push_back(sample.duration_us);
    ns_per_call.push_back(sample.ns_per_call);
    iterations.push_back(sample.iterations);
    preemptions.push_back(sample.preemptions);
  }
};

/// Stream over the bytes of an attached file. It reads them in chunks on demand, because a small
/// compressed file may hold many bytes.
class AttachedBytes : public std::streambuf {
 public:
  AttachedBytes(DumpFile& file, const DumpEntry& entry, const std::string& path)
      : file_(file), entry_(entry), left_{0, entry.problem.empty() ? entry.desc.elements() : 0} {
    const bool is_file = entry.problem.empty() && entry.stored == StoredType::i8 &&
                         std::size_t(left_.count) <= kLargestResultsFile;
    if (is_file) return;
    throw Error(fmt::format("{}: {}: is not a file of bytes, or is above {} MiB{}", printable(path),
                            printable(entry.path), kLargestResultsFile >> 20,
                            entry.problem.empty() ? "" : ": " + entry.problem));
  }

 private:
  int_type underflow() override {
    constexpr std::int64_t kMost = 8 << 20;  // more than an HDF5 chunk, so few are read twice
    const std::int64_t count = std::min(kMost, left_.count);
    if (count == 0) return traits_type::eof();
    buffer_.resize(static_cast<std::size_t>(count));
    file_.read(entry_, {left_.first, count}, buffer_.data());
    left_ = {left_.first + count, left_.count - count};
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

  DumpFile& file_;
  const DumpEntry& entry_;
  ElementRange left_;
  std::vector<char> buffer_;
};

// Visits the file's own records first, then those of other machines.
template <class Results, class Visit>
void for_each_record(Results& results, Visit&& visit) {
  for (auto& record : results.run.records) visit(record);
  for (auto& other : results.others) {
    for (auto& record : other.run.records) visit(record);
  }
}

void attach_column(DumpWriter& file, const char* name, const std::vector<double>& values) {
  file.attach(fmt::format("samples/{}", name), StoredType::f64, values.size(), values.data());
}

void attach_column(DumpWriter& file, const char* name, const std::vector<std::int64_t>& values) {
  file.attach(fmt::format("samples/{}", name), StoredType::i64, values.size(), values.data());
}

}  // namespace

void attach_file(DumpWriter& file, std::string_view name, std::string_view text) {
  file.attach(fmt::format("files/{}", name), StoredType::i8, text.size(), text.data());
}

void attach_results(DumpWriter& file, const ResultsFile& results) {
  std::ostringstream json;
  write_json(json, results);
  attach_file(file, kResultsName, json.str());
  SampleColumns columns;
  std::int64_t place = 0;
  for_each_record(results, [&](const Record& record) {
    if (record.times) {
      for (const Sample& sample : record.times->samples) columns.add(place, sample);
    }
    ++place;
  });
  attach_column(file, "record", columns.record);
  attach_column(file, "start_us", columns.start_us);
  attach_column(file, "duration_us", columns.duration_us);
  attach_column(file, "ns_per_call", columns.ns_per_call);
  attach_column(file, "iterations", columns.iterations);
  attach_column(file, "preemptions", columns.preemptions);
}

NamedText read_results_text(const std::string& path) {
  if (!Artefact::is_hdf5(path)) {
    return {std::filesystem::path(path).filename(), read_input_file(path, "", kLargestDocument)};
  }
  Artefact artefact(path);
  const std::string_view name = artefact.has(kComparisonName) ? kComparisonName : kResultsName;
  return {std::string(name), artefact.text(name)};
}

bool Artefact::is_hdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\211HDF\r\n\032\n";
  char begin[kSignature.size()] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin, sizeof begin) && std::string_view(begin, sizeof begin) == kSignature;
}

Artefact::Artefact(const std::string& path)
    : path_(path), file_(path), entries_(file_.attachments()) {
  if (!entries_.empty()) return;
  throw Error(
      fmt::format("{}: not an artefact: a file of `opbench run --artefact` or `opbench compare -o "
                  "FILE.h5` has results in /opbench",
                  printable(path)));
}

const DumpEntry* Artefact::find(std::string_view folder, std::string_view name) const {
  const std::string wanted = fmt::format("{}/{}", folder, name);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const DumpEntry& entry) { return entry.name == wanted; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string> Artefact::files() const {
  constexpr std::string_view kFolder = "files/";
  std::vector<std::string> names;
  for (const DumpEntry& entry : entries_) {
    if (entry.name.starts_with(kFolder)) names.push_back(entry.name.substr(kFolder.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Artefact::text(std::string_view name) {
  const DumpEntry* entry = find("files", name);
  if (entry == nullptr) {
    throw Error(fmt::format("{}: has no {}; it has {}", printable(path_), name,
                            printable(fmt::format("{}", fmt::join(files(), ", ")))));
  }
  const std::int64_t bytes = entry->problem.empty() ? entry->desc.elements() : 0;
  if (entry->problem.empty() &&
      (entry->stored != StoredType::i8 || std::size_t(bytes) > kLargestDocument)) {
    throw Error(fmt::format("{}: {}: is not a file of bytes, or is above {} MiB", printable(path_),
                            printable(entry->path), kLargestDocument >> 20));
  }
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file_.read(*entry, {0, bytes}, text.data());
  return text;
}

template <class Value>
std::vector<Value> Artefact::column(std::string_view name, StoredType stored) {
  const DumpEntry* entry = find("samples", name);
  if (entry == nullptr) throw Error(fmt::format("{}: has no samples/{}", printable(path_), name));
  if (entry->problem.empty() &&
      (entry->stored != stored || std::size_t(entry->desc.elements()) > kMostSamples)) {
    throw Error(
        fmt::format("{}: {}: is not a list of numbers", printable(path_), printable(entry->path)));
  }
  std::vector<Value> values(entry->problem.empty() ? std::size_t(entry->desc.elements()) : 0);
  file_.read(*entry, {0, static_cast<std::int64_t>(values.size())}, values.data());
  return values;
}

void Artefact::take_samples(ResultsFile& results) {
  const auto record = column<std::int64_t>("record", StoredType::i64);
  const auto start = column<double>("start_us", StoredType::f64);
  const auto duration = column<double>("duration_us", StoredType::f64);
  const auto per_call = column<double>("ns_per_call", StoredType::f64);
  const auto iterations = column<std::int64_t>("iterations", StoredType::i64);
  const auto preemptions = column<std::int64_t>("preemptions", StoredType::i64);
  const auto fail = [&](const std::string& what) {
    throw Error(fmt::format("{}: samples do not match the results: {}", printable(path_), what));
  };
  for (const std::size_t size :
       {start.size(), duration.size(), per_call.size(), iterations.size(), preemptions.size()}) {
    if (size != record.size()) fail("lists have different lengths");
  }
  std::size_t next = 0;
  std::int64_t place = -1;
  for_each_record(results, [&](Record& holder) {
    ++place;
    if (!holder.times) return;
    for (Sample& sample : holder.times->samples) {
      if (next == record.size() || record[next] != place) {
        fail(fmt::format("records[{}] has other samples", place));
      }
      const bool is_sound = std::isfinite(start[next]) && std::isfinite(duration[next]) &&
                            iterations[next] == sample.iterations && preemptions[next] >= 0 &&
                            per_call[next] / 1e3 == sample.ns_per_call / 1e3;
      if (!is_sound) fail(fmt::format("a number of records[{}] differs", place));
      sample.start_us = start[next];
      sample.duration_us = duration[next];
      sample.ns_per_call = per_call[next];
      sample.preemptions = preemptions[next];
      ++next;
    }
  });
  if (next != record.size()) fail("there are too many");
}

ResultsFile Artefact::results() {
  if (!has(kResultsName)) {
    throw Error(fmt::format("{}: holds no results of a run; it holds {}", printable(path_),
                            printable(fmt::format("{}", fmt::join(files(), ", ")))));
  }
  AttachedBytes bytes(file_, *find("files", kResultsName), path_);
  std::istream in(&bytes);
  ResultsFile results = parse_results(in, path_);
  take_samples(results);
  return results;
}

}  // namespace opbench
