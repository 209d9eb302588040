#include "harness/plan/case_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "tensor/error.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

std::int64_t factor(const std::string& text, const Symbols& symbols) {
  if (const auto symbol = symbols.find(text); symbol != symbols.end()) return symbol->second;
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) {
    std::vector<std::string> declared;
    for (const auto& [name, unused] : symbols) declared.push_back(name);
    throw Error(
        fmt::format("'{}' is neither a whole number nor a symbol{}", text,
                    declared.empty() ? "; the file declares none" : suggestion(text, declared)));
  }
  if (number < 0) throw Error(fmt::format("extent {} is negative", number));
  return number;
}

std::int64_t quotient(const std::string& text, std::int64_t value, std::int64_t divisor) {
  if (divisor == 0) throw Error(fmt::format("extent '{}' divides by zero", text));
  if (value % divisor != 0) {
    throw Error(fmt::format("extent '{}' divides {} by {}, which leaves {}", text, value, divisor,
                            value % divisor));
  }
  return value / divisor;
}

}  // namespace

bool is_symbol_name(const std::string& text) {
  return std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_';
         });
}

Symbols read_symbols(const YamlValue& value) {
  Symbols symbols;
  value.mapping("symbols", [&](const std::string& key, const YamlValue& symbol) {
    if (!is_symbol_name(key)) {
      symbol.fail(fmt::format(
          "symbol '{}' must begin with a letter; letters, digits and '_' may follow", key));
    }
    symbols[key] = symbol.integer(fmt::format("symbol '{}'", key), 0,
                                  std::numeric_limits<std::int64_t>::max());
  });
  return symbols;
}

std::string to_string(const Symbols& symbols) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : symbols) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::int64_t evaluate_extent(const std::string& text, const Symbols& symbols) {
  std::int64_t result = 1;
  char operation = '*';
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("*/", start), text.size());
    const std::int64_t value = factor(text.substr(start, end - start), symbols);
    if (operation == '/') {
      result = quotient(text, result, value);
    } else if (__builtin_mul_overflow(result, value, &result)) {
      throw Error(fmt::format("extent '{}' overflows", text));
    }
    operation = end < text.size() ? text[end] : '*';
    start = end + 1;
  }
  return result;
}

std::int64_t read_extent(const YamlValue& value, const Symbols& symbols) {
  const std::string text = value.text("an extent");
  return value.located([&] { return evaluate_extent(text, symbols); });
}

Dims read_shape(const YamlValue& value, const Symbols& symbols) {
  Dims dims;
  for (const YamlValue& element : value.list("a shape")) {
    dims.push_back(read_extent(element, symbols));
  }
  value.located([&] { element_count(dims); });
  return dims;
}

DType read_dtype(const YamlValue& value) {
  const std::string text = value.text("a dtype");
  return value.located([&] { return parse_dtype(text); });
}

Format read_format(const YamlValue& value) {
  const std::string text = value.text("a format");
  return value.located([&] { return parse_format(text); });
}

Distribution read_distribution(const YamlValue& value) {
  const std::string text = value.text("a distribution");
  return value.located([&] { return parse_distribution(text); });
}

std::vector<DType> read_dtypes(const YamlValue& value) {
  std::vector<DType> result;
  for (const YamlValue& entry : value.list("dtypes", true)) result.push_back(read_dtype(entry));
  return result;
}

std::vector<Format> read_formats(const YamlValue& value) {
  std::vector<Format> result;
  for (const YamlValue& entry : value.list("formats", true)) result.push_back(read_format(entry));
  return result;
}

}  // namespace opbench
