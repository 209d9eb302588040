#include "harness/plan/context_expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "tensor/error.h"

namespace opbench {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

// True for numbers and symbols with at least one symbol. Other words are left unchanged.
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

namespace {

constexpr std::size_t kDeepestInclude = 16;
constexpr std::int64_t kMostRepeats = 10000;
// Estimated bytes in addition to the text. A name takes a string and its places in maps. An entry
// (a tensor, node or attribute) takes several of them.
constexpr std::size_t kNameBytes = 64, kNodeBytes = 256;

/// A graph that is being included, with the values of its names and symbols.
struct Scope {
  std::string prefix;
  const Symbols& symbols;
  std::unordered_map<std::string, std::string> bound = {};  // names that the including graph gives

  std::string tensor(const std::string& name) const {
    if (name == "_") return name;
    const auto found = bound.find(name);
    return found == bound.end() ? prefix + name : found->second;
  }
};

class Expansion {
 public:
  Expansion(const ExpansionRules& rules, ContextBudget& budget) : rules_(rules), budget_(budget) {}

  ContextGraph run(const GraphTemplate& graph) {
    const Scope scope{"", rules_.symbols};
    for (const TensorTemplate& input : graph.inputs) {
      result_.inputs.push_back(tensor(input, scope));
    }
    add(graph, scope);
    for (const auto& [name, unused] : same_as_) resolved(name);  // even tensors that are not read
    for (ContextNode& node : result_.nodes) {
      for (std::string& input : node.inputs) input = resolved(input);
    }
    for (const std::string& output : graph.outputs) result_.outputs.push_back(resolved(output));
    return std::move(result_);
  }

 private:
  ContextTensor tensor(const TensorTemplate& tensor, const Scope& scope) {
    budget_.spend(kNodeBytes + scope.prefix.size() + tensor.shape.size() * sizeof(std::int64_t),
                  tensor.origin);
    ContextTensor result{
        scope.prefix + tensor.name, {}, tensor.dtype, tensor.format, {}, tensor.origin,
        tensor.takes_gradient};
    try {
      if (tensor.data) result.data = parse_distribution(substituted(*tensor.data, scope.symbols));
      for (const std::string& extent : tensor.shape) {
        result.shape.push_back(evaluate_extent(extent, scope.symbols));
      }
      element_count(result.shape);
    } catch (const Error& error) {
      throw Error(tensor.origin, fmt::format("{}: {}", result.name, error.what()));
    }
    return result;
  }

  void add(const GraphTemplate& graph, const Scope& scope) {
    for (const TensorTemplate& parameter : graph.parameters) {
      result_.parameters.push_back(tensor(parameter, scope));
    }
    for (const NodeTemplate& node : graph.nodes) {
      if (node.op != nullptr)
        add_node(node, scope);
      else
        include(node, scope);
    }
  }

  void add_node(const NodeTemplate& node, const Scope& scope) {
    budget_.require_nodes(result_.nodes.size() + 1, node.origin);
    const std::size_t names = node.inputs.size() + node.outputs.size() + 1;
    budget_.spend(kNodeBytes + names * (kNameBytes + scope.prefix.size()) +
                      node.op->attrs.size() * kNodeBytes,
                  node.origin);
    ContextNode result{scope.prefix + node.name, node.op,    {}, {},
                       Attrs(node.op->attrs),    node.origin};
    for (const std::string& input : node.inputs) result.inputs.push_back(scope.tensor(input));
    for (const std::string& output : node.outputs) result.outputs.push_back(scope.tensor(output));
    for (const AttrTemplate& attr : node.attrs) {
      budget_.spend(attr.values.size() * kNameBytes, attr.origin);
      try {
        result.attrs.set(node.op->attrs, attr.name, attr_text(attr, scope.symbols));
      } catch (const Error& error) {
        throw Error(attr.origin, fmt::format("{}: {}", result.name, error.what()));
      }
    }
    result_.nodes.push_back(std::move(result));
  }

  void include(const NodeTemplate& node, const Scope& user) {
    const auto replaced = rules_.replaced.find(node.block);
    const BlockTemplate& block =
        rules_.blocks.at(replaced == rules_.replaced.end() ? node.block : replaced->second);
    require_finite(block, node);
    const Symbols symbols = block_symbols(block, node, rules_.symbols, user.symbols);
    budget_.spend(kNameBytes * symbols.size(), node.origin);
    const std::int64_t repeats = repeats_of(block, node, user.symbols);
    std::vector<std::string> values, names;
    for (const std::string& input : node.inputs) values.push_back(user.tensor(input));
    for (const std::string& output : node.outputs) names.push_back(user.tensor(output));
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::string number = node.repeat ? fmt::format("{}.", node.first + i) : "";
      Scope scope{fmt::format("{}{}.{}", user.prefix, node.name, number), symbols};
      budget_.spend(
          kNodeBytes + (values.size() + names.size()) * (2 * kNameBytes + scope.prefix.size()),
          node.origin);
      for (std::size_t k = 0; k < values.size(); ++k) {
        scope.bound[block.graph.inputs[k].name] = values[k];
      }
      if (i + 1 == repeats) bind_outputs(block, node, names, scope);
      add(block.graph, scope);
      values.clear();
      for (const std::string& output : block.graph.outputs) values.push_back(scope.tensor(output));
    }
    including_.pop_back();
  }

  // Gives the block's outputs the names of the including graph. An output that the block passes
  // through (an input or an already named result) has two names from then on.
  void bind_outputs(const BlockTemplate& block, const NodeTemplate& node,
                    const std::vector<std::string>& names, Scope& scope) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "_") continue;
      const auto [bound, is_new] = scope.bound.emplace(block.graph.outputs[i], names[i]);
      if (is_new) continue;
      if (!same_as_.emplace(names[i], Alias{bound->second, node.origin}).second) {
        throw Error(node.origin, fmt::format("tensor '{}' is written twice", names[i]));
      }
    }
  }

  void require_finite(const BlockTemplate& block, const NodeTemplate& node) {
    const bool is_open =
        std::find(including_.begin(), including_.end(), block.name) != including_.end();
    including_.push_back(block.name);
    if (is_open) {
      throw Error(node.origin, fmt::format("block '{}' includes itself: {}", block.name,
                                           fmt::join(including_, " > ")));
    }
    if (including_.size() > kDeepestInclude) {
      throw Error(node.origin, fmt::format("blocks are nested more than {} deep", kDeepestInclude));
    }
  }

  static std::int64_t repeats_of(const BlockTemplate& block, const NodeTemplate& node,
                                 const Symbols& symbols) {
    if (!node.repeat) return 1;
    std::int64_t repeats = 0;
    try {
      repeats = evaluate_extent(*node.repeat, symbols);
    } catch (const Error& error) {
      throw Error(node.origin, fmt::format("repeat: {}", error.what()));
    }
    if (repeats < 1 || repeats > kMostRepeats) {
      throw Error(node.origin, fmt::format("repeat is {}; it must be a whole number from 1 to {}",
                                           repeats, kMostRepeats));
    }
    const std::size_t inputs = block.graph.inputs.size(), outputs = block.graph.outputs.size();
    if (repeats > 1 && inputs != outputs) {
      throw Error(
          node.origin,
          fmt::format("block '{}' has {} inputs and {} outputs; to be repeated, it needs as many",
                      block.name, inputs, outputs));
    }
    return repeats;
  }

  // The tensor that a name stands for. Shortens the chain of names (path compression).
  std::string resolved(const std::string& name) {
    std::vector<std::string> passed;
    std::string last = name;
    for (auto next = same_as_.find(last); next != same_as_.end(); next = same_as_.find(last)) {
      if (passed.size() > same_as_.size()) {
        throw Error(next->second.origin,
                    fmt::format("tensor '{}' is defined only by itself", name));
      }
      passed.push_back(last);
      last = next->second.target;
    }
    for (const std::string& other : passed) same_as_.at(other).target = last;
    return last;
  }

  struct Alias {
    std::string target, origin;
  };

  const ExpansionRules& rules_;
  ContextBudget& budget_;
  ContextGraph result_;
  std::vector<std::string> including_;              // blocks, from the outermost
  std::unordered_map<std::string, Alias> same_as_;  // second names of tensors
};

}  // namespace

ContextGraph expand_graph(const GraphTemplate& graph, const ExpansionRules& rules,
                          ContextBudget& budget) {
  return Expansion(rules, budget).run(graph);
}

}  // namespace opbench
