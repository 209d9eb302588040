#include "harness/check/protocol_line.h"

#include <variant>

namespace opbench::check {
namespace {

const std::string kPlace = "the line of a worker";

// A selection's part in a message, by the names of protocol 1.
constexpr const char* kPartIndex = "shard_index";
constexpr const char* kPartCount = "shard_count";
using SymbolsMember = Symbols CaseSelection::*;

void write_field(const SelectionField& field, const CaseSelection& selection, Json& line) {
  if (const auto* symbols = std::get_if<SymbolsMember>(&field.member)) {
    line[field.key] = symbols_value(selection.*(*symbols));
  } else {
    std::visit([&](const auto& text) { line[field.key] = text; }, text_of(field, selection));
  }
}

FieldText field_text(const SelectionField& field, const JsonValue& value) {
  FieldText text = absent_text(field);
  if (auto* is_given = std::get_if<bool>(&text)) *is_given = value.boolean();
  if (auto* one = std::get_if<std::string>(&text)) *one = value.text();
  if (auto* several = std::get_if<std::vector<std::string>>(&text)) *several = texts(value);
  return text;
}

void parse_field(const SelectionField& field, const JsonValue& line, CaseSelection& selection) {
  if (const auto* symbols = std::get_if<SymbolsMember>(&field.member)) {
    selection.*(*symbols) = parse_symbols(line.member(field.key));
  } else {
    read_field(field, field_text(field, line.member(field.key)), selection);
  }
}

}  // namespace

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Line::Line(std::string_view line) : json_(parse_json(std::string(line), kPlace)) {}

JsonValue Line::value() const { return {json_, kPlace}; }

Json context_value(const std::optional<ContextSource>& context) {
  if (!context) return nullptr;
  return {{"file", context->file},
          {"name", context->name},
          {"dtype", name(context->dtype)},
          {"set", symbols_value(context->symbols)}};
}

std::optional<ContextSource> parse_context(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  return ContextSource{value.member("file").text(), value.member("name").text(),
                       parse_dtype(value.member("dtype").text()),
                       parse_symbols(value.member("set"))};
}

int whole(const JsonValue& value, std::int64_t least, std::int64_t most) {
  return static_cast<int>(value.integer(least, most));
}

std::vector<std::string> texts(const JsonValue& value) {
  std::vector<std::string> result;
  value.elements([&](const JsonValue& text) { result.push_back(text.text()); });
  return result;
}

Json symbols_value(const Symbols& symbols) {
  Json result = Json::object();
  for (const auto& [symbol, value] : symbols) result[symbol] = value;
  return result;
}

Symbols parse_symbols(const JsonValue& value) {
  Symbols symbols;
  value.members([&](const std::string& symbol, const JsonValue& number) {
    symbols[symbol] = number.integer(0, std::numeric_limits<std::int64_t>::max());
  });
  return symbols;
}

void write_selection(const CaseSelection& selection, Json& line) {
  for (const SelectionField& field : selection_fields()) write_field(field, selection, line);
  line[kPartIndex] = selection.part.index;
  line[kPartCount] = selection.part.count;
}

CaseSelection parse_selection(const JsonValue& line) {
  CaseSelection selection;
  for (const SelectionField& field : selection_fields()) parse_field(field, line, selection);
  selection.part.index = whole(line.member(kPartIndex), 1, kMostParts);
  selection.part.count = whole(line.member(kPartCount), 1, kMostParts);
  return selection;
}

}  // namespace opbench::check
