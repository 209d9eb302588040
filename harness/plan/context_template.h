#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_values.h"
#include "ops/op.h"

namespace opbench {

class YamlValue;

/// Limits of the contexts of a file: a few lines of nested repetitions must not exhaust the memory.
struct ContextLimits {
  std::int64_t nodes = 50000;                    ///< of one graph
  std::int64_t bytes = std::int64_t{256} << 20;  ///< of names, shapes and attributes in all graphs
};

/// Counts the memory and nodes of one file's contexts.
class ContextBudget {
 public:
  explicit ContextBudget(const ContextLimits& limits) : limits_(limits) {}

  /// Adds `bytes` to the total.
  /// Errors: throws Error, prefixed with `origin`, if the total is above the limit.
  void spend(std::size_t bytes, const std::string& origin);
  /// Errors: throws Error, prefixed with `origin`, if the graph has more nodes than the limit.
  void require_nodes(std::size_t nodes, const std::string& origin) const;

 private:
  ContextLimits limits_;
  std::int64_t spent_ = 0;
};

/// A written tensor of a context or a block. Its shape has extent expressions.
struct TensorTemplate {
  std::string name;
  std::vector<std::string> shape = {};
  std::optional<DType> dtype = {};
  std::optional<Format> format = {};
  std::optional<std::string> data = {};  ///< a distribution, in which `{N*2}` is a number
  bool takes_gradient = true;
  std::string origin;
};

/// An attribute whose values may contain symbols.
struct AttrTemplate {
  std::string name;
  std::vector<std::string> values;
  bool is_list = false;
  std::string origin;
};

/// An extent expression that is the value of a symbol, and its place in the file.
struct SymbolValue {
  std::string name;
  std::string value;
  std::string origin;
};

/// A call of an operator, or of a block.
struct NodeTemplate {
  std::string name;
  const Op* op = nullptr;  ///< null: the node is a block
  std::vector<std::string> inputs, outputs;
  std::vector<AttrTemplate> attrs = {};
  std::string block = {};  ///< the block to include
  std::vector<SymbolValue> with = {};
  std::optional<std::string> repeat = {};  ///< none: included once, with names without a number
  std::int64_t first = 0;                  ///< number of the first repetition
  std::string origin;
};

struct GraphTemplate {
  std::vector<TensorTemplate> inputs, parameters;
  std::vector<NodeTemplate> nodes;
  std::vector<std::string> outputs;
  std::string outputs_origin;
  std::string origin;
};

/// A graph to include. Its inputs have names only.
struct BlockTemplate {
  std::string name;
  std::vector<SymbolValue> symbols;  ///< defaults; empty: `with` must give the value
  GraphTemplate graph;
};

using Blocks = std::map<std::string, BlockTemplate>;

/// Reads a name of letters, digits, '_', '-' and '.'.
/// Errors: throws Error "file:line: ..." if it has other characters.
std::string read_name(const YamlValue& value, std::string_view what);

/// Reads the graphs of one file.
class GraphReader {
 public:
  explicit GraphReader(ContextBudget& budget) : budget_(budget) {}

  /// Reads `parameters`, `nodes` or `outputs`, or a context's `inputs`, into `graph`. Other keys
  /// are ignored.
  void read(const std::string& key, const YamlValue& value, GraphTemplate& graph);
  /// Names nodes without a name after their operator, with a number if the name is taken.
  /// Errors: throws Error "file:line: ..." if a graph has no nodes or outputs, a name is written
  /// twice, or a name is read or listed in the outputs but not written.
  void finish(GraphTemplate& graph, bool is_block);
  /// Reads `blocks:`.
  /// Errors: throws Error also on includes of blocks that do not exist, or with another number of
  /// inputs or outputs.
  Blocks read_blocks(const YamlValue& value);

 private:
  std::vector<TensorTemplate> tensors(const YamlValue& value, std::string_view what);
  std::vector<std::string> names(const YamlValue& value, std::string_view what);
  NodeTemplate node(const YamlValue& value);
  void read_attrs(const YamlValue& value, NodeTemplate& result);
  BlockTemplate block(const std::string& name, const YamlValue& value);
  const Op& op(const YamlValue& value);

  ContextBudget& budget_;
  std::map<std::string, const Op*> ops_;  // cache: the full search is linear
};

/// Errors: throws Error "file:line: ..." if a block that `graph` includes is not among `blocks` or
/// has another number of inputs or outputs.
void check_includes(const GraphTemplate& graph, const Blocks& blocks);

/// Parts of the file that its contexts use.
struct ContextSurroundings {
  const Symbols& symbols;
  const std::vector<DType>& dtypes;  ///< of contexts that state none; empty: fp32
  const Blocks& blocks;
};

}  // namespace opbench
