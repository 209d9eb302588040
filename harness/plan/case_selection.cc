#include "harness/plan/case_selection.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <type_traits>

#include "tensor/error.h"
#include "text/name_pattern.h"

namespace opbench {

Part parse_part(const std::string& text) {
  Part part;
  const auto whole = [](std::string_view digits, int& value) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return status == std::errc{} && end == digits.data() + digits.size();
  };
  const auto slash = text.find('/');
  const std::string_view view = text;
  if (slash == std::string::npos || !whole(view.substr(0, slash), part.index) ||
      !whole(view.substr(slash + 1), part.count) || part.index < 1 || part.index > part.count ||
      part.count > kMostParts) {
    throw Error(fmt::format("--part '{}' must be K/N with 1 <= K <= N <= {}, such as 1/4", text,
                            kMostParts));
  }
  return part;
}

std::string to_string(const Part& part) { return fmt::format("{}/{}", part.index, part.count); }

// Ids are matched as a whole: those of an optimiser list hundreds of shapes.
CaseFilter::CaseFilter(const std::string& pattern)
    : matches_(pattern.empty() ? nullptr : name_pattern(pattern, "--filter")) {}

bool CaseFilter::takes(const std::string& id, const std::string& name) const {
  return !matches_ || matches_(id) || matches_(name);
}

std::string pattern_of_name(std::string_view name) {
  constexpr std::string_view kSpecial = "^$\\.*+?()[]{}|";
  std::string pattern = "^";
  for (const char letter : name) {
    if (kSpecial.find(letter) != kSpecial.npos) pattern += '\\';
    pattern += letter;
  }
  return pattern + "$";
}

namespace {

constexpr ValueList kOne = ValueList::none;
using S = CaseSelection;

const SelectionField kFields[] = {
    {"--op", "OP", "Operators to run over --shapes", "ops", ValueList::by_commas, &S::ops},
    {"--shapes", "FILE", "Case file whose `shapes` --op runs over", "shapes", kOne,
     &S::shapes_file},
    {"--cases", "FILE",
     "Case files whose `cases` and `contexts` run; also folders and patterns such as '*.yaml'",
     "files", ValueList::words, &S::case_files},
    {"--case", "ID", "A case or a context by its id, as reports print it", "ids",
     ValueList::repeated, &S::case_ids},
    {"--filter", "REGEX", "Only cases whose id or name matches this regular expression", "filter",
     kOne, &S::filter},
    {"--dtype", "DTYPE", "fp32, fp16, bf16 instead of the file's", "dtypes", ValueList::by_commas,
     &S::dtypes},
    {"--format", "FORMAT", "NCHW, NC1HWC0, ... instead of the file's", "formats",
     ValueList::by_commas, &S::formats},
    {"--variant", "VARIANT", "Only these variants; `reference` is the fp64 reference", "variants",
     ValueList::by_commas, &S::variants},
    {"--backward", "", "Operator, mean, and the backward pass", "backward", kOne, &S::backward},
    {"--set", "NAME=VALUE",
     "NAME=VALUE for a symbol of the case file, such as N=128; run takes N=1,8,32, too: each in "
     "turn",
     "set", ValueList::repeated, &S::symbols},
    {"--kernels", "FILE", kKernelsHelp, "kernels", ValueList::words, &ForeignSources::files},
    {"--device", "DEVICE", kDeviceHelp, "devices", ValueList::by_commas, &ForeignSources::devices},
};

template <class T>
bool parse_whole(std::string_view text, T& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

using Texts = std::vector<std::string>;

// Reads each type of member from text.

void read(const bool& text, bool& value) { value = text; }
void read(const std::string& text, std::string& value) { value = text; }
void read(const Texts& texts, Texts& values) { values = texts; }

void read(const Texts& texts, std::vector<DType>& dtypes) {
  for (const std::string& text : texts) dtypes.push_back(parse_dtype(text));
}

void read(const Texts& texts, std::vector<Format>& formats) {
  for (const std::string& text : texts) formats.push_back(parse_format(text));
}

void read(const Texts& texts, Symbols& symbols) {
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    std::int64_t value = 0;
    if (equals == 0 || equals == std::string::npos ||
        !parse_whole(std::string_view(text).substr(equals + 1), value) || value < 1) {
      throw Error(fmt::format("--set '{}' must be NAME=VALUE with a whole number from 1", text));
    }
    symbols[text.substr(0, equals)] = value;
  }
}

// Writes each type of member to text; the inverse of `Read`.

bool write(const bool& value) { return value; }
std::string write(const std::string& value) { return value; }
Texts write(const Texts& values) { return values; }

template <class Value>
Texts write(const std::vector<Value>& values) {
  Texts names;
  for (const Value value : values) names.emplace_back(name(value));
  return names;
}

Texts write(const Symbols& symbols) {
  Texts texts;
  for (const auto& [symbol, value] : symbols) texts.push_back(fmt::format("{}={}", symbol, value));
  return texts;
}

// The member of a selection, or of its part.
template <class Selection, class Value>
auto& at(Selection& selection, Value CaseSelection::*member) {
  return selection.*member;
}
template <class Selection, class Value>
auto& at(Selection& selection, Value ForeignSources::*member) {
  return selection.foreign.*member;
}

}  // namespace

std::span<const SelectionField> selection_fields() { return kFields; }

FieldText absent_text(const SelectionField& field) { return text_of(field, CaseSelection{}); }

void read_field(const SelectionField& field, const FieldText& text, CaseSelection& selection) {
  std::visit(
      [&](const auto member) {
        auto& value = at(selection, member);
        value = {};
        read(std::get<decltype(write(value))>(text), value);
      },
      field.member);
}

FieldText text_of(const SelectionField& field, const CaseSelection& selection) {
  return std::visit([&](const auto member) { return FieldText(write(at(selection, member))); },
                    field.member);
}

SelectionText absent_selection() {
  SelectionText text;
  for (const SelectionField& field : kFields) text.push_back(absent_text(field));
  return text;
}

CaseSelection read_selection(const SelectionText& text) {
  CaseSelection selection;
  for (std::size_t i = 0; i < std::size(kFields); ++i) read_field(kFields[i], text[i], selection);
  return selection;
}

}  // namespace opbench
