#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "compare/analysis.h"
#include "compare/judge_dump.h"
#include "harness/report/compare.h"
#include "harness/report/compare_page.h"
#include "judge/causes.h"
#include "judge/error_map.h"
#include "text/cell.h"

namespace opbench::report {
namespace {

// Counts of errors in [2^exponent, 2^(exponent+1)): "exact:90 -12:3 -11:1".
std::string histogram_text(const TensorResult& tensor) {
  if (!tensor.is_measured) return {};
  const ErrorHistogram& histogram = tensor.stats.histogram;
  std::string text = fmt::format("exact:{}", histogram.exact);
  for (int i = 0; i < ErrorHistogram::kBuckets; ++i) {
    const std::int64_t count = histogram.counts[static_cast<std::size_t>(i)];
    if (count > 0) text += fmt::format(" {}:{}", ErrorHistogram::kLowest + i - 1, count);
  }
  return text;
}

void for_each_tensor(const Comparison& comparison,
                     const std::function<void(const TensorRow& row)>& use) {
  std::int64_t execution = 0;
  for (const OperatorResult& op : comparison.operators) {
    for (const TensorResult& tensor : op.tensors) use({execution, op, tensor});
    ++execution;
  }
}

void write_row(std::ostream& out, const TensorRow& row) {
  std::vector<Cell> cells;
  for (const TensorField& field : tensor_fields()) cells.push_back(field.value(row));
  cells.insert(cells.end(), {fmt::format("{}", fmt::join(row.tensor.warnings, "; ")),
                             histogram_text(row.tensor), causes_cell(row.tensor.causes)});
  write_csv_row(out, cells, "\r\n");
}

}  // namespace

void write_comparison_csv(std::ostream& out, const Comparison& comparison) {
  for (const TensorField& field : tensor_fields()) out << field.name << ',';
  out << "warnings,histogram,causes\r\n";
  for_each_tensor(comparison, [&](const TensorRow& row) { write_row(out, row); });
}

namespace {

using Json = nlohmann::ordered_json;

Json number_value(const std::optional<double>& number) {
  return number ? finite_or_null(*number) : Json(nullptr);
}

Json text_value(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json tensor_value(const TensorRow& row) {
  Json value;
  for (const TensorField& field : tensor_fields()) {
    value[std::string(field.name)] = cell_value(field.value(row));
  }
  value["warnings"] = row.tensor.warnings;
  value["causes"] = causes_value(row.tensor.causes);
  add_histogram(row.tensor.is_measured ? &row.tensor.stats.histogram : nullptr, value);
  value["error_map"] =
      row.tensor.error_map ? error_map_value(*row.tensor.error_map) : Json(nullptr);
  return value;
}

std::string introduced_by(const OperatorResult& op) {
  const bool is_expected = is_guilty(op.expected_judged.get());
  if (is_guilty(op.actual_judged.get())) return is_expected ? "both" : "actual";
  return is_expected ? "expected" : "";
}

// The ruling on the call of one dump: "GUILTY".
Json ruling_value(const JudgedRecord* judged) {
  return judged == nullptr ? Json(nullptr) : Json(name(judged->ruling));
}

Json operator_value(const OperatorResult& op, std::size_t execution) {
  return {{"execution", execution},
          {"operator", text_value(op.op())},
          {"seq", text_value(op.seq())},
          {"expected_operator", op.expected ? Json(op.expected->op) : Json(nullptr)},
          {"expected_seq", op.expected ? Json(op.expected->seq_text) : Json(nullptr)},
          {"module", text_value(op.recorded_note("opbench_module"))},
          {"source", text_value(op.recorded_note("opbench_source"))},
          {"match", text_value(op.note)},
          {"verdict", name(op.verdict)},
          {"origin", text_value(std::string(name(op.origin)))},
          {"explanation", text_value(op.explanation)},
          {"input_error", number_value(op.input_error)},
          {"output_error", number_value(op.output_error)},
          {"amplification", number_value(op.amplification)},
          {"introduced_by", text_value(introduced_by(op))},
          {"actual_ruling", ruling_value(op.actual_judged.get())},
          {"expected_ruling", ruling_value(op.expected_judged.get())},
          {"tensors", op.tensors.size()}};
}

// "/relu/21"
std::string shifted_from(const Comparison& comparison) {
  if (!comparison.number_shift) return {};
  const DumpRecord& first = *comparison.number_shift->first;
  return fmt::format("/{}/{}", first.op, first.seq_text);
}

Json operator_or_null(const Comparison& comparison, std::optional<std::size_t> index) {
  return index ? operator_value(comparison.operators[*index], *index) : Json(nullptr);
}

Json file_value(const ComparedFile& file) {
  return {{"path", file.path},           {"bytes", file.bytes},     {"device", file.device},
          {"operators", file.operators}, {"tensors", file.tensors}, {"problems", file.problems}};
}

Json counts_value(const ComparisonCounts& counts) {
  return {{"passed", counts.passed},         {"failed", counts.failed},
          {"mistrusted", counts.mistrusted}, {"not_compared", counts.not_compared},
          {"unread", counts.unread},         {"with_warnings", counts.warnings},
          {"operators", counts.operators},   {"operators_failed", counts.failed_operators},
          {"introduced", counts.introduced}, {"inherited", counts.inherited},
          {"rounding", counts.rounding},     {"repaired", counts.repaired},
          {"unknown", counts.unknown}};
}

Json header(const Comparison& comparison) {
  const ComparisonCounts counts = count(comparison);
  Json options = Json::object();
  for (const auto& [option, value] : comparison.options) options[option] = value;
  return {
      {"opbench_compare", kComparisonVersion},
      {"command", comparison.command},
      {"version", comparison.version},
      {"revision", comparison.revision},
      {"date", comparison.date},
      {"files",
       {{"actual", file_value(comparison.actual)},
        {"expected", file_value(comparison.expected)},
        {"golden", comparison.golden ? file_value(*comparison.golden) : Json(nullptr)}}},
      {"standard", to_string(comparison.standard)},
      {"options", std::move(options)},
      {"partial", comparison.is_partial},
      {"load_mode", comparison.is_load_mode},
      {"number_shift", comparison.number_shift ? Json(comparison.number_shift->by) : Json(nullptr)},
      {"number_shift_from", text_value(shifted_from(comparison))},
      {"verdict", name(verdict_of(counts))},
      {"counts", counts_value(counts)},
      {"explained", comparison.is_explained},
      {"first_introduced", operator_or_null(comparison, first_introduced(comparison))},
      {"first_departure", operator_or_null(comparison, first_departure(comparison))}};
}

using UseValue = std::function<void(const Json& value)>;

// Writes the output of dump(2), but holds the text of one tensor at a time.
void write_list(std::ostream& out, const char* key,
                const std::function<void(const UseValue& use)>& for_each) {
  out << ",\n  \"" << key << "\": [";
  const char* separator = "\n    ";
  for_each([&](const Json& value) {
    // Names from a file may contain bytes that are not UTF-8. Replacing them keeps the file
    // readable.
    out << separator << value.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n    ";
  });
  out << "\n  ]";
}

}  // namespace

void write_comparison_json(std::ostream& out, const Comparison& comparison) {
  std::string head = header(comparison).dump(2, ' ', false, Json::error_handler_t::replace);
  head.resize(head.rfind("\n}"));
  out << head;
  write_list(out, "operators", [&](const UseValue& use) {
    for (std::size_t i = 0; i < comparison.operators.size(); ++i) {
      use(operator_value(comparison.operators[i], i));
    }
  });
  write_list(out, "tensors", [&](const UseValue& use) {
    for_each_tensor(comparison, [&](const TensorRow& row) { use(tensor_value(row)); });
  });
  out << "\n}\n";
}

}  // namespace opbench::report
