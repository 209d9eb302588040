#include "ops/moe_gating.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/experts.h"
#include "ops/order.h"

namespace opbench {
namespace {

using Numbers = std::vector<double>;
using Places = std::vector<std::int64_t>;

/// Shares and scores of the experts of one token, with the magnitudes of their terms.
struct GatedRow {
  Numbers share, share_terms, score, score_terms;

  // `bias` has no elements if it is not given. `chosen`: experts that were chosen elsewhere, or
  // none.
  GatedRow(const Gating& of, std::span<const double> x, std::span<const double> bias,
           const Places& chosen)
      : share(x.begin(), x.end()),
        share_terms(x.size(), 0),
        score(share),
        score_terms(x.size(), 0) {
    of.is_sigmoid ? sigmoid(x) : softmax(x, of.by_logits);
    if (of.by_logits) return;
    score = share;
    score_terms = share_terms;
    for (std::size_t e = 0; e < bias.size(); ++e) {
      score[e] += bias[e];
      score_terms[e] += std::fabs(bias[e]);
    }
    keep_best_groups(of, chosen);
  }

  void sigmoid(std::span<const double> x) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      share[e] = 1 / (1 + std::exp(-x[e]));
      share_terms[e] = share[e] * (1 + std::fabs(x[e]));
    }
  }

  // Exponents are rounded in proportion to themselves, for the share and for the sum.
  void softmax(std::span<const double> x, bool only_exponentials) {
    const double greatest = *std::max_element(x.begin(), x.end());
    double sum = 0, exponents = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      share[e] = std::exp(x[e] - greatest);
      share_terms[e] = share[e] * (1 + greatest - x[e]);
      sum += share[e];
      exponents += share[e] * (greatest - x[e]);
    }
    if (only_exponentials) return;
    for (std::size_t e = 0; e < x.size(); ++e) {
      share[e] /= sum;
      share_terms[e] = (share_terms[e] + share[e] * exponents) / sum;
    }
  }

  // Experts of other groups cannot be chosen. Of groups that are equal, or whose scores differ less
  // than rounding in fp32 may change them, those of the chosen experts are kept.
  void keep_best_groups(const Gating& of, const Places& chosen) {
    if (of.kept_groups == of.groups) return;
    const std::int64_t size = of.group_size();
    Numbers of_group, terms_of_group;
    Places preferred;
    for (const std::int64_t e : chosen) preferred.push_back(e / size);
    for (std::int64_t g = 0; g < of.groups; ++g) {
      Numbers scores(score.begin() + g * size, score.begin() + (g + 1) * size);
      std::sort(scores.begin(), scores.end(), [](double a, double b) { return is_less(b, a); });
      of_group.push_back(scores[0] + (of.sums_two ? scores[1] : 0));
      const auto terms = score_terms.begin() + g * size;
      terms_of_group.push_back((of.sums_two ? 2 : 1) * *std::max_element(terms, terms + size));
    }
    if (!preferred.empty()) level(of, terms_of_group, of_group);
    const Places best = best_of(of_group, of.groups, preferred);
    for (auto g = best.begin() + of.kept_groups; g != best.end(); ++g) {
      std::fill_n(score.begin() + *g * size, size, -std::numeric_limits<double>::infinity());
    }
  }

  // Gives groups the score of the last one that is kept if rounding may exchange them.
  static void level(const Gating& of, const Numbers& terms, Numbers& scores) {
    const auto last = static_cast<std::size_t>(best_of(scores, of.kept_groups).back());
    constexpr double kTimes = 4;  // like the error bound (docs/accuracy.md)
    const double unit = kTimes * 0x1p-24 * (1 + std::sqrt(double(of.experts)));
    const double score = scores[last];
    for (std::size_t g = 0; g < scores.size(); ++g) {
      if (std::fabs(scores[g] - score) <= unit * (terms[g] + terms[last])) scores[g] = score;
    }
  }

  // The first of equals first, but after those that are preferred.
  static Places best_of(const Numbers& scores, std::int64_t count, const Places& preferred = {}) {
    Places places(scores.size());
    std::iota(places.begin(), places.end(), std::int64_t{0});
    std::stable_partition(places.begin(), places.end(), [&](std::int64_t place) {
      return std::find(preferred.begin(), preferred.end(), place) != preferred.end();
    });
    std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
      return is_less(scores[static_cast<std::size_t>(b)], scores[static_cast<std::size_t>(a)]);
    });
    places.resize(static_cast<std::size_t>(count));
    return places;
  }
};

// The experts of token `t` in `given`; none unless they are different experts.
Places chosen_of(const Gating& of, const Places& given, std::int64_t t) {
  if (given.empty()) return {};
  Places chosen(given.begin() + t * of.k, given.begin() + (t + 1) * of.k);
  std::vector<bool> is_named(static_cast<std::size_t>(of.experts));
  for (const std::int64_t e : chosen) {
    if (e < 0 || e >= of.experts || is_named[static_cast<std::size_t>(e)]) return {};
    is_named[static_cast<std::size_t>(e)] = true;
  }
  return chosen;
}

// Appends the results of one token.
void add(const Gating& of, const GatedRow& row, const Places& experts, Gated& to) {
  double sum = 0, terms = 0;
  for (const std::int64_t e : experts) {
    sum += row.share[static_cast<std::size_t>(e)];
    terms += row.share_terms[static_cast<std::size_t>(e)];
  }
  const double divisor = of.sums_to_one ? sum + of.eps : 1;
  for (const std::int64_t e : experts) {
    const double share = row.share[static_cast<std::size_t>(e)] / divisor;
    const double of_sum = of.sums_to_one ? std::fabs(share) * terms : 0;
    to.y.push_back(share * of.factor);
    to.y_terms.push_back((row.share_terms[static_cast<std::size_t>(e)] + of_sum) / divisor *
                         std::fabs(of.factor));
  }
  to.chosen.insert(to.chosen.end(), experts.begin(), experts.end());
  to.shares.insert(to.shares.end(), row.share.begin(), row.share.end());
  to.share_terms.insert(to.share_terms.end(), row.share_terms.begin(), row.share_terms.end());
  to.scores.insert(to.scores.end(), row.score.begin(), row.score.end());
  to.score_terms.insert(to.score_terms.end(), row.score_terms.begin(), row.score_terms.end());
}

}  // namespace

Gated::Gated(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Gating of(inputs[0].desc(), attrs);
  const bool has_bias = is_given(inputs, 1) && inputs[1].desc().dtype != DType::boolean;
  const Numbers x = inputs[0].read_all(), bias = has_bias ? inputs[1].read_all() : Numbers();
  const Places given = inputs.size() > 2 ? inputs[2].read_index() : Places();
  for (std::int64_t t = 0; t < of.tokens; ++t) {
    const Places other = chosen_of(of, given, t);
    const GatedRow row(of, {x.data() + t * of.experts, static_cast<std::size_t>(of.experts)}, bias,
                       other);
    add(of, row, other.empty() ? GatedRow::best_of(row.score, of.k) : other, *this);
  }
}

Gating::Gating(const TensorDesc& x, const Attrs& attrs)
    : tokens(rows_of(x)), experts(x.shape.back()), k(attrs.integer("k")) {
  if (attrs.values().contains("renorm")) {
    by_logits = sums_to_one = attrs.integer("renorm") == 1;
    return;
  }
  is_sigmoid = sums_to_one = attrs.integer("norm_type") == 1;
  groups = attrs.integer("group_count");
  kept_groups = attrs.integer("k_group");
  sums_two = attrs.integer("group_select_mode") == 1;
  factor = attrs.number("routed_scaling_factor");
  eps = attrs.number("eps");
}

}  // namespace opbench
