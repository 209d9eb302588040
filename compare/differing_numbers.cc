#include "compare/differing_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/plan/recorded_entries.h"
#include "judge/judge.h"
#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 16;

std::optional<std::vector<double>> numbers_of(DumpSource& file, const DumpEntry& entry) {
  const bool is_number = entry.kind != EntryKind::tensor && entry.problem.empty() &&
                         entry.stored != StoredType::none && entry.desc.elements() <= kMostElements;
  if (!is_number) return std::nullopt;
  try {
    return recorded_numbers(file, entry);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A number such as 0.1 may be recorded as fp32.
bool is_same_number(double a, double b) {
  constexpr double kRoundoff = 0x1p-22;
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::fabs(a - b) <= kRoundoff * std::fmax(std::fabs(a), std::fabs(b));
}

std::string numbers_text(const Dims& shape, const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(value_text(value));
  return shape.empty() ? texts.at(0) : fmt::format("[{}]", fmt::join(texts, ","));
}

}  // namespace

std::string differing_numbers(DumpSource& actual_file, const DumpRecord& actual,
                              DumpSource& expected_file, const DumpRecord& expected) {
  std::vector<std::string> texts;
  for (const DumpEntry& mine : actual.entries) {
    const DumpEntry* const theirs =
        mine.side == Side::input ? entry_called(expected, Side::input, mine.name) : nullptr;
    if (theirs == nullptr) continue;
    const auto a = numbers_of(actual_file, mine), e = numbers_of(expected_file, *theirs);
    if (!a || !e || std::equal(a->begin(), a->end(), e->begin(), e->end(), is_same_number))
      continue;
    texts.push_back(fmt::format("{} is {}, expected {}", mine.name,
                                numbers_text(mine.desc.shape, *a),
                                numbers_text(theirs->desc.shape, *e)));
  }
  return fmt::format("{}", fmt::join(texts, ", and "));
}

}  // namespace opbench
