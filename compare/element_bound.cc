#include "compare/element_bound.h"

#include <cmath>
#include <cstring>

#include "tensor/elements.h"

namespace opbench {
namespace {

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.desc.elements()));
  read_doubles(tensor.desc, tensor.data(), {0, tensor.desc.elements()}, values);
  return values;
}

bool is_beyond(const ElementBound& bound, double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected)) {
    return std::isnan(actual) != std::isnan(expected);
  }
  if (std::isinf(actual) || std::isinf(expected)) return actual != expected;
  return std::abs(actual - expected) > bound.allowed + bound.share * std::abs(expected);
}

}  // namespace

ElementBound bound_of(const Problem& problem, const OutputFinding& finding, std::size_t output) {
  ElementBound bound{finding.allowed, finding.allowed_share};
  const bool is_rounded = problem.op->accuracy == AccuracyClass::rounded;
  bound.is_exact = !is_rounded && problem.op->exact_reference != nullptr;
  bound.takes_any_nan = problem.op->accuracy == AccuracyClass::exact_value &&
                        is_floating(problem.outputs[output].dtype);
  return bound;
}

std::vector<double> rounded_values(const Tensor& expected, DType dtype) {
  std::vector<double> values = values_of(expected);
  if (expected.desc.dtype == dtype) return values;
  std::vector<std::byte> rounded(values.size() * size_of(dtype));
  const auto count = std::ssize(values);
  from_doubles(dtype, values.data(), count, rounded.data());
  to_doubles(dtype, rounded.data(), count, values.data());
  return values;
}

std::vector<std::int64_t> elements_beyond(const ElementBound& bound, const Tensor& expected,
                                          const Tensor& recorded) {
  const DType dtype = recorded.desc.dtype;
  const std::vector<double> e = rounded_values(expected, dtype), a = values_of(recorded);
  std::vector<std::byte> bits;
  if (bound.is_exact) {
    bits.resize(a.size() * size_of(dtype));
    read_elements(recorded.desc, recorded.data(), {0, recorded.desc.elements()}, bits.data());
  }
  std::vector<std::int64_t> beyond;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    bool is_wrong = false;
    if (!bound.is_exact) {
      is_wrong = is_beyond(bound, a[i], e[i]);
    } else if (!(bound.takes_any_nan && std::isnan(a[i]) && std::isnan(e[i]))) {
      is_wrong = std::memcmp(at(bits.data(), dtype, place), at(expected.data(), dtype, place),
                             size_of(dtype)) != 0;
    }
    if (is_wrong) beyond.push_back(place);
  }
  return beyond;
}

}  // namespace opbench
