#include "ops/quantise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tensor/error.h"
#include "tensor/half.h"

namespace opbench {
namespace {

double whole(StepRounding rounding, double value) {
  switch (rounding) {
    case StepRounding::floor:
      return std::floor(value);
    case StepRounding::ceil:
      return std::ceil(value);
    case StepRounding::trunc:
      return std::trunc(value);
    case StepRounding::nearest:
      break;
  }
  return std::nearbyint(value);
}

StepRounding rounding_of(std::string_view word) {
  if (word == "floor") return StepRounding::floor;
  if (word == "ceil") return StepRounding::ceil;
  return word == "trunc" ? StepRounding::trunc : StepRounding::nearest;
}

bool is_step_dtype(std::string_view text) {
  try {
    return std::count(kStepDTypes.begin(), kStepDTypes.end(), parse_dtype(text)) > 0;
  } catch (const Error&) {
    return false;
  }
}

std::string no_step_dtype(const AttrValue& value) {
  if (is_step_dtype(std::get<std::string>(value))) return {};
  std::vector<std::string_view> names;
  for (const DType dtype : kStepDTypes) names.push_back(name(dtype));
  return fmt::format("it must be one of {}", fmt::join(names, ", "));
}

}  // namespace

double Steps::operator()(double exact) const {
  if (is_byte_float(dtype)) {
    const ByteFloat& format = byte_float(dtype);
    const double clipped = std::isnan(exact) ? exact : std::clamp(exact, least, most);
    return double(format.values[format.code(rounded_to_odd(clipped))]);
  }
  return std::isnan(exact) ? 0 : std::clamp(whole(rounding, exact), least, most);
}

Steps steps_of(DType dtype, StepRounding rounding) {
  if (is_byte_float(dtype)) {
    return {dtype, StepRounding::nearest, -largest_finite(dtype), largest_finite(dtype)};
  }
  const double most = dtype == DType::int4 ? 7 : 127;
  return {dtype, rounding, -most - 1, most};
}

Steps steps_of(const Attrs& attrs) {
  const auto mode = attrs.values().find("round_mode");
  const auto rounding = mode == attrs.values().end()
                            ? StepRounding::nearest
                            : rounding_of(std::get<std::string>(mode->second));
  return steps_of(parse_dtype(attrs.word("dst_type")), rounding);
}

AttrSpec dst_type_attr() {
  return {"dst_type", std::string("int8"), "dtype of the quantised output", no_step_dtype};
}

Reference stepped(Reference exact, Steps steps) {
  return [exact = std::move(exact), steps](std::size_t output, ElementRange range,
                                           std::span<double> to) {
    exact(output, range, to);
    if (output == 0) std::transform(to.begin(), to.end(), to.begin(), steps);
  };
}

Terms terms_of_steps(Reference exact, Reference magnitude, Steps steps) {
  return {.magnitude = std::move(magnitude), .unrounded = std::move(exact), .stored = steps};
}

std::vector<double> read_channels(std::span<const InputReader> inputs, std::size_t input,
                                  std::int64_t channels, double usual) {
  const auto count = static_cast<std::size_t>(channels);
  if (!is_given(inputs, input)) return std::vector<double>(count, usual);
  std::vector<double> values = inputs[input].read_all();
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

void require_channels(std::string_view op, std::string_view name, const TensorDesc& desc,
                      std::int64_t channels) {
  if (desc.elements() == 1 || (desc.elements() == channels && desc.shape.back() == channels)) {
    return;
  }
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: [1] or [{}], one for each channel", op,
                          name, to_string(desc.shape), channels));
}

Distribution divisor_data(const Problem&) { return {DistributionKind::uniform, 0x1p-7, 0x1p-5}; }

}  // namespace opbench
