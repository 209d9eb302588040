#include "compare/call_likeness.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "compare/sample.h"

namespace opbench {
namespace {

constexpr std::size_t kMostInputs = 4;  // that are looked at

std::size_t mixed(std::size_t hash, std::size_t value) {
  // Boost's hash_combine.
  return hash ^ (value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2));
}

// Floating dtypes are one kind and integers another: the two devices often differ within them.
std::size_t kind_hash(const DumpEntry& entry) {
  return mixed(static_cast<std::size_t>(entry.side), is_floating(entry.desc.dtype) ? 1 : 2);
}

double closeness(double distance) {
  constexpr double kHalf = 0.05;
  const double steps = distance / kHalf;
  // Values that overflow when squared are as good as unrelated.
  return std::isfinite(steps) ? 1 / (1 + steps * steps) : 0;
}

// The mean over inputs that have values on both sides; none if no input has.
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

std::string_view task_of(const DumpRecord& call) {
  for (const Note& note : call.notes) {
    if (note.name == "opbench_task") return note.value;
  }
  return {};
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
    // Sums, because mapped names stand in another order.
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
