#include <fmt/format.h>

#include <ostream>

#include "harness/report/compare.h"
#include "harness/report/compare_fields.h"
#include "judge/cause_texts.h"
#include "text/csv_text.h"

namespace opbench::report {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : "; ") + text;
  return result;
}

// "exact:90 -12:3 -11:1": how many errors lie in [2^exponent, 2^(exponent+1)).
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

void write_row(std::ostream& out, const TensorRow& row) {
  for (const TensorField& field : tensor_fields()) out << csv_cell(field.value(row)) << ',';
  out << csv_quoted(joined(row.tensor.warnings)) << ',' << histogram_text(row.tensor) << ','
      << csv_quoted(causes_cell(row.tensor.causes)) << "\r\n";
}

}  // namespace

void write_comparison_csv(std::ostream& out, const Comparison& comparison) {
  for (const TensorField& field : tensor_fields()) out << field.name << ',';
  out << "warnings,histogram,causes\r\n";
  std::int64_t execution = 0;
  for (const OperatorResult& op : comparison.operators) {
    for (const TensorResult& tensor : op.tensors) write_row(out, {execution, op, tensor});
    ++execution;
  }
}

}  // namespace opbench::report
