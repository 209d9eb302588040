// The places that the bins of a box depend on, with their factors.
#include <algorithm>
#include <cmath>

#include "ops/roi_align.h"

namespace opbench {
namespace {

using Taps = RoiTaps;

Taps factors_of(const RoiGrid<double>& grid, const RoiRules& rules, std::int64_t w) {
  Taps taps;
  for (std::int64_t bin = 0; bin < rules.pooled_h * rules.pooled_w; ++bin) {
    grid.for_each(bin / rules.pooled_w, bin % rules.pooled_w, [&](const auto& y, const auto& x) {
      taps[{bin, y.low * w + x.low}] += y.at_low * x.at_low / grid.divisor();
      taps[{bin, y.low * w + x.high}] += y.at_low * x.at_high / grid.divisor();
      taps[{bin, y.high * w + x.low}] += y.at_high * x.at_low / grid.divisor();
      taps[{bin, y.high * w + x.high}] += y.at_high * x.at_high / grid.divisor();
    });
  }
  return taps;
}

// A coordinate is rounded like a sum of `reach`, which changes the factors of the places around it.
// A sample that is almost at a place may be on either side of it.
void add_rounding(const RoiGrid<double>& grid, const RoiRules& rules, std::int64_t w, double reach,
                  Taps& terms) {
  constexpr double kNear = 0x1p-10;
  const auto first = [](const RoiSample<double>& s) {
    return s.at_high < kNear && s.low > 0 ? s.low - 1 : s.low;
  };
  for (std::int64_t bin = 0; bin < rules.pooled_h * rules.pooled_w; ++bin) {
    grid.for_each(bin / rules.pooled_w, bin % rules.pooled_w, [&](const auto& y, const auto& x) {
      for (std::int64_t row = first(y); row <= y.high; ++row) {
        for (std::int64_t column = first(x); column <= x.high; ++column) {
          terms[{bin, row * w + column}] += reach / grid.divisor();
        }
      }
    });
  }
}

bool decides_alike(const RoiAxis<double>& a, const RoiAxis<double>& b) {
  return a.grid == b.grid &&
         std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(),
                    [](const auto& s, const auto& t) { return (s.low < 0) == (t.low < 0); });
}

// The number of samples, and whether they are outside, may be decided by rounding. Then the
// difference between both results is explained.
void add_decisions(const Roi& roi, const RoiRules& rules, std::int64_t h, std::int64_t w,
                   const RoiGrid<double>& grid, Taps& terms) {
  constexpr double kShare = 0x1p-20, kAny = 0x1p24;  // some roundoffs of fp32; over that roundoff
  for (const double stretch : {-kShare, kShare}) {
    RoiGrid<double> other;
    other.place(roi, rules, h, w, stretch);
    if (decides_alike(grid.rows, other.rows) && decides_alike(grid.columns, other.columns))
      continue;
    Taps change = factors_of(other, rules, w);
    for (const auto& [tap, factor] : factors_of(grid, rules, w)) change[tap] -= factor;
    for (const auto& [tap, factor] : change) terms[tap] += kAny * std::fabs(factor);
  }
}

}  // namespace

RoiTaps roi_taps(const Roi& roi, const RoiRules& rules, std::int64_t h, std::int64_t w, Sum sum) {
  RoiGrid<double> grid;
  grid.place(roi, rules, h, w);
  Taps taps = factors_of(grid, rules, w);
  if (sum == Sum::values) return taps;
  const double reach = rules.scale * (std::fabs(roi.x1) + std::fabs(roi.x2) + std::fabs(roi.y1) +
                                      std::fabs(roi.y2)) +
                       1;
  add_rounding(grid, rules, w, reach, taps);
  add_decisions(roi, rules, h, w, grid, taps);
  return taps;
}

}  // namespace opbench
