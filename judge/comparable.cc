#include "judge/comparable.h"

#include <fmt/format.h>

#include "dump/dump_meaning.h"
#include "judge/pair_rules.h"

namespace opbench {
namespace {

// The obstacle on one side. Comparing both sides finds `counts`.
Obstacle obstacle_of(const DumpEntry& entry, std::string_view side) {
  using Kind = Obstacle::Kind;
  const bool is_no_number = entry.stored == StoredType::none && !entry.stored_name.empty();
  if (!entry.problem.empty()) {
    return {holds_no_values(entry) ? Kind::unsupported : Kind::unread,
            fmt::format("{}: {}", side, entry.problem)};
  }
  if (holds_codes(entry)) {
    return {Kind::unsupported, fmt::format("{}: {}", side, codes_text(entry))};
  }
  if (entry.stored != StoredType::none) return {};
  return {Kind::unsupported, fmt::format("{}: its elements are {}, which are not numbers", side,
                                         is_no_number ? entry.stored_name : "unknown")};
}

// "which is a matter of taste" among floating dtypes and among integers; otherwise a request to
// check.
std::string dtype_warning(DType actual, DType expected) {
  if (actual == expected) return {};
  const bool same_kind = is_floating(actual) == is_floating(expected);
  return fmt::format("dtypes differ: {} against {}{}", name(actual), name(expected),
                     same_kind ? "" : ", compared as numbers");
}

std::string shape_warning(const Dims& actual, const Dims& expected) {
  if (actual == expected) return {};
  return fmt::format("shapes differ: {} against {}, compared in row-major order", to_string(actual),
                     to_string(expected));
}

void add(std::vector<std::string>& warnings, std::string warning) {
  if (!warning.empty()) warnings.push_back(std::move(warning));
}

}  // namespace

Obstacle obstacle(const TensorMatch& match, const SideNames& sides) {
  using Kind = Obstacle::Kind;
  if (match.actual == nullptr) {
    return {Kind::missing, fmt::format("only in {}", sides.expected)};
  }
  if (match.expected == nullptr) {
    return {Kind::missing, fmt::format("only in {}", sides.actual)};
  }
  Obstacle mine = obstacle_of(*match.actual, sides.actual);
  Obstacle theirs = obstacle_of(*match.expected, sides.expected);
  if (mine.is_unread() || (mine.kind != Kind::none && !theirs.is_unread())) return mine;
  if (theirs.kind != Kind::none) return theirs;
  const TensorDesc &actual = match.actual->desc, &expected = match.expected->desc;
  if (actual.elements() == expected.elements()) return {};
  return {Kind::counts,
          fmt::format("{} elements against {} (shapes {} and {})", actual.elements(),
                      expected.elements(), to_string(actual.shape), to_string(expected.shape))};
}

std::vector<std::string> pair_warnings(const TensorMatch& match, const SideNames& sides) {
  std::vector<std::string> warnings;
  const auto is_readable = [](const DumpEntry* entry) {
    return entry != nullptr && entry->problem.empty();
  };
  if (is_readable(match.actual) && is_readable(match.expected)) {
    add(warnings, shape_warning(match.actual->desc.shape, match.expected->desc.shape));
    add(warnings, dtype_warning(match.actual->desc.dtype, match.expected->desc.dtype));
  }
  const auto add_side = [&](const DumpEntry* entry, std::string_view side) {
    if (is_readable(entry) && !entry->warning.empty()) {
      warnings.push_back(fmt::format("{}: {}", side, entry->warning));
    }
  };
  add_side(match.actual, sides.actual);
  add_side(match.expected, sides.expected);
  return warnings;
}

DType judged_dtype(const TensorMatch& match) {
  if (match.actual == nullptr) return match.expected->desc.dtype;
  if (match.expected == nullptr) return match.actual->desc.dtype;
  return common_dtype(match.actual->desc.dtype, match.expected->desc.dtype);
}

const Dims& judged_shape(const TensorMatch& match) {
  return match.actual != nullptr ? match.actual->desc.shape : match.expected->desc.shape;
}

}  // namespace opbench
