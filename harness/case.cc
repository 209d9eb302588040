#include "harness/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

// Cuts at commas outside brackets.
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
  return text == "scalar" || (!text.empty() && text.front() >= '0' && text.front() <= '9');
}

void set_keyword(Case& c, std::string_view key, std::string_view value) {
  if (key == "data") {
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

/// Which parts of an id have been seen: each may stand once.
struct SeenParts {
  bool dtype = false, format = false;
  std::set<std::string, std::less<>> keys;
};

void once(bool is_first, std::string_view part) {
  if (!is_first) throw Error(fmt::format("'{}' states again what was stated before", part));
}

void set_part(Case& c, std::string_view part, SeenParts& seen) {
  const auto equals = part.find('=');
  if (equals != std::string_view::npos) {
    once(seen.keys.emplace(part.substr(0, equals)).second, part);
    set_keyword(c, part.substr(0, equals), part.substr(equals + 1));
  } else if (is_shape(part)) {
    c.shapes.push_back(parse_dims(part));
  } else if (part == "backward") {
    c.backward = true;
  } else if (std::any_of(kAllFormats.begin(), kAllFormats.end(),
                         [&](Format format) { return name(format) == part; })) {
    once(!std::exchange(seen.format, true), part);
    c.format = parse_format(part);
  } else {
    once(!std::exchange(seen.dtype, true), part);
    c.dtype = parse_dtype(part);
  }
}

std::size_t largest_rank(const std::vector<Dims>& shapes) {
  std::size_t rank = 0;
  for (const Dims& shape : shapes) rank = std::max(rank, shape.size());
  return rank;
}

}  // namespace

Format format_for_rank(Format wanted, std::size_t rank) {
  if (rank == 0) return Format::ND;
  const bool is_plain = wanted == Format::NCHW || wanted == Format::ND || wanted == Format::NCDHW;
  return is_plain ? origin_format(rank) : wanted;
}

std::string case_id(const Case& c) {
  std::string id = fmt::format("{}[", c.op->name);
  for (const Dims& shape : c.shapes) id += to_string(shape) + ",";
  id +=
      fmt::format("{},{}", name(c.dtype), name(format_for_rank(c.format, largest_rank(c.shapes))));
  for (const AttrSpec& spec : c.op->attrs) {
    id += fmt::format(",{}={}", spec.name, to_string(c.attrs.values().at(std::string(spec.name))));
  }
  if (c.backward) id += ",backward";
  if (c.data.distribution != Distribution{}) {
    id += ",data=" + to_string(c.data.distribution);
  }
  if (c.data.has_seed) id += fmt::format(",seed={}", c.data.seed);
  return id + "]";
}

Case parse_case_id(std::string_view id) {
  const auto open = id.find('[');
  if (open == std::string_view::npos || id.back() != ']') {
    throw Error(fmt::format(
        "case '{}' is not of the form operator[shape,dtype,format,attribute=value,...]", id));
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
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", c.origin, error.what()));
  }
  const std::size_t rank = largest_rank(c.shapes);
  c.format = format_for_rank(seen.format ? c.format : origin_format(rank), rank);
  return c;
}

std::uint64_t seed_of(const Case& c) {
  if (c.data.has_seed) return c.data.seed;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char letter : case_id(c)) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

Problem problem_of(const Case& c) {
  try {
    std::vector<TensorDesc> inputs;
    for (const Dims& shape : c.shapes) {
      inputs.push_back(describe(c.dtype, shape, format_for_rank(c.format, shape.size())));
    }
    return make_problem(*c.op, std::move(inputs), c.attrs);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", c.origin, error.what()));
  }
}

}  // namespace opbench
