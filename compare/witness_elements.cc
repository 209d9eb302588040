#include "compare/witness_elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "tensor/elements.h"

namespace opbench {
namespace {

std::vector<double> tensor_values(const Tensor& tensor) {
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

std::string floating_text(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0 && std::signbit(value)) return "-0.0";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".einf") == text.npos ? text + ".0" : text;
}

std::vector<std::string> floating_texts(const std::vector<double>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) texts.push_back(floating_text(value));
  return texts;
}

}  // namespace

ElementBound bound_of(const Problem& problem, const OutputFinding& finding, std::size_t output) {
  ElementBound bound{finding.allowed, finding.allowed_share};
  bound.is_exact = is_exact(problem);
  bound.takes_any_nan = problem.op->accuracy == AccuracyClass::exact_value &&
                        is_floating(problem.outputs[output].dtype);
  return bound;
}

std::vector<double> rounded_values(const Tensor& expected, DType dtype) {
  std::vector<double> values = tensor_values(expected);
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
  const std::vector<double> e = rounded_values(expected, dtype), a = tensor_values(recorded);
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

std::vector<std::string> element_texts(const Tensor& tensor) {
  const std::int64_t count = tensor.desc.elements();
  if (tensor.desc.dtype == DType::int64) {  // may be beyond fp64's whole numbers
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    read_elements(tensor.desc, tensor.data(), {0, count}, numbers.data());
    std::vector<std::string> texts;
    for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
    return texts;
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  read_doubles(tensor.desc, tensor.data(), {0, count}, values);
  if (is_floating(tensor.desc.dtype)) return floating_texts(values);
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(fmt::format("{:.0f}", value));
  return texts;
}

std::vector<std::string> expected_texts(const Witness& witness) {
  const DType dtype = witness.recorded().desc.dtype;
  const bool is_as_it_is = witness.finding.is_leaning || witness.expected.desc.dtype == dtype;
  if (is_as_it_is) return element_texts(witness.expected);
  const std::vector<double> rounded = rounded_values(witness.expected, dtype);
  if (is_floating(dtype)) return floating_texts(rounded);
  std::vector<std::string> texts;
  for (const double value : rounded) texts.push_back(fmt::format("{:.0f}", value));
  return texts;
}

std::string number_list(const std::vector<std::string>& numbers, std::string_view indent) {
  constexpr std::size_t kLineWidth = 100;
  std::string text, line;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!line.empty() && line.size() + numbers[i].size() > kLineWidth) {
      line.pop_back();
      text += line + '\n';
      line = indent;
    }
    line += numbers[i];
    if (i + 1 < numbers.size()) line += ", ";
  }
  return text + line;
}

std::string shape_text(const Dims& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace opbench
