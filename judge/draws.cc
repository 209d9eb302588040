#include "judge/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "judge/bound.h"
#include "judge/claims.h"
#include "judge/judge.h"

namespace opbench {
namespace {

// ln(2 * 10^9): both tails together have a probability of about 10^-9.
const double kSurprise = std::log(2e9);

// Chernoff's bound: `hits` of `count` draws with probability p have a probability below exp(-count
// * divergence).
bool is_likely_share(double hits, double count, double p) {
  const double share = hits / count;
  const auto part = [](double found, double wanted) {
    return found == 0 ? 0 : found * std::log(found / wanted);
  };
  return count * (part(share, p) + part(1 - share, 1 - p)) <= kSurprise;
}

std::string share_text(double hits, double count, const char* what, double p) {
  return is_likely_share(hits, count, p)
             ? std::string()
             : fmt::format("{} of {} are {}, where the share should be {:.4g}", hits, count, what,
                           p);
}

std::string first_outside(std::span<const double> values, const auto& is_possible,
                          const std::string& allowed) {
  const auto found = std::find_if_not(values.begin(), values.end(), is_possible);
  if (found == values.end()) return {};
  return fmt::format("element {} is {}; allowed: {}", found - values.begin(), value_text(*found),
                     allowed);
}

// Mean and mean square of values minus `centre`, in units of `unit`.
std::pair<double, double> moments(std::span<const double> values, double centre, double unit) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    const double z = (value - centre) / unit;
    sum += z;
    squares += z * z;
  }
  const double count = double(values.size());
  return {sum / count, squares / count};
}

std::string moment_text(double mean, double mean_slack, double square, double wanted,
                        double square_slack) {
  if (!(std::fabs(mean) <= mean_slack)) {
    return fmt::format("the mean differs by {:.3g} of the spread; chance explains {:.3g}", mean,
                       mean_slack);
  }
  if (std::fabs(square - wanted) <= square_slack) return {};
  return fmt::format("the variance is {:.4g} of what it should be, and chance explains {:.3g}",
                     square / wanted, square_slack / wanted);
}

std::string wrong_bernoulli(const Draws& draws) {
  const auto is_possible = [](double value) { return value == 0 || value == 1; };
  const std::string outside = first_outside(draws.values, is_possible, "0 and 1");
  if (!outside.empty()) return outside;
  const auto ones = std::count(draws.values.begin(), draws.values.end(), 1.0);
  return share_text(double(ones), double(draws.values.size()), "1", draws.first);
}

// Hoeffding's bound on means of values in [-1, 1] and [0, 1]. A number that is truncated to the
// dtype loses half a unit on average.
std::string wrong_uniform(const Draws& draws) {
  const double unit = (draws.second - draws.first) / 2, centre = draws.first + unit;
  const double lost = epsilon_of(draws.dtype) * (1 + std::fabs(centre / unit));
  const auto is_possible = [&](double value) {
    return std::fabs(value - centre) <= unit * (1 + lost);
  };
  const std::string outside = first_outside(
      draws.values, is_possible, fmt::format("{:.6g} to {:.6g}", draws.first, draws.second));
  if (!outside.empty()) return outside;
  const double slack = std::sqrt(kSurprise / 2 / double(draws.values.size()));
  const auto [mean, square] = moments(draws.values, centre, unit);
  return moment_text(mean, 2 * slack + lost, square, 1. / 3, slack + 2 * lost);
}

// The mean of n values is normal with deviation 1/sqrt(n). The mean square has the bound of Laurent
// and Massart (2000), lemma 1, with the wider of both sides.
std::string wrong_normal(const Draws& draws) {
  const auto is_possible = [](double value) { return std::isfinite(value); };
  const std::string outside = first_outside(draws.values, is_possible, "finite numbers");
  if (!outside.empty()) return outside;
  const double share = kSurprise / double(draws.values.size());
  const double lost = epsilon_of(draws.dtype) * (1 + std::fabs(draws.first / draws.second));
  const auto [mean, square] = moments(draws.values, draws.first, draws.second);
  return moment_text(mean, std::sqrt(2 * share) + lost, square, 1,
                     2 * (std::sqrt(share) + share) + 2 * lost);
}

// Each value is dropped or scaled. An input of 0 does not show which, so it is skipped.
std::string wrong_dropout(const Draws& draws) {
  const double scale = draws.first == 1 ? 0 : 1 / (1 - draws.first);
  const double allowed = share_of_result(Claim{}, draws.dtype, 1);
  double count = 0, kept = 0;
  for (std::size_t i = 0; i < draws.values.size(); ++i) {
    const double wanted = draws.inputs[i] * scale, found = draws.values[i];
    if (!std::isfinite(wanted) || wanted == 0) continue;
    ++count;
    if (found == 0) continue;
    ++kept;
    // A result beyond the dtype is Inf.
    const bool is_beyond = std::isinf(found) && std::fabs(wanted) >= largest_finite(draws.dtype);
    const double error = std::fabs(found - wanted);
    if (is_beyond || error <= allowed * std::fabs(wanted) + smallest_normal(draws.dtype)) continue;
    return fmt::format("element {} is {}; allowed: 0 and {}", i, value_text(found),
                       value_text(wanted));
  }
  return count == 0 ? std::string() : share_text(kept, count, "kept", 1 - draws.first);
}

}  // namespace

std::string wrong_draws(const Draws& draws) {
  if (draws.values.empty()) return {};
  switch (draws.drawn) {
    case Drawn::not_at_all:
    case Drawn::somehow:
      return {};
    case Drawn::bernoulli:
      return wrong_bernoulli(draws);
    case Drawn::uniform:
      return wrong_uniform(draws);
    case Drawn::normal:
      return wrong_normal(draws);
    case Drawn::dropout:
      return wrong_dropout(draws);
  }
  return {};
}

}  // namespace opbench
