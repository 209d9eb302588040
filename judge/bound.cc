#include "judge/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "judge/judge.h"
#include "ops/term_count.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

constexpr double kTimes = 4;  // see ErrorBound

// Half of the possible loss at the lower end of the dtype: a unit of fp16's subnormal numbers, or
// the smallest normal number of other dtypes, as devices flush smaller ones to 0.
double smallest_step(DType dtype) {
  return dtype == DType::fp16 ? 0x1p-24 : smallest_normal(dtype);
}

// A factor that is flushed to 0 takes the product with it. More than this is never forgiven for the
// other factors. Steps of fp16 are too coarse for that.
double most_for_factors(DType dtype) { return dtype == DType::fp16 ? 1 : 0x1p24; }

double factor_of_result(const Claim& claim, DType dtype, double count) {
  return kTimes * (claim.partial * std::sqrt(count) + epsilon_of(dtype) / 2);
}

/// An element with the magnitudes of its terms, and with the exact result if it is a step.
struct Element {
  double actual, expected, terms, greatest;
  std::optional<double> unrounded = {};
};

/// The bound of one claim.
class ClaimBound {
 public:
  /// `stored`: the value of a quantised output for an exact result; null for other outputs.
  ClaimBound(const Claim& claim, DType dtype, double count,
             std::function<double(double)> stored = nullptr)
      : claim_(claim),
        of_terms_(factor_of_terms(claim, count)),
        of_result_(stored ? 0 : factor_of_result(claim, dtype, count)),
        step_(stored ? 0 : kTimes / 2 * smallest_step(dtype)),
        most_for_factors_(most_for_factors(dtype)),
        stored_(std::move(stored)),
        largest_(largest_finite(dtype)),
        largest_held_(largest_finite(claim.held)) {}

  // False for all NaN and Inf, and for claims with saturation; `excess` examines these.
  bool is_clearly_right(const Element& x) const {
    if (stored_) return x.actual == x.expected;
    return !claim_.saturates && std::fabs(x.actual - x.expected) <= allowed(x) &&
           std::isfinite(x.expected);
  }

  double allowed(const Element& x) const {
    const double result = std::fabs(x.unrounded.value_or(x.expected));
    const double factors = std::clamp(x.greatest, 1.0, most_for_factors_);
    return of_terms_ * std::fmax(x.terms, result) + of_result_ * result + factors * step_;
  }

  // The error in multiples of the allowed error; Inf if a NaN or an Inf is wrong.
  double excess(Element x) const {
    constexpr double kWrong = std::numeric_limits<double>::infinity();
    if (claim_.saturates) {
      x.expected = std::isnan(x.expected) ? 0 : std::clamp(x.expected, -largest_, largest_);
    }
    // An overflow on the way gives Inf or, by Inf - Inf, NaN, for any expected value.
    const bool has_overflowed = x.greatest > largest_held_ && std::isfinite(x.greatest);
    if (!std::isfinite(x.actual) && has_overflowed) return 0;
    if (!std::isfinite(x.expected)) {
      const bool is_same =
          x.actual == x.expected || (std::isnan(x.actual) && std::isnan(x.expected));
      return is_same ? 0 : kWrong;
    }
    if (!std::isfinite(x.actual)) {
      if (std::isnan(x.actual) || claim_.saturates) return kWrong;
      const bool is_beyond = std::copysign(1, x.actual) * x.expected >= largest_;
      if (is_beyond) return 0;
      // The magnitude of a result that rounds to Inf is at least this.
      x.actual = std::copysign(largest_, x.actual);
      return std::fabs(x.actual - x.expected) <= allowed(x) ? 0 : kWrong;
    }
    if (stored_)
      return is_step(x) ? 0 : std::max(2.0, std::fabs(x.actual - x.expected) / allowed(x));
    return std::fabs(x.actual - x.expected) / allowed(x);
  }

 private:
  // True if a result within the bound of the exact one is stored as this step.
  bool is_step(const Element& x) const {
    if (!x.unrounded) return false;
    const double error = allowed(x);
    return stored_(*x.unrounded - error) <= x.actual && x.actual <= stored_(*x.unrounded + error);
  }

  Claim claim_;
  double of_terms_, of_result_, step_, most_for_factors_;
  std::function<double(double)> stored_;
  double largest_, largest_held_;
};

// Calls `found(place, element, excess)` for wrong elements.
template <class Known, class Found>
void for_each_wrong(const ClaimBound& bound, std::span<const double> actual,
                    std::span<const double> expected, const Known& known, const Found& found) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    Element x{actual[i], expected[i], known.magnitude.empty() ? 0 : known.magnitude[i],
              known.greatest.empty() ? 0 : known.greatest[i]};
    if (!known.unrounded.empty()) x.unrounded = known.unrounded[i];
    if (bound.is_clearly_right(x)) continue;
    const double excess = bound.excess(x);
    if (excess > 1) found(i, x, excess);
  }
}

std::vector<double> finite_values(const Reference& reference, std::size_t output,
                                  ElementRange range) {
  if (!reference) return {};
  std::vector<double> values(static_cast<std::size_t>(range.count));
  reference(output, range, values);
  for (double& value : values) value = std::isfinite(value) ? value : 0;
  return values;
}

}  // namespace

double factor_of_terms(const Claim& claim, double count) {
  return kTimes * (claim.operand + claim.sum * std::sqrt(count));
}

void HeldElements::merge(const HeldElements& more) {
  wrong += more.wrong;
  nan += more.nan;
  inf += more.inf;
  if (more.worst.index < 0 || (worst.index >= 0 && more.excess <= excess)) return;
  worst = more.worst;
  excess = more.excess;
  allowed = more.allowed;
}

ErrorBound::ErrorBound(const Problem& problem, std::span<const InputReader> inputs,
                       std::size_t output)
    : problem_(problem),
      inputs_(inputs.begin(), inputs.end()),
      output_(output),
      dtype_(problem.outputs[output].dtype),
      is_quantised_(problem.op->is_quantised(dtype_)),
      count_(terms_of_element(problem, output)),
      expected_(problem.op->reference(inputs_, problem.attrs)) {}

// The greatest intermediate result only excuses NaN, Inf and results that were flushed to 0, and
// for a sum it needs the reference again.
ErrorBound::TermValues ErrorBound::terms(ElementRange range, std::span<const double> actual) const {
  std::call_once(once_, [this] { terms_ = terms_of(problem_, inputs_); });
  TermValues known{.magnitude = finite_values(terms_.magnitude, output_, range)};
  if (is_quantised_) {
    known.unrounded = finite_values(terms_.unrounded, output_, range);
    known.stored = terms_.stored;
  }
  const bool has_outliers = std::any_of(actual.begin(), actual.end(), [&](double value) {
    return !std::isfinite(value) || std::fabs(value) < smallest_normal(dtype_);
  });
  if (has_outliers) known.greatest = finite_values(terms_.greatest, output_, range);
  return known;
}

// The magnitudes of terms amount to at least their sum. So they are computed only if bounds from
// the result alone leave wrong elements.
std::vector<HeldElements> ErrorBound::hold(std::span<const Claim> claims, ElementRange range,
                                           std::span<const double> actual,
                                           std::span<const double> expected) const {
  const auto held = [&](const Claim& claim, const TermValues& known) {
    const ClaimBound bound(claim, dtype_, count_, known.stored);
    HeldElements result;
    for_each_wrong(bound, actual, expected, known,
                   [&](std::size_t i, const Element& x, double excess) {
                     const double error = std::fabs(x.actual - x.expected);
                     const bool is_nan = std::isnan(x.actual) || std::isnan(x.expected);
                     const bool is_finite = std::isfinite(x.actual) && std::isfinite(x.expected);
                     result.merge({1,
                                   is_nan,
                                   !is_nan && !is_finite,
                                   {range.first + static_cast<std::int64_t>(i), x.actual,
                                    x.expected, std::isfinite(error) ? error : 0},
                                   excess,
                                   bound.allowed(x)});
                   });
    return result;
  };
  // Later claims allow more, so they hold if the first claim holds, unless they differ in
  // saturation.
  const auto held_all = [&](const TermValues& known) {
    std::vector<HeldElements> found;
    for (const Claim& claim : claims) {
      const bool is_implied =
          !found.empty() && found[0].wrong == 0 && claim.saturates == claims[0].saturates;
      found.push_back(is_implied ? HeldElements{} : held(claim, known));
    }
    return found;
  };
  const auto is_wrong = [](const HeldElements& h) { return h.wrong > 0; };
  if (is_quantised_) return held_all(terms(range, actual));
  std::vector<HeldElements> found = held_all({});
  if (std::none_of(found.begin(), found.end(), is_wrong)) return found;
  return held_all(terms(range, actual));
}

std::vector<bool> ErrorBound::wrong(const Claim& claim, ElementRange range,
                                    std::span<const double> actual,
                                    std::span<const double> expected) const {
  std::vector<bool> result(actual.size());
  const TermValues known = terms(range, actual);
  for_each_wrong(ClaimBound(claim, dtype_, count_, known.stored), actual, expected, known,
                 [&](std::size_t i, const Element&, double) { result[i] = true; });
  return result;
}

std::string ErrorBound::formula(const Claim& claim) const {
  if (!is_quantised_) return opbench::formula(claim, dtype_, count_);
  return fmt::format("a is the step of a result within {:.3g}*T of the exact one",
                     factor_of_terms(claim, count_));
}

double ErrorBound::share_of_result(const Claim& claim) const {
  return is_quantised_ ? 0 : opbench::share_of_result(claim, dtype_, count_);
}

double allowed_of_terms(const Problem& problem, std::span<const InputReader> inputs,
                        std::size_t output, const Claim& claim) {
  constexpr std::int64_t kMost = 64;
  const std::int64_t elements = problem.outputs[output].elements();
  const std::int64_t some = std::min(kMost, elements);
  if (some == 0) return 0;
  const Terms terms = terms_of(problem, inputs);
  double squares = 0;
  for (std::int64_t i = 0; i < some; ++i) {
    const double magnitude = finite_values(terms.magnitude, output, {i * elements / some, 1})[0];
    squares += magnitude * magnitude;
  }
  return factor_of_terms(claim, terms_of_element(problem, output)) *
         std::sqrt(squares / double(some));
}

double share_of_result(const Claim& claim, DType dtype, double count) {
  return factor_of_terms(claim, count) + factor_of_result(claim, dtype, count);
}

std::string formula(const Claim& claim, DType dtype, double count) {
  const std::string what = claim.name.empty() ? "" : fmt::format(" ({})", claim.name);
  return fmt::format("|a-e| <= {:.3g}*T + {:.3g}*|e|{}", factor_of_terms(claim, count),
                     factor_of_result(claim, dtype, count), what);
}

std::string beyond_text(const HeldElements& held, std::int64_t elements, const TensorDesc& desc) {
  const WorstElement& worst = held.worst;
  if (held.nan + held.inf > 0) {
    return nonfinite_text({held.nan, held.inf}, worst, {desc.shape, desc.dtype});
  }
  return fmt::format(
      "{} of {} elements exceed their error bound; worst at {}: {}, expected {}, error bound "
      "{:.3g}",
      held.wrong, elements, index_text(desc.shape, worst.index), value_text(worst.actual),
      value_text(worst.expected), held.allowed);
}

}  // namespace opbench
