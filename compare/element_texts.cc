#include "compare/element_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "compare/element_bound.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

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
  constexpr std::size_t kWidth = 100;
  std::string text, line;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!line.empty() && line.size() + numbers[i].size() > kWidth) {
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
