#include "harness/check/history.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tensor/error.h"
#include "text/cell.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench::check {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kLargestHistory = std::size_t{256} << 20;
constexpr double kLongestUs = 1e15;  // 30 years

// Properties of a machine that `check --baseline` also compares.
Json machine_value(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"l3_bytes", machine.l3_bytes},
          {"isa", machine.isa},
          {"governor", machine.governor},
          {"turbo", machine.turbo},
          {"build_type", machine.build_type}};
}

Json past_build_value(const BuildInfo& build) {
  return {{"version", build.version}, {"revision", build.revision}};
}

Json past_item_value(const CheckedItem& item) {
  Json value = {{"case", item.case_id},          {"key", item.case_key},
                {"name", item.case_name},        {"variant", item.variant},
                {"threads", item.threads},       {"cold", item.cold},
                {"verdict", name(item.verdict)}, {"waived", item.waived.has_value()}};
  if (item.is_first_call) value["first_call"] = true;
  if (!item.speed) return value;
  value["base_us"] = finite_or_null(item.speed->base_us);
  value["current_us"] = finite_or_null(item.speed->current_us);
  value["change_percent"] = finite_or_null(100 * item.speed->change);
  value["low_percent"] = finite_or_null(100 * item.speed->interval.low);
  value["high_percent"] = finite_or_null(100 * item.speed->interval.high);
  return value;
}

std::string machine_text(const JsonValue& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  return fmt::format("{}, {} cores, L3 {} KiB, {}, governor {}, turbo {}, {}",
                     value.member("cpu").text(), value.member("cores").integer(1, kMost),
                     value.member("l3_bytes").integer(0, kMost) / 1024, value.member("isa").text(),
                     value.member("governor").text(), value.member("turbo").text(),
                     value.member("build_type").text());
}

double time_of(const JsonValue& item, const char* key) {
  if (!item.has(key) || item.member(key).is_null()) return 0;
  return item.member(key).number(0, kLongestUs);
}

PastItem read_item(const JsonValue& value) {
  PastItem item;
  item.key = value.member("key").text();
  item.name = value.member("name").text();
  item.variant = value.member("variant").text();
  item.threads = static_cast<int>(value.member("threads").integer(1, 1 << 20));
  item.is_cold = value.member("cold").boolean();
  item.is_first_call = value.has("first_call") && value.member("first_call").boolean();
  item.verdict = value.member("verdict").text();
  item.is_waived = value.member("waived").boolean();
  item.base_us = time_of(value, "base_us");
  item.current_us = time_of(value, "current_us");
  return item;
}

PastRun read_run(const JsonValue& line) {
  const JsonValue version = line.member("opbench_history");
  if (version.integer(1, 1 << 20) != kVersion) {
    version.fail(fmt::format("it is of another version; this opbench reads {}", kVersion));
  }
  PastRun run;
  run.date = line.member("date").text();
  run.machine = machine_text(line.member("machine"));
  run.base = line.member("base").member("revision").text();
  run.current = line.member("current").member("revision").text();
  line.member("items").elements(
      [&](const JsonValue& item) { run.items.push_back(read_item(item)); });
  return run;
}

// A killed run leaves an incomplete line.
std::optional<Json> parsed(const std::string& line, const std::string& place, History& history) {
  try {
    return parse_json(line, place);
  } catch (const Error& error) {
    history.notices.push_back(fmt::format("left out: {}", error.what()));
    return std::nullopt;
  }
}

}  // namespace

std::string history_line(const CheckReport& report, const Machine& machine) {
  Json items = Json::array();
  for (const CheckedItem& item : report.items) items.push_back(past_item_value(item));
  const Json line = {
      {"opbench_history", kVersion},           {"date", machine.date},
      {"machine", machine_value(machine)},     {"mode", report.mode},
      {"base", past_build_value(report.base)}, {"current", past_build_value(report.current)},
      {"exit_code", report.exit_code()},       {"items", std::move(items)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

History parse_history(const std::string& text, const std::string& path) {
  History history;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::string place = fmt::format("{}:{}", path, ++number);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::optional<Json> json = parsed(line, place, history);
    if (json) history.runs.push_back(read_run(JsonValue(*json, place)));
  }
  std::stable_sort(history.runs.begin(), history.runs.end(),
                   [](const PastRun& a, const PastRun& b) { return a.date < b.date; });
  return history;
}

History read_history(const std::string& path) {
  return parse_history(read_input_file(path, "history", kLargestHistory), path);
}

namespace {

constexpr auto kLongestWait = std::chrono::seconds(10);

/// Lock of the file. A run holds it for one append only, so a longer lock belongs to something
/// else.
class Lock {
 public:
  explicit Lock(const LineFile& file) : file_(file.descriptor()) {
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) file.fail(errno);
      if (std::chrono::steady_clock::now() > end) file.fail(errno);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Lock() { flock(file_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

}  // namespace

HistoryFile::HistoryFile(const std::string& path)
    : file_(path, {fmt::format("history '{}'", path), "another process holds its lock"}) {}

void HistoryFile::append(const std::string& line) const {
  const Lock lock(file_);
  const std::int64_t size = file_.size();
  char last = '\n';
  if (size > 0 && pread(file_.descriptor(), &last, 1, size - 1) != 1) file_.fail(errno);
  file_.append(last == '\n' ? line : "\n" + line);
}

}  // namespace opbench::check
