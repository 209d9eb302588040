#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_values.h"
#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

class YamlValue;

/// What the contexts of a file may cost, so that a few lines of nested repetitions cannot ask for
/// all memory.
struct ContextLimits {
  std::int64_t nodes = 50000;                    ///< of one graph
  std::int64_t bytes = std::int64_t{256} << 20;  ///< of names, shapes and attributes in all graphs
};

/// Counts what has been read and unrolled of one file.
class ContextBudget {
 public:
  explicit ContextBudget(const ContextLimits& limits) : limits_(limits) {}

  /// Errors: throws Error, prefixed with `origin`, if that is too much in all.
  void spend(std::size_t bytes, const std::string& origin);
  /// Errors: throws Error, prefixed with `origin`, if a graph of so many nodes is too large.
  void require_nodes(std::size_t nodes, const std::string& origin) const;

 private:
  ContextLimits limits_;
  std::int64_t spent_ = 0;
};

/// A context's or a block's tensor as written; the shape is of extent expressions.
struct TensorTemplate {
  std::string name;
  std::vector<std::string> shape = {};
  std::optional<DType> dtype = {};
  std::optional<Format> format = {};
  std::optional<Distribution> data = {};
  std::string origin;
};

/// An attribute whose values may have symbols in them.
struct AttrTemplate {
  std::string name;
  std::vector<std::string> values;
  bool is_list = false;
  std::string origin;
};

/// An extent expression that stands for a symbol, and where it is written.
struct SymbolValue {
  std::string name;
  std::string value;
  std::string origin;
};

/// A call of an operator, or of a block.
struct NodeTemplate {
  std::string name;
  const Op* op = nullptr;  ///< null: of a block
  std::vector<std::string> inputs, outputs;
  std::vector<AttrTemplate> attrs = {};
  std::string block = {};  ///< the one to include
  std::vector<SymbolValue> with = {};
  std::optional<std::string> repeat = {};  ///< none: once, and its names have no number
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
  std::vector<SymbolValue> symbols;  ///< what `with` gives; an empty value must be given
  GraphTemplate graph;
};

using Blocks = std::map<std::string, BlockTemplate>;

/// A name of letters, digits, '_', '-' and '.'. Errors: throws Error "file:line: ..." if it has
/// others.
std::string read_name(const YamlValue& value, std::string_view what);

/// Reads the graphs of one file.
class GraphReader {
 public:
  explicit GraphReader(ContextBudget& budget) : budget_(budget) {}

  /// Reads `parameters`, `nodes` or `outputs`, or a context's `inputs`, into `graph`; other keys
  /// are left alone.
  void read(const std::string& key, const YamlValue& value, GraphTemplate& graph);
  /// Gives nodes without a name that of their operator, with a number where it is taken.
  /// Errors: throws Error "file:line: ..." where a graph has no nodes or outputs, a name is written
  /// twice, or read or named in the outputs but not written.
  void finish(GraphTemplate& graph, bool is_block);
  /// Reads `blocks:`. Errors: also on inclusion of blocks that are not there, or with another
  /// number of inputs or outputs.
  Blocks read_blocks(const YamlValue& value);

 private:
  std::vector<TensorTemplate> tensors(const YamlValue& value, std::string_view what);
  std::vector<std::string> names(const YamlValue& value, std::string_view what);
  NodeTemplate node(const YamlValue& value);
  void read_attrs(const YamlValue& value, NodeTemplate& result);
  BlockTemplate block(const std::string& name, const YamlValue& value);
  const Op& op(const YamlValue& value);

  ContextBudget& budget_;
  std::map<std::string, const Op*> ops_;  // found before: a search goes through all
};

/// Errors: throws Error "file:line: ..." unless every block that `graph` includes is among `blocks`
/// and takes as many inputs and outputs as it is given.
void check_includes(const GraphTemplate& graph, const Blocks& blocks);

/// What the contexts of a file see of the rest of it.
struct ContextSurroundings {
  const Symbols& symbols;
  const std::vector<DType>& dtypes;  ///< of contexts that state none; empty: fp32
  const Blocks& blocks;
};

}  // namespace opbench
