#include "harness/plan/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <utility>

#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

// Splits at commas outside brackets.
std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  return parts;
}

bool is_shape(std::string_view text) {
  return text == "scalar" || text.starts_with("scalar:") ||
         (!text.empty() && text.front() >= '0' && text.front() <= '9');
}

// Parses "116" or "116:int32".
CaseInput parse_input(std::string_view text) {
  const auto colon = text.find(':');
  CaseInput input{parse_dims(text.substr(0, colon)), {}, {}};
  if (colon != std::string_view::npos) input.dtype = parse_dtype(text.substr(colon + 1));
  return input;
}

// Omits a dtype that the case states for all inputs.
std::string input_text(const Case& c, std::size_t i) {
  const CaseInput& input = c.inputs[i];
  const bool is_other = input.dtype && (c.op->input(i).has_own_dtype() || *input.dtype != c.dtype);
  return to_string(input.shape) + (is_other ? fmt::format(":{}", name(*input.dtype)) : "");
}

CaseInput& input_called(Case& c, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    names.push_back(c.op->input_name(i));
    if (names.back() == name) return c.inputs[i];
  }
  throw Error(fmt::format("{} has no input '{}'{}", c.op->name, name, suggestion(name, names)));
}

void set_keyword(Case& c, std::string_view key, std::string_view value) {
  constexpr std::string_view kDataOf = "data.";
  if (key.starts_with(kDataOf)) {
    input_called(c, key.substr(kDataOf.size())).data = parse_distribution(value);
  } else if (key == "data") {
    c.data.distribution = parse_distribution(value);
  } else if (key == "seed") {
    const auto [end, status] =
        std::from_chars(value.data(), value.data() + value.size(), c.data.seed);
    if (status != std::errc{} || end != value.data() + value.size()) {
      throw Error(fmt::format("seed '{}' is not a whole number from 0 to 2^64-1", value));
    }
    c.data.has_seed = true;
  } else {
    c.attrs.set(c.op->attrs, key, value);
  }
}

/// Parts of an id that are already read: each part may occur once.
struct SeenParts {
  bool dtype = false, format = false;
  std::set<std::string, std::less<>> keys;
};

void once(bool is_first, std::string_view part) {
  if (!is_first) throw Error(fmt::format("'{}' is given twice", part));
}

// Parses a word that may be a dtype. A word in capitals may be a misspelled format.
DType dtype_called(std::string_view part) {
  try {
    return parse_dtype(part);
  } catch (const Error&) {
    std::vector<std::string> formats;
    for (const Format format : kAllFormats) formats.emplace_back(name(format));
    const bool is_capital = !part.empty() && part.front() >= 'A' && part.front() <= 'Z';
    const std::string near = is_capital ? nearest(part, formats) : "";
    if (near.empty()) throw;
    throw Error(fmt::format("unknown format '{}'; did you mean '{}'?", part, near));
  }
}

void set_part(Case& c, std::string_view part, SeenParts& seen) {
  const auto equals = part.find('=');
  if (equals != std::string_view::npos) {
    once(seen.keys.emplace(part.substr(0, equals)).second, part);
    set_keyword(c, part.substr(0, equals), part.substr(equals + 1));
  } else if (is_shape(part)) {
    c.inputs.push_back(parse_input(part));
  } else if (part == "backward") {
    c.backward = true;
  } else if (std::any_of(kAllFormats.begin(), kAllFormats.end(),
                         [&](Format format) { return name(format) == part; })) {
    once(!std::exchange(seen.format, true), part);
    c.format = parse_format(part);
  } else {
    c.dtype = dtype_called(part);
    once(!std::exchange(seen.dtype, true), part);
  }
}

// "8,64,56,56" would be four tensors of one axis.
void check_shapes_are_whole(const Case& c) {
  if (c.op->variadic || c.inputs.size() <= c.op->inputs.size()) return;
  const bool are_extents =
      std::all_of(c.inputs.begin(), c.inputs.end(),
                  [](const CaseInput& input) { return input.shape.size() == 1 && !input.dtype; });
  if (!are_extents) return;
  std::vector<std::int64_t> extents;
  for (const CaseInput& input : c.inputs) extents.push_back(input.shape.front());
  throw Error(
      fmt::format("{} takes {}, found {}; a shape has an x between its "
                  "extents: {}",
                  c.op->name, counted(c.op->inputs.size(), "input tensor"), c.inputs.size(),
                  fmt::join(extents, "x")));
}

std::string malformed_id(std::string_view id) {
  const auto ops = RegisteredOp::all();
  const bool is_op =
      std::any_of(ops.begin(), ops.end(), [&](const Op* op) { return op->name == id; });
  return fmt::format(
      "case '{}' is not of the form operator[shape,dtype,format,attribute=value,...], such as "
      "'{}[8x64x56x56,fp32,NCHW]'",
      id, is_op ? id : "relu");
}

std::size_t largest_rank(const Case& c) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.op->input(i).has_own_dtype()) rank = std::max(rank, c.inputs[i].shape.size());
  }
  return rank;
}

std::string id_text(const Case& c, bool with_defaults) {
  std::string id = fmt::format("{}[", c.op->name);
  for (std::size_t i = 0; i < c.inputs.size(); ++i) id += input_text(c, i) + ",";
  id += fmt::format("{},{}", name(c.dtype), name(format_for_rank(c.format, largest_rank(c))));
  for (const AttrSpec& spec : c.op->attrs) {
    const AttrValue& value = c.attrs.values().at(std::string(spec.name));
    if (!with_defaults && value == spec.default_value) continue;
    id += fmt::format(",{}={}", spec.name, to_string(value));
  }
  if (c.backward) id += ",backward";
  if (c.data.distribution) id += ",data=" + to_string(*c.data.distribution);
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].data) continue;
    id += fmt::format(",data.{}={}", c.op->input_name(i), to_string(*c.inputs[i].data));
  }
  if (c.data.has_seed) id += fmt::format(",seed={}", c.data.seed);
  return id + "]";
}

}  // namespace

bool ExpectedFailure::is_of(std::string_view variant) const {
  return variants.empty() || std::find(variants.begin(), variants.end(), variant) != variants.end();
}

bool ExpectedFailure::is_of(DType dtype) const {
  return dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

std::string case_id(const Case& c) { return id_text(c, true); }

std::string case_key(const Case& c) { return id_text(c, false); }

Case parse_case_id(std::string_view id) {
  const auto open = id.find('[');
  if (open == std::string_view::npos || id.back() != ']') {
    throw Error(malformed_id(id));
  }
  Case c;
  c.op = &find_op(id.substr(0, open));
  c.attrs = Attrs(c.op->attrs);
  c.origin = fmt::format("case '{}'", id);
  SeenParts seen;
  try {
    for (const auto part : split_arguments(id.substr(open + 1, id.size() - open - 2))) {
      set_part(c, part, seen);
    }
    check_shapes_are_whole(c);
  } catch (const Error& error) {
    throw Error(c.origin, error.what());
  }
  const std::size_t rank = largest_rank(c);
  c.format = format_for_rank(seen.format ? c.format : origin_format(rank), rank);
  return c;
}

std::string key_of_id(const std::string& id) {
  try {
    return case_key(parse_case_id(id));
  } catch (const Error&) {
    return id;
  }
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

std::uint64_t seed_of(const Case& c) {
  return c.data.has_seed ? c.data.seed : text_hash(case_key(c));
}

std::vector<TensorDesc> inputs_of(const Case& c) {
  try {
    std::vector<Dims> shapes;
    std::vector<std::optional<DType>> dtypes;
    for (const CaseInput& input : c.inputs) {
      shapes.push_back(input.shape);
      dtypes.push_back(input.dtype);
    }
    return describe_inputs(*c.op, shapes, c.dtype, c.format, c.attrs, dtypes);
  } catch (const Error& error) {
    throw Error(c.origin, error.what());
  }
}

Problem problem_of(const Case& c) {
  std::vector<TensorDesc> inputs = inputs_of(c);
  try {
    return make_problem(*c.op, std::move(inputs), c.attrs);
  } catch (const Error& error) {
    throw Error(c.origin, error.what());
  }
}

Case case_of(const Problem& problem) {
  Case c;
  c.op = problem.op;
  c.attrs = problem.attrs;
  for (std::size_t i = problem.inputs.size(); i-- > 0;) {
    if (!c.op->input(i).has_own_dtype()) c.dtype = problem.inputs[i].dtype;
  }
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorSpec& spec = c.op->input(i);
    const DType usual = spec.has_own_dtype() ? spec.dtypes.front() : c.dtype;
    CaseInput input{.shape = problem.inputs[i].shape, .dtype = {}, .data = {}};
    if (problem.inputs[i].dtype != usual) input.dtype = problem.inputs[i].dtype;
    c.inputs.push_back(std::move(input));
  }
  c.format = problem.inputs.front().format;
  c.origin = fmt::format("a call of {}", c.op->name);
  return c;
}

std::vector<Distribution> input_data(const Case& c, const Problem& problem) {
  std::vector<Distribution> data;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool follows_case = c.data.distribution && !c.op->input(i).has_own_dtype();
    data.push_back(c.inputs[i].data ? *c.inputs[i].data
                   : follows_case   ? *c.data.distribution
                                    : default_data(problem, i));
  }
  return data;
}

}  // namespace opbench
