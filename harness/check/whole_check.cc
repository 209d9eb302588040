#include "harness/check/whole_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/check/speed_verdict.h"
#include "harness/check/statistics.h"
#include "harness/run/samples.h"

namespace opbench::check {

std::optional<double> typical_noise(const std::vector<ComparedCase>& cases) {
  std::vector<double> spreads;
  for (const ComparedCase& compared : cases) {
    for (const ComparedVariant& variant : compared.variants) {
      if (variant.is_timed()) spreads.push_back(spread_noise(variant.times.screening));
    }
  }
  if (spreads.empty()) return std::nullopt;
  return median_of(std::move(spreads));
}

void adjust_for_all(std::vector<ComparedCase>& cases) {
  std::vector<ComparedVariant*> timed;
  std::vector<double> p;
  for (ComparedCase& compared : cases) {
    for (auto* variants : {&compared.variants, &compared.first_calls}) {
      for (ComparedVariant& variant : *variants) {
        if (!variant.is_timed()) continue;
        p.push_back(variant.is_open ? variant.finding.change.sign_p : 1);
        timed.push_back(&variant);
      }
    }
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    timed[i]->finding.change.adjusted_p = adjusted[i];
  }
}

void note_budget(const std::vector<Item>& items, double budget_s,
                 std::vector<std::string>& notices) {
  const auto is_left = [](const Item& item) {
    return (item.is_unfinished || item.is_too_noisy) && item.verdict == Verdict::ambiguous;
  };
  const auto is_unmeasured = [&](const Item& item) { return is_left(item) && !item.speed; };
  const auto is_suspect = [&](const Item& item) {
    return is_left(item) && item.is_unfinished && item.speed;
  };
  const auto left = std::count_if(items.begin(), items.end(), is_left);
  if (left == 0) return;
  notices.push_back(fmt::format(
      "the budget of {:g} s ended with {} of {} undecided: {} look slower, {} were not measured; "
      "--budget gives more time",
      budget_s, left, items.size(), std::count_if(items.begin(), items.end(), is_suspect),
      std::count_if(items.begin(), items.end(), is_unmeasured)));
}

}  // namespace opbench::check
