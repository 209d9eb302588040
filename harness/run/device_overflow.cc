#include "harness/run/device_overflow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "dump/device/device_dump.h"
#include "dump/device/device_names.h"
#include "dump/device_convert.h"
#include "harness/run/numpy_statistics.h"
#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kDeepest = 30;
constexpr std::uint64_t kAny = 65535;  // of a context or thread

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : name) {
    if (letter == '.')
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

// {type}.{name}.{task}.{stream}.{time}[.{task type}.{context}.{thread}.{device}]
std::optional<std::uint64_t> number_at(const std::vector<std::string>& parts, std::size_t place) {
  if (place >= parts.size()) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = parts[place].data() + parts[place].size();
  const auto [stopped, error] = std::from_chars(parts[place].data(), end, number);
  return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

std::uint64_t time_of(const fs::path& file) {
  return number_at(parts_of(file.filename().string()), 4).value_or(0);
}

std::vector<fs::path> overflow_records(const fs::path& directory) {
  std::vector<fs::path> files;
  try {
    fs::recursive_directory_iterator entry(directory), end;
    for (; entry != end; ++entry) {
      if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
      const bool is_record = is_overflow_record_name(entry->path().filename().string());
      if (is_record && entry->is_regular_file()) files.push_back(entry->path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot read {}: {}", error.path1().string(), error.code().message()));
  }
  std::sort(files.begin(), files.end());
  std::stable_sort(files.begin(), files.end(),
                   [](const fs::path& a, const fs::path& b) { return time_of(a) < time_of(b); });
  return files;
}

/// An overflowed task in a debug file.
struct OverflowedTask {
  std::string unit;
  std::uint64_t task = 0, stream = 0, status = 0;
  std::uint64_t context = kAny, thread = kAny;
};

OverflowedTask task_of(const std::string& unit, const Json& fields) {
  OverflowedTask task{unit, fields.at("task_id"), fields.at("stream_id"), fields.at("status")};
  task.context = fields.value("context_id", kAny);
  task.thread = fields.value("thread_id", kAny);
  return task;
}

// The old layout has several units. The unit with a status is used.
OverflowedTask parse_task(const Json& record) {
  if (record.contains("acc_list")) {
    const Json& list = record.at("acc_list");
    return task_of(list.at("acc_type"), list.at("data"));
  }
  std::optional<OverflowedTask> found;
  for (const auto& [unit, fields] : record.items()) {
    const OverflowedTask task = task_of(unit, fields);
    if (!found || found->status == 0) found = task;
  }
  return *found;
}

OverflowedTask read_task(const fs::path& file) {
  constexpr std::int64_t kLargest = 1 << 20;
  const DeviceDump dump(file, DeviceDumpVersion::binary);
  for (const DeviceTensor& tensor : dump.tensors()) {
    if (tensor.side != Side::output) continue;
    if (tensor.place.bytes > kLargest) break;
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.place.bytes));
    dump.read(tensor.place, 0, bytes.size(), bytes.data());
    return parse_task(Json::parse(overflow_record_json(bytes)));
  }
  throw Error(fmt::format("{}: output: it holds no record of an overflow", file.string()));
}

bool is_of(const OverflowedTask& task, const std::vector<std::string>& parts) {
  if (number_at(parts, 2) != task.task || number_at(parts, 3) != task.stream) return false;
  const auto fits = [&](std::uint64_t wanted, std::size_t place) {
    return wanted == kAny || number_at(parts, place) == wanted;
  };
  return fits(task.context, 6) && fits(task.thread, 7);
}

// The earliest dump in the directory.
std::optional<fs::path> dump_of(const OverflowedTask& task, const fs::path& directory) {
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (is_overflow_record_name(name) || !is_device_dump_name(name)) continue;
    if (!is_of(task, parts_of(name))) continue;
    const bool is_earlier = !found || std::pair(time_of(entry.path()), entry.path()) <
                                          std::pair(time_of(*found), *found);
    if (is_earlier) found = entry.path();
  }
  return found;
}

std::string tuple_text(const Dims& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string tensor_text(const DeviceDump& dump, const DeviceTensor& tensor,
                        const std::string& name) {
  const StoredType type = device_stored_type(tensor.data_type);
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  Dims shape = tensor.shape.value_or(Dims{tensor.place.bytes / bytes});
  if (shape.empty()) shape = {1};
  const std::int64_t count = element_count(shape);
  std::vector<std::byte> data(static_cast<std::size_t>(count * bytes));
  dump.read(tensor.place, 0, data.size(), data.data());
  const NumpyStatistics found = numpy_statistics(type, data.data(), count);
  const char* const side = tensor.side == Side::input ? "input" : "output";
  return fmt::format(
      " {}.{}.{}.npy\n -[Format: {}] [Shape: {}] [Dtype: {}] [Max: {}] [Min: {}] [Mean: {}]\n",
      name, side, tensor.index, device_format_name(tensor.format), tuple_text(shape),
      numpy_name(type), found.max, found.min, found.mean);
}

std::string heading(int number) {
  constexpr int kLeft = 49, kRight = 50;
  return fmt::format("{}[{}]{}\n", std::string(kLeft, '='), number, std::string(kRight, '='));
}

/// Summary of one debug file and its dump.
class OverflowSummary {
 public:
  explicit OverflowSummary(DeviceOverflow& result) : result_(result) {}

  void add(const fs::path& record, int number, DeviceConversion& conversion) {
    const OverflowedTask task = read_task(record);
    conversion.sources.push_back(record.string());
    const std::optional<fs::path> file = dump_of(task, record.parent_path());
    std::string text = heading(number);
    std::string tensors;
    if (file) {
      conversion.sources.push_back(file->string());
      const DeviceDump dump(*file, DeviceDumpVersion::binary);
      const std::string name = file->filename().string();
      text += fmt::format("[{}] {}\n", parts_of(name).front(), dump.op_name());
      for (const DeviceTensor& tensor : dump.tensors()) tensors += tensor_text(dump, tensor, name);
    } else {
      text += "[unknown] no dump of this task is in the directory\n";
    }
    text += fmt::format(" [{}][TaskId:{}][StreamId:{}][Status:{}]\n [timestamp:{}]\n", task.unit,
                        task.task, task.stream, task.status, time_of(record));
    result_.summary += text + tensors;
  }

 private:
  DeviceOverflow& result_;
};

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[20];
  std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts);
  return text;
}

}  // namespace

bool has_overflow_records(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_directory(directory, ignored) && !overflow_records(directory).empty();
}

DeviceOverflow summarise_device_overflow(const DeviceOverflowQuery& query,
                                         const std::function<bool()>& stop) {
  DeviceOverflow result;
  const std::vector<fs::path> records = overflow_records(query.directory);
  result.records = records.size();
  if (records.empty()) return result;
  DeviceConversion conversion;
  conversion.out = query.out;
  OverflowSummary summary(result);
  int number = 0;
  for (const fs::path& record : records) {
    if (number == query.most || stop()) break;
    ++number;
    result.outcome.attempt(record.string(), [&] { summary.add(record, number, conversion); });
  }
  if (query.out.empty() || conversion.sources.empty()) return result;
  result.outcome.add(convert_device_dumps(conversion, stop));
  result.file = query.out / fmt::format("overflow_summary_{}.txt", now_text());
  OutputFile(result.file.string()).write([&](std::ostream& out) { out << result.summary; });
  ++result.outcome.written;
  return result;
}

}  // namespace opbench
