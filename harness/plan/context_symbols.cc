#include "harness/plan/context_symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/error.h"
#include "tensor/nearest.h"

namespace opbench {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

// Made of numbers and symbols, one symbol at least: other words are left as they are.
bool has_symbols_only(const std::string& text, const Symbols& symbols) {
  bool has_symbol = false;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("*/", start), text.size());
    const std::string factor = text.substr(start, end - start);
    const bool is_symbol = symbols.contains(factor);
    if (!is_symbol && !is_number(factor)) return false;
    has_symbol = has_symbol || is_symbol;
    start = end + 1;
  }
  return has_symbol;
}

std::string substituted(const std::string& text, const Symbols& symbols) {
  if (has_symbols_only(text, symbols)) return std::to_string(evaluate_extent(text, symbols));
  std::string result;
  std::size_t start = 0;
  for (std::size_t open = 0; (open = text.find('{', start)) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) throw Error(fmt::format("'{}' has no '}}' for its '{{'", text));
    result += text.substr(start, open - start);
    result += std::to_string(evaluate_extent(text.substr(open + 1, close - open - 1), symbols));
    start = close + 1;
  }
  return result + text.substr(start);
}

std::int64_t value_of(const SymbolValue& symbol, const Symbols& symbols) {
  try {
    return evaluate_extent(symbol.value, symbols);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: symbol '{}': {}", symbol.origin, symbol.name, error.what()));
  }
}

void require_known(const BlockTemplate& block, const SymbolValue& given) {
  std::vector<std::string> names;
  for (const SymbolValue& symbol : block.symbols) names.push_back(symbol.name);
  if (std::find(names.begin(), names.end(), given.name) != names.end()) return;
  throw Error(fmt::format("{}: block '{}' has no symbol '{}'{}", given.origin, block.name,
                          given.name,
                          names.empty() ? "; it has none" : suggestion(given.name, names)));
}

}  // namespace

std::string attr_text(const AttrTemplate& attr, const Symbols& symbols) {
  std::vector<std::string> values;
  for (const std::string& value : attr.values) values.push_back(substituted(value, symbols));
  return attr.is_list ? fmt::format("[{}]", fmt::join(values, ", ")) : values.front();
}

Symbols block_symbols(const BlockTemplate& block, const NodeTemplate& include, const Symbols& outer,
                      const Symbols& of_user) {
  Symbols given;
  for (const SymbolValue& symbol : include.with) {
    require_known(block, symbol);
    given[symbol.name] = value_of(symbol, of_user);
  }
  Symbols symbols = outer;
  for (const auto& [name, value] : given) symbols[name] = value;
  for (const SymbolValue& symbol : block.symbols) {
    if (given.contains(symbol.name)) continue;
    if (symbol.value.empty()) {
      throw Error(fmt::format("{}: block '{}' needs a value for symbol '{}'; give it in 'with'",
                              include.origin, block.name, symbol.name));
    }
    symbols[symbol.name] = value_of(symbol, symbols);
  }
  return symbols;
}

}  // namespace opbench
