#include "compare/scalar_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/judge.h"
#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 16;

std::optional<std::vector<double>> numbers_of(DumpSource& file, const DumpEntry& entry) {
  const std::int64_t count = entry.desc.elements();
  const bool is_number = entry.kind != EntryKind::tensor && entry.problem.empty() &&
                         entry.stored != StoredType::none && count <= kMostElements;
  if (!is_number) return std::nullopt;
  std::vector<std::byte> stored(static_cast<std::size_t>(count) * size_of(entry.stored));
  std::vector<double> values(static_cast<std::size_t>(count));
  try {
    file.read(entry, {0, count}, stored.data());
  } catch (const Error&) {
    return std::nullopt;
  }
  values_to_doubles({entry.stored, entry.desc.dtype}, stored.data(), count, values.data());
  return values;
}

// 0.1 may be kept as fp32.
bool is_same(double a, double b) {
  constexpr double kRoundoff = 0x1p-22;
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::fabs(a - b) <= kRoundoff * std::fmax(std::fabs(a), std::fabs(b));
}

std::string numbers_text(const Dims& shape, const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(value_text(value));
  return shape.empty() ? texts.at(0) : fmt::format("[{}]", fmt::join(texts, ","));
}

const DumpEntry* input_named(const DumpRecord& record, std::string_view name) {
  const auto found = std::find_if(
      record.entries.begin(), record.entries.end(),
      [&](const DumpEntry& entry) { return entry.side == Side::input && entry.name == name; });
  return found == record.entries.end() ? nullptr : &*found;
}

/// Numbers of one call in both dumps.
class Scalars {
 public:
  Scalars(DumpSource& actual, DumpSource& expected) : actual_(actual), expected_(expected) {}

  // "alpha is 2, expected 1, and stride is [1,1], expected [2,2]"; empty: none differs.
  std::string differing(const DumpRecord& actual, const DumpRecord& expected) {
    std::vector<std::string> texts;
    for (const DumpEntry& mine : actual.entries) {
      const DumpEntry* const theirs =
          mine.side == Side::input ? input_named(expected, mine.name) : nullptr;
      if (theirs == nullptr) continue;
      const auto a = numbers_of(actual_, mine), e = numbers_of(expected_, *theirs);
      if (!a || !e || std::equal(a->begin(), a->end(), e->begin(), e->end(), is_same)) continue;
      texts.push_back(fmt::format("{} is {}, expected {}", mine.name,
                                  numbers_text(mine.desc.shape, *a),
                                  numbers_text(theirs->desc.shape, *e)));
    }
    return fmt::format("{}", fmt::join(texts, ", and "));
  }

 private:
  DumpSource &actual_, &expected_;
};

}  // namespace

void explain_by_scalars(Comparison& comparison, DumpSource& actual, DumpSource& expected) {
  constexpr int kMost = 1000;
  Scalars scalars(actual, expected);
  int looked_at = 0;
  for (OperatorResult& op : comparison.operators) {
    const bool is_asked = op.origin == Origin::introduced && op.actual && op.expected;
    if (!is_asked) continue;
    if (looked_at++ == kMost) return;
    const std::string differing = scalars.differing(*op.actual, *op.expected);
    if (differing.empty()) continue;
    constexpr std::string_view kAgree = "its inputs agree";
    std::string rest = op.explanation;
    if (rest.starts_with(kAgree)) rest = "its input tensors agree" + rest.substr(kAgree.size());
    op.explanation = fmt::format("{}, but {}", rest, differing);
  }
}

}  // namespace opbench
