#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/plan/case_values.h"

namespace opbench {

inline constexpr int kMostParts = 1'000'000;

/// One of several parts of the work, from 1.
struct Part {
  int index = 1, count = 1;

  bool operator==(const Part&) const = default;
  bool is_whole() const { return count == 1; }
  /// Whether every count-th from the index-th includes what is at `place`, from 0.
  bool takes(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
};

/// "3/8". Errors: throws Error that shows the text and what is allowed.
Part parse_part(const std::string& text);
std::string to_string(const Part& part);

/// `--filter`: a regular expression on ids and names.
class CaseFilter {
 public:
  /// Empty: takes all. Errors: throws Error if it is too long or no regular expression.
  explicit CaseFilter(const std::string& pattern);

  bool takes(const std::string& id, const std::string& name) const;

 private:
  std::function<bool(std::string_view text)> matches_;  ///< empty: everything
};

/// The pattern that takes this name only.
std::string pattern_of_name(std::string_view name);

/// Which cases, contexts and variants a command line asks for: what `run`, `check` and the workers
/// of a check share. Each member but the last has a row in `selection_fields`, which makes an
/// option of it.
struct CaseSelection {
  std::vector<std::string> ops;  ///< to run over the shapes of `shapes_file`
  std::string shapes_file;
  std::vector<std::string> case_files;
  std::vector<std::string> case_ids;
  std::string filter;           ///< regular expression on case id or name; empty: all
  std::vector<DType> dtypes;    ///< empty: those of the file
  std::vector<Format> formats;  ///< empty: those of the file
  std::vector<std::string> variants;
  bool backward = false;
  Symbols symbols;
  Part part;  ///< every N-th of them; of `run`, which shares units out by their cost, the whole

  bool operator==(const CaseSelection&) const = default;
};

/// How a command line gives several values to one option.
enum class ValueList {
  none,       ///< it takes one
  by_commas,  ///< --op relu,softplus
  words,      ///< --cases a.yaml b.yaml
  repeated,   ///< --set N=8 --set C=3
};

/// A member of CaseSelection as an option: the one row from which its flag, its help and its place
/// in the messages between `check` and its workers are made.
struct SelectionField {
  const char* flag;        ///< "--op"
  const char* value_name;  ///< "OP", see cli/command_model.h
  const char* help;
  const char* key;  ///< in a message
  ValueList list;
  std::variant<bool CaseSelection::*, std::string CaseSelection::*,
               std::vector<std::string> CaseSelection::*, std::vector<DType> CaseSelection::*,
               std::vector<Format> CaseSelection::*, Symbols CaseSelection::*>
      member;
};

/// In the order of --help.
std::span<const SelectionField> selection_fields();

/// A field as text: given or not, one value, or several.
using FieldText = std::variant<bool, std::string, std::vector<std::string>>;

/// What stands for a field that is not given, of the kind that the field takes.
FieldText absent_text(const SelectionField& field);

/// Sets the field of `selection`. Errors: throws Error that shows the text and what is allowed.
void read_field(const SelectionField& field, const FieldText& text, CaseSelection& selection);

/// The inverse.
FieldText text_of(const SelectionField& field, const CaseSelection& selection);

/// A whole selection as text, a value for each row of `selection_fields()`.
using SelectionText = std::vector<FieldText>;

SelectionText absent_selection();

/// Errors: throws Error like `read_field`.
CaseSelection read_selection(const SelectionText& text);

}  // namespace opbench
