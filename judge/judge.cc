#include "judge/judge.h"

#include <fmt/format.h>

#include <cmath>

#include "judge/pair_rules.h"

namespace opbench {
namespace {

std::string element_text(const Dims& shape, std::int64_t index, double actual, double expected) {
  std::string a = value_text(actual), e = value_text(expected);
  if (a == e && actual != expected && !std::isnan(actual)) {
    a = fmt::format("{:.17g}", actual);
    e = fmt::format("{:.17g}", expected);
  }
  return fmt::format("at {}: {}, expected {}", index_text(shape, index), a, e);
}

// Whole numbers beyond 2^53 may be equal as fp64; their difference is exact.
std::string worst_text(const Dims& shape, const WorstElement& worst) {
  if (worst.actual == worst.expected && worst.error > 0) {
    return fmt::format("at {}: differs by {} from {:.17g}", index_text(shape, worst.index),
                       value_text(worst.error), worst.expected);
  }
  return element_text(shape, worst.index, worst.actual, worst.expected);
}

// "; worst at [3]: 1.5, expected 1"
std::string worst_named(const Dims& shape, const PairStats& stats, const Standard& standard) {
  const WorstElement worst = named_element(stats, standard);
  return worst.index < 0 ? "" : fmt::format("; worst {}", worst_text(shape, worst));
}

std::string percent(double share) { return fmt::format("{:.4g}%", 100 * share); }

// Shares close to 100 % get more digits if they print like the required share.
std::string share_text(double share, double needed) {
  const std::string text = percent(share);
  return text == percent(needed) ? fmt::format("{:.10g}%", 100 * share) : text;
}

Judgement failed(std::string reason) { return {Verdict::failed, std::move(reason)}; }

std::string judge_nonfinite(const JudgedTensor& tensor, const PairStats& stats) {
  if (stats.nonfinite_mismatches() == 0) return {};
  return nonfinite_text({stats.nan_mismatches, stats.inf_mismatches},
                        {stats.first_mismatch, stats.mismatch_actual, stats.mismatch_expected, 0},
                        tensor);
}

// "; all elements would pass with a tolerance of 0.003"; empty for a tolerance above 1000.
std::string least_tolerance(const PairStats& stats) {
  constexpr double kMost = 1000;
  const double least = stats.tolerance_of_all();
  return least < kMost ? fmt::format("; all elements would pass with a tolerance of {:.2g}", least)
                       : "";
}

// True if too many elements are outside the tolerance.
bool lacks_share(const PairStats& stats, const Tolerance& t) {
  return stats.inside_share() < t.inside_share;
}

std::string judge_mixed(const Dims& shape, const PairStats& stats, const Standard& s) {
  const Tolerance& t = s.tolerance;
  if (lacks_share(stats, t)) {
    return fmt::format("{} inside tolerance, {} needed{}{}",
                       share_text(stats.inside_share(), t.inside_share), percent(t.inside_share),
                       worst_named(shape, stats, s), least_tolerance(stats));
  }
  if (stats.beyond_limit > 0) {
    const double share = share_of_limit(t, stats.scale);
    const std::string size = share > 0 ? fmt::format(", {} of themselves", percent(share)) : "";
    return fmt::format("{} of {} elements differ by more than {:.3g}{} and {:.0f} ULP{}{}",
                       stats.beyond_limit, stats.count, t.limit * stats.scale, size, t.limit_ulp,
                       worst_named(shape, stats, s), least_tolerance(stats));
  }
  return {};
}

std::string judge_exact(const Dims& shape, const PairStats& stats, const Standard& s,
                        Equality equality) {
  if (stats.unequal == 0) return {};
  // +0 and -0 look alike, so the text names the bits.
  const bool in_bits = equality != Equality::value;
  return fmt::format("{} of {} elements differ{}{}", stats.unequal, stats.count,
                     in_bits ? " in their bits" : "", worst_named(shape, stats, s));
}

std::string judge_statistical(const Dims& shape, const PairStats& stats, const Standard& s) {
  const std::string worst = worst_named(shape, stats, s);
  if (!(stats.mean_rel() <= s.mean_relative)) {
    return fmt::format("mean relative error {:.4g}, at most {:.4g} allowed{}", stats.mean_rel(),
                       s.mean_relative, worst);
  }
  if (!(stats.worst_rel.error <= s.max_relative)) {
    return fmt::format("maximum relative error {:.4g}, at most {:.4g} allowed{}",
                       stats.worst_rel.error, s.max_relative, worst);
  }
  return {};
}

std::string judge_cosine(const Dims& shape, const PairStats& stats, const Standard& s) {
  // An overflow of squares makes the cosine NaN, which must fail.
  if (stats.cosine() >= s.least_cosine) return {};
  return fmt::format("cosine {:.9g}, at least {:.9g} needed{}", stats.cosine(), s.least_cosine,
                     worst_named(shape, stats, s));
}

std::string judge_absolute(const Dims& shape, const PairStats& stats, const Standard& s) {
  if (stats.inside == stats.count) return {};
  return fmt::format("{} of {} elements differ by more than {:.9g}{}", stats.count - stats.inside,
                     stats.count, s.tolerance.atol, worst_named(shape, stats, s));
}

std::string judge_values(const Dims& shape, const PairStats& stats, const Standard& s) {
  switch (s.kind) {
    case StandardKind::mixed:
    case StandardKind::cross_check:
    case StandardKind::control:
      return judge_mixed(shape, stats, s);
    case StandardKind::exact:
      return judge_exact(shape, stats, s, s.tolerance.equality);
    case StandardKind::statistical:
      return judge_statistical(shape, stats, s);
    case StandardKind::cosine:
      return judge_cosine(shape, stats, s);
    case StandardKind::absolute:
      break;
  }
  return judge_absolute(shape, stats, s);
}

// The reason why a pass proves little; empty if there is no doubt.
std::string doubt(const PairStats& stats) {
  const ValueCounts& values = stats.expected;
  const std::int64_t nonfinite = values.nan + values.positive_inf + values.negative_inf;
  if (stats.count == 0) return "no elements to compare";
  if (nonfinite == stats.count) return "nothing but NaN and Inf expected";
  // A single element is always constant, so this is not a reason.
  if (stats.count == 1) return {};
  if (values.min == values.max) {
    return fmt::format("constant {} expected", value_text(values.max));
  }
  // Half of relu's outputs are 0 for a symmetric input. More than 90 % zeros prove little.
  constexpr double kMostlyZero = 0.9;
  if (double(values.zero) > kMostlyZero * double(stats.count)) {
    return fmt::format("{} zeros expected", percent(double(values.zero) / double(stats.count)));
  }
  return {};
}

double ratio(double npu, double gpu, double least) {
  const double divisor = std::max(gpu, least);
  if (npu == 0) return 0;
  return divisor > 0 ? npu / divisor : HUGE_VAL;
}

std::string judge_ratio(double ratio, double limit, std::string_view what, double npu, double gpu) {
  if (ratio <= limit) return {};
  return fmt::format("{} is {:.4g} times the GPU's, at most {:.4g} allowed ({:.4g} against {:.4g})",
                     what, ratio, limit, npu, gpu);
}

std::string judge_ratios(const CrossCheck& check, const PairStats& npu, const PairStats& gpu,
                         const RatioLimits& limits) {
  std::string reason = judge_ratio(check.mare, limits.mare, "maximum relative error",
                                   npu.worst_rel.error, gpu.worst_rel.error);
  if (reason.empty()) {
    reason =
        judge_ratio(check.mere, limits.mere, "mean relative error", npu.mean_rel(), gpu.mean_rel());
  }
  if (reason.empty()) {
    reason = judge_ratio(check.rmse, limits.rmse, "root mean square error", npu.rmse(), gpu.rmse());
  }
  return reason;
}

}  // namespace

Judgement passed(const PairStats& stats) {
  std::string reason = doubt(stats);
  if (reason.empty()) return {};
  return {Verdict::mistrusted, std::move(reason)};
}

std::string nonfinite_text(const NonfiniteCounts& counts, const WorstElement& first,
                           const JudgedTensor& tensor) {
  std::string text;
  if (counts.nan > 0) text = fmt::format("{} NaN", counts.nan);
  if (counts.inf > 0) text += fmt::format("{}{} Inf", text.empty() ? "" : " and ", counts.inf);
  constexpr double kLargestHalf = 65504;
  const bool is_overflow = tensor.dtype == DType::fp16 && std::isinf(first.actual) &&
                           std::fabs(first.expected) > kLargestHalf &&
                           std::isfinite(first.expected);
  return fmt::format("{} on one side only, first {}{}", text,
                     element_text(tensor.shape, first.index, first.actual, first.expected),
                     is_overflow ? ", which is beyond fp16" : "");
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::mistrusted:
      return "mistrusted";
    case Verdict::unread:
      return "unread";
    case Verdict::not_compared:
      break;
  }
  return "not compared";
}

std::string index_text(const Dims& shape, std::int64_t element) {
  std::string text;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    const std::string place = fmt::format("{}", element % std::max<std::int64_t>(*extent, 1));
    text = text.empty() ? place : fmt::format("{},{}", place, text);
    element /= std::max<std::int64_t>(*extent, 1);
  }
  return fmt::format("[{}]", text);
}

std::string value_text(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.9g}", value);
}

Judgement judge(const PairStats& stats, const Standard& standard, const JudgedTensor& tensor) {
  std::string reason = judge_nonfinite(tensor, stats);
  if (reason.empty()) reason = judge_values(tensor.shape, stats, standard);
  return reason.empty() ? passed(stats) : failed(std::move(reason));
}

WorstElement named_element(const PairStats& stats, const Standard& standard) {
  if (stats.first_mismatch >= 0) {
    return {stats.first_mismatch, stats.mismatch_actual, stats.mismatch_expected, 0};
  }
  if (standard.kind == StandardKind::statistical) return stats.worst_rel;
  if (standard.kind == StandardKind::mixed || needs_golden(standard.kind)) {
    const bool is_share = lacks_share(stats, standard.tolerance);
    const WorstElement& worst = is_share ? stats.worst_outside : stats.worst_beyond;
    if (worst.index >= 0) return worst;
  }
  return stats.worst_abs;
}

namespace {

// "2^-9" for a power of two.
std::string number_text(double value) {
  int exponent = 0;
  const bool is_power = std::frexp(value, &exponent) == 0.5 && value < 0.5;
  return is_power ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.3g}", value);
}

std::string mixed_formula(const Tolerance& t, double scale) {
  const std::string times = t.follows_scale ? fmt::format("*{:.3g}", scale) : "";
  const double share = share_of_limit(t, scale);
  const std::string size =
      share > 0 ? fmt::format(", {}*min(|e|, 1)", number_text(share)) : std::string();
  return fmt::format("|a-e| <= {}{} + {}*|e| for {}, all within {}{}{} or {:.0f} ULP",
                     number_text(t.atol), times, number_text(t.rtol), percent(t.inside_share),
                     number_text(t.limit), times, size, t.limit_ulp);
}

}  // namespace

std::string formula(const Standard& standard, double scale) {
  switch (standard.kind) {
    case StandardKind::mixed:
      return mixed_formula(standard.tolerance, scale);
    case StandardKind::exact:
      return standard.tolerance.equality == Equality::value ? "a = e" : "a = e in all bits";
    case StandardKind::statistical:
      return fmt::format("|a-e|/max(|e|, {:.3g}): mean <= {}, maximum <= {}",
                         standard.tolerance.relative_floor, number_text(standard.mean_relative),
                         number_text(standard.max_relative));
    case StandardKind::cosine:
      return fmt::format("cosine >= {:.9g}", standard.least_cosine);
    case StandardKind::absolute:
      return fmt::format("|a-e| <= {:.9g}", standard.tolerance.atol);
    case StandardKind::control:
      return "errors <= 2 times the other dump's, and one rounding";
    case StandardKind::cross_check:
      break;
  }
  return fmt::format("errors <= {:.3g} (MARE), {:.3g} (MERE), {:.3g} (RMSE) times the other dump's",
                     standard.ratios.mare, standard.ratios.mere, standard.ratios.rmse);
}

CrossCheck judge_cross_check(const PairStats& npu, const PairStats& gpu, const Standard& standard,
                             const JudgedTensor& tensor) {
  CrossCheck check;
  const double count = static_cast<double>(std::max<std::int64_t>(npu.finite_pairs(), 1));
  const double size = std::sqrt(npu.sum_expected_sq / count);
  check.mare = ratio(npu.worst_rel.error, gpu.worst_rel.error, standard.rounding);
  check.mere = ratio(npu.mean_rel(), gpu.mean_rel(), standard.rounding);
  check.rmse = ratio(npu.rmse(), gpu.rmse(), standard.rounding * size);
  std::string reason = judge_nonfinite(tensor, npu);
  if (!reason.empty()) reason += " (against the golden file)";
  if (reason.empty() && standard.rounding == 0) {
    reason = judge_exact(tensor.shape, npu, standard, Equality::value);
  } else if (reason.empty()) {
    reason = judge_ratios(check, npu, gpu, standard.ratios);
    if (!reason.empty()) reason += "; worst " + worst_text(tensor.shape, npu.worst_rel);
  }
  check.judgement = reason.empty() ? passed(npu) : failed(std::move(reason));
  return check;
}

}  // namespace opbench
