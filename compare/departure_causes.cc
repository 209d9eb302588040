#include "compare/departure_causes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "compare/analysis.h"
#include "compare/cause/error_map.h"
#include "compare/jumps.h"
#include "compare/measure/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<double> values_of(DumpSource& file, const DumpEntry& entry) {
  const std::int64_t count = entry.desc.elements();
  std::vector<std::byte> stored(static_cast<std::size_t>(count) * size_of(entry.stored));
  std::vector<double> values(static_cast<std::size_t>(count));
  file.read(entry, {0, count}, stored.data());
  values_to_doubles({entry.stored, entry.desc.dtype}, stored.data(), count, values.data());
  return values;
}

// The first departure before the worst ones, because the sum of what is looked at has an end.
std::vector<std::size_t> operators_to_look_at(const Comparison& comparison) {
  constexpr std::size_t kMost = 10;
  std::vector<std::size_t> found;
  const auto add = [&](std::size_t index) {
    if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
  };
  for (const auto& first : {first_jump(comparison), first_departure(comparison)}) {
    if (first) add(*first);
  }
  const std::vector<std::size_t> worst = worst_operators(comparison);
  for (std::size_t i = 0; i < std::min(worst.size(), kMost); ++i) add(worst[i]);
  return found;
}

/// The values of inputs that may tell which elements of an output are wrong.
struct InputsOf {
  std::vector<std::vector<double>> values;
  std::vector<InputValues> inputs;

  InputsOf(const OperatorResult& op, const TensorResult& output, DumpSource& actual,
           DumpSource& expected) {
    constexpr std::size_t kMost = 4;
    const Dims& shape = output.entry().desc.shape;
    values.reserve(kMost);
    for (const TensorResult& tensor : op.tensors) {
      const DumpEntry& entry = tensor.entry();
      const bool is_alike = entry.side == Side::input && entry.kind == EntryKind::tensor &&
                            entry.desc.shape == shape && is_floating(entry.desc.dtype);
      if (!is_alike || inputs.size() == kMost) continue;
      values.push_back(values_of(tensor.match.actual ? actual : expected, entry));
      inputs.push_back({entry.name, values.back()});
    }
  }
};

/// Looks at tensors until what may be read is used up.
class Look {
 public:
  Look(DumpSource& actual, DumpSource& expected) : actual_(actual), expected_(expected) {}

  void at(const OperatorResult& op, TensorResult& result) {
    const TensorMatch& match = result.match;
    const bool is_alike =
        result.is_measured && match.actual->desc.elements() == match.expected->desc.elements();
    if (result.judgement.verdict != Verdict::failed || !is_alike || result.stats.count > left_)
      return;
    left_ -= result.stats.count;
    try {
      describe(op, result);
    } catch (const Error&) {
      // It was read once; that it cannot be read again takes nothing from the verdict.
    }
  }

 private:
  void describe(const OperatorResult& op, TensorResult& result) {
    const Tolerance& tolerance = result.standard->tolerance;
    const std::vector<double> actual = values_of(actual_, *result.match.actual);
    const std::vector<double> expected = values_of(expected_, *result.match.expected);
    const double scale = tolerance.follows_scale ? result.stats.scale : 1;
    DepartedValues values{.actual = actual,
                          .expected = expected,
                          .shape = judged_shape(result.match),
                          .allowed = tolerance.atol * scale,
                          .allowed_share = tolerance.rtol};
    if (maps_left_ > 0) {
      --maps_left_;
      result.error_map = std::make_shared<ErrorMap>(error_map(actual, expected, values.shape));
    }
    // Inputs that are wrong themselves tell nothing about what their operator does.
    std::optional<InputsOf> inputs;
    if (result.entry().side == Side::output && op.origin != Origin::inherited) {
      values.inputs = inputs.emplace(op, result, actual_, expected_).inputs;
    }
    result.causes = find_causes(values);
  }

  DumpSource &actual_, &expected_;
  std::int64_t left_ = std::int64_t{1} << 25;
  int maps_left_ = 24;
};

}  // namespace

void look_at_departures(Comparison& comparison, DumpSource& actual, DumpSource& expected) {
  Look look(actual, expected);
  for (const std::size_t i : operators_to_look_at(comparison)) {
    OperatorResult& op = comparison.operators[i];
    for (TensorResult& tensor : op.tensors) look.at(op, tensor);
  }
}

}  // namespace opbench
