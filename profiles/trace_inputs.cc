#include "profiles/trace_inputs.h"

#include <algorithm>
#include <utility>

namespace opbench {
namespace {

// C++ types of tensors. Source: torch/csrc/profiler, c10::ScalarType; "long int" is what compilers
// call it.
constexpr std::pair<std::string_view, std::string_view> kDTypes[] = {
    {"float", "FLOAT"},
    {"double", "DOUBLE"},
    {"c10::Half", "FLOAT16"},
    {"c10::BFloat16", "BF16"},
    {"long", "INT64"},
    {"long int", "INT64"},
    {"long long", "INT64"},
    {"int", "INT32"},
    {"short", "INT16"},
    {"short int", "INT16"},
    {"signed char", "INT8"},
    {"char", "INT8"},
    {"unsigned char", "UINT8"},
    {"bool", "BOOL"},
    {"c10::complex<float>", "COMPLEX64"},
    {"c10::complex<double>", "COMPLEX128"},
};

std::string_view dtype_name(std::string_view type) {
  const auto* found = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                   [&](const auto& pair) { return pair.first == type; });
  return found == std::end(kDTypes) ? type : found->second;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char letter) {
    return letter == ' ' || letter == '\r' || letter == '\n' || letter == '\t';
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_list(std::string_view text) { return text.starts_with('['); }

/// The strings of a JSON list, without their quotes, or the parts of a text between ";".
template <class Use>
void for_each_text(std::string_view list, Use use) {
  if (!is_list(list)) {
    while (true) {
      const std::size_t end = list.find(';');
      use(trimmed(list.substr(0, end)));
      if (end == list.npos) return;
      list.remove_prefix(end + 1);
    }
  }
  for (std::size_t at = list.find('"'); at != list.npos; at = list.find('"', at)) {
    std::size_t end = at + 1;
    while (end < list.size() && list[end] != '"') end += list[end] == '\\' ? 2 : 1;
    if (end >= list.size()) return;
    use(list.substr(at + 1, end - at - 1));
    at = end + 1;
  }
}

// Whole numbers, lists, flags, and names; no "0.001", no "1e-05".
bool is_steady(std::string_view value) {
  const bool is_number =
      !value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
  return !is_number || value.find_first_of(".e") == value.npos;
}

template <class Piece>
void append_pieces(std::string_view list, std::string& to, Piece piece) {
  bool is_first = true;
  for_each_text(list, [&](std::string_view text) {
    if (!is_first) to += ';';
    is_first = false;
    to += piece(text);
  });
}

}  // namespace

void append_input_shapes(std::string_view dims, std::string& to) {
  if (!is_list(dims)) return append_pieces(dims, to, [](std::string_view text) { return text; });
  int depth = 0;
  for (const char letter : dims) {
    if (letter == '[' && ++depth > 2) to += letter;
    if (letter == ']' && depth-- > 2) to += letter;
    if (letter == ',' && depth == 1) to += ';';
    if (letter == ',' && depth > 1 && !to.ends_with(']')) to += ',';
    if (letter == '-' || (letter >= '0' && letter <= '9')) to += letter;
  }
}

void append_input_dtypes(std::string_view types, std::string& to) {
  append_pieces(types, to, dtype_name);
}

void append_input_values(std::string_view values, std::string& to) {
  append_pieces(values, to, [](std::string_view text) { return text; });
}

void append_steady_values(std::string_view values, std::string& to) {
  append_pieces(values, to, [](std::string_view text) {
    return is_steady(text) ? text : std::string_view("#");
  });
}

}  // namespace opbench
