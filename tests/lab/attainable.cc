#include "tests/lab/attainable.h"

#include <algorithm>
#include <cmath>

#include "harness/plan/reference_kernel.h"
#include "tensor/random.h"

namespace opbench {
namespace {

constexpr std::uint32_t kWays = 16;

// The distance between 1 and the next larger number.
double unit(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::fp64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

// Moves every floating-point element a unit up or down, at random.
InputElements moved(const HonestRun& run, std::uint32_t way) {
  InputElements inputs = run.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc& desc = run.problem().inputs[i];
    if (!is_floating(desc.dtype)) continue;
    const double step = unit(run.kernel().judged_as.value_or(desc.dtype));
    std::vector<double> values = run.values(desc, inputs[i]);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto place = static_cast<std::uint32_t>(k);
      const bool up =
          (philox4x32({place, static_cast<std::uint32_t>(i), 0, 0}, {way, 0})[0] & 1U) != 0;
      values[k] *= up ? 1 + step : 1 - step;
    }
    inputs[i] = run.elements(desc, values);
  }
  return inputs;
}

double largest_error(const std::vector<double>& values, const std::vector<double>& exact) {
  double largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double error = std::fabs(values[k] - exact[k]);
    if (std::isfinite(error)) largest = std::max(largest, error);
  }
  return largest;
}

// True also for NaN and Inf in the correct places.
bool is_within(double value, double exact, double distance) {
  if (!std::isfinite(exact) || !std::isfinite(value)) {
    return value == exact || (std::isnan(value) && std::isnan(exact));
  }
  return std::fabs(value - exact) <= distance;
}

}  // namespace

bool is_attainable(const HonestRun& run, const std::vector<Elements>& results) {
  const auto reference = [&](const InputElements& inputs) {
    return run_kernel_on(reference_kernel(), run.problem(), inputs, {});
  };
  const std::vector<Elements> golden = reference(run.inputs());
  std::vector<std::vector<double>> exact, distances;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorDesc& desc = run.problem().outputs[i];
    exact.push_back(run.values(desc, golden[i]));
    distances.emplace_back(exact[i].size(), 0.0);
  }
  for (std::uint32_t way = 0; way < kWays; ++way) {
    const std::vector<Elements> others = reference(moved(run, way));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::vector<double> values = run.values(run.problem().outputs[i], others[i]);
      for (std::size_t k = 0; k < values.size(); ++k) {
        distances[i][k] = std::fmax(distances[i][k], std::fabs(values[k] - exact[i][k]));
      }
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorDesc& desc = run.problem().outputs[i];
    const std::vector<double> values = run.values(desc, results[i]);
    const double own = largest_error(run.values(desc, run.results()[i]), exact[i]);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double rounding = unit(desc.dtype) * std::fabs(exact[i][k]);
      if (!is_within(values[k], exact[i][k], distances[i][k] + rounding + own)) return false;
    }
  }
  return true;
}

}  // namespace opbench
