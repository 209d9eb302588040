#include "compare/msaccucmp/msaccucmp_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>
#include <string_view>

#include "text/cell.h"

namespace opbench {
namespace {

std::string_view data_type_name(std::int64_t number) {
  switch (number) {
    case 1:
      return "Float";
    case 2:
      return "Byte";
    case 3:
      return "Char";
    case 5:
      return "Short";
    case 6:
      return "Int";
    case 7:
      return "Long";
    case 9:
      return "Bool";
    case 10:
      return "Half";
    case 11:
      return "Double";
    default:
      return "";
  }
}

// The message of Python's list.index for a number that is not in the list.
std::string unknown_data_type(const std::optional<std::int64_t>& number) {
  if (!number) return "None is not in list";
  return data_type_name(*number).empty() ? fmt::format("{} is not in list", *number) : "";
}

bool are_compatible(std::string_view a, std::string_view b) {
  const auto are = [&](std::string_view x, std::string_view y) {
    return (a == x && b == y) || (a == y && b == x);
  };
  return a == b || are("Int", "Long") || are("Float", "Half");
}

std::string data_type_refusal(const DumpEntry& actual, const DumpEntry& golden) {
  for (const DumpEntry* entry : {&actual, &golden}) {
    const std::string unknown = unknown_data_type(entry->attributes.data_type);
    if (!unknown.empty()) return unknown;
  }
  const std::string_view mine = data_type_name(*actual.attributes.data_type);
  const std::string_view theirs = data_type_name(*golden.attributes.data_type);
  if (are_compatible(mine, theirs)) return "";
  return fmt::format(
      "The DataType on both sides are different, my dump data path is {}, the data "
      "type of both sides is({},{}).",
      actual.path, mine, theirs);
}

bool needs_stride(const DumpEntry& golden) {
  const auto& device = golden.attributes.device_type;
  return device && (*device == 0 || *device == 1);
}

std::string cell_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text)
    quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

// Names come from dumps. A spreadsheet would evaluate a name that looks like a formula.
std::string name_text(std::string_view name) {
  return name.starts_with('%') ? csv_quoted(fmt::format("'{}", name)) : csv_quoted(name);
}

void add_reason(std::string& all, const std::string& reason) {
  if (reason.empty()) return;
  if (!all.empty()) all += ',';
  all += reason;
}

constexpr double kFilterCosine = 0.95, kGoodCosine = 0.99;

// NaN for a text that is not a number.
double number_of(const std::string& cell) {
  return cell == kMsaccucmpNone ? std::nan("") : std::strtod(cell.c_str(), nullptr);
}

std::string advice_text(std::string_view type, std::string_view index, std::string_view advice) {
  return fmt::format("Detection Type: {}\nOperator Index: {}\nExpert Advice: {}\n", type, index,
                     advice);
}

}  // namespace

std::string msaccucmp_refusal(const std::string& op, const DumpEntry& actual,
                              const DumpEntry& golden) {
  const std::string data_type = data_type_refusal(actual, golden);
  if (!data_type.empty()) return data_type;
  if (needs_stride(golden) && !golden.attributes.stride) return "'NoneType' object is not iterable";
  if (!actual.problem.empty() || !golden.problem.empty()) return "";  // elements may be unknown
  const std::int64_t left = actual.desc.elements(), right = golden.desc.elements();
  if (left == right) return "";
  return fmt::format(
      "[{}] Due to the different shapes on the left and right,the left dump data({}) can not be "
      "compared to the right dump data({}). Please check the batch of the dump data or the shape "
      "may be changed due to optimization.",
      op, left, right);
}

MsaccucmpLine msaccucmp_line(const MsaccucmpRow& row, std::span<const Metric> metrics,
                             const MsaccucmpMeasures* measures) {
  MsaccucmpLine line{.row = row, .cells = std::vector<std::string>(metrics.size(), kMsaccucmpNone)};
  if (measures == nullptr) return line;
  if (!measures->error.empty() || !measures->is_done) {
    line.row.reason = measures->error.empty() ? "not reached" : measures->error;
    return line;
  }
  const DumpEntry& actual = *row.tensors.actual;
  const DumpEntry& golden = *row.tensors.expected;
  // numpy's scalars have this machine's byte order, for any byte order of the file.
  const bool is_scalar = actual.desc.shape.empty();
  line.dtype = is_scalar ? std::string(numpy_name(actual.stored)) : actual.stored_name;
  line.shape = fmt::format("[{}]", fmt::join(actual.desc.shape, ","));
  const bool are_booleans =
      actual.stored == StoredType::boolean && golden.stored == StoredType::boolean;
  const MetricInput input{*measures, are_booleans, actual.desc.shape, actual.path, golden.path};
  line.cosine = number_of(metric_cell(Metric::cosine_similarity, input).text);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const MetricCell cell = metric_cell(metrics[i], input);
    line.cells[i] = cell.text;
    add_reason(line.row.reason, cell.reason);
  }
  return line;
}

bool MsaccucmpLine::is_to_look_at() const { return !(cosine > kFilterCosine); }

void write_msaccucmp_csv(std::ostream& out, std::span<const Metric> metrics,
                         const MsaccucmpLines& lines) {
  out << "Index,NPUDump,NPUDumpPath,GroundTruthPath,DataType,Shape";
  for (const Metric metric : metrics) out << ',' << name(metric);
  out << ",CompareFailReason\r\n";
  lines([&](const MsaccucmpLine& line) {
    const MsaccucmpRow& row = line.row;
    out << cell_text(row.index) << ',' << name_text(row.npu_dump) << ','
        << name_text(row.npu_path()) << ',' << name_text(row.golden_path()) << ','
        << cell_text(line.dtype) << ',' << cell_text(line.shape);
    for (const std::string& cell : line.cells) out << ',' << cell_text(cell);
    out << ',' << name_text(row.reason) << "\r\n";
  });
}

std::string msaccucmp_advice(const MsaccucmpLines& lines, std::span<const Metric> metrics) {
  const bool has_cosines =
      std::find(metrics.begin(), metrics.end(), Metric::cosine_similarity) != metrics.end();
  std::string first_bad;  // its index
  double last = std::nan("");
  lines([&](const MsaccucmpLine& line) {
    if (!has_cosines || std::isnan(line.cosine)) return;
    if (line.cosine < kGoodCosine && first_bad.empty()) first_bad = line.row.index;
    last = line.cosine;
  });
  if (std::isnan(last)) {
    return advice_text("NA", "NA", "NA");
  }
  if (first_bad.empty()) {
    return advice_text("Global Consistency", "NA",
                       "All tensors meet the accuracy requirement. If the result of the model is "
                       "still wrong, check its post-processing.");
  }
  const bool ends_badly = last < kGoodCosine;
  return ends_badly
             ? advice_text("Global Inconsistency: problem", first_bad,
                           "The final output does not meet the accuracy requirement. Start with "
                           "this operator: its formula, its overflow, or its quantisation.")
             : advice_text("Global Inconsistency: deviation", first_bad,
                           "This operator departs, but the final output meets the accuracy "
                           "requirement: an optimisation inside the device may be the cause.");
}

}  // namespace opbench
