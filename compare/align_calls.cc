#include "compare/align_calls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "compare/matching.h"

namespace opbench {
namespace {

enum class Step : std::uint8_t { pair, skip_actual, skip_expected };

/// The searched part of the table of all pairs: in row i, columns i + low to i + high.
struct Band {
  std::size_t rows, columns;  ///< elements of both sequences
  std::ptrdiff_t low, high;

  std::size_t width() const { return static_cast<std::size_t>(high - low + 1); }
  std::ptrdiff_t first(std::size_t row) const {
    return std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(row) + low);
  }
  std::ptrdiff_t last(std::size_t row) const {
    return std::min(static_cast<std::ptrdiff_t>(columns), static_cast<std::ptrdiff_t>(row) + high);
  }
};

// The widest band of at most `most_cells`. It has no columns if even the narrowest band is larger.
Band band_of(std::size_t rows, std::size_t columns, std::size_t most_cells) {
  const std::ptrdiff_t shift =
      static_cast<std::ptrdiff_t>(columns) - static_cast<std::ptrdiff_t>(rows);
  const std::ptrdiff_t low = std::min<std::ptrdiff_t>(0, shift);
  const std::ptrdiff_t high = std::max<std::ptrdiff_t>(0, shift);
  constexpr std::ptrdiff_t kNarrowest = 2;  // next to the diagonals, or nothing could be aligned
  const auto affordable = static_cast<std::ptrdiff_t>(most_cells / (rows + 1));
  const std::ptrdiff_t most = (affordable - (high - low + 1)) / 2;
  if (most < kNarrowest) return {rows, 0, 0, -1};
  const std::ptrdiff_t beside = std::min(most, static_cast<std::ptrdiff_t>(rows + columns));
  return {rows, columns, low - beside, high + beside};
}

/// Best scores for pairing the calls from a place on. The table is filled from the end, so a walk
/// forward finds the earliest partners first.
class Table {
 public:
  Table(const Band& band, const Likeness& likeness, std::size_t offset)
      : band_(band), steps_((band.rows + 1) * band.width()), next_(band.width() + 2, kOutside) {
    std::vector<double> row(band.width() + 2, kOutside);
    for (std::size_t i = band.rows + 1; i-- > 0;) {
      fill(i, row, likeness, offset);
      std::swap(row, next_);
      std::fill(row.begin(), row.end(), kOutside);
    }
  }

  void walk(std::size_t offset, Alignment& alignment) const {
    std::size_t i = 0, j = 0;
    while (i < band_.rows && j < band_.columns) {
      const Step step = steps_[place(i, static_cast<std::ptrdiff_t>(j))];
      if (step == Step::pair) alignment.emplace_back(offset + i, offset + j);
      i += step != Step::skip_expected;
      j += step != Step::skip_actual;
    }
  }

 private:
  static constexpr double kOutside = -std::numeric_limits<double>::infinity();

  // The index of column j in a row of scores. Row i+1 begins one column further left. Both have a
  // column of margin.
  std::size_t column(std::size_t i, std::ptrdiff_t j) const {
    return static_cast<std::size_t>(j - static_cast<std::ptrdiff_t>(i) - band_.low + 1);
  }
  std::size_t place(std::size_t i, std::ptrdiff_t j) const {
    return i * band_.width() + column(i, j) - 1;
  }

  void fill(std::size_t i, std::vector<double>& row, const Likeness& likeness, std::size_t offset) {
    const bool is_end = i == band_.rows;
    for (std::ptrdiff_t j = band_.last(i); j >= band_.first(i); --j) {
      const bool is_last = j == static_cast<std::ptrdiff_t>(band_.columns);
      double best = is_end && is_last ? 0 : kOutside;
      Step step = Step::pair;
      if (!is_end && !is_last) {
        const double like = likeness(offset + i, offset + static_cast<std::size_t>(j));
        best = next_[column(i + 1, j + 1)] + like;
      }
      const auto improve = [&](double score, Step other) {
        if (score <= best) return;
        best = score;
        step = other;
      };
      if (!is_end) improve(next_[column(i + 1, j)], Step::skip_actual);
      if (!is_last) improve(row[column(i, j + 1)], Step::skip_expected);
      row[column(i, j)] = best;
      steps_[place(i, j)] = step;
    }
  }

  Band band_;
  std::vector<Step> steps_;
  std::vector<double> next_;  // scores of the row after the current one
};

std::size_t alike_at_start(std::size_t count, const Likeness& likeness, double sure) {
  std::size_t alike = 0;
  while (alike < count && likeness(alike, alike) >= sure) ++alike;
  return alike;
}

std::size_t alike_at_end(std::size_t actual, std::size_t expected, std::size_t count,
                         const Likeness& likeness, double sure) {
  std::size_t alike = 0;
  while (alike < count && likeness(actual - 1 - alike, expected - 1 - alike) >= sure) ++alike;
  return alike;
}

constexpr std::size_t kMostInputs = 4;  // that are looked at

std::size_t mixed(std::size_t hash, std::size_t value) {
  // Boost's hash_combine.
  return hash ^ (value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2));
}

// Floating dtypes are one kind, integers another: dtypes of two devices often differ within a kind.
std::size_t kind_hash(const DumpEntry& entry) {
  return mixed(static_cast<std::size_t>(entry.side), is_floating(entry.desc.dtype) ? 1 : 2);
}

double closeness(double distance) {
  constexpr double kHalf = 0.05;
  const double steps = distance / kHalf;
  // Distances that overflow when squared count as unrelated.
  return std::isfinite(steps) ? 1 / (1 + steps * steps) : 0;
}

// The mean over inputs with values on both sides; empty if there is no such input.
std::optional<double> mean_closeness(const std::vector<std::vector<double>>& actual,
                                     const std::vector<std::vector<double>>& expected) {
  double sum = 0;
  int compared = 0;
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    if (actual[i].empty() || actual[i].size() != expected[i].size()) continue;
    sum += closeness(sample_distance(actual[i], expected[i]));
    ++compared;
  }
  return compared == 0 ? std::nullopt : std::optional(sum / compared);
}

}  // namespace

Alignment align(std::size_t actual, std::size_t expected, const Likeness& likeness, double sure,
                std::size_t most_cells) {
  std::size_t start = 0, end = 0;
  // If all pairs fit in the table, equal ends need no separate pairing.
  if ((actual + 1) > most_cells / (expected + 1)) {
    const std::size_t count = std::min(actual, expected);
    start = alike_at_start(count, likeness, sure);
    end = alike_at_end(actual, expected, count - start, likeness, sure);
  }
  Alignment alignment;
  for (std::size_t i = 0; i < start; ++i) alignment.emplace_back(i, i);
  const Band band = band_of(actual - start - end, expected - start - end, most_cells);
  if (band.width() == 0) return {};
  Table(band, likeness, start).walk(start, alignment);
  for (std::size_t i = end; i-- > 0;) alignment.emplace_back(actual - 1 - i, expected - 1 - i);
  return alignment;
}

std::string_view task_of(const DumpRecord& call) {
  const std::string* task = call.note("opbench_task");
  return task == nullptr ? std::string_view() : *task;
}

CallLikeness::Sketch CallLikeness::sketch_of(const DumpRecord& call, const ValueSample& sample) {
  Sketch sketch;
  std::vector<const DumpEntry*> inputs;
  for (const DumpEntry& entry : call.entries) {
    if (entry.kind != EntryKind::tensor || !entry.problem.empty()) continue;
    std::size_t shape = kind_hash(entry);
    for (const std::int64_t extent : entry.desc.shape) {
      shape = mixed(shape, static_cast<std::size_t>(extent));
    }
    // Sums do not depend on the order of tensors, which mapped names change.
    sketch.shapes += shape;
    sketch.sizes += mixed(kind_hash(entry), static_cast<std::size_t>(entry.desc.elements()));
    if (entry.side == Side::input) inputs.push_back(&entry);
  }
  if (!sample) return sketch;
  std::stable_sort(inputs.begin(), inputs.end(), [](const DumpEntry* a, const DumpEntry* b) {
    return a->desc.elements() > b->desc.elements();
  });
  inputs.resize(std::min(inputs.size(), kMostInputs));
  for (const DumpEntry* input : inputs) sketch.inputs.push_back(sample(*input));
  return sketch;
}

const CallLikeness::Sketch& CallLikeness::sketch(std::vector<std::optional<Sketch>>& sketches,
                                                 std::size_t place, const CallFamily& family,
                                                 const ValueSample& sample) {
  std::optional<Sketch>& found = sketches[place];
  if (!found) found = sketch_of(*family.calls[place], sample);
  return *found;
}

double CallLikeness::operator()(std::size_t actual, std::size_t expected) {
  const std::string_view mine = task_of(*family_.actual.calls[actual]);
  const std::string_view theirs = task_of(*family_.expected.calls[expected]);
  if (!mine.empty() && !theirs.empty()) {
    has_compared_tasks_ = true;
    return mine == theirs ? kSure : -1;
  }
  constexpr double kOtherSizes = 0.05, kSameSizes = 0.75, kSameShapes = 1, kSameValues = 2;
  const Sketch& a = sketch(actual_, actual, family_.actual, options_.sample_actual);
  const Sketch& e = sketch(expected_, expected, family_.expected, options_.sample_expected);
  if (a.sizes != e.sizes) return kOtherSizes;
  const double shapes = a.shapes == e.shapes ? kSameShapes : kSameSizes;
  const auto close = mean_closeness(a.inputs, e.inputs);
  has_compared_values_ = has_compared_values_ || close.has_value();
  return shapes + kSameValues * close.value_or(0);
}

}  // namespace opbench
