#include "compare/failed_records.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_set>

#include "tensor/error.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestReport = std::size_t{1} << 30;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

// The side of the dump in a report: "actual" or "expected".
std::string side_of(const JsonValue& root, const std::string& file, const std::string& dump) {
  const JsonValue files = root.member("files");
  const std::string actual = files.member("actual").member("path").text();
  const std::string expected = files.member("expected").member("path").text();
  if (is_same_file(actual, dump)) return "actual";
  if (is_same_file(expected, dump)) return "expected";
  const fs::path name = fs::path(dump).filename();
  const bool is_actual = fs::path(actual).filename() == name;
  if (is_actual != (fs::path(expected).filename() == name)) {
    return is_actual ? "actual" : "expected";
  }
  throw Error(fmt::format("{} compares {} and {}, not {}", file, actual, expected, dump));
}

// The record of a tensor: "/softplus/2" for "/softplus/2/input/self". A path outside of records
// stays.
std::string record_of(const std::string& path) {
  const std::size_t op = path.find('/', 1);
  const std::size_t number = op == path.npos ? op : path.find('/', op + 1);
  return path.substr(0, number);
}

bool is_of(const JsonValue& judged, const std::string& dump) {
  const std::string file = judged.member("file").text();
  return is_same_file(file, dump) || fs::path(file).filename() == fs::path(dump).filename();
}

// Records that are GUILTY. A report on two dumps has a part for each.
std::vector<std::string> guilty_records(const JsonValue& root, const std::string& file,
                                        const std::string& dump) {
  if (root.has("pairs")) {
    const JsonValue second = root.member("second");
    const bool is_second = is_same_file(second.member("file").text(), dump) ||
                           (is_of(second, dump) && !is_of(root.member("first"), dump));
    return guilty_records(is_second ? second : root.member("first"), file, dump);
  }
  if (!is_of(root, dump)) {
    throw Error(fmt::format("{} judges {}, not {}", file, root.member("file").text(), dump));
  }
  std::vector<std::string> paths;
  root.member("records").elements([&](const JsonValue& record) {
    if (record.member("verdict").text() == "GUILTY") paths.push_back(record.member("path").text());
  });
  return paths;
}

}  // namespace

std::vector<std::string> failed_records(const std::string& report, const std::string& dump) {
  const nlohmann::ordered_json json =
      parse_json(read_input_file(report, "the report", kLargestReport), report);
  const JsonValue root(json, report);
  if (root.has("guilty") || root.has("pairs")) return guilty_records(root, report, dump);
  root.member("opbench_compare").integer(1, 2);
  const std::string side = side_of(root, report, dump) + "_path";
  std::vector<std::string> paths;
  std::unordered_set<std::string> seen;
  root.member("tensors").elements([&](const JsonValue& tensor) {
    const JsonValue path = tensor.member(side);
    if (tensor.member("verdict").text() != "failed" || path.is_null()) return;
    std::string record = record_of(path.text());
    if (seen.insert(record).second) paths.push_back(std::move(record));
  });
  return paths;
}

}  // namespace opbench
