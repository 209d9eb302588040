#include "compare/place_search.h"

#include <algorithm>

namespace opbench {
namespace {

/// Delta debugging over the places 0 to extent - 1 of what is left.
class PlaceSearch {
 public:
  PlaceSearch(Cutting& cutting, std::int64_t extent, std::int64_t trials, const Scheme& scheme)
      : cutting_(cutting), extent_(extent), last_(cutting.trials() + trials), scheme_(scheme) {}

  bool keep(const Places& kept) {
    const bool is_worth_it = !kept.empty() && std::ssize(kept) < extent_;
    if (!is_worth_it || !cutting_.take(scheme_(cutting_.witness(), kept))) return false;
    extent_ = std::ssize(kept);
    return true;
  }

  void run() {
    std::int64_t parts = 2;
    while (extent_ >= 2 && !is_over()) {
      parts = std::min(parts, extent_);
      if (keep_a_part(parts)) {
        parts = 2;
      } else if (drop_a_part(parts)) {
        parts = std::max<std::int64_t>(parts - 1, 2);
      } else if (parts == extent_) {
        return;
      } else {
        parts *= 2;
      }
    }
  }

 private:
  bool is_over() const { return cutting_.is_stopped() || cutting_.trials() >= last_; }
  std::int64_t begin_of(std::int64_t part, std::int64_t parts) const {
    return part * extent_ / parts;
  }

  bool keep_a_part(std::int64_t parts) {
    for (std::int64_t part = 0; part < parts && !is_over(); ++part) {
      const std::int64_t begin = begin_of(part, parts);
      if (keep(places_from(begin, begin_of(part + 1, parts) - begin))) return true;
    }
    return false;
  }

  bool drop_a_part(std::int64_t parts) {
    for (std::int64_t part = 0; part < parts && parts > 2 && !is_over(); ++part) {
      const std::int64_t begin = begin_of(part, parts), end = begin_of(part + 1, parts);
      Places kept = places_from(0, begin);
      const Places behind = places_from(end, extent_ - end);
      kept.insert(kept.end(), behind.begin(), behind.end());
      if (keep(kept)) return true;
    }
    return false;
  }

  Cutting& cutting_;
  std::int64_t extent_;
  std::int64_t last_;
  const Scheme& scheme_;
};

}  // namespace

void search_places(Cutting& cutting, std::int64_t extent, std::int64_t place, std::int64_t trials,
                   const Scheme& scheme) {
  PlaceSearch search(cutting, extent, trials, scheme);
  if (!search.keep({place})) search.run();
}

std::int64_t trials_worth(const Witness& witness) {
  constexpr std::int64_t kElements = std::int64_t{1} << 23, kFewest = 8, kMost = 256;
  return std::clamp(kElements / std::max<std::int64_t>(witness.elements(), 1), kFewest, kMost);
}

}  // namespace opbench
