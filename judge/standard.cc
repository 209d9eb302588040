#include "judge/standard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <mutex>
#include <optional>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kPrec = "prec=", kCrossCheck = "cross-check=L";

[[noreturn]] void refuse(std::string_view text, std::string_view allowed) {
  throw Error(fmt::format("unknown standard '{}'; allowed are {}", text, allowed));
}

std::optional<StandardChoice> read_prec(std::string_view text) {
  StandardChoice choice{StandardKind::absolute};
  const std::string_view number = text.substr(kPrec.size());
  const auto [end, status] =
      std::from_chars(number.data(), number.data() + number.size(), choice.absolute);
  const bool is_whole = status == std::errc{} && end == number.data() + number.size();
  // The sign bit excludes -0, too: it is not a meaningful tolerance.
  if (!is_whole || !std::isfinite(choice.absolute) || std::signbit(choice.absolute)) {
    return std::nullopt;
  }
  return choice;
}

std::optional<StandardChoice> read_standard(std::string_view text) {
  for (const auto kind : {StandardKind::mixed, StandardKind::exact, StandardKind::statistical,
                          StandardKind::cosine, StandardKind::cross_check, StandardKind::control}) {
    if (text == name(kind)) return StandardChoice{kind};
  }
  if (text.starts_with(kPrec)) return read_prec(text);
  if (text.starts_with(kCrossCheck) && text.size() == kCrossCheck.size() + 1 &&
      text.back() >= '0' && text.back() <= '2') {
    return StandardChoice{StandardKind::cross_check, 0, text.back() - '0'};
  }
  return std::nullopt;
}

// `dtype`'s numbers with the changes of the rules for `op`. The rules may also change `choice`.
StandardNumbers numbers_for(const Standards& standards, std::string_view op, DType dtype,
                            StandardChoice& choice) {
  StandardNumbers numbers = standards.numbers[static_cast<std::size_t>(dtype)];
  for (const StandardRule& rule : standards.rules) {
    if (!rule.applies(op)) continue;
    if (rule.standard) choice = *rule.standard;
    for (const StandardChange& change : rule.changes) {
      const auto& dtypes = change.dtypes;
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) continue;
      change.number(numbers) = change.value;
    }
  }
  return numbers;
}

// True without any tolerance. Integers have exact numbers, unless a file sets others.
bool is_exact(const Tolerance& tolerance) {
  return tolerance.rtol == 0 && tolerance.atol == 0 && tolerance.inside_share == 1;
}

Standard exact_standard() { return {.kind = StandardKind::exact}; }

Standard statistical_standard(const StandardNumbers& numbers) {
  if (numbers.statistical_max == 0 && numbers.statistical_mean == 0) return exact_standard();
  Standard standard{.kind = StandardKind::statistical,
                    .tolerance = numbers.mixed,
                    .mean_relative = numbers.statistical_mean,
                    .max_relative = numbers.statistical_max};
  standard.tolerance.relative_floor = numbers.statistical_floor;
  return standard;
}

Standard cross_check_standard(const StandardNumbers& numbers, int level) {
  Standard standard{.kind = StandardKind::cross_check,
                    .ratios = numbers.cross_check.at(static_cast<std::size_t>(level)),
                    .rounding = numbers.cross_check_rounding};
  if (numbers.cross_check_rounding == 0) return standard;
  standard.tolerance = numbers.mixed;
  standard.tolerance.relative_floor = numbers.cross_check_floor;
  return standard;
}

}  // namespace

std::string_view name(StandardKind kind) {
  switch (kind) {
    case StandardKind::mixed:
      return "mixed";
    case StandardKind::exact:
      return "exact";
    case StandardKind::statistical:
      return "statistical";
    case StandardKind::cosine:
      return "cosine";
    case StandardKind::absolute:
      return "prec";
    case StandardKind::control:
      return "control";
    case StandardKind::cross_check:
      break;
  }
  return "cross-check";
}

StandardChoice parse_standard(std::string_view text) {
  const std::optional<StandardChoice> choice = read_standard(text);
  if (!choice) {
    refuse(text,
           "mixed, exact, statistical, cosine, prec=X with a number X >= 0, cross-check "
           "cross-check=L0, =L1 or =L2 and control");
  }
  return *choice;
}

OutputRule parse_output_rule(std::string_view text) {
  if (text == "bound") return {};
  if (text == "control") return {OutputRule::Kind::control, {}};
  const std::optional<StandardChoice> choice = read_standard(text);
  // The other standards need a second dump.
  if (!choice || needs_golden(choice->kind)) {
    refuse(text,
           "bound, control, mixed, exact, statistical, cosine and prec=X with a number X >= 0");
  }
  return {OutputRule::Kind::standard, *choice};
}

std::string to_string(const StandardChoice& choice) {
  if (choice.kind == StandardKind::absolute) return fmt::format("{}{}", kPrec, choice.absolute);
  if (choice.kind == StandardKind::cross_check) {
    return fmt::format("{}{}", kCrossCheck, choice.level);
  }
  return std::string(name(choice.kind));
}

Standard standard_for(const Standards& standards, const StandardChoice& choice, std::string_view op,
                      DType dtype) {
  StandardChoice chosen = choice;
  StandardNumbers numbers = numbers_for(standards, op, dtype, chosen);
  numbers.mixed.follows_scale = is_floating(dtype);
  switch (chosen.kind) {
    case StandardKind::mixed:
      if (is_exact(numbers.mixed)) return exact_standard();
      return {.kind = chosen.kind, .tolerance = numbers.mixed};
    case StandardKind::exact:
      return exact_standard();
    case StandardKind::statistical:
      return statistical_standard(numbers);
    case StandardKind::cosine:
      return {.kind = chosen.kind, .tolerance = numbers.mixed, .least_cosine = numbers.cosine};
    case StandardKind::absolute:
      return {.kind = chosen.kind,
              .tolerance = {.atol = chosen.absolute, .limit = chosen.absolute}};
    case StandardKind::control:
    case StandardKind::cross_check:
      break;
  }
  Standard standard = cross_check_standard(numbers, chosen.level);
  standard.kind = chosen.kind;
  return standard;
}

SharedStandard::SharedStandard(const Standard& standard) {
  static std::mutex mutex;
  static std::deque<Standard> all;
  const std::lock_guard lock(mutex);
  auto found = std::find(all.begin(), all.end(), standard);
  if (found == all.end()) found = all.insert(all.end(), standard);
  kept_ = &*found;
}

}  // namespace opbench
