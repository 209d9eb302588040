#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "tensor/error.h"
#include "tensor/fill.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

struct Spelling {
  DistributionKind kind;
  std::string_view name;
  int parameters;
  double a, b;  // defaults
};

// Indexed by DistributionKind.
constexpr std::array kSpellings = {
    Spelling{DistributionKind::normal, "normal", 2, 0, 1},
    Spelling{DistributionKind::uniform, "uniform", 2, 0, 1},
    Spelling{DistributionKind::integers, "integers", 2, 0, 9},
    Spelling{DistributionKind::permutation, "permutation", 0, 0, 1},
    Spelling{DistributionKind::constant, "constant", 1, 0, 1},
    Spelling{DistributionKind::arange, "arange", 2, 0, 1},
    Spelling{DistributionKind::special, "special", 0, 0, 1},
    Spelling{DistributionKind::shuffle, "shuffle", 1, 2, 1},
    Spelling{DistributionKind::boxes, "boxes", 1, 1344, 1},
};

constexpr double kMaxInteger = 0x1p53;  // fp64 holds every whole number up to here

[[noreturn]] void throw_no_distribution(std::string_view text) {
  throw Error(
      fmt::format("'{}' is not a distribution; allowed: normal(mean,deviation), uniform(low,high), "
                  "integers(low,high), permutation, constant(value), arange(start,step), special, "
                  "shuffle(groups), boxes(extent); without parentheses: normal(0,1), uniform(0,1), "
                  "integers(0,9), constant(0), arange(0,1), shuffle(2), boxes(1344)",
                  text));
}

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads exactly values.size() numbers separated by commas; false if `text` is anything else.
bool parse_numbers(std::string_view text, std::span<double* const> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last = i + 1 == values.size();
    const std::size_t comma = text.find(',');
    if (last != (comma == text.npos)) return false;
    const auto value = parse_number(text.substr(0, comma));
    if (!value) return false;
    *values[i] = *value;
    if (!last) text.remove_prefix(comma + 1);
  }
  return true;
}

}  // namespace

std::string to_string(const Distribution& distribution) {
  const Spelling& s = kSpellings[static_cast<std::size_t>(distribution.kind)];
  switch (s.parameters) {
    case 0:
      return std::string(s.name);
    case 1:
      return fmt::format("{}({})", s.name, distribution.a);
    default:
      return fmt::format("{}({},{})", s.name, distribution.a, distribution.b);
  }
}

Distribution parse_distribution(std::string_view text) {
  const std::size_t open = text.find('(');
  for (const Spelling& s : kSpellings) {
    if (text.substr(0, open) != s.name) continue;
    Distribution result{s.kind, s.a, s.b};
    if (open != text.npos) {
      double* const values[] = {&result.a, &result.b};
      const bool closed = s.parameters > 0 && text.ends_with(')');
      const std::string_view inner = closed ? text.substr(open + 1, text.size() - open - 2) : "";
      if (!parse_numbers(inner, std::span(values, static_cast<std::size_t>(s.parameters)))) {
        throw_no_distribution(text);
      }
      if (!closed) throw_no_distribution(text);
    }
    require_valid(result);
    return result;
  }
  throw_no_distribution(text);
}

void require_valid(const Distribution& d) {
  const auto require = [&](bool holds, std::string_view rule) {
    if (!holds) throw Error(fmt::format("{}: {}", to_string(d), rule));
  };
  require(std::isfinite(d.a) && std::isfinite(d.b), "parameters must be finite");
  switch (d.kind) {
    case DistributionKind::normal:
      return require(d.b >= 0, "the deviation must not be negative");
    case DistributionKind::uniform:
      return require(d.b >= d.a && std::isfinite(d.b - d.a),
                     "must have low <= high, not 1e308 apart");
    case DistributionKind::integers:
      return require(std::ceil(d.a) <= std::floor(d.b) && std::abs(d.a) <= kMaxInteger &&
                         std::abs(d.b) <= kMaxInteger,
                     "must have a whole number between low and high, both within +-2^53");
    case DistributionKind::shuffle:
      return require(d.a >= 1 && d.a <= kMaxInteger && d.a == std::floor(d.a),
                     "groups must be a whole number from 1");
    case DistributionKind::boxes:
      return require(d.a >= 8 && d.a <= 1e6, "the extent must be from 8 to 1e6");
    default:
      return;
  }
}

}  // namespace opbench
