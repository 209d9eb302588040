#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/plan/case_values.h"
#include "kernels/foreign/foreign_kernels.h"

namespace opbench {

inline constexpr int kMostParts = 1'000'000;

/// One of `count` parts of the work; `index` starts at 1.
struct Part {
  int index = 1, count = 1;

  bool operator==(const Part&) const = default;
  bool is_whole() const { return count == 1; }
  /// True if the part includes the element at `place`, which starts at 0: it takes every count-th,
  /// from the index-th on.
  bool takes(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
};

/// Parses "3/8".
/// Errors: throws Error that shows the text and the allowed form.
Part parse_part(const std::string& text);
std::string to_string(const Part& part);

/// `--filter`: a regular expression that is matched with ids and names.
class CaseFilter {
 public:
  /// An empty pattern takes all.
  /// Errors: throws Error if the pattern is too long or is not a regular expression.
  explicit CaseFilter(const std::string& pattern);

  bool takes(const std::string& id, const std::string& name) const;

 private:
  std::function<bool(std::string_view text)> matches_;  ///< empty: everything
};

/// Pattern that takes this name only.
std::string pattern_of_name(std::string_view name);

/// Cases, contexts and variants that a command line selects. `run`, `check` and the workers of a
/// check share it. Each member but the last has a row in `selection_fields`, which defines its
/// option.
struct CaseSelection {
  std::vector<std::string> ops;  ///< run over the shapes of `shapes_file`
  std::string shapes_file;
  std::vector<std::string> case_files;
  std::vector<std::string> case_ids;
  std::string filter;           ///< regular expression on case id or name; empty: all
  std::vector<DType> dtypes;    ///< empty: the file's dtypes
  std::vector<Format> formats;  ///< empty: the file's formats
  std::vector<std::string> variants;
  bool backward = false;
  Symbols symbols;
  ForeignSources foreign;  ///< kernels from outside, which planning registers
  Part part;               ///< every N-th case; `run` keeps the whole and divides units by cost

  bool operator==(const CaseSelection&) const = default;
};

/// Syntax by which an option takes several values.
enum class ValueList {
  none,       ///< it takes a single value
  by_commas,  ///< --op relu,softplus
  words,      ///< --cases a.yaml b.yaml
  repeated,   ///< --set N=8 --set C=3
};

/// A member of CaseSelection as an option. The flag, its help and its place in the messages between
/// `check` and its workers are made from this row.
struct SelectionField {
  const char* flag;        ///< "--op"
  const char* value_name;  ///< "OP", see cli/command_model.h
  const char* help;
  const char* key;  ///< key in a message
  ValueList list;
  std::variant<bool CaseSelection::*, std::string CaseSelection::*,
               std::vector<std::string> CaseSelection::*, std::vector<DType> CaseSelection::*,
               std::vector<Format> CaseSelection::*, Symbols CaseSelection::*,
               std::vector<std::string> ForeignSources::*>
      member;
};

/// Help of --kernels and --device, which other commands have, too.
inline constexpr const char* kKernelsHelp =
    "Kernels of a shared library (.so) or a Python file (.py) as further variants "
    "(docs/devices.md)";
inline constexpr const char* kDeviceHelp =
    "A variant that PyTorch computes on torch:cpu, torch:cuda:N or torch:npu:N, in addition to "
    "native";

/// All fields, in the order of --help.
std::span<const SelectionField> selection_fields();

/// A field as text: a flag, one value, or several values.
using FieldText = std::variant<bool, std::string, std::vector<std::string>>;

/// Text of a field that is not given, of the field's kind.
FieldText absent_text(const SelectionField& field);

/// Sets the field of `selection`.
/// Errors: throws Error that shows the text and the allowed values.
void read_field(const SelectionField& field, const FieldText& text, CaseSelection& selection);

/// Inverse of `read_field`.
FieldText text_of(const SelectionField& field, const CaseSelection& selection);

/// A whole selection as text: a value for each row of `selection_fields()`.
using SelectionText = std::vector<FieldText>;

SelectionText absent_selection();

/// Errors: throws Error like `read_field`.
CaseSelection read_selection(const SelectionText& text);

}  // namespace opbench
