#include "harness/run/overflow_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tensor/utf8.h"
#include "text/cell.h"
#include "text/table.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

void print_found(std::ostream& out, const OverflowScan& scan, const ConsoleStyle& style) {
  for (const ScannedRecord& record : scan.records) {
    if (!record.has_overflow()) continue;
    out << coloured(overflow_line(printable(record.op), printable(record.seq)), kRed, style)
        << fmt::format("\n    value: {}\n", to_string(record.found, record.elements));
  }
}

void print_headline(std::ostream& out, const OverflowScan& scan) {
  if (const ScannedRecord* first = scan.first()) {
    out << fmt::format("{} of {} operators overflowed, first /{}/{}\n", scan.count(),
                       scan.records.size(), printable(first->op), printable(first->seq));
    return;
  }
  out << fmt::format(
      "None of {} operators holds Inf, NaN or +-65504 that its inputs did not hold\n",
      scan.records.size());
}

void print_headroom(std::ostream& out, const OverflowScan& scan, std::size_t top,
                    const ConsoleStyle& style) {
  std::vector<const ScannedRecord*> by_headroom;
  for (const ScannedRecord& record : scan.records) {
    if (record.headroom_bits) by_headroom.push_back(&record);
  }
  std::stable_sort(by_headroom.begin(), by_headroom.end(), [](const auto* a, const auto* b) {
    return *a->headroom_bits < *b->headroom_bits;
  });
  if (by_headroom.empty()) return;
  if (top > 0 && by_headroom.size() > top) by_headroom.resize(top);
  out << "\nLeast headroom, in bits to the largest number of the dtype:\n";
  TextTable table{columns_of(">bits|dtype|tensor")};
  for (const ScannedRecord* record : by_headroom) {
    table.rows.push_back(
        {fmt::format("{:.2f}", *record->headroom_bits), record->dtype, record->path});
  }
  print_table(out, table, style);
}

void print_problems(std::ostream& out, const OverflowScan& scan) {
  const auto is_bad = [](const ScannedRecord& record) { return !record.problem.empty(); };
  if (scan.problems.empty() && std::none_of(scan.records.begin(), scan.records.end(), is_bad)) {
    return;
  }
  out << "\nNot read:\n";
  for (const ScannedRecord& record : scan.records) {
    if (is_bad(record)) out << "  " << printable(record.problem) << '\n';
  }
  for (const std::string& problem : scan.problems) out << "  " << printable(problem) << '\n';
}

void print_advice(std::ostream& out, const LossScaleAdvice& advice) {
  out << fmt::format("\nLoss scale, by a dump that was made with {:g}:\n", advice.recorded);
  out << fmt::format(
      "  {} gradients{}: {:.3g} % are 0; of the others {:.3g} % are below fp16's normal numbers\n",
      advice.gradients.elements, advice.is_half ? " in fp16" : ", if fp32 gradients were fp16",
      100 * advice.zero_share(), 100 * advice.subnormal_share());
  if (advice.largest) {
    out << fmt::format("  largest without overflow: {:g} ({} holds {:.4g} at most)\n",
                       *advice.largest, printable(advice.limit), advice.limit_value);
  } else {
    out << fmt::format("  largest without overflow: less than {:g}, which overflowed\n",
                       advice.recorded);
  }
  if (!advice.smallest) return;
  out << fmt::format("  smallest useful: {:g} (at most {:g} % of the nonzero ones below normal)\n",
                     *advice.smallest, 100 * LossScaleAdvice::kLost);
}

Json record_value(const ScannedRecord& record) {
  Json value = {{"op", printable(record.op)},
                {"seq", printable(record.seq)},
                {"overflow", record.has_overflow()},
                {"nan", record.found.nan},
                {"inf", record.found.inf},
                {"largest", record.found.largest},
                {"elements", record.elements},
                {"headroom_bits", nullptr},
                {"dtype", record.dtype},
                {"path", printable(record.path)}};
  if (record.headroom_bits) value["headroom_bits"] = *record.headroom_bits;
  if (!record.problem.empty()) value["problem"] = printable(record.problem);
  return value;
}

Json advice_value(const LossScaleAdvice& advice) {
  Json value = {{"recorded", advice.recorded},
                {"half", advice.is_half},
                {"largest", nullptr},
                {"limit", printable(advice.limit)},
                {"limit_value", finite_or_null(advice.limit_value)},
                {"smallest", nullptr},
                {"gradients", advice.gradients.elements},
                {"zero_share", advice.zero_share()},
                {"subnormal_share", advice.subnormal_share()}};
  if (advice.largest) value["largest"] = *advice.largest;
  if (advice.smallest) value["smallest"] = *advice.smallest;
  return value;
}

}  // namespace

std::string overflow_line(std::string_view op, std::string_view seq) {
  return fmt::format("IR: {} SeqId: {} is overflow!", op, seq);
}

void print_overflow(std::ostream& out, const OverflowScan& scan, std::size_t top,
                    const ConsoleStyle& style) {
  print_found(out, scan, style);
  print_headline(out, scan);
  print_headroom(out, scan, top, style);
  if (scan.advice) print_advice(out, *scan.advice);
  print_problems(out, scan);
}

void write_overflow_json(std::ostream& out, const OverflowScan& scan, const std::string& command) {
  Json value = {{"file", printable(scan.file)},
                {"command", printable(command)},
                {"operators", scan.records.size()},
                {"overflowed", scan.count()},
                {"first", nullptr},
                {"records", Json::array()}};
  if (const ScannedRecord* first = scan.first()) {
    value["first"] = fmt::format("/{}/{}", printable(first->op), printable(first->seq));
  }
  for (const ScannedRecord& record : scan.records) value["records"].push_back(record_value(record));
  if (scan.advice) value["loss_scale"] = advice_value(*scan.advice);
  value["problems"] = Json::array();
  for (const std::string& problem : scan.problems) value["problems"].push_back(printable(problem));
  constexpr int kIndent = 1;
  out << value.dump(kIndent) << '\n';
}

}  // namespace opbench
