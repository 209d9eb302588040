#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The source of a tensor or number in a record: the first of these names that exists. "x_*" is all
/// elements of a list; "output x" is a result that an operator here takes as an input.
struct RecordedName {
  std::vector<std::string> names;  ///< empty: not recorded
  bool is_optional = false;
  std::string new_axis = {};  ///< the recorded number of an axis of extent 1 that is added
  std::size_t axes = 0;       ///< that its shape must have; 0: any

  /// "a|b?": either, or neither. "a with axis dim": see new_axis. "a of 4 axes": see axes.
  static RecordedName of(std::string_view text);
};

/// The source of an attribute of an operator.
struct AttrSource {
  enum Kind {
    recorded,
    complement,
    negated,
    constant,
    shape,
    plane,
    whole_plane,
    dtype,
    rows,
    kept,
    extents,
    borders
  } kind = recorded;
  RecordedName from;  ///< the recorded name, for recorded values, shapes, last two extents or
                      ///< dtypes
  std::string constant_text;
  std::vector<std::string> words = {};  ///< the words for the recorded numbers 0, 1, ...
  std::string along = {};               ///< the recorded number or list of axes
  std::string start = {};               ///< the recorded first place along the axis
  std::string step = {};                ///< the recorded distance of places; empty: 1

  /// Parses the texts of KnownCallRules::attrs (ops/known_as.h).
  static AttrSource of(std::string_view text);
};

/// One of opbench's operators, with the arguments of a record that it takes and returns.
struct OpUse {
  const Op* op = nullptr;
  std::vector<RecordedName> inputs;   ///< in the order of the operator's inputs
  std::vector<RecordedName> outputs;  ///< in the order of the operator's outputs
  std::vector<std::pair<std::string, AttrSource>> attrs;
  std::vector<std::string> needs;  ///< attributes without which the row does not fit
};

/// The allowed values of a recorded number or list; `is_needed`: it must be recorded.
struct RecordedCondition {
  std::string name;
  std::vector<double> values;
  bool is_needed = false;
};

/// The distribution of an operator with random results: not random; random without a known rule; 0
/// and 1 with probability `p` of 1; uniform from `from` to `to`; normal with `mean` and `std`; the
/// input divided by 1 - p, set to 0 with probability `p`.
enum class Drawn { not_at_all, somehow, bernoulli, uniform, normal, dropout };

/// The names of the recorded parameters of a distribution; empty if no rule is known.
std::vector<std::string_view> numbers_of(Drawn drawn);

/// A row of the table: names of operators in dumps, and the operators here that compute them
/// together (KnownCall).
struct OpRow {
  std::vector<std::string> names;
  std::vector<OpUse> uses;  ///< empty if results are random
  std::vector<RecordedCondition> where;
  std::vector<std::string> devices;  ///< "CPU", "CUDA", "NPU"; empty: all
  Drawn drawn = Drawn::not_at_all;
};

/// Maps names of operators in dumps to registered operators.
class OpTable {
 public:
  /// The rows for dumps, from the operators (Op::known_as).
  static const OpTable& builtin();
  /// The rows for profiles and logs only, then those for dumps.
  static const OpTable& profiled();
  /// The rows of a file, before the built-in rows. Other keys of a name map of `opbench compare`
  /// (`ops`, `params`) are ignored here. Errors: throws Error "file:line: ..." on anything unknown
  /// or mistyped; Error if the file cannot be read.
  static OpTable load(const std::string& path);
  /// Like load, from text; messages name `path`.
  static OpTable parse(const std::string& text, const std::string& path);

  const std::vector<OpRow>& rows() const { return rows_; }
  /// The rows for an operator of a dump, best first; empty if it is unknown.
  std::vector<const OpRow*> find(std::string_view recorded_op) const;

 private:
  static OpTable known(bool is_profiled_only);
  void append(const OpTable& more);

  std::vector<OpRow> rows_;
};

/// The spellings of a name to look up: unchanged, then simpler and simpler. "aten::add_.Tensor" ->
/// "add__Tensor", "add_Tensor", "add"; "ReluBackward0" -> "ReluBackward".
std::vector<std::string> spellings(std::string_view recorded_op);

/// True for operators in place that only write: the old values of their tensor are undefined.
bool only_writes(std::string_view recorded_op);

/// True if the operator declares the attribute.
bool has_attr(const Op& op, std::string_view name);

/// Operators in profiles, logs and traces with tensors that differ from those of the table's rows.
const std::vector<ProfiledCall>& profiled_calls();

/// The call of that name; null if it does not exist.
const ProfiledCall* find_profiled_call(std::string_view name);

/// The name of input or output `i` in such a list; empty: no operand.
std::string tensor_name(const std::vector<std::string>& names, std::size_t i);

/// The names of an operator in the other dump, best first.
using NamePairs = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Prints the table and the NPU/GPU name pairs in `width` columns; `only`: rows of these names and
/// operators.
void print_op_table(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                    const std::vector<std::string>& only, std::size_t width);
/// {"operators": [{"names", "random", "where"?, "devices"?, "parts": [{"op", "inputs", "outputs",
/// "attrs"}]}], "ops": {name: [names]}}
void write_op_table_json(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);
/// Writes the table in the form that --map reads.
void write_op_table_yaml(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);

}  // namespace opbench
