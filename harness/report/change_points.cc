#include "harness/report/change_points.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace opbench::check {
namespace {

constexpr std::size_t kShortest = 3;  // of a segment
constexpr int kPermutations = 199;
constexpr double kSignificance = 0.05;

/// The best split of a segment and the distance of its sides.
struct Split {
  std::size_t place = 0;
  double distance = 0;
};

double pairs_of(std::size_t n) { return static_cast<double>(n) * static_cast<double>(n - 1) / 2; }

// The energy distance between the first `left` values and the rest, from sums of absolute
// differences.
double energy_distance(std::size_t left, std::size_t right, double within_left, double within_right,
                       double across) {
  const double n = static_cast<double>(left), m = static_cast<double>(right);
  const double energy =
      2 * across / (n * m) - within_left / pairs_of(left) - within_right / pairs_of(right);
  return n * m / (n + m) * energy;
}

double distance_to_all(std::span<const double> values, double from) {
  double sum = 0;
  for (const double value : values) sum += std::fabs(value - from);
  return sum;
}

Split best_split(std::span<const double> values) {
  Split best;
  const std::size_t count = values.size();
  if (count < 2 * kShortest) return best;
  double total = 0;
  for (std::size_t i = 0; i < count; ++i)
    total += distance_to_all(values.subspan(i + 1), values[i]);
  double left = 0, right = total;
  for (std::size_t place = 1; place + kShortest <= count; ++place) {
    const double moved = values[place - 1];  // from the right to the left
    left += distance_to_all(values.first(place - 1), moved);
    right -= distance_to_all(values.subspan(place), moved);
    if (place < kShortest) continue;
    const double distance =
        energy_distance(place, count - place, left, right, total - left - right);
    if (distance > best.distance) best = {place, distance};
  }
  return best;
}

/// Segments of a series between borders; the first border is 0, the last the length.
class Segments {
 public:
  explicit Segments(std::span<const double> series) : borders_{0, series.size()} {}

  Split best(std::span<const double> series) const {
    Split best;
    for (std::size_t i = 0; i + 1 < borders_.size(); ++i) {
      const Split split = best_split(series.subspan(borders_[i], borders_[i + 1] - borders_[i]));
      if (split.distance > best.distance) best = {borders_[i] + split.place, split.distance};
    }
    return best;
  }

  void shuffle(std::vector<double>& series, std::mt19937& random) const {
    for (std::size_t i = 0; i + 1 < borders_.size(); ++i) {
      // Fisher & Yates shuffle; std::shuffle differs between libraries.
      for (std::size_t last = borders_[i + 1] - 1; last > borders_[i]; --last) {
        const std::size_t among = last - borders_[i] + 1;
        std::swap(series[last], series[borders_[i] + random() % among]);
      }
    }
  }

  void add(std::size_t border) {
    borders_.insert(std::lower_bound(borders_.begin(), borders_.end(), border), border);
  }

  std::vector<std::size_t> inner() const { return {borders_.begin() + 1, borders_.end() - 1}; }

 private:
  std::vector<std::size_t> borders_;
};

bool is_significant(const Split& split, const Segments& segments, std::span<const double> series) {
  constexpr int kMost = static_cast<int>(kSignificance * (kPermutations + 1)) - 1;
  std::mt19937 random(1);
  std::vector<double> shuffled(series.begin(), series.end());
  int as_far = 0;
  for (int i = 0; i < kPermutations; ++i) {
    segments.shuffle(shuffled, random);
    // The order of summation changes a distance by less than 1e-9 of it.
    as_far += segments.best(shuffled).distance >= split.distance * (1 - 1e-9);
    if (as_far > kMost) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> series) {
  if (series.size() < 2 * kShortest) return {};
  Segments segments(series);
  while (true) {
    const Split split = segments.best(series);
    if (split.distance <= 0 || !is_significant(split, segments, series)) break;
    segments.add(split.place);
  }
  return segments.inner();
}

}  // namespace opbench::check
