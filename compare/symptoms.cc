#include "compare/symptoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compare/analysis.h"
#include "judge/error_map.h"
#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// The first departure comes before the worst ones, because the total amount of work is limited.
std::vector<std::size_t> operators_to_look_at(const Comparison& comparison) {
  constexpr std::size_t kMost = 10;
  std::vector<std::size_t> found;
  const auto add = [&](std::size_t index) {
    if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
  };
  if (const auto first = first_departure(comparison)) add(*first);
  const std::vector<std::size_t> worst = worst_operators(comparison);
  for (std::size_t i = 0; i < std::min(worst.size(), kMost); ++i) add(worst[i]);
  return found;
}

/// The values of inputs that may show which elements of an output are wrong.
struct InputsOf {
  std::vector<std::vector<double>> values;
  std::vector<InputValues> inputs;

  InputsOf(const OperatorResult& op, const TensorResult& output, std::int64_t count,
           DumpSource& actual, DumpSource& expected) {
    constexpr std::size_t kMost = 4;
    const Dims& shape = output.entry().desc.shape;
    values.reserve(kMost);
    for (const TensorResult& tensor : op.tensors) {
      const DumpEntry& entry = tensor.entry();
      const bool is_alike = entry.side == Side::input && entry.kind == EntryKind::tensor &&
                            entry.desc.shape == shape && is_floating(entry.desc.dtype);
      if (!is_alike || inputs.size() == kMost) continue;
      values.push_back(recorded_numbers(tensor.match.actual ? actual : expected, entry, count));
      inputs.push_back({entry.name, values.back()});
    }
  }
};

/// The beginning of a tensor.
struct Beginning {
  std::int64_t elements;
  Dims shape;
};

// Whole slices along the first axis if at least one fits, otherwise a row of elements.
Beginning beginning_of(const Dims& shape, std::int64_t elements, std::int64_t most) {
  if (elements <= most) return {elements, shape};
  const std::int64_t slice = elements / shape.front();
  if (slice > most) return {most, {most}};
  Dims first = shape;
  first.front() = most / slice;
  return {first.front() * slice, std::move(first)};
}

/// Examines tensors until the limit of reading is reached.
class Look {
 public:
  Look(const Comparison& comparison, DumpSource& actual, DumpSource& expected)
      : actual_(actual), expected_(expected) {
    for (const OperatorResult& op : comparison.operators) {
      for (const TensorResult& tensor : op.tensors) maps_left_ -= tensor.error_map != nullptr;
    }
  }

  void at(const OperatorResult& op, TensorResult& result) {
    constexpr std::int64_t kMostOfOne = std::int64_t{1} << 21, kFewest = std::int64_t{1} << 12;
    const TensorMatch& match = result.match;
    const bool is_alike =
        result.is_measured && match.actual->desc.elements() == match.expected->desc.elements();
    const bool is_looked_at = result.error_map != nullptr || !result.causes.empty();
    if (result.judgement.verdict != Verdict::failed || !is_alike || is_looked_at) return;
    if (left_ < std::min(kFewest, result.stats.count)) return;
    const Beginning part =
        beginning_of(judged_shape(match), result.stats.count, std::min(kMostOfOne, left_));
    left_ -= part.elements;
    try {
      describe(op, part, result);
    } catch (const Error&) {
      // The tensor was read once; if it cannot be read again, the verdict stays.
    }
  }

 private:
  void describe(const OperatorResult& op, const Beginning& part, TensorResult& result) {
    const Tolerance& tolerance = result.standard->tolerance;
    const std::int64_t count = part.elements, all = result.stats.count;
    const std::vector<double> actual = recorded_numbers(actual_, *result.match.actual, count);
    const std::vector<double> expected = recorded_numbers(expected_, *result.match.expected, count);
    const double scale = tolerance.follows_scale ? result.stats.scale : 1;
    DepartedValues values{.actual = actual,
                          .expected = expected,
                          .shape = part.shape,
                          .allowed = tolerance.atol * scale,
                          .allowed_share = tolerance.rtol};
    if (maps_left_ > 0 && count == all) {
      --maps_left_;
      result.error_map = std::make_shared<ErrorMap>(error_map(actual, expected, values.shape));
    }
    // Inputs that are wrong do not explain the errors of their operator.
    std::optional<InputsOf> inputs;
    if (result.entry().side == Side::output && op.origin != Origin::inherited) {
      values.inputs = inputs.emplace(op, result, count, actual_, expected_).inputs;
    }
    result.causes = find_causes(values);
    if (count == all) return;
    for (Cause& cause : result.causes) {
      cause.text = fmt::format("in the first {} of {} elements, {}", count, all, cause.text);
    }
  }

  DumpSource &actual_, &expected_;
  std::int64_t left_ = std::int64_t{1} << 22;  // of pairs of elements: a quarter of a second
  int maps_left_ = 24;                         // with those of what was recomputed
};

}  // namespace

void look_for_symptoms(Comparison& comparison, DumpSource& actual, DumpSource& expected) {
  Look look(comparison, actual, expected);
  for (const std::size_t i : operators_to_look_at(comparison)) {
    OperatorResult& op = comparison.operators[i];
    for (TensorResult& tensor : op.tensors) look.at(op, tensor);
  }
}

}  // namespace opbench
