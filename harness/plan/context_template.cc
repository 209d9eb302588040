#include "harness/plan/context_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/plan/case_values.h"
#include "tensor/error.h"
#include "text/fitted.h"
#include "text/yaml_reader.h"

namespace opbench {

void ContextBudget::spend(std::size_t bytes, const std::string& origin) {
  spent_ += static_cast<std::int64_t>(bytes);
  if (spent_ <= limits_.bytes) return;
  throw Error(fmt::format("{}: the contexts of the file, unrolled, take more than {} MiB", origin,
                          limits_.bytes >> 20));
}

void ContextBudget::require_nodes(std::size_t nodes, const std::string& origin) const {
  if (static_cast<std::int64_t>(nodes) <= limits_.nodes) return;
  throw Error(fmt::format("{}: the graph has more than {} nodes", origin, limits_.nodes));
}

namespace {

constexpr std::int64_t kLargestNumber = 1000000000;
constexpr std::size_t kMostSymbols = 100;  // of a block
// Memory of an entry in addition to its text.
constexpr std::size_t kEntryBytes = 64;

std::vector<std::string> texts(const YamlValue& value, std::string_view what) {
  std::vector<std::string> result;
  for (const YamlValue& element : value.list(what, true)) result.push_back(element.text(what));
  return result;
}

std::vector<SymbolValue> symbol_values(const YamlValue& value, std::string_view what) {
  std::vector<SymbolValue> result;
  value.mapping(what, [&](const std::string& key, const YamlValue& field) {
    result.push_back({key, field.text("an extent"), field.place()});
  });
  return result;
}

// Reads a list of names without defaults, or a mapping from names to defaults.
std::vector<SymbolValue> block_symbols(const YamlValue& value) {
  std::vector<SymbolValue> result;
  if (value.is_mapping()) {
    result = symbol_values(value, "symbols");
    for (SymbolValue& symbol : result) {
      if (symbol.value == "required") symbol.value.clear();
    }
  } else {
    for (const YamlValue& name : value.list("symbols")) {
      result.push_back({name.text("a symbol"), "", name.place()});
    }
  }
  if (result.size() > kMostSymbols) {
    value.fail(fmt::format("the block has more than {} symbols", kMostSymbols));
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!is_symbol_name(result[i].name)) {
      value.fail(
          fmt::format("symbol '{}' must begin with a letter; letters, digits and '_' may follow",
                      result[i].name));
    }
    const auto same = [&](const SymbolValue& other) { return other.name == result[i].name; };
    if (std::any_of(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      value.fail(fmt::format("symbol '{}' occurs twice", result[i].name));
    }
  }
  return result;
}

void require_node_parts(const YamlValue& value, const NodeTemplate& node, bool has_include) {
  if (node.op == nullptr && !has_include) {
    value.fail("the node has neither 'op' nor 'include'");
  }
  if (node.op != nullptr && has_include) value.fail("the node has both 'op' and 'include'");
  if (has_include && node.name.empty()) {
    value.fail(fmt::format("the include of '{}' has no 'name'", node.block));
  }
  if (node.op != nullptr && node.outputs.empty()) value.fail("the node has no 'out'");
}

// True for an operator with a list of outputs. The problem decides their number, and a dump numbers
// them.
bool has_listed_outputs(const Op& op) {
  return op.outputs.size() == 1 && op.outputs[0].ir_path.ends_with('_');
}

void check_counts(const YamlValue& value, const NodeTemplate& node) {
  value.located([&] { check_input_count(*node.op, node.inputs.size()); });
  const std::size_t required = node.op->inputs.size() - node.op->optional_inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != "_" || (i >= required && !node.op->variadic)) continue;
    value.fail(fmt::format("{}: input '{}' is not optional, so it cannot be '_'", node.op->name,
                           node.op->input_name(i)));
  }
  const std::size_t most = node.op->outputs.size();
  if (has_listed_outputs(*node.op) || node.outputs.size() <= most) return;
  value.fail(fmt::format("{} has {}, found {}", node.op->name, counted(most, "output"),
                         node.outputs.size()));
}

void require_name(const YamlValue& value, const std::string& text, std::string_view what) {
  const bool fits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!fits) {
    value.fail(
        fmt::format("{} is '{}'; it must be of letters, digits, '_', '-' and '.'", what, text));
  }
}

}  // namespace

std::string read_name(const YamlValue& value, std::string_view what) {
  std::string text = value.text(what);
  require_name(value, text, what);
  return text;
}

void GraphReader::read(const std::string& key, const YamlValue& value, GraphTemplate& graph) {
  if (key == "inputs") graph.inputs = tensors(value, "inputs");
  if (key == "parameters") graph.parameters = tensors(value, "parameters");
  if (key == "nodes") {
    for (const YamlValue& entry : value.list("nodes")) graph.nodes.push_back(node(entry));
  }
  if (key == "outputs") {
    graph.outputs = names(value, "outputs");
    graph.outputs_origin = value.place();
  }
}

std::vector<std::string> GraphReader::names(const YamlValue& value, std::string_view what) {
  std::vector<std::string> result;
  for (const YamlValue& element : value.list(what, true)) {
    result.push_back(read_name(element, "the name of a tensor"));
    budget_.spend(kEntryBytes, element.place());
  }
  return result;
}

std::vector<TensorTemplate> GraphReader::tensors(const YamlValue& value, std::string_view what) {
  std::vector<TensorTemplate> result;
  value.mapping(what, [&](const std::string& key, const YamlValue& entry) {
    require_name(entry, key, "the name of a tensor");
    TensorTemplate tensor{.name = key, .origin = entry.place()};
    bool has_shape = entry.is_list();
    if (entry.is_list()) {
      tensor.shape = texts(entry, "an extent");
    } else {
      entry.mapping("a tensor", {"shape", "format", "dtype", "data", "gradient"},
                    [&](const std::string& name, const YamlValue& field) {
                      if (name == "dtype") tensor.dtype = read_dtype(field);
                      if (name == "format") tensor.format = read_format(field);
                      if (name == "data") tensor.data = field.text(name);
                      if (name == "gradient") tensor.takes_gradient = field.boolean(name);
                      if (name != "shape") return;
                      if (!field.is_list()) field.fail("shape must be a list");
                      tensor.shape = texts(field, "an extent");
                      has_shape = true;
                    });
    }
    if (!has_shape) entry.fail(fmt::format("tensor '{}' has no 'shape'", key));
    budget_.spend(kEntryBytes * (tensor.shape.size() + 2), tensor.origin);
    result.push_back(std::move(tensor));
  });
  return result;
}

const Op& GraphReader::op(const YamlValue& value) {
  const std::string name = value.text("op");
  const Op*& known = ops_[name];
  if (known == nullptr) known = value.located([&] { return &find_op(name); });
  return *known;
}

NodeTemplate GraphReader::node(const YamlValue& value) {
  NodeTemplate result;
  result.origin = value.place();
  bool has_include = false;
  const YamlValue* misplaced = nullptr;
  std::vector<YamlValue> of_include, of_op;
  value.mapping("a node",
                {"name", "op", "include", "in", "out", "attrs", "with", "repeat", "first"},
                [&](const std::string& key, const YamlValue& field) {
                  if (key == "name") result.name = read_name(field, "the name of a node");
                  if (key == "op") result.op = &op(field);
                  if (key == "in") result.inputs = names(field, "in");
                  if (key == "out") result.outputs = names(field, "out");
                  if (key == "attrs") read_attrs(field, result), of_op.push_back(field);
                  if (key == "include") result.block = field.text("include"), has_include = true;
                  if (key == "with") result.with = symbol_values(field, "with");
                  if (key == "repeat") result.repeat = field.text("repeat");
                  if (key == "first") result.first = field.integer("first", 0, kLargestNumber);
                  if (key == "with" || key == "repeat" || key == "first")
                    of_include.push_back(field);
                });
  require_node_parts(value, result, has_include);
  if (has_include && !of_op.empty()) misplaced = &of_op.front();
  if (!has_include && !of_include.empty()) misplaced = &of_include.front();
  if (misplaced != nullptr) {
    misplaced->fail(has_include ? "'attrs' belongs to a node with 'op', not with 'include'"
                                : "'with', 'repeat' and 'first' belong to a node with 'include'");
  }
  if (result.op != nullptr) check_counts(value, result);
  budget_.spend(kEntryBytes * (4 + result.with.size() + result.attrs.size()), result.origin);
  return result;
}

void GraphReader::read_attrs(const YamlValue& value, NodeTemplate& result) {
  value.mapping("attrs", [&](const std::string& key, const YamlValue& field) {
    result.attrs.push_back({key, texts(field, "an attribute"), field.is_list(), field.place()});
    budget_.spend(kEntryBytes * result.attrs.back().values.size(), field.place());
  });
}

BlockTemplate GraphReader::block(const std::string& name, const YamlValue& value) {
  BlockTemplate result;
  result.name = name;
  result.graph.origin = value.place();
  value.mapping(
      "a block", {"symbols", "inputs", "parameters", "nodes", "outputs"},
      [&](const std::string& key, const YamlValue& field) {
        if (key == "symbols") {
          result.symbols = block_symbols(field);
        } else if (key == "inputs") {
          for (std::string& input : names(field, "inputs")) {
            result.graph.inputs.push_back({.name = std::move(input), .origin = field.place()});
          }
        } else {
          read(key, field, result.graph);
        }
      });
  finish(result.graph, true);
  return result;
}

Blocks GraphReader::read_blocks(const YamlValue& value) {
  Blocks blocks;
  value.mapping("blocks", [&](const std::string& key, const YamlValue& field) {
    blocks.emplace(key, block(key, field));
  });
  for (const auto& [name, included] : blocks) check_includes(included.graph, blocks);
  return blocks;
}

}  // namespace opbench
