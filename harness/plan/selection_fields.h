#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harness/plan/case_selection.h"

namespace opbench {

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
