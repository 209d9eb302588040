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

/// Where something comes from in a record: the first of these names that is there. "x_*" stands for
/// all elements of a list; "output x" for a result that an operator of ours takes as an input.
struct RecordedName {
  std::vector<std::string> names;  ///< empty: not recorded
  bool is_optional = false;
  std::string new_axis = {};  ///< the recorded number of an axis of extent 1 that it is taken with

  /// "a|b?": either, or none. "a with axis dim": see new_axis.
  static RecordedName of(std::string_view text);
};

/// Where an attribute of an operator comes from.
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
  RecordedName from;  ///< what is recorded, or whose shape, last two extents or dtype it is
  std::string constant_text;
  std::vector<std::string> words = {};  ///< of a recorded number: word 0, 1, ...
  std::string along = {};               ///< the recorded number or list of axes
  std::string start = {};               ///< the recorded first place along the axis
  std::string step = {};                ///< the recorded distance of places; empty: 1

  /// As in KnownCallRules::attrs (ops/known_as.h).
  static AttrSource of(std::string_view text);
};

/// One of our operators, and which arguments of a record it takes and gives.
struct OpUse {
  const Op* op = nullptr;
  std::vector<RecordedName> inputs;   ///< in the order of the operator's
  std::vector<RecordedName> outputs;  ///< likewise
  std::vector<std::pair<std::string, AttrSource>> attrs;
  std::vector<std::string> needs;  ///< attributes without which the row does not fit
};

/// What a recorded number or list must be, where it is there or, if `is_needed`, at any rate.
struct RecordedCondition {
  std::string name;
  std::vector<double> values;
  bool is_needed = false;
};

/// Whose numbers the results of an operator are that draws at random: none's; what no rule is known
/// for; 0 and 1 with probability `p` of 1; from `from` to `to`; normal ones with `mean` and `std`;
/// the input divided by 1 - p, dropped to 0 with probability `p`.
enum class Drawn { not_at_all, somehow, bernoulli, uniform, normal, dropout };

/// The recorded numbers of a distribution, by name; none where no rule is known.
std::vector<std::string_view> numbers_of(Drawn drawn);

/// A row of the table: operators of dumps that one or more of ours compute together (KnownCall).
struct OpRow {
  std::vector<std::string> names;
  std::vector<OpUse> uses;  ///< none if results are random
  std::vector<RecordedCondition> where;
  std::vector<std::string> devices;  ///< "CPU", "CUDA", "NPU"; empty: all
  Drawn drawn = Drawn::not_at_all;
};

/// From the names of operators in dumps to operators of the registry.
class OpTable {
 public:
  /// The rows for dumps, from the operators (Op::known_as).
  static const OpTable& builtin();
  /// The rows for profiles and logs alone, then those for dumps.
  static const OpTable& profiled();
  /// The built-in rows behind those of a file of the same form. What else a name map of
  /// `opbench compare` holds (`ops`, `params`) is left to it. Errors: throws Error "file:line: ..."
  /// on anything unknown or mistyped; Error if the file cannot be read.
  static OpTable load(const std::string& path);
  /// The same from text; `path` stands in messages.
  static OpTable parse(const std::string& text, const std::string& path);

  const std::vector<OpRow>& rows() const { return rows_; }
  /// The rows for an operator of a dump, best first; empty if it is not known.
  std::vector<const OpRow*> find(std::string_view recorded_op) const;

 private:
  static OpTable known(bool is_profiled_only);
  void append(const OpTable& more);

  std::vector<OpRow> rows_;
};

/// How a name may stand in the table: as it is, then in ever plainer spellings. "aten::add_.Tensor"
/// -> "add__Tensor", "add_Tensor", "add"; "ReluBackward0" -> "ReluBackward".
std::vector<std::string> spellings(std::string_view recorded_op);

/// True of operators in place that only write: what their tensor held before is whatever memory
/// held.
bool only_writes(std::string_view recorded_op);

/// True if the operator declares such an attribute.
bool has_attr(const Op& op, std::string_view name);

/// What profiles, logs and traces call operators whose tensors are not those of a row of the table.
const std::vector<ProfiledCall>& profiled_calls();

/// The one of that name; null if there is none.
const ProfiledCall* find_profiled_call(std::string_view name);

/// The name of input `i`, or of output `i`, by such a list; empty: no operand.
std::string tensor_name(const std::vector<std::string>& names, std::size_t i);

/// What an operator is called in the other dump, best first.
using NamePairs = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The table and the NPU/GPU name pairs, for people, in `width` columns; `only`: rows of these
/// names and operators.
void print_op_table(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                    const std::vector<std::string>& only, std::size_t width);
/// {"operators": [{"names", "random", "where"?, "devices"?, "parts": [{"op", "inputs", "outputs",
/// "attrs"}]}], "ops": {name: [names]}}
void write_op_table_json(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);
/// The same in the form that --map reads.
void write_op_table_yaml(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);

}  // namespace opbench
